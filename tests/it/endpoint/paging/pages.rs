//! Pages of kept rows.

use serde_json::{Value, json};
use state::Effect;

use super::{cursor, numbered, numbers, pages_of, rows, summary};
use crate::endpoint::{Endpoint, assert_failure};
use crate::support;

#[tokio::test]
async fn a_result_is_read_page_by_page_to_its_end() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = pages_of(100).start(&db, &db.url).await;
        let first = endpoint.query(&rows(250)).await;
        assert_eq!(numbers(&first), numbered(1, 100));
        assert_eq!(
            summary(&first),
            "rows 1 to 100 of 250; page 1, and page numbers are stable: each begins 100 rows after the one before; \
             `next_page` with `cursor` reads on; it lives 5 minutes after its last use, and 30 after the first page"
        );
        let second = endpoint.next_page(&cursor(&first)).await;
        assert_eq!((numbers(&second), &second["truncatedBy"]), (numbered(101, 200), &json!("rows")));
        assert_eq!(second["columns"], first["columns"]);
        assert!(summary(&second).starts_with("rows 101 to 200 of 250; page 2,"), "{second}");
        let third = endpoint.next_page(&cursor(&second)).await;
        assert_eq!((numbers(&third), &third["truncated"]), (numbered(201, 250), &json!(false)));
        assert!(third["cursor"].is_null() && third["truncatedBy"].is_null() && third["hint"].is_null());
        assert!(summary(&third).ends_with("nothing follows"), "{third}");
    })
    .await;
}

#[tokio::test]
async fn a_result_that_fits_has_no_cursor() {
    let db = support::database(18).await;
    let endpoint = pages_of(100).start(&db, &db.url).await;
    for count in [0, 1, 99, 100] {
        let answer = endpoint.query(&rows(count)).await;
        assert!(answer["cursor"].is_null() && answer["summary"].is_null(), "{answer}");
    }
    assert_eq!(endpoint.all(endpoint.query(&rows(101)).await).await, numbered(1, 101));
}

#[tokio::test]
async fn a_cursor_that_is_used_again_gives_its_page_again() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let first = cursor(&endpoint.query(&rows(35)).await);
    let second = endpoint.next_page(&first).await;
    endpoint.next_page(&cursor(&second)).await;
    let mut again = endpoint.next_page(&first).await;
    again["elapsedMs"] = second["elapsedMs"].clone();
    assert_eq!(again, second);
}

#[tokio::test]
async fn pages_do_not_change_when_the_data_does() {
    let db = support::database(18).await;
    db.run("CREATE TABLE t (n int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 250)").await;
    let endpoint = pages_of(100).start(&db, &db.url).await;
    let mut answer = endpoint.query("SELECT n FROM t ORDER BY n").await;
    let mut seen = numbers(&answer);
    db.run("UPDATE t SET n = n + 10000 WHERE n < 150; INSERT INTO t SELECT generate_series(-100, 0)").await;
    while answer["cursor"].is_string() {
        answer = endpoint.next_page(&cursor(&answer)).await;
        seen.extend(numbers(&answer));
        db.run("DELETE FROM t WHERE n > 200").await;
    }
    assert_eq!(seen, numbered(1, 250));
}

