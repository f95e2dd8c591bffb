//! Arguments that do not fit: each is answered with what is accepted, as a failure that the agent can mend.

use serde_json::{Value, json};

use super::{Endpoint, assert_failure};
use crate::support;

/// A call with these arguments fails, and says this.
async fn check(endpoint: &Endpoint, tool: &str, arguments: &str, says: &str, hint: &str) {
    let given: Value = serde_json::from_str(arguments).unwrap();
    let failure = endpoint.bad(tool, given).await;
    assert_failure(&failure, "invalid_arguments", "expected", hint);
    assert!(failure["error"].as_str().unwrap().contains(says), "{arguments}: `{says}` is not in {failure}");
}

#[tokio::test]
async fn a_missing_or_cut_off_statement_is_answered_by_saying_so() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for arguments in ["{}", r#"{"max_rows": 5}"#, r#"{"params": []}"#] {
        check(&endpoint, "query", arguments, "`sql` is missing or was cut off", "one shorter statement")
            .await;
    }
    let answer = endpoint.ask("tools/call", json!({"name": "query"})).await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"]["structuredContent"]["error"].as_str().unwrap().contains("cut off"));
    for sql in ["", "  \n", ";", "-- nothing", "/* nothing */ ;"] {
        assert_failure(&endpoint.refuses(sql).await, "empty_statement", "expected", "`sql`");
    }
    for sql in
        ["SELECT 1 FROM", "SELECT 'abc", "SELECT (1", "WITH a AS (SELECT 1", "SELECT $$abc", "SELECT \"a"]
    {
        let failure = endpoint.refuses(sql).await;
        assert_failure(&failure, "syntax_error", "expected", "");
        let hint = failure["hint"].as_str().unwrap();
        assert!(hint.contains("cut off") || hint.contains("one complete statement"), "{sql}: {hint}");
    }
}

#[tokio::test]
async fn aliases_of_the_statement_are_taken_and_two_at_once_are_not() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for name in ["sql", "statement", "query"] {
        assert_eq!(endpoint.good("query", json!({name: "SELECT 1"})).await["rows"], json!([[1]]));
    }
    check(&endpoint, "query", r#"{"sql": "SELECT 1", "query": "SELECT 1"}"#, "`sql` and `query`", "").await;
    for name in ["name", "relation", "table", "view"] {
        assert_failure(
            &endpoint.bad("describe", json!({name: "nosuch"})).await,
            "unknown_relation",
            "expected",
            "",
        );
    }
    check(&endpoint, "describe", r#"{"name": "a", "view": "b"}"#, "`name` and `view`", "").await;
}

#[tokio::test]
async fn unknown_names_are_refused_with_the_known_ones() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let takes = "it takes `sql`, `statement`, `query`, `params`, `max_rows`, `max_bytes`, `timeout_seconds`, `format`";
    check(
        &endpoint,
        "query",
        r#"{"sql": "SELECT 1", "limit": 5, "Sql": ""}"#,
        "does not take `limit`, `Sql`",
        takes,
    )
    .await;
    check(
        &endpoint,
        "describe",
        r#"{"schema": "a"}"#,
        "does not take `schema`",
        "`name`, `relation`, `table`, `view`",
    )
    .await;
    check(&endpoint, "list_schemas", r#"{"like": "a"}"#, "does not take `like`", "it takes no arguments")
        .await;
    check(
        &endpoint,
        "list_tables",
        r#"{"name": "a"}"#,
        "does not take `name`",
        "`schema`, `limit`, `offset`",
    )
    .await;
    check(&endpoint, "describe_table", r#"{"name": "a"}"#, "does not take `name`", "`table`, `schema`").await;
}

#[tokio::test]
async fn numbers_out_of_range_or_of_another_kind_name_the_range() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for value in [
        "0",
        "-5",
        "30000",
        "1e9",
        "1e400",
        "\"10\"",
        "10.5",
        "null",
        "[]",
        "{}",
        "true",
        "-0.0",
        "99999999999999999999",
    ] {
        let most =
            [("max_rows", "1 to 10000"), ("max_bytes", "256 to 1048576"), ("timeout_seconds", "1 to 300")];
        for (name, range) in most.into_iter().filter(|(name, _)| *name != "max_bytes" || value != "30000") {
            let arguments = format!(r#"{{"sql": "SELECT 1", "{name}": {value}}}"#);
            check(
                &endpoint,
                "query",
                &arguments,
                &format!("`{name}` must be a whole number from {range}"),
                name,
            )
            .await;
        }
    }
    for (name, value) in [("limit", "0"), ("limit", "2001"), ("offset", "-1"), ("offset", "\"5\"")] {
        check(
            &endpoint,
            "list_tables",
            &format!(r#"{{"{name}": {value}}}"#),
            &format!("`{name}` must be"),
            name,
        )
        .await;
    }
}

#[tokio::test]
async fn whatever_a_message_quotes_it_stays_short_and_on_one_line() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let long = "x\ny".repeat(100_000);
    for (tool, arguments) in [
        ("query", json!({"sql": "SELECT 1", "format": long})),
        ("query", json!({"sql": "SELECT 1", long.clone(): 1})),
        ("query", json!({"sql": format!("SELECT \"{}\"", "x\ny".repeat(50_000))})),
        ("query", json!({"sql": format!("SELECT 1 \"{}\" 2", "x\ny".repeat(50_000))})),
        ("query", json!({"sql": "SELECT $1::int", "params": [long]})),
        ("describe", json!({"name": format!("\"{long}\"")})),
        ("describe_table", json!({"table": long})),
    ] {
        let failure = endpoint.bad(tool, arguments).await;
        let text = failure.to_string();
        assert!(
            text.len() < 8_000 && !text.contains("\\n"),
            "{}",
            text.chars().take(500).collect::<String>()
        );
    }
    let tool = endpoint.ask("tools/call", json!({"name": "x\n".repeat(1_000)})).await;
    let message = tool["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("the tools of this node are query")
            && message.len() < 1_000
            && !message.contains('\n'),
        "{message}"
    );
}

#[tokio::test]
async fn values_of_another_kind_are_told_which_kind_is_taken() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for (arguments, says) in [
        (r#"{"sql": 5}"#, "`sql` must be a string, not a number"),
        (r#"{"sql": null}"#, "`sql` must be a string, not null"),
        (r#"{"sql": ["SELECT 1"]}"#, "`sql` must be a string, not a list"),
        (r#"{"sql": {"text": "SELECT 1"}}"#, "`sql` must be a string, not an object"),
        (r#"{"sql": "SELECT 1", "params": {"a": 1}}"#, "`params` must be a list, not an object"),
        (r#"{"sql": "SELECT 1", "params": "a"}"#, "`params` must be a list, not a string"),
        (
            r#"{"sql": "SELECT 1", "format": "csv"}"#,
            "`format` must be one of `arrays`, `objects`, `table`, not `csv`",
        ),
        (
            r#"{"sql": "SELECT 1", "format": null}"#,
            "`format` must be one of `arrays`, `objects`, `table`, not null",
        ),
    ] {
        check(&endpoint, "query", arguments, says, "").await;
    }
    check(&endpoint, "describe", "{}", "`name` is missing", "public.orders").await;
    check(&endpoint, "describe_table", "{}", "`table` is missing", "public.orders").await;
    check(&endpoint, "describe_table", r#"{"table": "a.b", "schema": "c"}"#, "two schemas", "once").await;
    check(&endpoint, "list_tables", r#"{"schema": 1}"#, "`schema` must be a string", "").await;
}
