//! Where kept rows end, and what comes behind them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{cursor, numbered, numbers, pages_of, rows, summary};
use crate::endpoint::{Endpoint, Setup, assert_failure};
use crate::support;

/// Goes on to the page behind which nothing is kept: its answer.
async fn to_the_end_of_what_is_kept(endpoint: &Endpoint, first: &Value, last_page: u32) -> Value {
    endpoint.good("next_page", json!({"cursor": cursor(first), "page": last_page})).await
}

#[tokio::test]
async fn behind_ten_thousand_rows_the_statement_runs_again() {
    for major in [14, 18] {
        let db = support::database(major).await;
        let endpoint = pages_of(500).start(&db, &db.url).await;
        let first = endpoint.query(&rows(12_000)).await;
        assert!(
            summary(&first).contains(
                "only rows up to row 10500 are kept: going on behind them runs the statement again"
            ),
            "{first}"
        );
        let last = to_the_end_of_what_is_kept(&endpoint, &first, 21).await;
        assert_eq!((numbers(&last), &last["truncatedBy"]), (numbered(10_001, 10_500), &json!("rows")));
        assert!(
            summary(&last).contains("passes over its first 10500 rows, whose order may have shifted by then"),
            "{last}"
        );
        let hash = endpoint.records()[0].sql_hash.clone();
        let next = endpoint.next_page(&cursor(&last)).await;
        assert_eq!(numbers(&next), numbered(10_501, 11_000));
        let note = next["notes"][0].as_str().unwrap();
        assert!(note.contains("ran again and its first 10500 rows were passed over"), "{note}");
        assert!(
            summary(&next).starts_with("rows 10501 to 11000 of 12000; page 22, and page numbers"),
            "{next}"
        );
        let record = endpoint.records().pop().unwrap();
        assert_eq!((record.page, record.lane.is_some()), (Some(22), true), "it asked the database");
        assert!(hash.is_some() && record.sql_hash == hash, "{record:?}");

        // The page behind the end is kept as well, and the statement does not run once more for it.
        endpoint.point_to("postgres://u:p@127.0.0.1:1/d");
        assert_eq!(numbers(&endpoint.next_page(&cursor(&last)).await), numbered(10_501, 11_000));
        let jump = json!({"cursor": cursor(&next), "page": 24});
        let end = endpoint.good("next_page", jump).await;
        assert_eq!((numbers(&end), end["cursor"].is_null()), (numbered(11_501, 12_000), true));
        let earlier = endpoint.bad("next_page", json!({"cursor": cursor(&next), "page": 3})).await;
        assert!(earlier["error"].as_str().unwrap().contains("pages 22 to 24 are"), "{earlier}");
    }
}

#[tokio::test]
async fn exactly_as_many_rows_as_are_kept_are_the_whole_result() {
    let db = support::database(18).await;
    let endpoint = pages_of(500).start(&db, &db.url).await;
    let first = endpoint.query(&rows(10_500)).await;
    assert!(summary(&first).starts_with("rows 1 to 500 of 10500;"), "{first}");
    let last = to_the_end_of_what_is_kept(&endpoint, &first, 21).await;
    assert_eq!((last["cursor"].is_null(), &last["truncated"]), (true, &json!(false)));
    let first = endpoint.query(&rows(10_501)).await;
    let last = to_the_end_of_what_is_kept(&endpoint, &first, 21).await;
    let behind = endpoint.next_page(&cursor(&last)).await;
    assert_eq!((numbers(&behind), behind["cursor"].is_null()), (numbered(10_501, 10_501), true));
}

#[tokio::test]
async fn four_mebibytes_end_what_is_kept() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let sql = "SELECT i AS n, repeat(chr(97 + i % 26), 3000) FROM generate_series(1, 3000) AS i ORDER BY i";
    let first = endpoint.good("query", json!({"sql": sql, "max_bytes": 1_000_000})).await;
    let kept: u64 = summary(&first)
        .split_once("only rows up to row ")
        .and_then(|(_, rest)| rest.split(' ').next())
        .unwrap()
        .parse()
        .unwrap();
    // 3,000 bytes, the number, and eight bytes for each of the two values.
    let expected = 10 + (4 << 20) / 3_020 + 1;
    assert!(kept.abs_diff(expected) <= 2, "{kept} rows are kept, not {expected}");
    let page = u32::try_from(kept).unwrap().div_ceil(10);
    let last = to_the_end_of_what_is_kept(&endpoint, &first, page).await;
    assert_eq!((&last["truncatedBy"], *numbers(&last).last().unwrap()), (&json!("bytes"), kept));
    let behind = endpoint.next_page(&cursor(&last)).await;
    assert_eq!(numbers(&behind), numbered(kept + 1, kept + 10), "and no row is missing in between");
}

