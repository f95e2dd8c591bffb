//! Rows, bytes, characters and seconds: what is cut, and that the answer says so exactly.

use std::time::Duration;

use mcp::Settings;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Endpoint, Setup, assert_failure};
use crate::support;

/// Rows in the answer, whether there are more, and what ended it.
fn ended(answer: &Value) -> (u64, bool, Option<&str>) {
    (
        answer["rowCount"].as_u64().unwrap(),
        answer["truncated"].as_bool().unwrap(),
        answer["truncatedBy"].as_str(),
    )
}

#[tokio::test]
async fn truncated_is_exact_one_below_at_and_one_above_the_limit() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = Setup::node(json!({"rowCap": 100})).start(&db, &db.url).await;
        for (rows, expected) in
            [(99, (99, false, None)), (100, (100, false, None)), (101, (100, true, Some("rows")))]
        {
            let answer =
                endpoint.query(&format!("SELECT i FROM generate_series(1, {rows}) AS i -- all of it")).await;
            assert_eq!(ended(&answer), expected, "{rows}");
            assert_eq!(answer["hint"].is_string(), rows == 101);
        }
        let few = endpoint.good("query", json!({"sql": "SELECT generate_series(1, 3)", "max_rows": 2})).await;
        assert_eq!((ended(&few), &few["rows"]), ((2, true, Some("rows")), &json!([[1], [2]])));
        let all = endpoint.good("query", json!({"sql": "SELECT generate_series(1, 3)", "max_rows": 3})).await;
        assert_eq!(ended(&all), (3, false, None));
        // A statement's own LIMIT is its own business.
        let own = endpoint.query("SELECT generate_series(1, 1000) LIMIT 100").await;
        assert_eq!(ended(&own), (100, false, None));
    })
    .await;
}

#[tokio::test]
async fn a_wish_beyond_the_nodes_limit_is_lowered_and_noted() {
    let db = support::database(18).await;
    let node = json!({"rowCap": 5, "limits": {"maxBytes": 1000, "timeoutSeconds": 7}});
    let endpoint = Setup::node(node).start(&db, &db.url).await;
    let asked = json!({"sql": "SELECT generate_series(1, 9)", "max_rows": 8, "max_bytes": 5000, "timeout_seconds": 60});
    let answer = endpoint.good("query", asked).await;
    assert_eq!(ended(&answer), (5, true, Some("rows")));
    let notes = [
        "`max_rows` was lowered to this node's limit of 5",
        "`max_bytes` was lowered to this node's limit of 1000",
        "`timeout_seconds` was lowered to this node's limit of 7",
    ];
    assert_eq!(answer["notes"], json!(notes));
}

#[tokio::test]
async fn bytes_end_an_answer_at_a_whole_row_exactly() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    // Twenty rows of `["0000000001"]`: 14 bytes and a comma each, and the list's brackets.
    let sql = |rows| format!("SELECT lpad(i::text, 10, '0') FROM generate_series(1, {rows}) AS i");
    let full = 2 + 20 * 15 - 1;
    for (rows, bytes, expected) in [
        (20, full, (20, false, None)),
        (20, full - 1, (19, true, Some("bytes"))),
        (21, full, (20, true, Some("bytes"))),
        (21, full + 15, (21, false, None)),
    ] {
        let answer = endpoint.good("query", json!({"sql": sql(rows), "max_bytes": bytes})).await;
        assert_eq!(ended(&answer), expected, "{rows} rows, {bytes} bytes");
        assert!(answer["rows"].to_string().len() <= bytes);
    }
}

