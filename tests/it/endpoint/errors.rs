//! What PostgreSQL answers about a statement: code, place, and what to do next.

use serde_json::json;

use super::{Endpoint, Setup, assert_failure};
use crate::support;

#[tokio::test]
async fn every_error_of_a_statement_says_what_to_do_next() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE TABLE t (a int, b int, c text, \"Camel\" int); CREATE TABLE u (a int);
             INSERT INTO t VALUES (1, 1, 'x', 1), (2, 2, 'y', 2)",
        )
        .await;
        let endpoint = Endpoint::over(&db).await;
        for (sql, code, hint) in [
            ("SELECT * FROM nosuch", "42P01", "write the schema before the name"),
            ("SELECT * FROM nosuch.t", "42P01", "write the schema before the name"),
            ("SELECT zzz FROM t", "42703", "`describe`"),
            ("SELECT camel FROM t", "42703", "Camel"),
            ("SELECT a + b AS total FROM t WHERE total > 1", "42703", "not visible in WHERE"),
            ("SELECT a FROM t, u", "42702", "alias before the column"),
            ("SELECT nosuch(1)", "42883", ""),
            ("SELECT a + c FROM t", "42883", ""),
            ("SELECT 1 UNION SELECT 'x'::text", "42804", "cast"),
            ("SELECT a, count(*) FROM t", "42803", "GROUP BY"),
            ("SELECT * FROM t, t", "42712", "alias of its own"),
            ("SELECT DISTINCT a FROM t ORDER BY b", "42P10", "output columns"),
            ("SELECT c::int FROM t", "22P02", "as the type expects"),
            ("SELECT '2026-02-31'::date", "22008", "YYYY-MM-DD"),
            ("SELECT 'soon'::date", "22007", "YYYY-MM-DD"),
            ("SELECT 2000000000 + 2000000000", "22003", "bigint"),
            ("SELECT a / (a - a) FROM t", "22012", "NULLIF"),
            ("SELECT (SELECT a FROM t)", "21000", "LIMIT 1"),
            (
                "SELECT extract(day FROM date '2026-01-03' - date '2026-01-01')",
                "42883",
                "whole number of days",
            ),
            ("SELECT max(a = 1) FROM t", "42883", "bool_or"),
            ("SELECT round(1.5::float8, 2)", "42883", "::numeric"),
            ("SELECT tablename FROM pg_stat_user_tables", "42703", "`relname`"),
            ("SELECT nextval('nosuch')", "42P01", "schema"),
        ] {
            let failure = endpoint.refuses(sql).await;
            assert_failure(&failure, code, "expected", hint);
            assert!(failure["hint"].is_string(), "{sql}: {failure}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_slips_that_the_grammar_finds_get_a_hint_too() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for (sql, code, hint) in [
        ("SELECT 1 ORDER BY 1 UNION SELECT 2", "syntax_error", "parentheses"),
        ("SELECT 1 LIMIT 1 UNION ALL SELECT 2 LIMIT 1", "syntax_error", "parentheses"),
        ("SELECT 1; SELECT 2", "several_statements", "one statement a call"),
        ("SELEC 1", "syntax_error", "position"),
        ("DELETE FROM t", "not_a_read", "only SELECT, WITH, VALUES, TABLE"),
        ("SELECT 1 INTO t", "select_into", "leave INTO out"),
        ("SELECT 1 FOR UPDATE", "locking_clause", "leave the locking clause out"),
        ("SELECT setval\u{2060}('sq', 1)", "invisible_character", "leave it out"),
        ("SELECT '\u{0}'", "nul_character", "leave it out"),
    ] {
        let failure = endpoint.refuses(sql).await;
        assert_failure(&failure, code, "expected", hint);
        assert_eq!(failure.get("findings"), None, "told once: {failure}");
    }
    let both = endpoint.refuses("WITH d AS (DELETE FROM t RETURNING 1) SELECT 1 INTO x FROM d").await;
    assert_eq!(both["findings"].as_array().unwrap().len(), 2, "all at once: {both}");
}

