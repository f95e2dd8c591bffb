//! Pins in a flow document.

use pins::Pin;
use serde_json::{Value as Json, json};

fn whole() -> Json {
    json!({
        "id": "0190b3c4-7d6e-7abc-8def-0123456789ab", "name": "pq_it", "purpose": "What it answers",
        "sql": "SELECT :a, :b, :c LIMIT 1",
        "params": [
            {"name": "a", "type": "int8", "required": false, "description": "how many", "default": 5, "allowed": [5, "9007199254740993"], "min": 1, "max": null, "claim": null},
            {"name": "b", "type": "numeric", "required": true, "description": null, "default": null, "allowed": [], "min": "1.10", "max": null, "claim": null},
            {"name": "c", "type": null, "required": true, "description": null, "default": null, "allowed": [], "min": null, "max": null, "claim": "org"},
        ],
        "rowCap": 50, "version": 3,
        "stamp": {"hmac": "ab".repeat(32), "testedColumns": [{"name": "a", "type": "bigint"}], "testedBy": "ada", "testedAt": "2026-01-01T00:00:00Z"},
    })
}

#[track_caller]
fn problems(change: impl FnOnce(&mut Json)) -> Vec<(String, String)> {
    let mut pin = whole();
    change(&mut pin);
    Pin::from_json(&pin).unwrap_err().into_iter().map(|problem| (problem.path, problem.message)).collect()
}

#[test]
fn a_pin_is_written_as_it_was_read() {
    let pin = Pin::from_json(&whole()).unwrap();
    assert_eq!(pin.to_json().to_string(), whole().to_string());
    assert_eq!(Pin::from_json(&pin.to_json()), Ok(pin));
}

#[test]
fn what_may_be_left_out_has_a_meaning() {
    let pin = json!({"id": "p", "name": "pq_it", "purpose": " it ", "sql": "SELECT :a LIMIT 1", "params": [{"name": "a"}]});
    let pin = Pin::from_json(&pin).unwrap();
    assert_eq!((pin.version(), pin.row_cap(), pin.stamp(), pin.purpose()), (1, None, None, "it"));
    assert!(pin.params()[0].ty().is_none());
    assert_eq!(*pin.params()[0].presence(), pins::Presence::Required);
}

#[test]
fn a_row_cap_is_rounded_down_and_is_at_least_one() {
    for (given, expected) in
        [(json!(50.9), Some(50)), (json!(0.5), Some(1)), (json!(1), Some(1)), (json!(null), None)]
    {
        let mut pin = whole();
        pin["rowCap"] = given.clone();
        assert_eq!(Pin::from_json(&pin).unwrap().row_cap().map(u32::from), expected, "{given}");
    }
    for given in [json!(0), json!(-1), json!("50"), json!(1e300), json!([])] {
        assert_eq!(problems(|pin| pin["rowCap"] = given)[0].0, "rowCap");
    }
}

#[test]
fn all_problems_come_at_once_with_their_paths() {
    let found = problems(|pin| {
        *pin = json!({
            "id": "", "name": "it", "purpose": "", "sql": " ", "extra": 1, "version": 0,
            "params": [
                {"name": "page", "type": "date", "default": 5},
                {"name": "a", "type": "varchar"},
                {"name": "b", "type": "int8", "min": "x", "allowed": [1, "y"], "required": "yes"},
                7,
                {"type": "int8"},
                {"name": "c", "min": 1},
                {"name": "d", "type": "int8"},
                {"name": "D", "type": "int8"},
            ],
            "stamp": {"hmac": "xx", "testedColumns": [{"name": 1}], "testedBy": "x", "url": "postgres://"},
        });
    });
    let paths: Vec<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
    let expected = [
        "extra",
        "id",
        "name",
        "purpose",
        "sql",
        "version",
        "params[0].name",
        "params[0].default",
        "params[1].type",
        "params[2].required",
        "params[2].allowed[1]",
        "params[2].min",
        "params[3]",
        "params[4].name",
        "params[5].min",
        "params[7].name",
        "stamp.url",
        "stamp.hmac",
        "stamp.testedAt",
        "stamp.testedColumns[0].name",
        "stamp.testedColumns[0].type",
    ];
    for path in expected {
        assert!(paths.contains(&path), "{path} is missing in {paths:?}");
    }
    for (_, message) in &found {
        assert!(!message.contains('\n') && !message.ends_with('.'), "{message}");
    }
}

#[test]
fn what_is_no_object_is_one_problem() {
    for json in [json!(null), json!([]), json!("SELECT 1"), json!(5)] {
        assert_eq!(Pin::from_json(&json).unwrap_err().len(), 1, "{json}");
    }
}

#[test]
fn sizes_are_bounded() {
    let long = |n: usize| Json::from("x".repeat(n));
    assert_eq!(problems(|pin| pin["sql"] = long(300_000))[0].0, "sql");
    assert_eq!(problems(|pin| pin["purpose"] = long(301))[0].0, "purpose");
    assert_eq!(problems(|pin| pin["id"] = long(65))[0].0, "id");
    assert_eq!(problems(|pin| pin["params"][0]["description"] = long(501))[0].0, "params[0].description");
    assert_eq!(problems(|pin| pin["params"] = vec![json!({"name": "a"}); 101].into())[0].0, "params");
    let allowed: Vec<u32> = (0..201).collect();
    assert_eq!(problems(|pin| pin["params"][0]["allowed"] = allowed.into())[0].0, "params[0].allowed");
}

#[test]
fn a_claim_has_no_other_value() {
    let row = |more: Json| {
        let mut row = json!({"name": "a", "type": "text", "claim": "tenant_id"});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        problems(|pin| pin["params"] = json!([row]))
    };
    for more in [json!({"required": false}), json!({"required": false, "default": "x"})] {
        assert_eq!(row(more)[0].0, "params[0].claim");
    }
    for claim in ["", " ", "a\nb", &"x".repeat(101)] {
        assert_eq!(row(json!({ "claim": claim }))[0].0, "params[0].claim", "{claim:?}");
    }
    let pin = json!({"id": "p", "name": "pq_it", "purpose": "it", "sql": "SELECT :a LIMIT 1",
        "params": [{"name": "a", "claim": "tenant_id"}]});
    let pin = Pin::from_json(&pin).unwrap();
    assert_eq!(pin.params()[0].claim(), Some("tenant_id"));
    assert_eq!(Pin::from_json(&pin.to_json()), Ok(pin));
}
