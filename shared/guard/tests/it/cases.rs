//! Statements and what becomes of them, as data.

use std::fmt::Write as _;

use guard::facts::ObjectName;
use guard::{RowLimit, Rules, Selection};

fn name(schema: &str, name: &str) -> ObjectName {
    ObjectName { schema: schema.to_owned(), name: name.to_owned() }
}

fn everything() -> Rules {
    Rules::open(RowLimit::new(10))
}

/// What a caller would see, or what would run.
fn rendered(sql: &str, rules: &Rules) -> String {
    match guard::candidate(sql, rules) {
        Ok(statement) => statement.text().replace('\n', "¶"),
        Err(refusal) => {
            let first = refusal.first();
            let place = first.position.map_or(String::new(), |position| format!(" at {position}"));
            format!("{}{place}: {refusal}", first.code)
        }
    }
}

#[track_caller]
fn check(file: &str) {
    let mut wrong = String::new();
    let mut count = 0;
    for case in file.split("\n# ").skip(1) {
        let (why, rest) = case.split_once('\n').unwrap();
        let (sql, expected) = rest.split_once("\n=> ").unwrap();
        let got = rendered(sql, &everything());
        count += 1;
        if got != expected.trim_end() {
            writeln!(wrong, "{why}\n  {sql}\n  expected {}\n  got      {got}", expected.trim_end()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(count > 10, "the file was not read");
}

#[test]
fn what_reads_is_admitted_as_the_text_that_runs() {
    check(include_str!("../cases/admitted.sql"));
}

#[test]
fn what_does_not_is_refused_in_words() {
    check(include_str!("../cases/refused.sql"));
}

#[test]
fn with_a_selection_nothing_shows_more_than_it() {
    let rules =
        Rules { selection: Selection::Only(vec![name("public", "t")]), ..Rules::open(RowLimit::new(10)) };
    for (sql, code) in [
        ("EXPLAIN SELECT 1", "not_with_selection"),
        ("SHOW search_path", "not_with_selection"),
        ("SELECT * FROM u", "relation_not_selected"),
        ("DELETE FROM t", "not_a_read"),
    ] {
        let Err(refusal) = guard::candidate(sql, &rules) else { panic!("{sql} was admitted") };
        assert_eq!(refusal.first().code.as_str(), code, "{sql}");
    }
}

#[test]
fn positions_lose_what_stands_before_the_callers_text() {
    let position = |sql: &str, word: &str| {
        let Ok(statement) = guard::candidate(sql, &everything()) else { panic!("{sql} was refused") };
        let text = statement.text();
        let server = text[..text.find(word).unwrap()].chars().count() + 1;
        statement.caller_position(server)
    };
    assert_eq!(position("SELECT nosuch", "nosuch"), Some(8));
    assert_eq!(position(";; SELECT ü, nosuch", "nosuch"), Some(14));
    assert_eq!(position("EXPLAIN (ANALYZE)  SELECT nosuch", "nosuch"), Some(27));
    let Ok(statement) = guard::candidate("SELECT 1", &everything()) else { panic!() };
    assert_eq!(statement.caller_position(3), None);
}
