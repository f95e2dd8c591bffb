//! What holds for every text.

use guard::{RowLimit, Rules};
use proptest::prelude::*;

fn everything() -> Rules {
    Rules::open(RowLimit::new(10))
}

fn code(sql: &str) -> Option<String> {
    match guard::candidate(sql, &everything()) {
        Ok(_) => None,
        Err(refusal) => Some(refusal.first().code.to_string()),
    }
}

/// Pieces that texts are put together from: words, quotes, comments, brackets, separators.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("SELECT"),
        Just("WITH a AS ("),
        Just(")"),
        Just("("),
        Just(";"),
        Just("--"),
        Just("\n"),
        Just("/*"),
        Just("*/"),
        Just("'"),
        Just("\""),
        Just("$$"),
        Just("$a$"),
        Just("1"),
        Just("$1"),
        Just("DELETE FROM t"),
        Just("FROM t"),
        Just("FOR UPDATE"),
        Just("INTO x"),
        Just("U&'\\0041'"),
        Just("E'\\''"),
        Just("EXPLAIN"),
        Just("ANALYZE"),
        Just("UNION"),
        Just("VALUES (1)"),
        Just("TABLE t"),
        Just(","),
        Just("\u{2060}"),
        Just("é"),
    ]
    .prop_map(str::to_owned)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _verdict = guard::candidate(&text, &everything());
    }

    #[test]
    fn what_runs_is_one_read_however_the_text_is_put_together(pieces in prop::collection::vec(piece(), 0..12)) {
        let sql = pieces.join(" ");
        if let Ok(statement) = guard::candidate(&sql, &everything()) {
            let tree = pg_query::parse(statement.text(), pg_query::ParserOptions::DEFAULT).unwrap();
            prop_assert_eq!(tree.protobuf.stmts.len(), 1);
            let root = tree.protobuf.stmts[0].stmt.as_ref().unwrap().node.as_ref().unwrap();
            let reads = matches!(root, pg_query::NodeEnum::SelectStmt(_) | pg_query::NodeEnum::ExplainStmt(_)
                | pg_query::NodeEnum::VariableShowStmt(_));
            prop_assert!(reads);
            let writes = serde_json::to_string(root).unwrap();
            for word in ["InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "\"into_clause\":{"] {
                prop_assert!(!writes.contains(word), "{}", statement.text());
            }
        }
    }

    #[test]
    fn a_second_statement_never_passes(first in "[a-z ]{0,6}", comment in "[^*/]{0,6}") {
        let sql = format!("SELECT 1 AS a{first}/*{comment}*/; DROP TABLE t");
        prop_assert!(code(&sql).is_some());
    }

    #[test]
    fn comments_case_and_blanks_change_no_verdict(index in 0..CASES.len(), comment in "[a-z ]{0,8}", upper in any::<bool>()) {
        let sql = CASES[index];
        let dressed = format!("/*{comment}*/ {} --{comment}", sql.replace(' ', &format!(" /*{comment}*/\n\t")));
        let dressed = if upper { dressed.to_uppercase() } else { dressed };
        prop_assert_eq!(code(&dressed), code(sql));
    }
}

const CASES: &[&str] = &[
    "select 1",
    "select a from t where b in (1, 2)",
    "with a as (select 1) select * from a",
    "values (1)",
    "delete from t",
    "with d as (delete from t returning a) select * from d",
    "select a from t for update",
    "select a into x from t",
    "explain select 1",
    "explain analyze delete from t",
    "show server_version",
    "show all",
    "set a = 1",
    "select 1; select 2",
];
