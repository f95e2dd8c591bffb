//! The statements that are recorded, what is expected of each, and the rules under which that is so.

use guard::facts::ObjectName;
use guard::{RowLimit, Rules, Selection};

/// Title, statement, and `=> ` what is expected without and with a selection.
const STATEMENTS: &str = include_str!("../../trees/statements.sql");

/// One of them.
pub(crate) struct Statement {
    pub(crate) sql: String,
    /// `clear`, or codes.
    pub(crate) without: String,
    pub(crate) with: String,
}

/// Those that a major understands: a title may begin with the first that does, in brackets.
pub(crate) fn all(major: u32) -> Vec<Statement> {
    let cases = STATEMENTS.split("# ").skip(1).filter_map(|case| {
        let (title, rest) = case.split_once('\n').unwrap();
        let since =
            title.strip_prefix('[').and_then(|title| title.split_once(']')).map_or("14", |(since, _)| since);
        let (sql, expected) = rest.split_once("\n=> ").unwrap();
        let (without, with) = expected.trim_end().split_once(" | ").unwrap();
        let understood = since.parse::<u32>().unwrap() <= major;
        understood.then(|| Statement {
            sql: sql.to_owned(),
            without: without.to_owned(),
            with: with.to_owned(),
        })
    });
    cases.collect()
}

/// Nothing is selected.
pub(crate) fn open() -> Rules {
    Rules::open(RowLimit::new(10))
}

/// These are.
pub(crate) fn limited() -> Rules {
    let names = ["t", "u", "kinds", "v", "part", "checked", "child", "policed", "indexed", "noted_by_view"];
    let name = |name: &str| ObjectName { schema: "public".to_owned(), name: name.to_owned() };
    Rules { selection: Selection::Only(names.map(name).to_vec()), ..open() }
}