#[tokio::test]
async fn a_page_may_have_another_size_and_format_than_the_first() {
    let db = support::database(18).await;
    let endpoint = pages_of(100).start(&db, &db.url).await;
    let first = endpoint.good("query", json!({"sql": rows(60), "max_rows": 10})).await;
    let page = async |more: Value| {
        let mut arguments = json!({"cursor": cursor(&first)});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        endpoint.good("next_page", arguments).await
    };
    assert_eq!(numbers(&page(json!({})).await), numbered(11, 20), "like the first, where nothing is said");
    let more = page(json!({"max_rows": 25})).await;
    assert_eq!(numbers(&more), numbered(11, 35));
    assert!(summary(&more).contains("page 2, and page numbers are stable"), "{more}");
    let after = endpoint.next_page(&cursor(&more)).await;
    assert_eq!(numbers(&after), numbered(36, 45));
    assert!(summary(&after).contains("begin within page 4"), "{after}");
    let objects = page(json!({"format": "objects", "max_rows": 1})).await;
    assert_eq!(objects["rows"], json!([{"n": 11, "word": "row 11"}]));
    let table = page(json!({"format": "table", "max_rows": 2})).await;
    assert_eq!(table["rows"], " n | word\n---+-------\n11 | row 11\n12 | row 12");
    let few = page(json!({"max_bytes": 256, "max_rows": 50})).await;
    assert_eq!((&few["truncatedBy"], few["rows"].to_string().len() <= 256), (&json!("bytes"), true));
    assert_eq!(numbers(&endpoint.next_page(&cursor(&few)).await)[0], 11 + few["rowCount"].as_u64().unwrap());
    let wide = page(json!({"max_rows": 500})).await;
    assert_eq!(wide["notes"], json!(["`max_rows` was lowered to this node's limit of 100"]));
    assert_eq!((numbers(&wide), wide["cursor"].is_null()), (numbered(11, 60), true));
}

#[tokio::test]
async fn numbered_pages_are_jumped_to_and_others_are_not() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let first = endpoint.query(&rows(95)).await;
    let jump =
        async |page: u32| endpoint.call("next_page", json!({"cursor": cursor(&first), "page": page})).await.0;
    assert_eq!(numbers(&jump(7).await), numbered(61, 70));
    assert_eq!(numbers(&jump(1).await), numbered(1, 10));
    assert_eq!(numbers(&jump(2).await), numbered(11, 20));
    let last = jump(10).await;
    assert_eq!((numbers(&last), last["cursor"].is_null()), (numbered(91, 95), true));
    assert_failure(&jump(11).await, "invalid_arguments", "expected", "one by one");
    assert!(jump(11).await["error"].as_str().unwrap().contains("pages 1 to 10 are"));

    let first = endpoint.good("query", json!({"sql": rows(95), "max_bytes": 256, "max_rows": 10})).await;
    assert_eq!(first["truncatedBy"], "rows");
    let wide = "SELECT i AS n, repeat('x', 60) FROM generate_series(1, 95) AS i ORDER BY i";
    let first = endpoint.good("query", json!({"sql": wide, "max_bytes": 256})).await;
    assert_eq!(first["truncatedBy"], "bytes");
    assert!(summary(&first).contains("page numbers are not stable"), "{first}");
    let jump =
        async |page: u32| endpoint.call("next_page", json!({"cursor": cursor(&first), "page": page})).await.0;
    assert_eq!(numbers(&jump(1).await), numbers(&first));
    assert_eq!(numbers(&jump(2).await), numbers(&endpoint.next_page(&cursor(&first)).await));
    assert_failure(&jump(3).await, "invalid_arguments", "expected", "leave `page` out");
    assert_eq!(endpoint.all(first.clone()).await, numbered(1, 95));
}

#[tokio::test]
async fn every_value_reads_alike_on_a_later_page() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN price AS numeric(12, 2)").await;
        let endpoint = pages_of(1).start(&db, &db.url).await;
        let sql = "SELECT i, 12345678901234567890.10::numeric AS n, 9007199254740993 AS big, NULL AS nothing, 'NULL' AS word,
            '{\"a\": 1.50}'::jsonb AS doc, ARRAY[[1, 2], [3, NULL]] AS list, 'NaN'::float8 AS nan, '\\x0001'::bytea AS bytes,
            repeat('ü', 5000) AS long, decode(repeat('ab', 100000), 'hex') AS blob, ROW(1, 'a') AS pair, 'ok'::mood AS mood,
            ARRAY['sad'::mood] AS moods, '1.5'::price AS price, true AS yes, i AS i
            FROM generate_series(1, 2) AS i";
        for format in ["arrays", "objects", "table"] {
            let first = endpoint.good("query", json!({"sql": sql, "format": format})).await;
            let second = endpoint.next_page(&cursor(&first)).await;
            assert_eq!(second["columns"], first["columns"]);
            assert_eq!((&first["valuesCut"], &second["valuesCut"]), (&json!(2), &json!(2)));
            let other = first["rows"].to_string().replacen("[[1,", "[[2,", 1);
            match format {
                "arrays" => {
                    let mut expected = first["rows"].clone();
                    (expected[0][0], expected[0][16]) = (json!(2), json!(2));
                    assert_eq!(second["rows"], expected);
                }
                "objects" => {
                    let mut expected = first["rows"].clone();
                    (expected[0]["i"], expected[0]["i_2"]) = (json!(2), json!(2));
                    assert_eq!((&second["rows"], &second["notes"]), (&expected, &first["notes"]));
                }
                _ => assert_eq!(second["rows"].to_string().len(), other.len()),
            }
        }
    })
    .await;
}

