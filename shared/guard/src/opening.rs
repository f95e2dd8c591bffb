//! Literals of which PostgreSQL may make arrays, rows or ranges while it parses them, whatever the text around them says.

/// Whether a literal may reach the input of another type: it begins with a bracket, after blanks of whatever encoding.
///
/// Nothing is read of an empty array, nor of what is an object of JSON: as an array, its first element is wrong at once, a
/// quoted text with a colon behind it, and as a range of ranges it has no range.
pub(crate) fn opens(literal: &str) -> bool {
    let text = literal.trim_start_matches(|c: char| !c.is_ascii_graphic());
    match (text.chars().next(), text.get(1..).map(blank)) {
        (Some('{'), Some(rest)) => !(is_end(rest, '}') || is_key(rest)),
        (Some('['), Some(rest)) => !is_end(rest, ']'),
        (Some('('), _) => true,
        _ => false,
    }
}

fn blank(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

fn is_end(text: &str, bracket: char) -> bool {
    text.strip_prefix(bracket).is_some_and(|rest| blank(rest).is_empty())
}

/// Whether a quoted text stands there with a colon behind it. Arrays and JSON escape quotes alike.
fn is_key(text: &str) -> bool {
    let Some(text) = text.strip_prefix('"') else { return false };
    let mut escaped = false;
    for (place, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return text.get(place + 1..).is_some_and(|rest| blank(rest).starts_with(':')),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::opens;

    #[test]
    fn brackets_open_wherever_blanks_end() {
        for literal in [
            "{x}",
            " {x}",
            "\u{a0}{x}",
            "(1,2)",
            "[1,2)",
            "[1]",
            "[[1]]",
            "{{1}}",
            "{\"a\"}",
            "{\"a\",\"b\":1}",
        ] {
            assert!(opens(literal), "{literal}");
        }
    }

    #[test]
    fn other_texts_and_objects_do_not() {
        for literal in ["", "x", "a{b}", "{}", " { } ", "[]", "{\"a\":1}", "{ \"a\\\"b\" : [1] }"] {
            assert!(!opens(literal), "{literal}");
        }
    }

    #[test]
    fn a_key_must_be_one() {
        for literal in ["{\"a\\\":1}", "{a:1}", "{\"a\"x:1}", "{\"a", "{} x", "{:}"] {
            assert!(opens(literal), "{literal}");
        }
    }
}
