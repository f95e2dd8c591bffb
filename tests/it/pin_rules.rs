//! The rules of pinned queries, each in one line of one table, and what holds it: a request to the route that tests pins, or a test
//! elsewhere, which has to be there.

mod table;

use std::{collections::HashSet, fs, path::Path, sync::Arc};

use pins::Pin;
use serde_json::{Value, json};
use state::{Credential, CredentialId};

use self::table::RULES;
use crate::{
    pin_test_api::{Lab, body, flow, revenue},
    support,
};

/// What holds a rule.
enum Check {
    /// A test of this passes, and its answer has this text in it.
    Passes(Tried, &'static str),
    /// A test of this ends with this status, and this text is in the answer.
    Refused(Tried, u16, &'static str),
    /// Tests as `file::name`.
    Held(&'static [&'static str]),
}

/// The worked example's first pin and its request, with one thing changed.
enum Tried {
    /// The statement, `:month` being a date.
    Sql(&'static str),
    /// The parameter `:a` of a statement that returns it, and its value.
    Row(&'static str, &'static str),
    /// Parts of the request, put over it; null takes one away.
    Part(&'static str),
}

impl Tried {
    fn request(&self) -> Value {
        let mut request = body();
        let parsed =
            |text: &str| serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        match self {
            Self::Sql(sql) => request["pin"]["sql"] = json!(sql),
            Self::Row(row, value) => {
                request["pin"]["sql"] = json!("SELECT :a AS a LIMIT 1");
                request["pin"]["params"] = json!([parsed(row)]);
                request["values"] = json!({"a": parsed(value)});
            }
            Self::Part(part) => lay_over(&mut request, parsed(part)),
        }
        request
    }
}

/// As RFC 7396 says.
fn lay_over(whole: &mut Value, part: Value) {
    let Value::Object(part) = part else { return *whole = part };
    if !whole.is_object() {
        *whole = json!({});
    }
    for (name, value) in part {
        if value.is_null() {
            whole.as_object_mut().unwrap().shift_remove(&name);
        } else {
            lay_over(&mut whole[name], value);
        }
    }
}

#[tokio::test]
async fn every_rule_holds() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    let id = CredentialId::parse("theirs").unwrap();
    let theirs = Credential { id: &id, name: "theirs", secret_id: "shop" };
    lab.editor.app.control.put_credential("other", &theirs).await.unwrap();
    let mut wrong = Vec::new();
    for (rule, check) in RULES {
        let (tried, status, said) = match check {
            Check::Passes(tried, said) => (tried, 200, said),
            Check::Refused(tried, status, said) => (tried, *status, said),
            Check::Held(_) => continue,
        };
        let request = tried.request();
        let reply = lab.test("sales", &request).await;
        let answer = reply.json().to_string();
        if reply.status != status || !answer.contains(said) {
            wrong.push(format!(
                "{rule}: {status} with `{said}` expected from {request}\n    {} {answer}",
                reply.status
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_test_that_a_rule_relies_on_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (rule, check) in RULES {
        let Check::Held(tests) = check else { continue };
        assert!(!tests.is_empty(), "{rule}");
        for test in *tests {
            let (file, name) = test.split_once("::").unwrap();
            let text =
                fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{rule}: {file}: {error}"));
            let (before, _) =
                text.split_once(&format!("fn {name}(")).unwrap_or_else(|| panic!("{rule}: no {test}"));
            let attribute =
                before.lines().rev().map(str::trim).find(|line| !["", "async"].contains(line)).unwrap();
            assert!(["#[test]", "#[tokio::test]"].contains(&attribute), "{rule}: {test} is no test");
        }
    }
}

#[test]
fn every_rule_stands_once() {
    let mut seen = HashSet::new();
    for (rule, _) in RULES {
        assert!(seen.insert(rule), "{rule}");
        assert!(!rule.ends_with('.') && rule.len() < 150, "{rule}");
    }
}

/// A pin of the worked example that was tested, saved and published.
async fn published(lab: &Lab) {
    lab.editor.save(&flow("sales", &[]), 0).await;
    let mut pin = revenue();
    pin["stamp"] = lab.pass("sales", &body()).await["stamp"].clone();
    lab.editor.save(&flow("sales", &[pin]), 1).await;
    lab.editor.publish("sales").await;
}

#[tokio::test]
async fn pins_that_are_turned_off_stay_saved_and_come_back() {
    let db = support::database(18).await;
    let mut lab = Lab::over(&db).await;
    published(&lab).await;
    let keys = Arc::get_mut(&mut lab.agents).unwrap().stamp_keys.take();
    assert!(lab.offered("/mcp/sales/db").await.is_empty());
    let saved = &lab.editor.get("/flows/sales").await["live"]["nodes"][0]["pins"][0];
    assert!(saved["stamp"]["hmac"].is_string(), "{saved}");
    Arc::get_mut(&mut lab.agents).unwrap().stamp_keys = keys;
    assert_eq!(lab.offered("/mcp/sales/db").await, ["pq_revenue_by_region"]);
}

#[tokio::test]
async fn a_flow_that_is_read_has_its_statements_and_no_connection() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    published(&lab).await;
    let read = lab.editor.get("/flows/sales").await.to_string();
    assert!(
        read.contains("FROM demo_sales WHERE month = :month") && read.contains("\"credential\":\"shop\""),
        "{read}"
    );
    assert!(!read.contains("postgresql://"), "{read}");
}

#[tokio::test]
async fn a_node_without_pins_offers_the_same_whether_pins_are_on_or_off() {
    let db = support::database(18).await;
    let mut lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    lab.editor.publish("sales").await;
    let on = lab.agent("/mcp/sales/db", "tools/list", json!({})).await;
    Arc::get_mut(&mut lab.agents).unwrap().stamp_keys = None;
    let off = lab.agent("/mcp/sales/db", "tools/list", json!({})).await;
    assert_eq!(on, off);
    let call = json!({"name": "query", "arguments": {"sql": "SELECT count(*) FROM demo_sales"}});
    let answer = lab.agent("/mcp/sales/db", "tools/call", call).await;
    assert_eq!(answer["result"]["structuredContent"]["rows"], json!([[6]]), "{answer}");
}

#[test]
fn the_hash_of_a_pin_is_not_that_of_its_statement() {
    let hash = |change: &dyn Fn(&mut Value)| {
        let mut pin = revenue();
        change(&mut pin);
        let compiled = Pin::from_json(&pin).unwrap().compile().unwrap();
        (compiled.statement_hash().to_owned(), pins::sql_hash(compiled.sql()))
    };
    let plain = hash(&|_| {});
    assert_ne!(plain.0, plain.1);
    let bounded = hash(&|pin| pin["params"][0]["max"] = json!("2026-12-01"));
    assert!(
        plain.0 != bounded.0 && plain.1 == bounded.1,
        "a parameter's bounds are of the pin and not of its text"
    );
}
