//! The words of a statement, by PostgreSQL's own lexer, and where parameters stand among them.
//!
//! What the lexer takes for a string, a quoted name, a comment, a dollar quote, `::` or an operator is one word, so
//! that no `:name` can be found inside one.

use pg_query::protobuf::{KeywordKind, Token};

use crate::fields;
use crate::name::{ParamName, is_param_name};
use crate::problem::Problem;

/// Uses of parameters in a statement.
const MAX_MARKS: usize = 1_000;

/// Problems of one kind that are worth saying.
const MOST_PROBLEMS: usize = 20;

/// A statement cut into words, comments left out.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    sql: &'a str,
    words: Vec<Word<'a>>,
    marks: Vec<Mark<'a>>,
}

/// One word. Positions are bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) kind: Token,
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
    is_name: bool,
}

/// One `:name`. Positions are bytes; `word` is the index of the colon.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark<'a> {
    pub(crate) name: &'a str,
    pub(crate) start: usize,
    pub(crate) end: usize,
    word: usize,
}

/// What a bracket that is still open means for the colons in it.
#[derive(Clone, Copy, PartialEq)]
enum Bracket {
    Round,
    Constructor,
    Subscript,
}

impl<'a> Scan<'a> {
    /// Cuts a text into words. Total: any text gives words or one problem.
    pub(crate) fn read(sql: &'a str) -> Result<Self, Problem> {
        // pg_query makes a slice of a null pointer where there is no token at all.
        if sql.bytes().all(|byte| byte.is_ascii_whitespace() || byte == b'\x0b') {
            return Ok(Self { sql, words: Vec::new(), marks: Vec::new() });
        }
        let tokens = pg_query::scan_tokens(sql).map_err(|error| unreadable(&error.to_string()))?;
        let words: Vec<Word<'a>> = tokens
            .iter()
            .filter(|token| !matches!(token.token(), Token::SqlComment | Token::CComment))
            .filter_map(|token| {
                let (start, end) = (usize::try_from(token.start).ok()?, usize::try_from(token.end).ok()?);
                let text = sql.get(start..end)?;
                let keyword = token.keyword_kind() != KeywordKind::NoKeyword;
                let is_name = keyword || (token.token() == Token::Ident && !text.ends_with('"'));
                Some(Word { kind: token.token(), text, start, end, is_name })
            })
            .collect();
        let marks = find_marks(&words);
        if marks.len() > MAX_MARKS {
            let message =
                format!("parameters stand in {} places; at most {MAX_MARKS} are allowed", marks.len());
            return Err(Problem::new("sql", message));
        }
        Ok(Self { sql, words, marks })
    }

    pub(crate) fn words(&self) -> &[Word<'a>] {
        &self.words
    }

    /// The parameters, in the order in which they stand.
    pub(crate) fn marks(&self) -> &[Mark<'a>] {
        &self.marks
    }

    /// The character, from 1, at a byte.
    pub(crate) fn character(&self, byte: usize) -> usize {
        self.sql.get(..byte).map_or(0, |before| before.chars().count()) + 1
    }

