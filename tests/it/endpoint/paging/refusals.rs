//! Whose a cursor is, and what ends it.

use serde_json::{Value, json};
use state::{Credential, CredentialId, Flow, FlowStage};

use super::{cursor, numbered, numbers, pages_of, rows};
use crate::endpoint::{Endpoint, SECRET, Setup, assert_failure};
use crate::support;

/// A cursor that is as good as any that nobody has.
fn guessed() -> String {
    "A".repeat(38)
}

async fn refused(endpoint: &Endpoint, handle: &str) -> Value {
    endpoint.bad("next_page", json!({"cursor": handle})).await
}

/// Publishes the node with other fields.
async fn republish(endpoint: &Endpoint, node: Value) {
    let document = json!({"id": "shop", "name": "Shop", "kind": "chatflow", "nodes": [node]});
    let flow = Flow::from_json(&document.to_string()).unwrap();
    endpoint.app.control.put_flow("w", &flow, FlowStage::Live).await.unwrap();
}

#[tokio::test]
async fn another_callers_an_expired_and_a_guessed_cursor_are_refused_alike() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    let stranger = endpoint.key(9, "stranger").await;
    let foreign = endpoint.call_as(&stranger, "next_page", json!({"cursor": handle})).await;
    assert_failure(&foreign, "cursor_expired", "expected", "ask again");
    for other in [guessed(), "x".to_owned(), String::new(), format!("{handle}A"), handle.to_lowercase()] {
        assert_eq!(refused(&endpoint, &other).await, foreign, "{other}");
    }
    assert_eq!(
        numbers(&endpoint.next_page(&handle).await),
        numbered(11, 20),
        "the stranger took nothing from it"
    );
    // The eight of a caller.
    for _ in 0..8 {
        endpoint.query(&rows(30)).await;
    }
    assert_eq!(refused(&endpoint, &handle).await, foreign, "it made room for newer ones");
    let owners = endpoint.call_as(&stranger, "query", json!({"sql": rows(30)})).await;
    assert!(owners["cursor"].is_string(), "a caller's eight are their own");
}

#[tokio::test]
async fn a_new_key_of_the_same_caller_reads_on() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    let renewed = endpoint.key(8, "laptop").await;
    let page = endpoint.call_as(&renewed, "next_page", json!({"cursor": handle})).await;
    assert_eq!(numbers(&page), numbered(11, 20));
}

#[tokio::test]
async fn a_cursor_that_was_bent_gives_rows_of_its_own_result_or_nothing() {
    let db = support::database(18).await;
    let endpoint = Setup::node(json!({"rowCap": 10, "limits": {"maxRows": 25}})).start(&db, &db.url).await;
    let handle = cursor(&endpoint.query(&rows(100)).await);
    for place in 22..38 {
        for letter in ["A", "B", "_", "8"] {
            let mut bent = handle.clone();
            bent.replace_range(place..=place, letter);
            let (answer, failed) = endpoint.call("next_page", json!({"cursor": bent})).await;
            if failed {
                assert_eq!(answer["code"], "cursor_expired", "{answer}");
            } else {
                assert!(numbers(&answer).iter().all(|number| *number <= 25), "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn a_node_that_changed_is_asked_again() {
    let db = support::database(18).await;
    let node = json!({"id": "db", "credential": "cred-1", "actions": ["query", "catalog"], "rowCap": 10});
    let endpoint = Setup::node(node.clone()).start(&db, &db.url).await;
    for (field, value) in [
        ("relations", json!(["public.t"])),
        ("credential", json!("cred-2")),
        ("limits", json!({"maxBytes": 1000})),
        ("rowCap", json!(11)),
        ("searchPath", json!(["public"])),
        ("allowedFunctions", json!(["public.f"])),
        (
            "pins",
            json!([{"id": "p", "name": "pq_p", "purpose": "p", "sql": "SELECT 1 LIMIT 1", "version": 1}]),
        ),
    ] {
        republish(&endpoint, node.clone()).await;
        let handle = cursor(&endpoint.query(&rows(30)).await);
        assert_eq!(numbers(&endpoint.next_page(&handle).await), numbered(11, 20));
        let mut changed = node.clone();
        changed[field] = value;
        let id = CredentialId::parse("cred-2").unwrap();
        endpoint
            .app
            .control
            .put_credential("w", &Credential { id: &id, name: "b", secret_id: SECRET })
            .await
            .unwrap();
        republish(&endpoint, changed).await;
        let failure = refused(&endpoint, &handle).await;
        assert_failure(&failure, "cursor_outdated", "expected", "ask again");
    }
    republish(&endpoint, node.clone()).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    let id = CredentialId::parse("cred-1").unwrap();
    endpoint
        .app
        .control
        .put_credential("w", &Credential { id: &id, name: "db", secret_id: "other" })
        .await
        .unwrap();
    assert_eq!(
        refused(&endpoint, &handle).await["code"],
        "cursor_outdated",
        "another secret is another database"
    );
}

#[tokio::test]
async fn a_cursor_of_one_node_is_none_of_another() {
    let db = support::database(18).await;
    let beside = vec![json!({"id": "other", "credential": "cred-1", "actions": ["query"], "rowCap": 10})];
    let endpoint = Setup { beside, ..pages_of(10) }.start(&db, &db.url).await;
    let handle = cursor(&endpoint.query(&rows(30)).await);
    let ask = async |path: &str, tool: &str| {
        let call = json!({"name": tool, "arguments": {"cursor": handle}});
        endpoint.ask_at(path, "tools/call", call).await["result"]["structuredContent"].clone()
    };
    assert_eq!(ask("/mcp/shop/other", "next_page").await["code"], "cursor_expired");
    assert_eq!(ask("/mcp/shop", "next_page_other").await["code"], "cursor_expired");
    assert_eq!(
        numbers(&ask("/mcp/shop", "next_page_db").await),
        numbered(11, 20),
        "the flow's URL serves the node"
    );
}

#[tokio::test]
async fn wrong_arguments_are_told() {
    let db = support::database(18).await;
    let endpoint = pages_of(10).start(&db, &db.url).await;
    for (arguments, said) in [
        (json!({}), "`cursor` is missing"),
        (json!({"cursor": 7}), "`cursor` must be a string"),
        (json!({"cursor": "x", "page": 0}), "`page` must be a whole number"),
        (json!({"cursor": "x", "page": "2"}), "`page` must be a whole number"),
        (json!({"cursor": "x", "max_rows": 0}), "`max_rows` must be a whole number"),
        (json!({"cursor": "x", "format": "csv"}), "`format` must be one of"),
        (json!({"cursor": "x", "sql": "SELECT 1"}), "does not take `sql`"),
    ] {
        let failure = endpoint.bad("next_page", arguments).await;
        assert!(failure["error"].as_str().unwrap().contains(said), "{failure}");
        assert_eq!(failure["code"], "invalid_arguments");
    }
}
