//! A statement as a log may show it: without values.

use super::scan::{Scanner, Token};

/// The length of a preview.
const MAX_CHARS: usize = 500;

/// What stands for a password.
const HIDDEN: &str = "********";

/// What came before, as far as it says what the next piece is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// A word that announces a password.
    Password,
    /// Such a word and a sign such as `=`.
    PasswordSign,
    /// A comparison: what stands in double quotes after it is often meant as a string.
    Comparison,
    Anything,
}

/// The first 500 characters of a statement, on one line: `?` for strings and numbers, `********` for passwords,
/// comments left out. The statement need not be valid.
///
/// ```
/// assert_eq!(state::preview("SELECT * FROM t WHERE name = 'Ada' -- mine\n LIMIT 5"), "SELECT * FROM t WHERE name = ? LIMIT ?");
/// ```
pub fn preview(sql: &str) -> String {
    let mut shown = Shown::default();
    let mut tokens = Scanner::new(sql);
    let mut before = Before::Anything;
    let mut in_list = false;
    let mut last_word = "";
    while shown.chars < MAX_CHARS {
        let Some(token) = tokens.next() else { break };
        match token {
            Token::Gap => {
                shown.gap();
                continue;
            }
            Token::Rest => {
                shown.push("?");
                break;
            }
            Token::Secret => shown.push(HIDDEN),
            Token::Literal => shown.push(stand_in(before)),
            Token::Quoted(_) if before == Before::PasswordSign => shown.push(HIDDEN),
            Token::Quoted(_)
                if in_list || before == Before::Comparison && !tokens.rest().starts_with('.') =>
            {
                shown.push("?");
            }
            Token::Word(_) if before == Before::PasswordSign => {
                shown.push(HIDDEN);
                if tokens.skip_word().contains(['\'', '"']) {
                    break;
                }
            }
            Token::Word(text) | Token::Quoted(text) | Token::Parameter(text) => shown.push(text),
            Token::Sign(sign) => {
                in_list = match sign {
                    '(' => last_word.eq_ignore_ascii_case("in"),
                    ')' => false,
                    _ => in_list,
                };
                shown.push(sign.encode_utf8(&mut [0; 4]));
            }
        }
        before = before.then(token);
        last_word = if let Token::Word(word) = token { word } else { "" };
    }
    shown.text.truncate(shown.text.trim_end().len());
    shown.text
}

fn stand_in(before: Before) -> &'static str {
    match before {
        Before::Password | Before::PasswordSign => HIDDEN,
        Before::Comparison | Before::Anything => "?",
    }
}

impl Before {
    fn then(self, token: Token<'_>) -> Self {
        match token {
            Token::Word(word) if is_password(word) => Self::Password,
            Token::Quoted(word) if is_password(word.trim_matches(['"', '`'])) => Self::Password,
            Token::Word(word) if word.eq_ignore_ascii_case("like") || word.eq_ignore_ascii_case("ilike") => {
                Self::Comparison
            }
            Token::Sign('=' | ':' | '>') if matches!(self, Self::Password | Self::PasswordSign) => {
                Self::PasswordSign
            }
            Token::Sign('=' | '<' | '>' | '~' | '!') => Self::Comparison,
            _ => Self::Anything,
        }
    }
}

