//! What Lambda does to a function: starts it cold, gives it too little time, takes it away, and counts its bytes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    PATH, SQL, TIME, content, deploy, deploy_with,
    emulator::Function,
    events::{FrontDoor, event, query},
};
use crate::support::command::Folder;

#[tokio::test]
async fn a_panic_fails_its_call_and_no_other() {
    let folder = Folder::new();
    let program = Path::new(env!("CARGO_BIN_EXE_shell-under-test"));
    let mut function = Function::start(program, &[], &folder.0.join("function.log"));
    let mut ask = |path: &str| function.outcome(&event(FrontDoor::HttpApi, "GET", path, None, ""), TIME);
    assert_eq!(ask("/before").unwrap()["body"], "/before");
    for _ in 0..2 {
        let said = ask("/panic").unwrap_err();
        assert!(said["errorMessage"].as_str().unwrap().contains("the handler fell"), "{said}");
        assert_eq!(ask("/after").unwrap()["body"], "/after");
    }
}

#[tokio::test]
async fn a_cold_function_connects_to_nothing_before_its_first_call() {
    let folder = Folder::new();
    // Nothing listens on port 1.
    let environment =
        [("AWS_ENDPOINT_URL", "http://127.0.0.1:1"), ("PINGUARD_CONTROL_SECRET", "pinguard/control")];
    let program = super::program("mcp", env!("CARGO_BIN_EXE_mcp-under-test"));
    let since = Instant::now();
    let mut function = Function::start(&program, &environment, &folder.0.join("function.log"));
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let refused = function.invoke(&event(FrontDoor::HttpApi, "POST", PATH, None, &list), TIME);
    println!("from its start to its first answer: {:?}", since.elapsed());
    assert_eq!(refused["statusCode"], 401);
    let key = state::ApiKey::from_random([7; 32]);
    let down = function.invoke(&event(FrontDoor::HttpApi, "POST", PATH, Some(key.text()), &list), TIME);
    assert_eq!(down["statusCode"], 503, "{down}");
}

#[tokio::test]
async fn without_time_left_a_call_is_answered_all_the_same() {
    let mut deployed = deploy().await;
    let call = event(FrontDoor::HttpApi, "POST", PATH, Some(deployed.key.text()), &query(SQL));
    let answer = deployed.function.invoke(&call, Duration::ZERO);
    assert!([200, 503].contains(&answer["statusCode"].as_i64().unwrap()), "{answer}");
    if answer["statusCode"] == 200 {
        assert_eq!(content(&answer)["outcome"], "unexpected", "{answer}");
    }
    assert_eq!(content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)))["rowCount"], 2);
}

#[tokio::test]
async fn the_largest_answers_fit_whatever_is_in_them() {
    let mut deployed = deploy_with(&[("PINGUARD_ROW_CAP", "10000"), ("PINGUARD_MAX_BYTES", "1048576")]).await;
    // Letters; quotes, which the answer, its text and Lambda's document each escape once more; NULs cannot be.
    for (value, encoded) in
        [("x", false), ("\"", true), ("\\", true), ("\u{1}", false), ("ä", false), ("\u{1f600}", false)]
    {
        let sql = format!("SELECT repeat({}, 3000) FROM generate_series(1, 5000)", literal(value));
        let answer = deployed.ask(FrontDoor::FunctionUrl, &query(&sql));
        assert_eq!(answer["isBase64Encoded"], encoded, "{value:?}");
        let content = content(&answer);
        assert_eq!(content["truncatedBy"], "bytes", "{value:?}");
        let row: Value = json!([value.repeat(3000)]);
        let rows = content["rows"].as_array().unwrap();
        assert!(rows.iter().all(|found| *found == row), "{value:?}");
        let bytes = serde_json::to_string(&rows).unwrap().len();
        assert!((1_000_000..=1_048_576).contains(&bytes), "{value:?}: {bytes}");
    }
}

fn literal(value: &str) -> String {
    format!(r"U&'\+{:06X}'", u32::from(value.chars().next().unwrap()))
}

#[tokio::test]
async fn a_signal_ends_an_idle_function_and_leaves_nothing_at_the_database() {
    let mut deployed = deploy().await;
    content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)));
    deployed.function.settle();
    let took = deployed.function.terminate();
    assert!(took < Duration::from_millis(500), "{took:?}");
    deployed.has_left().await;
}
