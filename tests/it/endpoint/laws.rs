//! Laws: whatever is sent is answered, and answered in form.

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use serde_json::{Map, Value};
use tokio::runtime::{Builder, Runtime};

use super::{Endpoint, Setup};
use crate::support;

const TOOLS: [&str; 6] = ["query", "describe", "list_schemas", "list_tables", "describe_table", "next_page"];

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// An endpoint whose database is not there, so that no case of many waits for one.
async fn nowhere() -> (support::TestDb, Endpoint) {
    let db = support::database(18).await;
    let endpoint = Setup::default().start(&db, "postgres://u:p@127.0.0.1:1/d").await;
    (db, endpoint)
}

fn check<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, mut holds: impl FnMut(T)) {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let holds = std::cell::RefCell::new(&mut holds);
    TestRunner::new(config)
        .run(&strategy, |case| {
            (holds.borrow_mut())(case);
            Ok(())
        })
        .unwrap();
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[ab\\n\\r\u{0}\u{2028}\"]{1,8}".prop_map(Value::from),
        "(SELECT|WITH|DELETE|EXPLAIN|[a-z$;'\"()/*-]{1,8}| ){0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Arguments that are often nearly right.
fn arguments() -> impl Strategy<Value = Map<String, Value>> {
    let known = prop::sample::select(vec![
        "sql",
        "statement",
        "query",
        "params",
        "max_rows",
        "max_bytes",
        "timeout_seconds",
        "format",
        "name",
        "relation",
        "table",
        "view",
        "schema",
        "limit",
        "offset",
        "cursor",
        "page",
    ]);
    let name = prop_oneof![4 => known.prop_map(str::to_owned), 1 => "[ab\n\r\u{2028}]{1,5}"];
    prop::collection::vec((name, json()), 0..3).prop_map(|members| members.into_iter().collect())
}

#[test]
fn any_arguments_of_any_tool_get_an_answer_that_keeps_to_the_schema() {
    let runtime = runtime();
    let (_db, endpoint) = runtime.block_on(nowhere());
    check((prop::sample::select(TOOLS.to_vec()), arguments()), |(tool, arguments)| {
        // `bad` holds the answer against the tool's output schema.
        let failure = runtime.block_on(endpoint.bad(tool, Value::Object(arguments)));
        let message = failure["error"].as_str().unwrap();
        assert!(!message.is_empty() && !message.contains(['\n', '\r', '\u{2028}']), "{message:?}");
    });
    assert!(endpoint.records().len() >= 200);
}

#[test]
fn any_bytes_as_a_body_get_a_json_rpc_error() {
    let runtime = runtime();
    let (_db, endpoint) = runtime.block_on(nowhere());
    let bodies = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..64),
        json().prop_map(|json| json.to_string().into_bytes()),
        json().prop_map(|json| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":{json}}}").into_bytes()),
        json().prop_map(|json| format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{json}}}"
        )
        .into_bytes()),
        json().prop_map(|json| format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{json}}}"
        )
        .into_bytes()),
    ];
    check(bodies, |body| {
        let reply = runtime.block_on(endpoint.send(endpoint.request(body)));
        let answer = reply.json();
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        let code = answer["error"]["code"].as_i64().unwrap();
        assert!([-32_700, -32_600, -32_601, -32_602].contains(&code), "{answer}");
        assert!([200, 400, 404].contains(&reply.status), "{} {answer}", reply.status);
    });
}
