//! Call records: one line a call, for whoever must know later who asked what.

use mcp::Settings;
use serde_json::{Value, json};
use state::CallRecord;

use super::{Endpoint, Setup};
use crate::support;

/// A record without what differs from call to call; those fields are checked for their form.
fn settled(record: &CallRecord) -> Value {
    let mut record = serde_json::to_value(record).unwrap();
    let fields = record.as_object_mut().unwrap();
    let id = fields.shift_remove("id").unwrap();
    assert_eq!(id.as_str().unwrap().len(), 36);
    let at = fields.shift_remove("at").unwrap();
    assert!(at.as_str().unwrap().ends_with('Z'), "{at}");
    assert!(fields.shift_remove("elapsedMs").unwrap().as_u64().unwrap() < 60_000);
    record
}

async fn one(endpoint: &Endpoint, tool: &str, arguments: Value) -> Value {
    endpoint.call(tool, arguments).await;
    let records = endpoint.records();
    assert_eq!(records.len(), 1, "{records:?}");
    settled(&records[0])
}

#[tokio::test]
async fn a_served_a_refused_and_a_failed_call_leave_one_record_each() {
    let db = support::database(18).await;
    db.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)").await;
    let endpoint = Endpoint::over(&db).await;
    let whose = json!({"workspace": "w", "flow": "shop", "node": "db", "caller": "laptop"});
    let expect = |rest: Value| {
        let mut record = whose.clone();
        for (name, value) in rest.as_object().unwrap() {
            record[name] = value.clone();
        }
        record
    };
    let hash = |sql: &str| json!(pins::sql_hash(sql));
    for (arguments, rest) in [
        (
            json!({"sql": "SELECT a FROM t ORDER BY a"}),
            json!({"tool": "query", "sqlHash": hash("SELECT a FROM t ORDER BY a"), "effect": "allowed", "lane": "quiet", "tablesRead": ["public.t"], "rowsReturned": 2, "bytes": 9}),
        ),
        (
            json!({"sql": "DELETE FROM t"}),
            json!({"tool": "query", "sqlHash": hash("DELETE FROM t"), "effect": "refused", "code": "not_a_read"}),
        ),
        (
            json!({"sql": "SELECT zzz"}),
            json!({"tool": "query", "sqlHash": hash("SELECT zzz"), "effect": "failed", "lane": "quiet", "code": "42703"}),
        ),
        (json!({}), json!({"tool": "query", "effect": "failed", "code": "invalid_arguments"})),
    ] {
        assert_eq!(one(&endpoint, "query", arguments).await, expect(rest));
    }
    let listed = one(&endpoint, "list_schemas", json!({})).await;
    assert_eq!((&listed["effect"], &listed["tool"]), (&json!("none"), &json!("list_schemas")));
    assert!(listed["bytes"].as_u64().unwrap() > 0 && listed["sqlHash"].is_null(), "{listed}");
    let unknown = one(&endpoint, "describe", json!({"name": "nosuch"})).await;
    assert_eq!((&unknown["effect"], &unknown["code"]), (&json!("failed"), &json!("unknown_relation")));

    endpoint.ask("tools/list", json!({})).await;
    endpoint.ask("ping", json!({})).await;
    assert!(endpoint.records().is_empty(), "what is no call leaves none");
}

#[tokio::test]
async fn ids_are_unique_and_the_hash_is_that_of_the_statement() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for _ in 0..3 {
        endpoint.query("SELECT  1 -- again\n;").await;
    }
    let records = endpoint.records();
    let mut ids: Vec<_> = records.iter().map(|record| record.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert!(records.iter().all(|record| record.sql_hash == records[0].sql_hash));
}

#[tokio::test]
async fn a_preview_is_kept_only_with_the_setting_and_holds_no_literal() {
    let db = support::database(18).await;
    let plain = Endpoint::over(&db).await;
    assert!(one(&plain, "query", json!({"sql": "SELECT 'x'"})).await["preview"].is_null());
    let settings = Settings { trace_preview: true, ..Settings::default() };
    let endpoint = Setup::settings(settings).start(&db, &db.url).await;
    for (sql, preview) in [
        ("SELECT 'mandrill', 42 AS a -- mandrill", "SELECT ?, ? AS a"),
        ("DELETE FROM t WHERE a = 'mandrill'", "DELETE FROM t WHERE a = ?"),
        ("ALTER ROLE x PASSWORD 'mandrill'", "ALTER ROLE x PASSWORD ********"),
        ("SELECT 'mandrill", "SELECT ?"),
    ] {
        let record = one(&endpoint, "query", json!({"sql": sql})).await;
        assert_eq!(record["preview"], preview, "{record}");
    }
    let long = one(&endpoint, "query", json!({"sql": format!("SELECT {}", "a, ".repeat(400))})).await;
    assert_eq!(long["preview"].as_str().unwrap().chars().count(), 500);
}
