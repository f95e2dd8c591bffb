//! Neighbours of a statement: the same words in another dress, or the statement inside another.

use std::fmt::Write as _;

use pg_query::protobuf::{KeywordKind, ScanToken, Token};

/// A statement that does what its original does, or holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Neighbour {
    /// How it came about.
    pub(super) kind: &'static str,
    pub(super) sql: String,
}

/// What stands around a statement. It ends on a line of its own, since it may end in a comment.
const AROUND: [(&str, &str); 22] = [
    ("in a CTE", "WITH w AS (@\n) SELECT * FROM w"),
    ("in a materialized CTE", "WITH w AS MATERIALIZED (@\n) SELECT count(*) FROM w"),
    ("in a CTE of a CTE", "WITH v AS (WITH w AS (@\n) TABLE w) SELECT * FROM v"),
    (
        "in a CTE that calls itself",
        "WITH RECURSIVE w AS ((@\n) UNION ALL SELECT * FROM w WHERE false) SELECT * FROM w",
    ),
    ("in a subquery", "SELECT * FROM (@\n) q"),
    ("in a subquery that is not used", "SELECT 1 FROM (@\n) q LIMIT 0"),
    ("in LATERAL", "SELECT q.* FROM (VALUES (1)) v(x), LATERAL (@\n) q"),
    ("in a join", "SELECT count(*) FROM (VALUES (1)) v(x) LEFT JOIN (@\n) q ON true"),
    ("in UNION ALL", "(@\n) UNION ALL (@\n)"),
    ("in EXCEPT", "SELECT q::text FROM (@\n) q EXCEPT SELECT 'x'"),
    ("in EXISTS", "SELECT EXISTS (@\n)"),
    ("in WHERE", "SELECT 1 WHERE NOT EXISTS (@\n)"),
    ("in IN", "SELECT 1 WHERE 'x' IN (SELECT q::text FROM (@\n) q)"),
    ("in an array", "SELECT ARRAY(@\n)"),
    ("in VALUES", "VALUES ((SELECT count(*) FROM (@\n) q))"),
    ("in LIMIT", "SELECT 1 LIMIT (SELECT count(*) FROM (@\n) q)"),
    ("in CASE", "SELECT CASE WHEN EXISTS (@\n) THEN 1 END"),
    ("in an aggregate", "SELECT max(q::text) FILTER (WHERE q IS NOT NULL) FROM (@\n) q"),
    ("cast", "SELECT ((@\n))::text"),
    ("cast as a row", "SELECT ((q)::text)::varchar FROM (@\n) q"),
    ("as JSON", "SELECT to_jsonb(q) FROM (@\n) q"),
    ("explained", "EXPLAIN (VERBOSE) @"),
];

/// What stands between all words.
const BETWEEN: [(&str, &str); 4] = [
    ("commented", "/**/"),
    ("commented with a nested comment", " /* ' /* \" */ ; */ "),
    ("commented to the end of the line", " -- '\n"),
    ("spaced", "\t\r\n\u{c} "),
];

/// All neighbours that are not the statement itself; none where it cannot be taken apart.
pub(super) fn neighbours(sql: &str) -> Vec<Neighbour> {
    let Ok(scan) = pg_query::scan(sql) else { return Vec::new() };
    let words: Vec<Word<'_>> = scan.tokens.iter().filter_map(|token| Word::read(sql, token)).collect();
    let alone = sql.trim_end_matches([';', ' ', '\n']);
    let around = AROUND.iter().map(|&(kind, text)| (kind, text.replace('@', alone)));
    let between = BETWEEN.iter().map(|&(kind, gap)| (kind, joined(&words, gap, |word| word.text.to_owned())));
    let rewritten = REWRITES.iter().map(|&(kind, rewrite)| (kind, joined(&words, " ", rewrite)));
    around
        .chain(between)
        .chain(rewritten)
        .filter(|(_, neighbour)| neighbour != sql)
        .map(|(kind, sql)| Neighbour { kind, sql })
        .collect()
}

/// A word as PostgreSQL's scanner finds it.
struct Word<'a> {
    text: &'a str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A name without quotes.
    Name,
    Keyword,
    /// A string between plain quotes.
    Text,
    /// Anything else that has to stay as it is.
    Other,
}

