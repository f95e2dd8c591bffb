//! A script of psql cut into its statements and commands, without losing a character.

/// A piece of a script; all of them together are the script.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) raw: &'a str,
    /// The statement that the piece ends, without what ends it.
    pub(super) statement: Option<&'a str>,
}

/// Cuts a script as psql does.
pub(super) fn pieces(script: &str) -> Vec<Piece<'_>> {
    let mut scanner = Scanner { script, at: 0 };
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < script.len() {
        let statement = scanner.next(from);
        pieces.push(Piece { raw: &script[from..scanner.at], statement });
        from = scanner.at;
    }
    pieces
}

struct Scanner<'a> {
    script: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.script[self.at..]
    }

    /// Goes past what lies before a text, and past the text.
    fn past(&mut self, text: &str) {
        self.at = self.rest().find(text).map_or(self.script.len(), |found| self.at + found + text.len());
    }

    /// Goes on to the end of a statement or command.
    fn next(&mut self, from: usize) -> Option<&'a str> {
        let (mut brackets, mut blocks) = (0_usize, 0_usize);
        let mut begun = false;
        while let Some(c) = self.rest().chars().next() {
            let here = self.at;
            match c {
                '-' if self.rest().starts_with("--") => self.past("\n"),
                '/' if self.rest().starts_with("/*") => self.comment(),
                '\'' => self.quoted(c, is_escaping(&self.script[from..here])),
                '"' => self.quoted(c, false),
                '$' => self.dollar(&self.script[from..here]),
                '\\' if self.rest().starts_with("\\;") => self.at += 2,
                '\\' => {
                    // A command ends with its line, and some end a statement too.
                    self.past("\n");
                    return begun.then(|| self.script[from..here].trim());
                }
                ';' if brackets == 0 && blocks == 0 => {
                    self.at += 1;
                    let statement = self.script[from..here].trim();
                    self.copied(statement);
                    return Some(statement);
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    let word = self.word();
                    let body = is_routine(&self.script[from..here]);
                    match word.to_ascii_lowercase().as_str() {
                        "begin" | "case" if body => blocks += 1,
                        "end" if body => blocks = blocks.saturating_sub(1),
                        _ => {}
                    }
                    begun = true;
                }
                _ => {
                    brackets = match c {
                        '(' => brackets + 1,
                        ')' => brackets.saturating_sub(1),
                        _ => brackets,
                    };
                    begun |= !c.is_whitespace();
                    self.at += c.len_utf8();
                }
            }
        }
        None
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn comment(&mut self) {
        let mut depth = 0;
        loop {
            if self.rest().starts_with("/*") {
                depth += 1;
                self.at += 2;
            } else if self.rest().starts_with("*/") {
                depth -= 1;
                self.at += 2;
                if depth == 0 {
                    return;
                }
            } else {
                let Some(c) = self.rest().chars().next() else { return };
                self.at += c.len_utf8();
            }
        }
    }

    fn quoted(&mut self, quote: char, escaping: bool) {
        self.at += 1;
        while let Some(c) = self.rest().chars().next() {
            self.at += c.len_utf8();
            if c == quote {
                return;
            }
            if c == '\\' && escaping {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            }
        }
    }

    fn dollar(&mut self, before: &str) {
        let rest = self.rest();
        let tag = rest[1..].find(|c: char| !(c.is_alphanumeric() || c == '_')).map(|end| end + 1);
        let within_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        match tag.filter(|&end| rest[end..].starts_with('$') && !within_name) {
            Some(end) if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                self.at += end + 1;
                self.past(&rest[..=end]);
            }
            _ => self.at += 1,
        }
    }

    /// What is copied in follows its statement.
    fn copied(&mut self, statement: &str) {
        let lower = statement.to_ascii_lowercase();
        let copies =
            lower.lines().find(|line| !line.trim_start().starts_with("--") && !line.trim().is_empty());
        if copies.is_some_and(|line| line.trim_start().starts_with("copy ")) && lower.contains("from stdin") {
            self.past("\n\\.\n");
        }
    }
}

/// Whether a quote that follows begins a text in which a backslash escapes.
fn is_escaping(before: &str) -> bool {
    let mut last = before.chars().rev();
    matches!(last.next(), Some('e' | 'E')) && !last.next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Whether a statement makes a routine, whose body may hold statements.
fn is_routine(statement: &str) -> bool {
    let lower = statement.trim_start().to_ascii_lowercase();
    let mut words = lower.split_whitespace().filter(|word| !matches!(*word, "or" | "replace"));
    words.next() == Some("create") && matches!(words.next(), Some("function" | "procedure"))
}

#[test]
fn a_script_is_cut_where_psql_cuts_it() {
    let script = "SELECT ';', E'\\';', \"a;\"; -- ;\n/* ; /* ; */ ; */ SELECT $x$ ; $$ $x$ FROM (SELECT 1;) q\\gset\n\
                  \\d t\nCOPY t FROM stdin;\n1;\n\\.\nCREATE FUNCTION f() BEGIN ATOMIC SELECT CASE 1 WHEN 2 THEN 3 END; END;\n\
                  SELECT $1;\n";
    let pieces = pieces(script);
    assert_eq!(pieces.iter().map(|piece| piece.raw).collect::<String>(), script);
    let statements: Vec<&str> = pieces.iter().filter_map(|piece| piece.statement).collect();
    assert_eq!(
        statements,
        [
            "SELECT ';', E'\\';', \"a;\"",
            "-- ;\n/* ; /* ; */ ; */ SELECT $x$ ; $$ $x$ FROM (SELECT 1;) q",
            "COPY t FROM stdin",
            "CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE 1 WHEN 2 THEN 3 END; END",
            "SELECT $1",
        ]
    );
    assert!(
        pieces
            .iter()
            .any(|piece| piece.raw == "COPY t FROM stdin;\n1;\n\\.\n" || piece.raw.ends_with("1;\n\\.\n"))
    );
}
