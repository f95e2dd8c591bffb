//! Texts of others on one line, and no more of them than a caller reads.

/// Line breaks and other control characters become a space; what is longer than `most` characters ends in `…`.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let pieces: Vec<&str> = text.split(breaks).map(str::trim).filter(|piece| !piece.is_empty()).collect();
    let mut line = pieces.join(" ");
    cut(&mut line, most);
    line
}

/// Every run of blanks, line breaks and other control characters becomes one space.
pub(crate) fn collapsed(text: &str) -> String {
    let blank = |c: char| c.is_whitespace() || c.is_control();
    text.split(blank).filter(|piece| !piece.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A comment on one line and cut, if there is anything in it.
pub(crate) fn comment(text: &str, most: usize) -> Option<String> {
    let mut line = collapsed(text);
    cut(&mut line, most);
    (!line.is_empty()).then_some(line)
}

/// Ends a text that is longer than `most` characters in `…`.
pub(crate) fn cut(text: &mut String, most: usize) {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_become_spaces_and_characters_are_counted() {
        assert_eq!(one_line(" a\r\n\tb  c\u{2028}d", 20), "a b  c d");
        assert_eq!(one_line("üüü", 2), "üü…");
        assert_eq!(one_line("\n", 2), "");
    }

    #[test]
    fn runs_of_blanks_become_one_space() {
        assert_eq!(collapsed(" a  b\u{a0}\t\u{2028}\0c\n"), "a b c");
        assert_eq!(comment("a \n bc", 3).as_deref(), Some("a b…"));
        assert_eq!(comment(" \n", 3), None);
    }
}
