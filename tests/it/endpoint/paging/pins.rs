//! Pinned queries page like free SQL, and are verified on each page.

use std::fs;

use serde_json::{Value, json};

use super::{cursor, numbered, numbers, summary};
use crate::endpoint::pins::{KEY, place, stamped_at};
use crate::endpoint::{Endpoint, STAMPS, Setup, assert_failure};
use crate::support;

/// A pin of many numbers from `from` on, whose pages have ten rows.
fn pin() -> Value {
    let pin = json!({"id": "n", "name": "pq_numbers", "purpose": "Numbers", "rowCap": 10, "version": 4,
        "sql": "SELECT n FROM numbers WHERE n >= :from ORDER BY n LIMIT 35", "params": [{"name": "from", "type": "int8"}]});
    let place = pins::Scope { selection: ["public.numbers".to_owned()].into(), ..place() };
    stamped_at(&place, KEY, &pin, &[("n", "integer")])
}

async fn endpoint(db: &support::TestDb, actions: Value) -> Endpoint {
    db.run("CREATE TABLE numbers AS SELECT generate_series(1, 100) AS n").await;
    let node = json!({"relations": ["public.numbers"], "pins": [pin()], "actions": actions});
    Setup { stamp_key: Some(KEY.to_owned()), ..Setup::node(node) }.start(db, &db.url).await
}

#[tokio::test]
async fn a_pin_is_read_on_where_there_is_no_free_sql() {
    let db = support::database(18).await;
    let endpoint = endpoint(&db, json!([])).await;
    let tools: Vec<_> = endpoint.tools().await.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["next_page", "pq_numbers"]);
    let first = endpoint.good("pq_numbers", json!({"from": 41})).await;
    assert_eq!((numbers(&first), first["possiblyTruncated"].is_null()), (numbered(41, 50), true));
    assert!(summary(&first).starts_with("rows 1 to 10 of 35; page 1,"), "{first}");
    let second = endpoint.next_page(&cursor(&first)).await;
    assert_eq!((numbers(&second), &second["pinned"]), (numbered(51, 60), &first["pinned"]));
    let last = endpoint.good("next_page", json!({"cursor": cursor(&second), "page": 4})).await;
    assert_eq!((numbers(&last), &last["possiblyTruncated"]), (numbered(71, 75), &json!(true)));
    let wide = endpoint.good("next_page", json!({"cursor": cursor(&first), "max_rows": 20})).await;
    assert_eq!(
        wide["notes"],
        json!(["`max_rows` was lowered to this node's limit of 10"]),
        "the pin's own cap holds"
    );
    let records = endpoint.records();
    for (record, page) in records.iter().zip([1, 2, 4, 2]) {
        assert_eq!(
            (record.pin.as_deref(), record.pin_version, record.page),
            (Some("n"), Some(4), Some(page))
        );
        assert_eq!(record.sql_hash, records[0].sql_hash);
    }
}

#[tokio::test]
async fn a_node_that_offers_nothing_with_pages_does_not_offer_them() {
    let db = support::database(18).await;
    let unstamped =
        json!({"id": "p", "name": "pq_p", "purpose": "p", "sql": "SELECT 1 LIMIT 1", "version": 1});
    for (pins, key) in [(json!([]), Some(KEY)), (json!([unstamped]), Some(KEY)), (json!([pin()]), None)] {
        let node = json!({"actions": ["catalog"], "pins": pins, "relations": ["public.numbers"]});
        let setup = Setup { stamp_key: key.map(str::to_owned), ..Setup::node(node) };
        let endpoint = setup.start(&db, &db.url).await;
        assert!(endpoint.tools().await.iter().all(|tool| tool["name"] != "next_page"));
    }
}

#[tokio::test]
async fn a_pin_that_no_longer_stands_is_not_read_on() {
    let db = support::database(18).await;
    let endpoint = endpoint(&db, json!(["query"])).await;
    let handle = cursor(&endpoint.good("pq_numbers", json!({"from": 1})).await);
    let failure = endpoint.bad("query", json!({"cursor": handle})).await;
    assert_failure(&failure, "invalid_arguments", "expected", "`next_page`");
    let stamps = endpoint.secrets.0.join(STAMPS);
    fs::write(&stamps, "another stamp key of thirty bytes!").unwrap();
    let failure = endpoint.bad("next_page", json!({"cursor": handle})).await;
    assert_failure(&failure, "pin_changed", "expected", "test it in the editor");
    fs::write(&stamps, KEY).unwrap();
    assert_eq!(numbers(&endpoint.next_page(&handle).await), numbered(11, 20));
}

#[tokio::test]
async fn with_pins_turned_off_their_pages_are_gone() {
    let db = support::database(18).await;
    let on = endpoint(&db, json!(["query"])).await;
    let handle = cursor(&on.good("pq_numbers", json!({"from": 1})).await);
    let node = json!({"relations": ["public.numbers"], "pins": [pin()], "actions": ["query"]});
    let off = Setup { cache: on.app.cache.clone(), ..Setup::node(node) }.start(&db, &db.url).await;
    let failure = off.bad("next_page", json!({"cursor": handle})).await;
    assert_failure(&failure, "cursor_outdated", "expected", "ask again");
}
