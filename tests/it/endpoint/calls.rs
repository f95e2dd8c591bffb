//! Limits of calls: how many in a minute, how many at one time, and who counts them.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use state::{Cache, Effect, SecretStore};

use super::{Endpoint, Setup, assert_failure};
use crate::cache::redis::Server;
use crate::support;

fn limited(limits: &Value) -> Setup {
    Setup::node(json!({"rowCap": 10, "limits": limits}))
}

fn seconds(failure: &Value) -> u64 {
    let hint = failure["hint"].as_str().unwrap();
    hint.strip_prefix("wait ").and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap()
}

#[tokio::test]
async fn statements_pins_and_pages_count_and_other_tools_do_not() {
    let db = support::database(18).await;
    let endpoint = limited(&json!({"callsPerMinute": 4})).start(&db, &db.url).await;
    let first = endpoint.query("SELECT generate_series(1, 30)").await;
    endpoint.good("next_page", json!({"cursor": first["cursor"]})).await;
    endpoint.refuses("DROP TABLE t").await;
    for _ in 0..5 {
        endpoint.good("list_schemas", json!({})).await;
        endpoint.bad("describe", json!({"name": "nosuch"})).await;
        endpoint.ask("tools/list", json!({})).await;
    }
    endpoint.query("SELECT 1").await;
    let failure = endpoint.refuses("SELECT 1").await;
    assert_failure(&failure, "too_many_calls", "expected", "call again");
    assert!((1..=60).contains(&seconds(&failure)), "{failure}");
    assert!(failure["error"].as_str().unwrap().contains("4 times a minute"), "{failure}");
    let page = endpoint.bad("next_page", json!({"cursor": first["cursor"]})).await;
    assert_eq!(page["code"], "too_many_calls");
    let record = endpoint.records().pop().unwrap();
    assert_eq!((record.effect, record.code.as_deref()), (Effect::Refused, Some("too_many_calls")));
    assert_eq!(record.counted_here, None);
}

#[tokio::test]
async fn each_caller_and_each_node_has_a_minute_of_its_own() {
    let db = support::database(18).await;
    let beside = vec![
        json!({"id": "other", "credential": "cred-1", "actions": ["query"], "limits": {"callsPerMinute": 1}}),
    ];
    let endpoint = Setup { beside, ..limited(&json!({"callsPerMinute": 1})) }.start(&db, &db.url).await;
    endpoint.query("SELECT 1").await;
    assert_eq!(endpoint.refuses("SELECT 1").await["code"], "too_many_calls");
    let call = json!({"name": "query", "arguments": {"sql": "SELECT 1"}});
    let other = endpoint.ask_at("/mcp/shop/other", "tools/call", call.clone()).await;
    assert_eq!(other["result"]["isError"], false, "{other}");
    let other = endpoint
        .ask_at("/mcp/shop", "tools/call", json!({"name": "query_other", "arguments": {"sql": "SELECT 1"}}))
        .await;
    assert_eq!(other["result"]["structuredContent"]["code"], "too_many_calls", "by whatever URL");
}

#[tokio::test]
async fn instances_count_together() {
    let db = support::database(18).await;
    let redis = Server::start(&[]);
    let instance = async || {
        let store = Arc::new(SecretStore::given("cache", &redis.url()));
        let cache = Arc::new(Cache::valkey(store, "cache".to_owned()));
        Setup { cache, ..limited(&json!({"callsPerMinute": 5, "concurrentCalls": 50})) }
            .start(&db, &db.url)
            .await
    };
    let instances = [instance().await, instance().await, instance().await];
    let call = |number: usize| instances[number].call("query", json!({"sql": "SELECT 1"}));
    let mut let_in = 0;
    for _ in 0..4 {
        let ((_, one), (_, two), (_, three)) = tokio::join!(call(0), call(1), call(2));
        let_in += [one, two, three].iter().filter(|failed| !**failed).count();
    }
    assert_eq!(let_in, 5);
}

#[tokio::test]
async fn calls_at_one_time_are_bounded_and_give_their_place_back_however_they_end() {
    let db = support::database(18).await;
    let endpoint = limited(&json!({"concurrentCalls": 2, "timeoutSeconds": 3})).start(&db, &db.url).await;
    let slow = || endpoint.call("query", json!({"sql": support::SLOW, "timeout_seconds": 2}));
    let third = async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        endpoint.refuses("SELECT 1").await
    };
    let ((one, _), (two, _), refused) = tokio::join!(slow(), slow(), third);
    assert_eq!((&one["code"], &two["code"]), (&json!("57014"), &json!("57014")));
    assert_failure(&refused, "too_many_at_once", "expected", "call again");
    assert!((1..=6).contains(&seconds(&refused)), "{refused}");
    for sql in ["SELECT 1", "SELECT 1 / 0", "DROP TABLE t", "SELECT nosuch", ""] {
        for _ in 0..3 {
            let (answer, _) = endpoint.call("query", json!({"sql": sql})).await;
            assert_ne!(answer["code"], "too_many_at_once", "{sql}");
        }
    }
}

#[tokio::test]
async fn a_killed_call_frees_its_place_when_its_time_is_over() {
    let db = support::database(18).await;
    let endpoint = limited(&json!({"concurrentCalls": 1, "timeoutSeconds": 1})).start(&db, &db.url).await;
    let killed = tokio::time::timeout(
        Duration::from_millis(400),
        endpoint.call("query", json!({"sql": support::SLOW})),
    );
    assert!(killed.await.is_err());
    let refused = endpoint.refuses("SELECT 1").await;
    assert_eq!(refused["code"], "too_many_at_once");
    tokio::time::sleep(Duration::from_secs(seconds(&refused))).await;
    endpoint.query("SELECT 1").await;
}

#[tokio::test]
async fn with_the_cache_away_each_instance_counts_for_itself_and_says_so() {
    let db = support::database(18).await;
    let store = Arc::new(SecretStore::given("cache", "redis://127.0.0.1:1"));
    let cache = Arc::new(Cache::valkey(store, "cache".to_owned()));
    let endpoint = Setup { cache, ..limited(&json!({"callsPerMinute": 2, "concurrentCalls": 1})) }
        .start(&db, &db.url)
        .await;
    for _ in 0..2 {
        endpoint.query("SELECT 1").await;
    }
    assert_eq!(endpoint.refuses("SELECT 1").await["code"], "too_many_calls");
    for record in endpoint.records() {
        assert_eq!(record.counted_here.as_deref(), Some("cache_unreachable"), "{record:?}");
    }
}

#[tokio::test]
async fn a_node_without_such_limits_asks_no_cache() {
    let db = support::database(18).await;
    let store = Arc::new(SecretStore::given("other", "redis://127.0.0.1:1"));
    let cache = Arc::new(Cache::valkey(store, "cache".to_owned()));
    let endpoint: Endpoint = Setup { cache, ..Setup::default() }.start(&db, &db.url).await;
    endpoint.query("SELECT 1").await;
    assert_eq!(endpoint.records()[0].counted_here, None);
}
