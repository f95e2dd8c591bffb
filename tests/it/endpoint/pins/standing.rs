//! When a pin is offered and when it is not.

use std::fs;

use serde_json::{Value, json};
use state::{CallRecord, Effect};

use super::{
    DEMO_SALES, Endpoint, KEY, REVENUE, Setup, both, call, listed, place, revenue, stamped, stamped_at,
    with_pins,
};
use crate::endpoint::{STAMPS, assert_failure};
use crate::support::{self, TestDb};

const COLUMNS: [(&str, &str); 2] = [("region", "text"), ("revenue", "numeric")];

async fn sales() -> TestDb {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    db
}

/// Asserts that the one pin is not offered, and that a call of it is refused without a look at the database.
async fn assert_refused(endpoint: &Endpoint, code: &str, hint: &str) {
    assert!(listed(endpoint).await.is_empty());
    let failure = call(endpoint, "pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
    assert_failure(&failure, code, "expected", hint);
    let CallRecord { effect, sql_hash, tables_read, pin, .. } = endpoint.records().pop().unwrap();
    assert_eq!((effect, tables_read, pin.as_deref()), (Effect::Refused, None, Some("p1")));
    let compiled = REVENUE.replace(":month", "($1::pg_catalog.date)");
    assert_eq!(sql_hash, Some(pins::sql_hash(&compiled)));
}

#[tokio::test]
async fn while_pins_are_off_none_is_offered_and_free_sql_is_as_it_was() {
    let db = sales().await;
    let setup = Setup { stamp_key: None, ..with_pins(&both()[..1]) };
    let endpoint = setup.start(&db, &db.url).await;
    assert_refused(&endpoint, "pins_off", "PINGUARD_PINNED_QUERIES").await;
    assert_eq!(endpoint.query("SELECT count(*) FROM demo_sales").await["rows"], json!([[6]]));
    assert_eq!(endpoint.records()[0].free_sql_with_pin, None);
}

#[tokio::test]
async fn a_stamp_that_was_made_up_or_made_elsewhere_does_not_stand() {
    let db = sales().await;
    let good = stamped(&revenue(), &COLUMNS);
    let hmac = good["stamp"]["hmac"].as_str().unwrap().to_owned();
    let forged = |hmac: String| {
        let mut pin = good.clone();
        pin["stamp"]["hmac"] = json!(hmac);
        pin
    };
    let mut other = revenue();
    other["sql"] = json!(REVENUE.replace("100", "99"));
    let mut copied = other.clone();
    copied["stamp"] = good["stamp"].clone();
    let mut columns = good.clone();
    columns["stamp"]["testedColumns"][0]["type"] = json!("bytea");
    let elsewhere = pins::Scope { workspace: "other".to_owned(), ..place() };
    for (why, pin) in [
        ("another digit", forged(format!("{}{}", if hmac.starts_with('0') { "1" } else { "0" }, &hmac[1..]))),
        ("zeros", forged("0".repeat(64))),
        ("copied from another pin", copied),
        ("other columns", columns),
        ("another workspace", stamped_at(&elsewhere, KEY, &revenue(), &COLUMNS)),
        ("another key", stamped_at(&place(), "another key of thirty-two bytes!!", &revenue(), &COLUMNS)),
    ] {
        let endpoint = with_pins(&[pin]).start(&db, &db.url).await;
        assert!(listed(&endpoint).await.is_empty(), "{why}");
        let failure = call(&endpoint, "pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
        assert_failure(&failure, "pin_changed", "expected", "test it in the editor");
    }
    let endpoint = with_pins(&[revenue()]).start(&db, &db.url).await;
    assert_refused(&endpoint, "pin_not_tested", "test it in the editor").await;
}

#[tokio::test]
async fn a_changed_pin_or_node_has_to_be_tested_again_and_some_changes_are_none() {
    let db = sales().await;
    db.run(
        "CREATE TABLE other (); CREATE FUNCTION twice(int) RETURNS int IMMUTABLE LANGUAGE sql RETURN $1 * 2",
    )
    .await;
    let good = stamped(&revenue(), &COLUMNS);
    let pin = |name: &str, value: Value| {
        let mut pin = good.clone();
        pin[name] = value;
        pin
    };
    let node = |name: &str, value: Value| {
        let mut node = json!({"relations": ["public.demo_sales"], "pins": [good]});
        node[name] = value;
        node
    };
    let pins = |pin: Value| node("pins", json!([pin]));
    for (change, node) in [
        ("statement", pins(pin("sql", json!(REVENUE.replace("sum", "max"))))),
        ("type", pins(pin("params", json!([{"name": "month", "type": "timestamp"}])))),
        ("maximum", pins(pin("params", json!([{"name": "month", "type": "date", "max": "2030-01-01"}])))),
        ("selection", node("relations", json!(["public.demo_sales", "public.other"]))),
        ("no selection", node("relations", json!([]))),
        ("allowed functions", node("allowedFunctions", json!(["public.twice"]))),
        ("foreign tables", node("allowedForeignTables", json!(["public.demo_sales"]))),
        ("search path", node("searchPath", json!(["public"]))),
    ] {
        let endpoint = Setup { node, ..with_pins(&[]) }.start(&db, &db.url).await;
        assert!(listed(&endpoint).await.is_empty(), "{change}");
    }
    for (change, node) in [
        ("purpose", pins(pin("purpose", json!("Revenue")))),
        ("row cap", pins(pin("rowCap", json!(2)))),
        ("version", pins(pin("version", json!(4)))),
        ("another spelling", node("relations", json!(["\"public\".\"demo_sales\"", "public.demo_sales"]))),
        ("actions", node("actions", json!([]))),
        ("timeout", node("timeoutSeconds", json!(5))),
        ("rules", node("rules", json!("be kind"))),
    ] {
        let endpoint = Setup { node, ..with_pins(&[]) }.start(&db, &db.url).await;
        assert_eq!(listed(&endpoint).await, ["pq_revenue_by_region"], "{change}");
    }
}

#[tokio::test]
async fn a_rotated_key_takes_every_pin_away_and_a_missing_one_says_so() {
    let db = sales().await;
    let endpoint = with_pins(&both()[..1]).start(&db, &db.url).await;
    assert_eq!(listed(&endpoint).await, ["pq_revenue_by_region"]);
    let secret = endpoint.secrets.0.join(STAMPS);
    fs::write(&secret, "another key of thirty-two bytes!!").unwrap();
    assert_refused(&endpoint, "pin_changed", "test it in the editor").await;
    for (text, code) in [("short", "stamp_key_malformed"), ("", "secret_empty")] {
        fs::write(&secret, text).unwrap();
        assert!(listed(&endpoint).await.is_empty());
        let failure = call(&endpoint, "pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
        assert_failure(&failure, code, "unexpected", "");
        assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]), "free SQL does not need it");
    }
    fs::write(&secret, KEY).unwrap();
    assert_eq!(listed(&endpoint).await, ["pq_revenue_by_region"]);
}