#[tokio::test]
async fn a_slow_result_is_read_on_for_a_quarter_of_a_second() {
    let db = support::database(18).await;
    let endpoint = pages_of(2).start(&db, &db.url).await;
    // Rows that the server does not hold back, as it does until there are 8 kB.
    let sql = "SELECT i AS n, repeat('x', 9000), (SELECT count(*) FROM generate_series(1, 100000 + i))
        FROM generate_series(1, 2000) AS i";
    let began = Instant::now();
    let first = endpoint.query(sql).await;
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    assert_eq!(numbers(&first), [1, 2]);
    assert!(summary(&first).contains("only rows up to row"), "{first}");
    let mut answer = first;
    let mut last = 0;
    while answer["notes"].is_null() {
        last = *numbers(&answer).last().unwrap();
        answer = endpoint.next_page(&cursor(&answer)).await;
    }
    assert!((3..500).contains(&last), "{last}");
    assert_eq!(numbers(&answer), [last + 1, last + 2], "the statement ran again behind them");
    assert!(db.activity().await.is_empty());
}

#[tokio::test]
async fn a_result_that_fails_behind_its_page_has_the_page_and_no_cursor() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = pages_of(5).start(&db, &db.url).await;
        let answer = endpoint.query("SELECT i AS n, 1 / (i - 300) FROM generate_series(1, 9000) AS i").await;
        assert_eq!((numbers(&answer), &answer["truncated"]), (numbered(1, 5), &json!(true)));
        assert!(answer["cursor"].is_null(), "{answer}");
        let note = answer["notes"][0].as_str().unwrap();
        assert!(note.contains("division by zero (22012)"), "{note}");
        let failure = endpoint.refuses("SELECT i AS n, 1 / (i - 3) FROM generate_series(1, 9000) AS i").await;
        assert_failure(&failure, "22012", "expected", "");
        assert!(db.activity().await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_statement_out_of_time_has_no_cursor_and_one_that_filled_its_page_in_time_has_its_page() {
    let db = support::database(18).await;
    let endpoint = pages_of(2).start(&db, &db.url).await;
    let failure = endpoint.bad("query", json!({"sql": support::SLOW, "timeout_seconds": 1})).await;
    assert!(failure["cursor"].is_null() && failure["code"] == "57014", "{failure}");
    // The server holds the first fifty rows back, and the next would take for ever.
    let sql = "SELECT i AS n, (SELECT count(*) FROM generate_series(1, CASE WHEN i > 50 THEN 1000000000 ELSE 1 END))
        FROM generate_series(1, 90) AS i";
    let began = Instant::now();
    let answer = endpoint.good("query", json!({"sql": sql, "timeout_seconds": 2})).await;
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!((numbers(&answer), &answer["truncated"]), (vec![1, 2], &json!(true)));
    assert!(db.activity().await.is_empty());
}

#[tokio::test]
async fn a_nodes_limit_bounds_the_whole_result() {
    let db = support::database(18).await;
    let bounded = |limit: u32, page: u32| Setup::node(json!({"rowCap": page, "limits": {"maxRows": limit}}));
    let endpoint = bounded(25, 10).start(&db, &db.url).await;
    let first = endpoint.query(&rows(26)).await;
    assert!(summary(&first).contains("no rows beyond row 25 are given of one result"), "{first}");
    let second = endpoint.next_page(&cursor(&first)).await;
    let third = endpoint.next_page(&cursor(&second)).await;
    assert_eq!((numbers(&third), &third["truncated"]), (numbered(21, 25), &json!(true)));
    assert!(third["cursor"].is_null() && third["hint"] == "aggregate or filter", "{third}");
    assert!(summary(&third).ends_with("there are more, and no more are given of one result"), "{third}");
    let exact = endpoint.all(endpoint.query(&rows(25)).await).await;
    assert_eq!(exact, numbered(1, 25), "the whole result is within the limit");

    let endpoint = bounded(10, 10).start(&db, &db.url).await;
    let only = endpoint.query(&rows(11)).await;
    assert!(only["cursor"].is_null() && only["truncated"] == true, "{only}");
    assert_eq!(
        only["notes"],
        json!(["this node gives 10 rows of a whole result, and these are the last of them"])
    );
    assert!(endpoint.query(&rows(10)).await["notes"].is_null());

    let endpoint = bounded(10_700, 500).start(&db, &db.url).await;
    let first = endpoint.query(&rows(20_000)).await;
    let last = endpoint.good("next_page", json!({"cursor": cursor(&first), "page": 21})).await;
    let behind = endpoint.next_page(&cursor(&last)).await;
    assert_eq!((numbers(&behind), behind["cursor"].is_null()), (numbered(10_501, 10_700), true));
    assert_eq!(behind["truncated"], true);
}

#[tokio::test]
async fn what_runs_again_is_judged_again() {
    let db = support::database(18).await;
    db.run(
        "CREATE TABLE t AS SELECT generate_series(1, 12000) AS n;
         CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2'",
    )
    .await;
    let login = db.reader(&["public"]).await;
    db.run(&format!("ALTER FUNCTION twice OWNER TO {}", login.role)).await;
    let endpoint = pages_of(500).start(&db, &login.url).await;
    let first = endpoint.query("SELECT twice(n) / 2 FROM t ORDER BY n").await;
    let last = to_the_end_of_what_is_kept(&endpoint, &first, 21).await;
    db.run("CREATE OR REPLACE FUNCTION twice(n int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN DELETE FROM t; RETURN n; END'")
        .await;
    let refused = endpoint.bad("next_page", json!({"cursor": cursor(&last)})).await;
    assert_eq!(
        (&refused["code"], &refused["outcome"]),
        (&json!("user_function"), &json!("expected")),
        "{refused}"
    );
}