#[tokio::test]
async fn query_takes_a_cursor_as_well_with_or_without_its_statement() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let sql = "SELECT generate_series(1, $1::int)";
    let first = endpoint.good("query", json!({"sql": sql, "params": ["30"]})).await;
    let handle = cursor(&first);
    for arguments in [
        json!({"cursor": handle}),
        json!({"cursor": handle, "sql": sql}),
        json!({"cursor": handle, "sql": format!("{sql} ;"), "params": ["30"]}),
        json!({"cursor": handle, "page": 2}),
    ] {
        assert_eq!(numbers(&endpoint.good("query", arguments).await), numbered(11, 20));
    }
    for arguments in [
        json!({"cursor": handle, "sql": "SELECT 1"}),
        json!({"cursor": handle, "sql": sql, "params": ["31"]}),
    ] {
        let failure = endpoint.bad("query", arguments).await;
        assert_failure(&failure, "invalid_arguments", "expected", "`cursor` alone");
    }
    let failure = endpoint.bad("query", json!({"sql": sql, "page": 2})).await;
    assert_failure(&failure, "invalid_arguments", "expected", "leave `page` out");
}

#[tokio::test]
async fn a_plan_is_read_page_by_page_too() {
    let db = support::database(18).await;
    db.run("CREATE TABLE t (a int)").await;
    let endpoint = pages_of(3).start(&db, &db.url).await;
    let union = vec!["SELECT a FROM t"; 20].join(" UNION ALL ");
    let first = endpoint.query(&format!("EXPLAIN {union}")).await;
    let mut lines = first["rowCount"].as_u64().unwrap();
    let mut answer = first;
    while answer["cursor"].is_string() {
        answer = endpoint.next_page(&cursor(&answer)).await;
        lines += answer["rowCount"].as_u64().unwrap();
    }
    assert_eq!(lines, 21);
}

#[tokio::test]
async fn records_of_pages_have_the_statements_hash_and_the_pages_number() {
    let db = support::database(18).await;
    db.run("CREATE TABLE t AS SELECT generate_series(1, 25) AS n").await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let first = endpoint.query("SELECT n FROM t ORDER BY n").await;
    let second = endpoint.next_page(&cursor(&first)).await;
    endpoint.next_page(&cursor(&second)).await;
    endpoint.query("SELECT 1").await;
    let records = endpoint.records();
    let pages: Vec<_> = records.iter().map(|record| record.page).collect();
    assert_eq!(pages, [Some(1), Some(2), Some(3), None]);
    let tools: Vec<_> = records.iter().map(|record| &record.tool[..]).collect();
    assert_eq!(tools, ["query", "next_page", "next_page", "query"]);
    for page in &records[..3] {
        assert_eq!((page.effect, &page.sql_hash), (Effect::Allowed, &records[0].sql_hash));
        assert_eq!(page.tables_read.as_deref(), Some(&["public.t".to_owned()][..]));
    }
    assert_eq!(records[2].rows_returned, Some(5));
    assert!(records[0].lane.is_some() && records[1].lane.is_none(), "a kept page asks no database");
    assert_ne!(records[3].sql_hash, records[0].sql_hash);
}

#[tokio::test]
async fn a_kept_page_needs_no_database() {
    let db = support::database(18).await;
    let endpoint: Endpoint = pages_of(10).start(&db, &db.url).await;
    let first = endpoint.query(&rows(30)).await;
    endpoint.point_to("postgres://u:p@127.0.0.1:1/d");
    assert_eq!(endpoint.all(first).await, numbered(1, 30));
}
