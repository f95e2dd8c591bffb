//! What a test refuses: wrong requests, callers without the right, pins and nodes that cannot be, statements that may not run.

use serde_json::{Value, json};
use state::Scope;

use super::{Lab, STAMPS, body, flow, revenue};
use crate::{
    flows_api::failure,
    support::{self, TestDb},
};

/// A lab with a flow `sales`, and its database, which goes with its value.
async fn lab() -> (TestDb, Lab) {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    (db, lab)
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = body();
    change(&mut body);
    body
}

fn pin(field: &str, value: Value) -> Value {
    with(|body| body["pin"][field] = value)
}

#[tokio::test]
async fn only_those_who_may_change_the_flow_may_test_its_pins() {
    let (_db, lab) = lab().await;
    let path = "/api/v1/pinned-queries/sales/test";
    let body = body().to_string();
    assert_eq!(failure(&lab.send("nonsense", path, &body).await), (401, "unauthorized".to_owned()));
    for (byte, workspace, scopes, flows, expected) in [
        (10, "w", vec![Scope::ChatflowsUpdate], None, 200),
        (11, "w", vec![Scope::AgentflowsUpdate], None, 403),
        (12, "w", vec![Scope::McpCall, Scope::FlowsRead, Scope::AuditRead, Scope::KeysManage], None, 403),
        (13, "w", vec![Scope::ChatflowsUpdate], Some(&["sales"][..]), 200),
        (14, "w", vec![Scope::ChatflowsUpdate], Some(&["other"][..]), 404),
        (15, "other", Scope::ALL.to_vec(), None, 404),
    ] {
        let key = lab.editor.key(workspace, byte, &scopes, flows).await;
        let reply = lab.send(&key, path, &body).await;
        assert_eq!(reply.status, expected, "{scopes:?} {flows:?}: {}", reply.json());
    }
    assert_eq!(failure(&lab.test("absent", &super::body()).await), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_request_holds_what_it_may_and_nothing_else() {
    let (_db, lab) = lab().await;
    for (body, status, said) in [
        (with(|body| body["url"] = json!("postgresql://a:b@c/d")), 400, "url"),
        (with(|body| body["canvas"] = json!({"url": "postgresql://a:b@c/d"})), 400, "url"),
        (with(|body| body["canvas"] = json!({"databaseUrl": "x"})), 400, "databaseUrl"),
        (with(|body| body["canvas"] = json!({"rules": "x"})), 400, "rules"),
        (with(|body| body["canvas"] = json!([])), 400, "map"),
        (with(|body| body["values"] = json!([1])), 400, "body"),
        (with(|body| body["nodeId"] = json!("absent")), 404, "absent"),
        (with(|body| body["nodeId"] = json!("DB; DROP")), 404, "no node"),
        (json!({}), 400, "nodeId"),
        (json!({"nodeId": "db"}), 400, "pin"),
        (with(|body| body["canvas"] = json!({"relations": [7]})), 422, "relations"),
        (with(|body| body["canvas"] = json!({"rowCap": "many"})), 422, "rowCap"),
        (with(|body| body["canvas"] = json!({"credential": "absent"})), 409, "absent"),
        (with(|body| body["canvas"] = json!({"credential": null})), 409, "no default"),
        (with(|body| body["canvas"] = json!({"credential": "postgresql://a:b@c/d"})), 422, "credential"),
    ] {
        let reply = lab.test("sales", &body).await;
        let text = reply.json().to_string();
        assert!(reply.status == status && text.contains(said), "{body}: {} {text}", reply.status);
        assert!(!text.contains("a:b@c"), "a URL is not given back: {text}");
        failure(&reply);
    }
    let reply = lab.send(lab.editor.owner(), "/api/v1/pinned-queries/sales/test", "{").await;
    assert_eq!(reply.status, 400);
}

#[tokio::test]
async fn a_pin_that_breaks_a_rule_is_told_each_with_its_place() {
    let (_db, lab) = lab().await;
    for (body, said) in [
        (pin("sql", json!("DELETE FROM demo_sales")), "SELECT or WITH"),
        (pin("sql", json!("SELECT 1 LIMIT 1; SELECT 2 LIMIT 1")), "semicolon"),
        (pin("sql", json!("SELECT region FROM demo_sales WHERE month = :month LIMIT 10;")), "semicolon"),
        (pin("sql", json!("SELECT region FROM demo_sales WHERE month = :month")), "LIMIT"),
        (pin("sql", json!("SELECT region FROM demo_sales WHERE month = $1 LIMIT 10")), "$1"),
        (pin("sql", json!("SELECT region FROM demo_sales WHERE month = :month LIMIT :n")), "LIMIT"),
        (pin("sql", json!("SELECT region FROM demo_sales LIMIT 10")), "month"),
        (
            pin("sql", json!("SELECT region FROM demo_sales WHERE month = :month AND id = :id LIMIT 10")),
            ":id",
        ),
        (pin("params", json!([{"name": "month", "type": "interval"}])), "types"),
        (pin("params", json!([{"name": "sql", "type": "text"}])), "sql"),
        (pin("name", json!("revenue")), "pq_"),
        (pin("name", json!("pq_Revenue By Region")), "name"),
        (pin("purpose", json!("")), "purpose"),
        (pin("rowCap", json!(0)), "rowCap"),
        (pin("compiled", json!("SELECT 1")), "compiled"),
    ] {
        let reply = lab.test("sales", &body).await;
        let (status, code) = failure(&reply);
        assert_eq!((status, code.as_str()), (422, "invalid_pin"), "{}", reply.json());
        let problems = reply.json()["problems"].to_string();
        assert!(problems.contains(said), "{said} is not in {problems}");
        assert!(reply.json()["problems"][0]["path"].as_str().unwrap().starts_with("pin"), "{problems}");
    }
}

#[tokio::test]
async fn a_name_that_another_pin_of_the_flow_has_is_refused() {
    let (_db, lab) = lab().await;
    let mut other = revenue();
    other["id"] = json!("p2");
    let mut document = flow("sales", &[]);
    document["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": "two", "credential": "shop", "pins": [other]}));
    lab.editor.save(&document, 1).await;
    let reply = lab.test("sales", &body()).await;
    assert_eq!(failure(&reply), (422, "invalid_canvas".to_owned()));
    assert!(reply.json()["error"].as_str().unwrap().contains("pq_revenue_by_region"), "{}", reply.json());
}

