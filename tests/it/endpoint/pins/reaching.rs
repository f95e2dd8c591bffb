//! The way of a pin's call to its database: the node's own, within the node's limits.

use pins::ScopeCredential;
use serde_json::{Value, json};

use super::{DEMO_SALES, KEY, SECRET, Setup, listed, place, revenue, stamped_at};
use crate::endpoint::assert_failure;
use crate::support;

const COLUMNS: [(&str, &str); 2] = [("region", "text"), ("revenue", "numeric")];

/// The pin as it is tested on a node of the default credential.
fn on_default() -> Value {
    let place = pins::Scope { credential: ScopeCredential::Default, ..place() };
    stamped_at(&place, KEY, &revenue(), &COLUMNS)
}

/// A node with one pin. Its credential is `cred-1` or, where it is left out, the default one.
fn node(credential: &Value, pin: &Value) -> Setup {
    let node = json!({"credential": credential, "relations": ["public.demo_sales"], "pins": [pin]});
    Setup { stamp_key: Some(KEY.to_owned()), ..Setup::node(node) }
}

fn with_default(setup: Setup) -> Setup {
    let mut settings = mcp::Settings::default();
    settings.limits.default_secret = Some(SECRET.to_owned());
    Setup { settings, ..setup }
}

#[tokio::test]
async fn a_node_without_a_credential_uses_the_default_one_and_a_stamp_of_either_is_none_of_the_other() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let endpoint = with_default(node(&Value::Null, &on_default())).start(&db, &db.url).await;
    assert_eq!(listed(&endpoint).await, ["pq_revenue_by_region"]);
    let answer = endpoint.good("pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
    assert_eq!(answer["rowCount"], 3, "{answer}");
    // Both lead to one secret here, and still the credential counts.
    let named = stamped_at(&place(), KEY, &revenue(), &COLUMNS);
    for (credential, pin) in [(Value::Null, named), (json!("cred-1"), on_default())] {
        let endpoint = with_default(node(&credential, &pin)).start(&db, &db.url).await;
        assert!(listed(&endpoint).await.is_empty(), "{credential}");
    }
}

#[tokio::test]
async fn without_any_credential_there_is_a_clear_error_and_no_tool() {
    let db = support::database(18).await;
    let endpoint = node(&Value::Null, &on_default()).start(&db, &db.url).await;
    let list = endpoint.ask("tools/list", json!({})).await;
    assert_eq!(list["error"]["data"]["code"], "no_credential", "{list}");
    let failure = super::call(&endpoint, "pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
    assert_failure(&failure, "no_credential", "unexpected", "credential");
}

#[tokio::test]
async fn a_pin_ends_at_the_nodes_timeout() {
    let db = support::database(18).await;
    let slow =
        json!({"id": "s", "name": "pq_slow", "purpose": "Slow", "sql": format!("{} LIMIT 1", support::SLOW)});
    let place = pins::Scope { selection: [].into(), ..place() };
    let pin = stamped_at(&place, KEY, &slow, &[("count", "bigint")]);
    let setup = Setup::node(json!({"pins": [pin], "timeoutSeconds": 1}));
    let endpoint = Setup { stamp_key: Some(KEY.to_owned()), ..setup }.start(&db, &db.url).await;
    assert_failure(&endpoint.bad("pq_slow", json!({})).await, "57014", "expected", "");
    assert!(endpoint.records().pop().unwrap().elapsed_ms < 5_000);
}