#[tokio::test]
async fn what_writes_past_the_grammar_is_stopped_by_the_transaction() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE SEQUENCE sq; CREATE TABLE t (a int);
             CREATE FUNCTION writes() RETURNS int LANGUAGE sql AS 'INSERT INTO t VALUES (1) RETURNING a';
             CREATE FUNCTION advances() RETURNS bigint LANGUAGE sql AS $$ SELECT nextval('sq') $$;
             CREATE FUNCTION sets() RETURNS bigint LANGUAGE sql AS $$ SELECT setval('sq', 5) $$",
        )
        .await;
        let endpoint = Endpoint::over(&db).await;
        for sql in ["SELECT nextval('sq')", "SELECT writes()"] {
            let failure = endpoint.refuses(sql).await;
            assert!(
                failure["error"].as_str().unwrap().starts_with("this statement is refused: "),
                "{failure}"
            );
        }
        // Vouched for, they meet the wall behind the guard.
        let vouched = json!({"allowedFunctions": ["public.writes", "public.advances", "public.sets"]});
        let endpoint = Setup::node(vouched).start(&db, &db.url).await;
        for sql in ["SELECT advances()", "SELECT sets()", "SELECT writes()"] {
            assert_failure(&endpoint.refuses(sql).await, "25006", "expected", "read-only transaction");
        }
        assert_eq!(endpoint.query("SELECT count(*) FROM t").await["rows"], json!([[0]]));
    })
    .await;
}

#[tokio::test]
async fn positions_count_characters_of_the_callers_own_text() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TABLE t (a int)").await;
        let endpoint = Endpoint::over(&db).await;
        for (sql, at) in [
            ("SELECT zzz FROM t", "zzz"),
            ("SELECT 'ü€😀', zzz FROM t", "zzz"),
            ("/* ü */ ;; SELECT zzz FROM t", "zzz"),
            ("EXPLAIN SELECT zzz FROM t", "zzz"),
            ("EXPLAIN (COSTS off, VERBOSE) -- ü\n SELECT 'ü', zzz FROM t;", "zzz"),
            ("EXPLAIN ANALYZE VERBOSE SELECT zzz FROM t", "zzz"),
            ("WITH a AS (SELECT 1) SELECT * FROM nosuch", "nosuch"),
            ("SELECT 'ü' FROM FROM t", "FROM"),
            ("SELECT 'ü' FROM t; DELETE FROM t", "DELETE"),
        ] {
            let failure = endpoint.refuses(sql).await;
            let byte = sql.rfind(at).unwrap();
            assert_eq!(failure["position"], json!(sql[..byte].chars().count() + 1), "{sql}: {failure}");
        }
        // An error inside a function has no place in the caller's text.
        db.run("CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT zzz FROM t); END'")
            .await;
        let endpoint = Setup::node(json!({"allowedFunctions": ["public.f"]})).start(&db, &db.url).await;
        let failure = endpoint.refuses("SELECT f()").await;
        assert_eq!((&failure["code"], failure["position"].is_null()), (&json!("42703"), true), "{failure}");
    })
    .await;
}

#[tokio::test]
async fn detail_and_context_never_reach_the_caller() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE FUNCTION leaks() RETURNS int LANGUAGE plpgsql AS $$ BEGIN
               RAISE EXCEPTION 'it failed' USING DETAIL = 'Key (email)=(a@x.io)', HINT = 'try that', ERRCODE = '23505';
             END $$;
             CREATE TABLE big (a text)",
        )
        .await;
        let vouched = json!({"allowedFunctions": ["public.leaks", "public.lines"]});
        let endpoint = Setup::node(vouched).start(&db, &db.url).await;
        let failure = endpoint.refuses("SELECT leaks()").await;
        assert_failure(&failure, "23505", "expected", "try that");
        let text = failure.to_string();
        assert!(!text.contains("a@x.io") && !text.contains("PL/pgSQL"), "{text}");
        // A message of several lines is one line, and one that quotes a whole value is cut.
        let failure = endpoint.refuses("SELECT repeat('x', 1000000)::int").await;
        assert_failure(&failure, "22P02", "expected", "");
        assert!(failure["error"].as_str().unwrap().chars().count() <= 1_001);
        db.run("CREATE FUNCTION lines() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION E'one\\ntwo.'; END $$").await;
        let failure = endpoint.refuses("SELECT lines()").await;
        assert!(!failure["error"].as_str().unwrap().contains('\n'), "{failure}");
    })
    .await;
}

#[tokio::test]
async fn a_column_the_login_may_not_read_is_said_to_be_so() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TABLE t (a int, secret int)").await;
        let login = db.login("columns", "").await;
        db.run(&format!("GRANT SELECT (a) ON t TO {}", login.role)).await;
        let endpoint = Setup::default().start(&db, &login.url).await;
        assert_eq!(endpoint.query("SELECT a FROM t").await["rows"], json!([]));
        assert_eq!(endpoint.query("SELECT count(*) FROM t").await["rows"], json!([[0]]));
        for sql in ["SELECT * FROM t", "SELECT secret FROM t"] {
            assert_failure(&endpoint.refuses(sql).await, "42501", "expected", "columns");
        }
    })
    .await;
}
