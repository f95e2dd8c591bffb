//! Texts that nest or chain past what a stack holds: answered, and the process lives on.

use guard::{RowLimit, Rules};

fn verdict(sql: &str) -> Result<(), String> {
    let rules = Rules::open(RowLimit::new(10));
    match guard::candidate(sql, &rules) {
        Ok(_) => Ok(()),
        Err(refusal) => Err(refusal.first().code.to_string()),
    }
}

#[track_caller]
fn too_deep(sql: &str) {
    assert_eq!(verdict(sql), Err("too_deep".to_owned()));
}

#[test]
fn what_nests_too_deep_is_refused() {
    too_deep(&format!("SELECT {}1", "1+".repeat(64_000)));
    too_deep(&format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)));
    too_deep(&format!("SELECT {}1", "NOT ".repeat(30_000)));
    too_deep(&format!("SELECT {}1", "- ".repeat(100_000)));
    too_deep(&format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(13_000)));
    too_deep(&format!("SELECT 1 FROM t{}", " JOIN t ON a AND b".repeat(13_000)));
    too_deep(&format!("SELECT 1 FROM t{}", " JOIN t USING (a)".repeat(151)));
    too_deep(&format!("SELECT {}1{}", "CASE WHEN a AND ".repeat(6_000), " THEN 1 END".repeat(6_000)));
    too_deep(&format!("SELECT 1{}", "::int".repeat(40_000)));
    too_deep(&format!("SELECT {}1{}", "ARRAY[".repeat(30_000), "]".repeat(30_000)));
}

#[test]
fn a_column_called_end_ends_nothing() {
    for nested in [
        "f(a.end, ",
        "(a . /* */ end, ",
        "(a.end and ",
        "(SELECT 1 end, ",
        "(SELECT 1 AS end, ",
        "CASE a.end WHEN 1, ",
    ] {
        too_deep(&format!("SELECT {}1{} FROM a", nested.repeat(9_000), ")".repeat(9_000)));
    }
    assert_eq!(verdict(&format!("SELECT {}1{} FROM a", "f(a.end, ".repeat(500), ")".repeat(500))), Ok(()));
}

#[test]
fn what_people_write_is_not_too_deep() {
    assert_eq!(verdict(&format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(500))), Ok(()));
    assert_eq!(verdict(&format!("SELECT ''{}", " || 'x'".repeat(500))), Ok(()));
    assert_eq!(verdict(&format!("SELECT 1 FROM t{}", " JOIN t USING (a)".repeat(150))), Ok(()));
    assert_eq!(verdict(&format!("SELECT {}1{}", "(SELECT ".repeat(100), ")".repeat(100))), Ok(()));
    assert_eq!(verdict(&format!("SELECT * FROM t WHERE a IN (1{})", ", 1".repeat(50_000))), Ok(()));
    assert_eq!(verdict(&format!("SELECT * FROM t WHERE a = 0{}", " OR a = 1".repeat(10_000))), Ok(()));
    assert_eq!(verdict(&format!("VALUES (1, 'a'){}", ", (1, 'a')".repeat(20_000))), Ok(()));
}

#[test]
fn the_deepest_text_that_is_let_through_fits_the_stack() {
    for sql in [
        format!("SELECT {}1", "- ".repeat(3_990)),
        format!("SELECT {}1{}", "(SELECT ".repeat(1_300), ")".repeat(1_300)),
        format!("SELECT {}1{}", "ARRAY[".repeat(1_900), "]".repeat(1_900)),
        format!("SELECT {}1{}", "CASE WHEN ".repeat(1_900), " THEN 1 END".repeat(1_900)),
        format!("SELECT {}1{}", "f(".repeat(1_900), ")".repeat(1_900)),
        format!("SELECT {}1{} FROM a", "f(a.end, ".repeat(1_900), ")".repeat(1_900)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(990)),
    ] {
        let answer = verdict(&sql);
        assert!(answer == Ok(()) || answer == Err("too_deep".to_owned()), "{answer:?}: {}…", &sql[..40]);
    }
}

#[test]
fn long_text_and_nul_are_refused() {
    assert_eq!(
        verdict(&format!("SELECT '{}'", "x".repeat(guard::MAX_TEXT_BYTES))),
        Err("text_too_long".to_owned())
    );
    assert_eq!(verdict("SELECT 1\0"), Err("nul_character".to_owned()));
}
