//! Input and results beyond measure: a clear answer, flat memory, and nothing left behind.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{task::JoinSet, time::Instant};

use super::{Endpoint, LATEST, Setup, assert_failure};
use crate::support::{
    self, TestDb,
    command::{Folder, Serving},
    http::call,
};

/// How long what must come may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Waits until the database has seen what pinguard has open.
async fn until(db: &TestDb, what: &str, holds: impl Fn(&[support::Activity]) -> bool) {
    let began = Instant::now();
    loop {
        let seen = db.activity().await;
        if holds(&seen) {
            return;
        }
        assert!(began.elapsed() < LIMIT, "in vain: {what}: {seen:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn statements_beyond_measure_are_refused_and_the_next_call_is_served() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for (sql, code) in [
        (format!("SELECT {}1", "1+".repeat(64_000)), "too_deep"),
        (format!("SELECT {}1{}", "(".repeat(50_000), ")".repeat(50_000)), "too_deep"),
        (format!("SELECT {}true", "NOT ".repeat(30_000)), "too_deep"),
        (format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(12_000)), "too_deep"),
        (format!("SELECT {}1{}", "(SELECT ".repeat(5_000), ")".repeat(5_000)), "too_deep"),
        (format!("SELECT '{}'", "x".repeat(300_000)), "text_too_long"),
        ("(".repeat(100), "syntax_error"),
        ("\u{0}".to_owned(), "nul_character"),
    ] {
        let failure = endpoint.refuses(&sql).await;
        let start: String = sql.chars().take(20).collect();
        assert_eq!(failure["outcome"], "expected", "{start}: {failure}");
        assert_failure(&failure, code, "expected", "");
    }
    let long: Value =
        endpoint.query(&format!("SELECT count(*) FROM (VALUES {}(0)) AS t", "(1),".repeat(20_000))).await;
    assert_eq!(long["rows"], json!([[20_001]]));
    let many: Vec<u32> = (0..65_535).collect();
    let list =
        endpoint.good("query", json!({"sql": "SELECT cardinality($1::int[])", "params": [many]})).await;
    assert_eq!(list["rows"], json!([[65_535]]));
    let params = json!({"sql": "SELECT 1", "params": many});
    assert_failure(&endpoint.bad("query", params).await, "parameter_count", "expected", "`params`");
    assert!(db.activity().await.is_empty());
}

#[tokio::test]
async fn a_statement_that_only_the_server_finds_too_deep_is_its_error() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE FUNCTION deep(a int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN deep(a + 1); END'")
            .await;
        let vouched = json!({"allowedFunctions": ["public.deep"]});
        let endpoint = Setup::node(vouched).start(&db, &db.url).await;
        let failure = endpoint.refuses("SELECT deep(1)").await;
        assert_eq!(failure["code"], "54001", "{failure}");
        assert!(failure["hint"].is_string() && failure["error"].as_str().unwrap().len() < 200, "{failure}");
    })
    .await;
}

#[tokio::test]
async fn values_and_results_of_gigabytes_leave_memory_flat_and_no_backend() {
    let db = support::database(18).await;
    // A process of its own, whose memory nothing else of these tests fills.
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json", "--database-url", &db.url]);
    let ready = serving.ready();
    let query = async |sql: &str| {
        call(ready.url(), ready.key(), "query", json!({"sql": sql})).await["structuredContent"].clone()
    };
    query("SELECT 1").await;
    let before = serving.peak_memory();
    let value = query("SELECT repeat(a, 250000000) FROM (SELECT 'x' AS a OFFSET 0) t").await;
    assert_eq!((&value["valuesCut"], &value["truncated"]), (&json!(1), &json!(false)), "{value}");
    assert!(value["rows"][0][0].as_str().unwrap().contains("250000000 characters"), "{value}");
    let beyond = query("SELECT repeat(a, 2000000000) FROM (SELECT 'x' AS a OFFSET 0) t").await;
    assert_failure(&beyond, "54000", "expected", "simpler");
    let cross = query("SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 100000) b").await;
    assert_eq!((&cross["rowCount"], &cross["truncatedBy"]), (&json!(500), &json!("rows")));
    let wide = query("SELECT repeat('y', 100000) FROM generate_series(1, 100000000)").await;
    assert_eq!(wide["truncatedBy"], "bytes");
    let grown = serving.peak_memory() - before;
    assert!(grown < 16 << 20, "{grown} bytes more");
    assert!(db.activity().await.is_empty());
}

#[tokio::test]
async fn counting_ten_billion_rows_ends_with_its_time() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let sql = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b";
    let failure = endpoint.bad("query", json!({"sql": sql, "timeout_seconds": 1})).await;
    assert_failure(&failure, "57014", "expected", "unchanged");
    until(&db, "the backend is gone", <[_]>::is_empty).await;
}

#[tokio::test]
async fn a_caller_that_hangs_up_takes_its_statement_along_and_leaves_a_record() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = Endpoint::over(&db).await;
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "query", "arguments": {"sql": support::SLOW}}});
        let app = Arc::clone(&endpoint.app);
        let request = endpoint.request(message.to_string());
        let call = tokio::spawn(async move { mcp::handle(&app, request, Instant::now() + LATEST).await.status() });
        until(&db, "the statement runs", |seen| seen.iter().any(|one| one.state == "active" && one.query.contains("300000"))).await;
        let began = Instant::now();
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        until(&db, "the backend is gone", <[_]>::is_empty).await;
        assert!(began.elapsed() < Duration::from_millis(1_500), "{:?}", began.elapsed());
        // Whoever notices the end first, the record comes.
        let mut records = Vec::new();
        while records.is_empty() && began.elapsed() < LIMIT {
            tokio::time::sleep(Duration::from_millis(5)).await;
            records.extend(endpoint.records());
        }
        assert_eq!(records.len(), 1, "{records:?}");
        assert_eq!(records[0].code.as_deref(), Some("caller_left"));
        assert_eq!(records[0].sql_hash.as_deref(), Some(&*pins::sql_hash(support::SLOW)));
    })
    .await;
}

#[tokio::test]
async fn forty_calls_at_once_are_served_and_leave_nothing() {
    let db = support::database(18).await;
    let endpoint = Arc::new(Endpoint::over(&db).await);
    let mut calls = JoinSet::new();
    for i in 0..40 {
        let endpoint = Arc::clone(&endpoint);
        calls.spawn(async move {
            let sql =
                format!("SELECT {i}, count(*) FROM generate_series(1, 300) a, generate_series(1, 300) b");
            assert_eq!(endpoint.query(&sql).await["rows"], json!([[i, 90_000]]));
        });
    }
    calls.join_all().await;
    until(&db, "the backends are gone", <[_]>::is_empty).await;
    assert_eq!(endpoint.records().len(), 40);
}
