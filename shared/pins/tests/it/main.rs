//! The crate from outside: what callers rely on.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::needless_pass_by_value,
    reason = "helpers of tests"
)]

mod arguments;
mod compiling;
mod demo_sales;
mod document;
mod laws;
mod rules;
mod schema;
mod stamps;
mod values;

use pins::{Compiled, Pin};
use serde_json::{Map, Value as Json, json};

/// A pin of this statement and these rows, each row `name type` or an object.
#[track_caller]
fn pin(sql: &str, params: Json) -> Pin {
    let rows =
        params.as_array().unwrap().iter().map(|row| match row.as_str().and_then(|row| row.split_once(' ')) {
            Some((name, ty)) => json!({"name": name, "type": ty}),
            None => row.clone(),
        });
    let rows: Vec<Json> = rows.collect();
    Pin::from_json(&json!({"id": "p1", "name": "pq_it", "purpose": "it", "sql": sql, "params": rows}))
        .unwrap()
}

#[track_caller]
fn compiled(sql: &str, params: Json) -> Compiled {
    pin(sql, params).compile().unwrap()
}

fn object(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(map) => map,
        other => panic!("{other} is no object"),
    }
}

/// JSON as a caller sends it, every digit kept.
#[track_caller]
fn parsed(json: &str) -> Json {
    serde_json::from_str(json).unwrap()
}