    /// The text with every parameter replaced.
    pub(crate) fn replace(&self, mut replacement: impl FnMut(&Mark<'a>) -> String) -> String {
        let mut text = String::with_capacity(self.sql.len() + 32 * self.marks.len());
        let mut copied = 0;
        for mark in &self.marks {
            text.push_str(self.sql.get(copied..mark.start).unwrap_or_default());
            text.push_str(&replacement(mark));
            copied = mark.end;
        }
        text.push_str(self.sql.get(copied..).unwrap_or_default());
        text
    }

    /// Every place where a parameter, or what looks like one, cannot stand.
    pub(crate) fn misplaced(&self) -> Vec<Problem> {
        let raw = self.words.iter().filter(|word| word.kind == Token::Param);
        let mut problems: Vec<Problem> = raw.take(MOST_PROBLEMS).map(|word| self.raw(word)).collect();
        problems.extend(self.odd_names().take(MOST_PROBLEMS));
        let mut open = Vec::new();
        let mut marks = self.marks.iter().peekable();
        for (index, word) in self.words.iter().enumerate() {
            if let Some(mark) = marks.next_if(|mark| mark.word == index) {
                problems.extend(self.misplacement(mark, open.last().copied()));
            }
            let before = index.checked_sub(1).and_then(|before| self.words.get(before));
            match word.kind {
                Token::Ascii40 => open.push(Bracket::Round),
                Token::Ascii91 => open.push(bracket_after(before, open.last().copied())),
                Token::Ascii41 | Token::Ascii93 => {
                    open.pop();
                }
                _ => {}
            }
        }
        problems
    }

    fn misplacement(&self, mark: &Mark<'a>, inside: Option<Bracket>) -> Option<Problem> {
        let (name, at) = (fields::shown(mark.name), self.character(mark.start));
        let before = mark.word.checked_sub(1).and_then(|before| self.words.get(before));
        let after = self.words.get(mark.word + 2);
        let message = if after.is_some_and(|word| matches!(word.kind, Token::Ascii40 | Token::Ascii91)) {
            format!(
                "`(` or `[` follows `:{name}` at character {at}; a parameter is one value, with no elements and no arguments"
            )
        } else if inside == Some(Bracket::Subscript) && !before.is_some_and(is_operator) {
            format!(
                "`:{name}` at character {at} reads as the bound of a slice; put it in parentheses: `(:{name})`, or `({name})` if it is a column"
            )
        } else if before.is_some_and(|word| word.kind == Token::InP) {
            format!("there is no list parameter; write `IN (:{name})` with one parameter for each value")
        } else {
            return None;
        };
        Some(Problem::new("sql", message))
    }

    fn raw(&self, word: &Word<'a>) -> Problem {
        let at = self.character(word.start);
        let message =
            format!("`{}` at character {at} is no parameter; write `:name`, with a row for it", word.text);
        Problem::new("sql", message)
    }

    /// A colon right before a name that PostgreSQL reads and we do not take.
    fn odd_names(&self) -> impl Iterator<Item = Problem> {
        self.words.windows(2).filter_map(|pair| {
            let [colon, name] = pair else { return None };
            let glued = colon.kind == Token::Ascii58 && colon.end == name.start;
            if !glued || !name.is_name {
                return None;
            }
            let message = ParamName::parse(name.text).err()?;
            Some(Problem::new(
                "sql",
                format!(
                    "`:{}` at character {}: {message}",
                    fields::shown(name.text),
                    self.character(colon.start)
                ),
            ))
        })
    }
}

fn find_marks<'a>(words: &[Word<'a>]) -> Vec<Mark<'a>> {
    let pairs = words.windows(2).enumerate();
    pairs
        .filter_map(|(word, pair)| {
            let [colon, name] = pair else { return None };
            let glued = colon.kind == Token::Ascii58 && colon.end == name.start;
            let named = name.is_name && is_param_name(name.text);
            (glued && named).then_some(Mark { name: name.text, start: colon.start, end: name.end, word })
        })
        .collect()
}

/// `ARRAY[` makes an array, and so does a bracket that is an element of one; any other looks into a value.
fn bracket_after(before: Option<&Word<'_>>, inside: Option<Bracket>) -> Bracket {
    let element = inside == Some(Bracket::Constructor)
        && before.is_some_and(|word| matches!(word.kind, Token::Ascii91 | Token::Ascii44));
    let array = before.is_some_and(|word| word.kind == Token::Array);
    if array || element { Bracket::Constructor } else { Bracket::Subscript }
}

/// After an operator a value must follow, so that a colon cannot be a slice's.
fn is_operator(word: &Word<'_>) -> bool {
    matches!(word.kind, Token::Op | Token::LessEquals | Token::GreaterEquals | Token::NotEquals)
        || matches!(word.text, "+" | "-" | "*" | "/" | "%" | "^" | "<" | ">" | "=")
}

