//! Pages and counts of processes that share nothing but the cache: a table of the control database, or a Valkey.

use std::slice;

use serde_json::{Value, json};

use super::{
    Deployed, PATH, TIME, content, control, deploy_with, emulator::Function, events, go_live, start,
};
use crate::cache::redis::Server;

const ROWS: u64 = 35;

/// Two more processes of the function.
async fn two(cache: Option<&Server>, limits: Value) -> (Deployed, [Function; 2]) {
    let setting = ("PINGUARD_CACHE_SECRET", "pinguard/cache");
    let settings = cache.map_or(&[][..], |_| slice::from_ref(&setting));
    let deployed = deploy_with(settings).await;
    if let Some(server) = cache {
        deployed.secrets.create("pinguard/cache", &server.url());
    }
    let node =
        json!({"id": "sales", "credential": "stock", "actions": ["query"], "rowCap": 10, "limits": limits});
    go_live(&control(&deployed.database), node).await;
    let more = ["one", "other"]
        .map(|name| start(&deployed.secrets.url(), settings, &deployed.log.with_extension(name)));
    (deployed, more)
}

fn call(function: &mut Function, key: &str, tool: &str, arguments: &Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments}});
    let event = events::event(events::FrontDoor::FunctionUrl, "POST", PATH, Some(key), &message.to_string());
    content(&function.invoke(&event, TIME))
}

fn numbers(answer: &Value) -> Vec<u64> {
    let rows = answer["rows"].as_array().unwrap_or_else(|| panic!("{answer}"));
    rows.iter().map(|row| row[0].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn a_page_outlives_the_process_that_read_it_killed_and_the_database_it_came_from() {
    let server = Server::start(&[]);
    for cache in [None, Some(&server)] {
        let (deployed, [mut one, mut other]) = two(cache, json!({})).await;
        let key = deployed.key.text();
        let sql = format!("SELECT i FROM generate_series(1, {ROWS}) AS i ORDER BY i");
        let mut answer = call(&mut one, key, "query", &json!({"sql": sql}));
        let mut seen = numbers(&answer);
        // As SIGKILL ends it.
        drop(one);
        deployed.has_left().await;
        deployed.secrets.put("pinguard/stock", "postgres://u:p@127.0.0.1:1/d", "AWSCURRENT");
        while answer["cursor"].is_string() {
            answer = call(&mut other, key, "next_page", &json!({"cursor": answer["cursor"]}));
            seen.extend(numbers(&answer));
        }
        assert_eq!(seen, (1..=ROWS).collect::<Vec<_>>());
        assert!(deployed.served_by().await.is_empty(), "kept pages open nothing");
    }
}

#[tokio::test]
async fn the_calls_of_a_minute_are_counted_by_all_processes_together() {
    let server = Server::start(&[]);
    for cache in [None, Some(&server)] {
        let (deployed, [mut one, mut other]) = two(cache, json!({"callsPerMinute": 5})).await;
        let key = deployed.key.text();
        let mut codes = Vec::new();
        for _ in 0..4 {
            for function in [&mut one, &mut other] {
                codes.push(call(function, key, "query", &json!({"sql": "SELECT 1"}))["code"].clone());
            }
        }
        let over = json!("too_many_calls");
        assert_eq!(
            (codes[..5].iter().all(Value::is_null), &codes[5..]),
            (true, &[over.clone(), over.clone(), over][..])
        );
    }
}