#[tokio::test]
async fn rows_whose_text_is_much_longer_than_their_json_are_still_counted_exactly() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let many = "1, 2, 3, 4, 5, 6, 7, 8, 9, 0";
    for (sql, bytes, rows) in [
        // JSON of 21 bytes and a comma a row.
        (format!("SELECT {many} FROM generate_series(1, 6)"), 256, 6),
        (format!("SELECT {many} FROM generate_series(1, 11)"), 256, 11),
        // Each is cut to 4,000 characters of 20,000.
        ("SELECT repeat('x', 20000) FROM generate_series(1, 11)".to_owned(), 48 * 1024, 11),
        ("SELECT NULL::text FROM generate_series(1, 36)".to_owned(), 256, 36),
    ] {
        let answer = endpoint.good("query", json!({"sql": sql, "max_bytes": bytes})).await;
        let json_bytes = answer["rows"].to_string().len();
        assert_eq!(ended(&answer), (rows, false, None), "{sql}: {json_bytes}");
    }
    // Blanks inside json are read and not shown: fewer rows come than would fit, and the answer says that there are more.
    let blanks =
        |rows| format!("SELECT ('[' || repeat(' ', 3000) || '1]')::json FROM generate_series(1, {rows})");
    let one = endpoint.good("query", json!({"sql": blanks(1), "max_bytes": 256})).await;
    assert_eq!((ended(&one), &one["rows"]), ((1, false, None), &json!([[[1]]])));
    let two = endpoint.good("query", json!({"sql": blanks(2), "max_bytes": 256})).await;
    assert_eq!(ended(&two), (1, true, Some("bytes")));
    let cut = endpoint.query("SELECT repeat('x', 20000) FROM generate_series(1, 12)").await;
    assert_eq!((ended(&cut), &cut["valuesCut"]), ((12, false, None), &json!(12)));
    let more = endpoint.query("SELECT repeat('x', 20000) FROM generate_series(1, 13)").await;
    assert_eq!(ended(&more), (12, true, Some("bytes")));
}

#[tokio::test]
async fn a_first_row_that_is_too_big_is_cut_by_value_and_never_dropped() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let sql =
        "SELECT i AS id, repeat('x', 3000) AS a, repeat('y', 3000) AS b FROM generate_series(1, 2) AS i";
    let answer = endpoint.good("query", json!({"sql": sql, "max_bytes": 1000})).await;
    assert_eq!(ended(&answer), (1, true, Some("bytes")));
    assert_eq!((&answer["rows"][0][0], &answer["valuesCut"]), (&json!(1), &json!(2)));
    assert!(answer["rows"][0][1].as_str().unwrap().contains("of 3000 characters"), "{answer}");
    assert!(answer["rows"].to_string().len() <= 1000);
    let alone = endpoint.good("query", json!({"sql": format!("{sql} LIMIT 1"), "max_bytes": 1000})).await;
    assert_eq!((ended(&alone), &alone["valuesCut"]), ((1, false, None), &json!(2)));
}

#[tokio::test]
async fn the_defaults_hold_an_answer_under_what_clients_read() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for sql in [
        "SELECT repeat('x', 200) FROM generate_series(1, 5000)",
        "SELECT repeat('x', 200000)",
        "SELECT decode(repeat('00', 1000000), 'hex')",
        "SELECT repeat('ü', 200000), repeat('\"', 100000)",
    ] {
        let answer = endpoint.query(sql).await;
        let bytes = answer["rows"].to_string().len();
        assert!(bytes <= 48 * 1024, "{sql}: {bytes}");
        assert!(answer["truncated"] == true || answer["valuesCut"].as_u64() > Some(0), "{sql}");
    }
}

#[tokio::test]
async fn a_statement_past_its_time_ends_and_says_not_to_be_repeated() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = Endpoint::over(&db).await;
        let began = Instant::now();
        let failure = endpoint.bad("query", json!({"sql": support::SLOW, "timeout_seconds": 1})).await;
        assert_failure(&failure, "57014", "expected", "repeated unchanged");
        assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
        assert!(db.activity().await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn the_front_doors_last_moment_ends_a_call_as_well() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "query", "arguments": {"sql": support::SLOW}}});
    let latest = Instant::now() + Duration::from_secs(1);
    let answer = mcp::handle(&endpoint.app, endpoint.request(message.to_string()), latest).await;
    assert_eq!(answer.status(), 200);
    assert!(latest.elapsed() < Duration::from_secs(2), "{:?}", latest.elapsed());
    assert_eq!(endpoint.records()[0].code.as_deref(), Some("57014"));
}

#[tokio::test]
async fn the_deployments_ceilings_stand_over_the_node_and_the_caller() {
    let db = support::database(18).await;
    let settings = Settings {
        limits: mcp::Limits { row_cap: 3, value_chars: 10, ..mcp::Limits::default() },
        ..Settings::default()
    };
    let setup = Setup { settings, node: json!({"rowCap": 50}), ..Setup::default() };
    let endpoint = setup.start(&db, &db.url).await;
    let answer = endpoint
        .good("query", json!({"sql": "SELECT repeat('x', 11) FROM generate_series(1, 9)", "max_rows": 9}))
        .await;
    assert_eq!((ended(&answer), &answer["valuesCut"]), ((3, true, Some("rows")), &json!(3)));
}