#[tokio::test]
async fn sample_values_are_held_against_the_parameters() {
    let (_db, lab) = lab().await;
    for (values, said) in [
        (json!({}), "missing"),
        (json!({"month": "2026-02-30"}), "month"),
        (json!({"month": "2026-01-01", "n": 1}), "no such parameter"),
        (json!({"month": ["2026-01-01"]}), "month"),
    ] {
        let reply = lab.test("sales", &with(|body| body["values"] = values.clone())).await;
        assert_eq!(failure(&reply), (422, "invalid_values".to_owned()));
        assert!(reply.json()["error"].as_str().unwrap().contains(said), "{}", reply.json());
    }
}

#[tokio::test]
async fn a_statement_that_the_guard_or_the_database_refuses_gets_no_stamp_and_the_place_in_the_saved_text() {
    let (_db, lab) = lab().await;
    let sql = |text: &str| pin("sql", json!(text));
    for (body, code, position) in [
        (sql("SELECT pg_sleep(1) FROM demo_sales WHERE month = :month LIMIT 1"), "builtin_refused", None),
        (
            sql("SELECT rolname FROM pg_roles WHERE :month > '2026-01-01' LIMIT 1"),
            "relation_not_selected",
            None,
        ),
        (sql("SELECT id FROM demo_sales WHERE month = :month AND colour = 1 LIMIT 1"), "42703", Some(52)),
        (sql("SELECT 1 / 0 AS x FROM demo_sales WHERE month = :month LIMIT 1"), "22012", None),
        (
            sql(
                "WITH x AS (DELETE FROM demo_sales WHERE month = :month RETURNING id) SELECT id FROM x LIMIT 1",
            ),
            "writes_data",
            Some(24),
        ),
    ] {
        let reply = lab.test("sales", &body).await;
        assert_eq!(reply.status, 422, "{}", reply.json());
        let answer = reply.json();
        assert_eq!(answer["code"], code, "{answer}");
        assert!(answer["stamp"].is_null() && answer["rows"].is_null(), "{answer}");
        if let Some(position) = position {
            assert_eq!(answer["position"], position, "{answer}");
        }
    }
}

#[tokio::test]
async fn while_pins_are_off_or_the_key_is_no_key_nothing_runs() {
    let (_db, mut lab) = lab().await;
    for (text, code) in [("short", "stamp_key_malformed"), ("", "secret_empty")] {
        lab.editor.secret(STAMPS, text);
        assert_eq!(failure(&lab.test("sales", &body()).await), (503, code.to_owned()));
    }
    lab.app.stamp_keys = None;
    let reply = lab.test("sales", &body()).await;
    assert_eq!(failure(&reply), (409, "pins_off".to_owned()));
}

#[tokio::test]
async fn a_database_or_a_control_database_that_is_away_is_told_apart() {
    let (_db, mut lab) = lab().await;
    lab.editor.secret("shop", "postgresql://a:b@127.0.0.1:1/d");
    let reply = lab.test("sales", &body()).await;
    assert_eq!(reply.status, 503, "{}", reply.json());
    assert!(!reply.json().to_string().contains("a:b"), "{}", reply.json());
    lab.editor.secret("away", "postgresql://a:b@127.0.0.1:1/d");
    lab.app.control = state::Control::new(std::sync::Arc::clone(&lab.app.secrets), "away".to_owned());
    assert_eq!(failure(&lab.test("sales", &body()).await), (503, "control_unavailable".to_owned()));
}