fn is_password(word: &str) -> bool {
    const WORDS: [&str; 7] = ["password", "passwd", "pwd", "passphrase", "secret", "token", "api_key"];
    WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The preview as far as it is written.
#[derive(Default)]
struct Shown {
    text: String,
    chars: usize,
}

impl Shown {
    fn push(&mut self, piece: &str) {
        let room = MAX_CHARS - self.chars;
        for c in piece.chars().take(room) {
            self.text.push(c);
            self.chars += 1;
        }
    }

    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.push(" ");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(sql: &str, shown: &str) {
        assert_eq!(preview(sql), shown, "{sql}");
    }

    #[test]
    fn strings_and_numbers_of_every_kind_become_question_marks() {
        check("SELECT 'a', 1, -2.5e-3, .5, 1_000, 0xFF, 1e9x", "SELECT ?, ?, -?, ?, ?, ?, ?");
        check("SELECT 'it''s', '', E'it\\'s', e'\\\\', B'101', X'1F', N'x'", "SELECT ?, ?, ?, ?, ?, ?, ?");
        check("SELECT U&'d!0061t' UESCAPE '!', u&\"d\\0061\"", "SELECT ? UESCAPE ?, u&\"d\\0061\"");
        check("SELECT $$it's$$, $a$ $b$ $$ $a$, $1, $23", "SELECT ?, ?, $1, $23");
        check("SELECT 'a'\n  'b'", "SELECT ? ?");
        check("SELECT t1.c2, a$1$b FROM \"T 1\" t1", "SELECT t1.c2, a$1$b FROM \"T 1\" t1");
        check("SELECT date '2024-01-01', x[1:2]", "SELECT date ?, x[?:?]");
        check("SELECT ‘Ada’, “Lovelace”, «x»", "SELECT ?, ?, ?");
        check("SELECT ٣, ½", "SELECT ?, ?");
    }

    #[test]
    fn comments_are_left_out() {
        check("SELECT 1 -- it's 'Ada'\n, 2", "SELECT ? , ?");
        check("/* a /* 'nested */ 7 */ SELECT/**/x", "SELECT x");
        check("SELECT '--', '/*', 3 /* open", "SELECT ?, ?, ?");
    }

    #[test]
    fn text_that_is_no_sql_shows_nothing_after_an_open_quote() {
        check("SELECT 'open", "SELECT ?");
        check("SELECT 'O\\'Brien', name", "SELECT ?");
        check("SELECT \"O\\\"Brien\", name", "SELECT ?");
        check("SELECT $x$ open $y$", "SELECT ?");
        check("SELECT “open", "SELECT ?");
        check("SELECT E'open\\'", "SELECT ?");
        check("SELECT `open", "SELECT ?");
        check("", "");
        check("\0 '\0'", "\0 ?");
    }

    #[test]
    fn what_stands_in_double_quotes_for_a_string_is_hidden() {
        check("SELECT * FROM t WHERE name = \"Ada\"", "SELECT * FROM t WHERE name = ?");
        check("WHERE name LIKE \"A%\" OR name IN (\"Ada\", \"Bob\")", "WHERE name LIKE ? OR name IN (?, ?)");
        check(
            "ON \"O\".id = \"U\".id AND u.\"Id\" = o.\"Id\"",
            "ON \"O\".id = \"U\".id AND u.\"Id\" = o.\"Id\"",
        );
    }

    #[test]
    fn passwords_are_hidden_with_or_without_quotes() {
        check("ALTER ROLE a PASSWORD 'x' VALID", "ALTER ROLE a PASSWORD ******** VALID");
        check("alter user a password = h/unt$er2; x", "alter user a password = ********; x");
        check("host=h password=hunter2 dbname=d", "host=h password=******** dbname=d");
        check("{\"password\": \"hunter2\"}", "{\"password\": ********}");
        check("\\c postgres://u:p@ss@h/d now", "\\c ******** now");
        check("key pgk_AAEC-wQF and", "key ******** and");
        check(
            "SELECT password FROM users WHERE password = $1",
            "SELECT password FROM users WHERE password = $1",
        );
    }

    #[test]
    fn a_preview_ends_at_500_characters() {
        let columns = "größe, ".repeat(200);
        let shown = preview(&format!("SELECT {columns} 1"));
        assert_eq!(shown.chars().count(), MAX_CHARS);
        assert!(format!("SELECT {columns}").starts_with(&shown));
        assert_eq!(preview(&"'a'".repeat(600)).chars().count(), 1, "an even row of quotes is one string");
    }

    fn literal() -> impl Strategy<Value = String> {
        let forms = [
            "'@'",
            "E'@\\'@'",
            "$$@$$",
            "$t$@$$@$t$",
            "U&'@'",
            "'@''@'",
            "B'@'",
            "‘@’",
            "/* @ /* @ */ @ */",
            "-- @\n",
            "password=@",
            "secret: @",
            "x://u:@@h",
            "'@\\'@",
            "n'@'",
            "12@",
            "= \"@\"",
            "in (\"@\",\"@\")",
        ];
        proptest::sample::select(forms.to_vec()).prop_map(|form| format!(" {} ", form.replace('@', "S3CRET")))
    }

    proptest! {
        #[test]
        fn no_literal_is_shown_wherever_the_text_is_cut_off(
            pieces in proptest::collection::vec(
                prop_oneof![literal(), "[a-zA-Z0-9_ (),.;:=<>+*/\\[\\]-]{0,12}"],
                1..12,
            ),
            cut in 0_usize..400,
        ) {
            let whole = pieces.concat();
            let text: String = whole.chars().take(cut).collect();
            let shown = preview(&text);
            prop_assert!(!shown.contains("S3CRET"), "{text} => {shown}");
        }

        #[test]
        fn any_text_has_a_preview(text in "\\PC{0,80}", tail in any::<Vec<char>>()) {
            let text = text + &tail.into_iter().collect::<String>();
            prop_assert!(preview(&text).chars().count() <= MAX_CHARS);
        }
    }
}