#[tokio::test]
async fn the_stamp_opens_nothing_that_the_guard_closes() {
    let db = sales().await;
    let writes = json!({"id": "w", "name": "pq_writes", "purpose": "Writes",
        "sql": "WITH gone AS (DELETE FROM demo_sales RETURNING id) SELECT id FROM gone LIMIT 10"});
    let outside = json!({"id": "o", "name": "pq_outside", "purpose": "Outside", "sql": "SELECT rolname FROM pg_roles LIMIT 10"});
    let sleeps =
        json!({"id": "s", "name": "pq_sleeps", "purpose": "Sleeps", "sql": "SELECT pg_sleep(1) LIMIT 1"});
    let pins: Vec<Value> =
        [writes, outside, sleeps].iter().map(|pin| stamped(pin, &[("x", "text")])).collect();
    let endpoint = with_pins(&pins).start(&db, &db.url).await;
    for (tool, code) in [
        ("pq_writes", "writes_data"),
        ("pq_outside", "relation_not_selected"),
        ("pq_sleeps", "builtin_refused"),
    ] {
        let failure = endpoint.bad(tool, json!({})).await;
        assert_eq!(failure["outcome"], "expected", "{failure}");
        let codes = failure.to_string();
        assert!(codes.contains(code), "{tool}: {failure}");
    }
    assert_eq!(endpoint.query("SELECT count(*) FROM demo_sales").await["rows"], json!([[6]]));
}
