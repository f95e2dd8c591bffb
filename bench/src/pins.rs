//! A pinned query beside the same statement as free SQL, and what a hundred stamps cost.

use std::{
    fs,
    time::{Duration, Instant},
};

use pins::{Column, Pin, Scope, ScopeCredential, StampKey, StampState, Test};
use serde_json::{Value, json};
use state::{Flow, FlowStage};

use crate::{
    endpoint::{Endpoint, timed},
    median, milliseconds,
    world::{DATABASE_SECRET, World},
};

const ROUNDS: usize = 300;
const PINS: usize = 100;

/// The most that a pin's call may take, as a multiple of the same statement as free SQL.
const AT_MOST: f64 = 1.1;
/// The most that the stamps of a list of tools may take.
const STAMPS_AT_MOST: Duration = Duration::from_millis(1);

const KEY: &str = "a stamp key of thirty-two bytes!";
const STAMP_SECRET: &str = "stamps";
const PINNED: &str = "SELECT item, price, sold FROM stock WHERE sold > :least ORDER BY item LIMIT 100";
const FREE: &str =
    "SELECT item, price, sold FROM stock WHERE sold > ($1::pg_catalog.int8) ORDER BY item LIMIT 100";

/// Measures and prints.
pub(crate) async fn measure(world: &World) {
    let pins: Vec<Pin> = (0..PINS).map(pin).collect();
    publish(world, &pins).await;
    let endpoint = Endpoint::with_pins(world, STAMP_SECRET);
    let (pinned, free) = (json!({"least": 5}), json!({"sql": FREE, "params": ["5"]}));
    let (mut by_pin, mut by_sql) = (vec![], vec![]);
    for round in 0..ROUNDS + 20 {
        let times = [
            timed(call(&endpoint, "/mcp/pins/pinned", "pq_stock_0", &pinned)).await,
            timed(call(&endpoint, "/mcp/pins/free", "query", &free)).await,
        ];
        if round >= 20 {
            by_pin.push(times[0]);
            by_sql.push(times[1]);
        }
    }
    let (by_pin, by_sql) = (median(&mut by_pin), median(&mut by_sql));
    let ratio = by_pin.as_secs_f64() / by_sql.as_secs_f64();
    println!("a pinned query of a node with {PINS} pins, medians of {ROUNDS} rounds, taken in turns");
    println!(
        "  by its pin {}, the same statement as free SQL {}: ratio {ratio:.2}, at most {AT_MOST} is the aim{}",
        milliseconds(by_pin),
        milliseconds(by_sql),
        if ratio > AT_MOST { ": NOT MET" } else { "" }
    );
    let stamps = stamps(&pins);
    println!(
        "  {PINS} stamps verified in {} µs; less than {} µs is the aim{}",
        stamps.as_micros(),
        STAMPS_AT_MOST.as_micros(),
        if stamps >= STAMPS_AT_MOST { ": NOT MET" } else { "" }
    );
}

fn scope() -> Scope {
    Scope {
        workspace: "acme".to_owned(),
        credential: ScopeCredential::Named { id: "stock".to_owned(), secret: DATABASE_SECRET.to_owned() },
        selection: [].into(),
        allowed_functions: [].into(),
        allowed_foreign_tables: [].into(),
        search_path: Vec::new(),
    }
}

fn key() -> StampKey {
    StampKey::new(KEY.as_bytes()).unwrap()
}

fn pin(number: usize) -> Pin {
    let pin = json!({"id": format!("p{number}"), "name": format!("pq_stock_{number}"), "purpose": "What sold well",
        "sql": PINNED, "params": [{"name": "least", "type": "int8", "min": 0}]});
    let pin = Pin::from_json(&pin).unwrap();
    let column = |name: &str, ty: &str| Column { name: name.to_owned(), ty: ty.to_owned() };
    let columns = vec![column("item", "text"), column("price", "numeric(8,2)"), column("sold", "bigint")];
    let test = Test { columns, by: "bench".to_owned(), at: "2026-01-01T00:00:00Z".to_owned() };
    let stamp = pin.stamp_test(&key(), &scope(), test).unwrap();
    pin.with_stamp(Some(stamp))
}

async fn publish(world: &World, pins: &[Pin]) {
    fs::write(world.folder.join(STAMP_SECRET), KEY).unwrap();
    let pins: Vec<Value> = pins.iter().map(Pin::to_json).collect();
    let flow = json!({"id": "pins", "kind": "chatflow", "nodes": [
        {"id": "pinned", "credential": "stock", "actions": [], "pins": pins},
        {"id": "free", "credential": "stock", "actions": ["query"]}]});
    let flow = Flow::from_json(&flow.to_string()).unwrap();
    world.control().put_flow("acme", &flow, FlowStage::Live).await.unwrap();
}

async fn call(endpoint: &Endpoint, path: &str, tool: &str, arguments: &Value) {
    let answer = endpoint.call(path, tool, arguments).await;
    assert_eq!(answer["rowCount"], 7, "{answer}");
}

fn stamps(pins: &[Pin]) -> Duration {
    let (key, scope) = (key(), scope());
    let mut times: Vec<Duration> = (0..100)
        .map(|_| {
            let since = Instant::now();
            assert!(pins.iter().all(|pin| pin.verify(&key, &scope) == StampState::Verified));
            since.elapsed()
        })
        .collect();
    median(&mut times)
}