impl<'a> Word<'a> {
    /// None for a comment.
    fn read(sql: &'a str, token: &ScanToken) -> Option<Self> {
        let text = &sql[usize::try_from(token.start).unwrap()..usize::try_from(token.end).unwrap()];
        let kind = match (token.token(), token.keyword_kind()) {
            (Token::SqlComment | Token::CComment, _) => return None,
            (Token::Ident, _) if !text.starts_with('"') => Kind::Name,
            (Token::Sconst, _) if text.starts_with('\'') => Kind::Text,
            (_, KeywordKind::NoKeyword) => Kind::Other,
            _ => Kind::Keyword,
        };
        Some(Self { text, kind })
    }

    /// What stands between the quotes of a text.
    fn content(&self) -> String {
        self.text[1..self.text.len() - 1].replace("''", "'")
    }
}

fn joined(words: &[Word<'_>], gap: &str, rewrite: impl Fn(&Word<'_>) -> String) -> String {
    let mut sql = String::new();
    for word in words {
        write!(sql, "{}{gap}", rewrite(word)).unwrap();
    }
    sql
}

type Rewrite = fn(&Word<'_>) -> String;

const REWRITES: [(&str, Rewrite); 8] = [
    ("quoted", |word| match word.kind {
        Kind::Name => format!("\"{}\"", word.text.to_ascii_lowercase()),
        _ => word.text.to_owned(),
    }),
    ("escaped", |word| match word.kind {
        Kind::Name => format!("U&\"{}\"", escapes(&word.text.to_ascii_lowercase(), |c| format!("\\{c:04x}"))),
        _ => word.text.to_owned(),
    }),
    ("escaped in part, by a character of its own", |word| match word.kind {
        Kind::Name => {
            let name = word.text.to_ascii_lowercase();
            let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
            format!("U&\"{}{rest}\" UESCAPE '!'", escapes(first, |c| format!("!+{c:06x}")))
        }
        _ => word.text.to_owned(),
    }),
    ("in capitals", |word| match word.kind {
        Kind::Name | Kind::Keyword => word.text.to_ascii_uppercase(),
        Kind::Text | Kind::Other => word.text.to_owned(),
    }),
    ("in mixed case", |word| match word.kind {
        Kind::Name | Kind::Keyword => mixed(word.text),
        Kind::Text | Kind::Other => word.text.to_owned(),
    }),
    ("with texts escaped by a backslash", |word| match word.kind {
        Kind::Text => format!("E'{}'", escapes(&word.content(), |c| format!("\\u{c:04x}"))),
        _ => word.text.to_owned(),
    }),
    ("with texts in Unicode escapes", |word| match word.kind {
        Kind::Text => format!("U&'{}'", escapes(&word.content(), |c| format!("\\{c:04x}"))),
        _ => word.text.to_owned(),
    }),
    ("with texts between dollars", |word| match word.kind {
        Kind::Text => format!("$q${}$q$", word.content()),
        _ => word.text.to_owned(),
    }),
];

/// Every character as the escape that PostgreSQL knows for its number.
fn escapes(text: &str, escape: impl Fn(u32) -> String) -> String {
    text.chars().map(|c| escape(u32::from(c))).collect()
}

fn mixed(text: &str) -> String {
    let flip = |(place, c): (usize, char)| match place % 2 {
        0 => c.to_ascii_uppercase(),
        _ => c.to_ascii_lowercase(),
    };
    text.chars().enumerate().map(flip).collect()
}

#[test]
fn a_neighbour_is_the_statement_in_another_dress() {
    let made = neighbours("SELECT pg_Sleep('it''s') -- x");
    let of = |kind: &str| made.iter().find(|neighbour| neighbour.kind == kind).unwrap().sql.as_str();
    assert_eq!(of("in a subquery"), "SELECT * FROM (SELECT pg_Sleep('it''s') -- x\n) q");
    assert_eq!(of("commented"), "SELECT/**/pg_Sleep/**/(/**/'it''s'/**/)/**/");
    assert_eq!(of("quoted"), "SELECT \"pg_sleep\" ( 'it''s' ) ");
    assert!(of("escaped").starts_with("SELECT U&\"\\0070\\0067\\005f"), "{}", of("escaped"));
    assert!(of("escaped in part, by a character of its own").contains("U&\"!+000070g_sleep\" UESCAPE '!'"));
    assert_eq!(of("in mixed case"), "SeLeCt Pg_sLeEp ( 'it''s' ) ");
    assert!(of("with texts escaped by a backslash").contains("E'\\u0069\\u0074\\u0027\\u0073'"));
    assert!(of("with texts between dollars").contains("$q$it's$q$"));
    assert_eq!(neighbours("SELECT 'open").len(), 0);
}
