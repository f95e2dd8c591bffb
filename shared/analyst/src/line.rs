//! Texts of others on one line, and no more of them than a caller reads.

/// Line breaks and other control characters become a space; what is longer than `most` characters ends in `…`.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    let pieces: Vec<&str> = text.split(breaks).map(str::trim).filter(|piece| !piece.is_empty()).collect();
    let mut line = pieces.join(" ");
    cut(&mut line, most);
    line
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
}