fn unreadable(message: &str) -> Problem {
    let message = message.strip_prefix("Error scanning: ").unwrap_or(message);
    let message = message.replace(['\n', '\r'], " ");
    Problem::new("sql", format!("{message}; close every quote, comment and dollar quote"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn marks(sql: &str) -> Vec<String> {
        Scan::read(sql).unwrap().marks.iter().map(|mark| mark.name.to_owned()).collect()
    }

    #[track_caller]
    fn misplaced(sql: &str) -> Vec<String> {
        Scan::read(sql).unwrap().misplaced().into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn parameters_are_found_where_values_stand() {
        for (sql, expected) in [
            ("SELECT :a", vec!["a"]),
            ("SELECT :a, :b, :a", vec!["a", "b", "a"]),
            ("SELECT a FROM t WHERE x>:a AND y @>:b AND z=-:c", vec!["a", "b", "c"]),
            ("SELECT :date, :limit, :user, :_x1", vec!["date", "limit", "user", "_x1"]),
            ("SELECT :a::date, (:b)::text", vec!["a", "b"]),
            ("SELECT ARRAY[:a, :b], ARRAY[[:c], [:d]]", vec!["a", "b", "c", "d"]),
            ("SELECT 'é', :a", vec!["a"]),
            ("SELECT tags ? :a, tags ?| ARRAY[:b]", vec!["a", "b"]),
        ] {
            assert_eq!(marks(sql), expected, "{sql}");
            assert_eq!(misplaced(sql), Vec::<String>::new(), "{sql}");
        }
    }

    #[test]
    fn what_only_looks_like_a_parameter_is_left_alone() {
        for sql in [
            "SELECT ':a', E'\\':a', U&':a', B':a', N':a'",
            "SELECT \":a\", U&\":a\"",
            "SELECT 1 -- :a\n",
            "SELECT 1 /* :a /* :b */ :c */",
            "SELECT $$ :a $$, $x$ :a $$ :b $x$",
            "SELECT x::date, '1'::pg_catalog.int8",
            "SELECT x[1:2], x[:2], x[1:], x[:], x[ : 2]",
            "SELECT x[1: n], x[(a): (b)], x[1:\"n\"]",
            "SELECT tags ? 'seasonal', tags ?| ARRAY['x'], tags ?& ARRAY['y']",
            "SELECT j #>> '{a,:b}', j -> ':a'",
            "SELECT f(a := 1)",
            "SELECT : a",
        ] {
            assert_eq!(marks(sql), Vec::<String>::new(), "{sql}");
            assert_eq!(misplaced(sql), Vec::<String>::new(), "{sql}");
        }
    }

    #[test]
    fn a_parameter_where_it_would_mean_something_else_is_refused() {
        for sql in [
            "SELECT :a[1]",
            "SELECT :a [1]",
            "SELECT :a(1)",
            "SELECT :a/* */(1)",
            "SELECT x[:a]",
            "SELECT x[1:a]",
            "SELECT x[1:2][:a]",
            "SELECT (ARRAY[1,2])[:a]",
            "SELECT x[y[1]:a]",
            "SELECT x IN :a",
            "SELECT x NOT IN :a",
            "SELECT $1",
            "SELECT x = $12",
            "SELECT :größe",
            "SELECT :page",
            "SELECT :SQL",
        ] {
            assert_eq!(misplaced(sql).len(), 1, "{sql}: {:?}", misplaced(sql));
        }
        for sql in ["SELECT x[(:a)], x[1:(:b)], x[a + :c], ARRAY[:d], x[f(:e)]", "SELECT x IN (:a, :b)"] {
            assert_eq!(misplaced(sql), Vec::<String>::new(), "{sql}");
        }
    }

    #[test]
    fn positions_are_characters() {
        assert!(
            misplaced("SELECT 'éé', $1")[0].contains("at character 14"),
            "{:?}",
            misplaced("SELECT 'éé', $1")
        );
    }
}
