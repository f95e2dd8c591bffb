//! What a call can send, and what becomes of it.

use pins::BadCall;
use serde_json::{Value as Json, json};

use crate::{compiled, object, parsed};

#[track_caller]
fn bind(row: &str, arguments: &str) -> Result<Option<String>, String> {
    let pin = compiled("SELECT :a LIMIT 1", json!([parsed(row)]));
    let bound = pin.bind(&object(parsed(arguments))).map_err(|bad| bad.to_string())?;
    Ok(bound.into_iter().next().unwrap())
}

#[test]
fn null_the_text_null_and_left_out_are_three_things() {
    let nullable = r#"{"name":"a","type":"text","required":false}"#;
    assert_eq!(bind(nullable, r#"{"a":null}"#), Ok(None));
    assert_eq!(bind(nullable, r#"{"a":"null"}"#), Ok(Some("null".to_owned())));
    assert_eq!(bind(nullable, "{}"), Ok(None));
    let with_default = r#"{"name":"a","type":"text","required":false,"default":"all"}"#;
    assert_eq!(bind(with_default, "{}"), Ok(Some("all".to_owned())));
    assert_eq!(bind(with_default, r#"{"a":"null"}"#), Ok(Some("null".to_owned())));
    assert_eq!(bind(with_default, r#"{"a":""}"#), Ok(Some(String::new())));
    let message = bind(with_default, r#"{"a":null}"#).unwrap_err();
    assert!(message.contains("leave it out for `all`"), "{message}");
    let required = r#"{"name":"a","type":"text"}"#;
    assert!(bind(required, r#"{"a":null}"#).unwrap_err().contains("got null"));
}

#[test]
fn an_optional_date_takes_no_empty_text() {
    let row = r#"{"name":"a","type":"date","required":false,"default":"2026-01-01"}"#;
    assert_eq!(bind(row, "{}"), Ok(Some("2026-01-01".to_owned())));
    assert!(bind(row, r#"{"a":""}"#).unwrap_err().contains("got empty text"));
    assert!(bind(row, r#"{"a":null}"#).is_err());
}

#[test]
fn a_refusal_names_the_parameter_and_its_type_and_no_value() {
    for (ty, sent) in [
        ("text", "5"),
        ("int8", r#""geheim""#),
        ("bool", "1"),
        ("date", r#""geheim""#),
        ("numeric", r#""geheim""#),
    ] {
        let message =
            bind(&format!(r#"{{"name":"a","type":"{ty}"}}"#), &format!(r#"{{"a":{sent}}}"#)).unwrap_err();
        assert!(message.starts_with(&format!("`a`: {ty} takes ")), "{message}");
        assert!(!message.contains("geheim"), "{message}");
    }
}

#[test]
fn all_problems_of_a_call_come_at_once() {
    let pin = compiled("SELECT :a, :b, :c LIMIT 1", json!(["a int8", "b date", "c bool"]));
    let bad = pin.bind(&object(json!({"a": 1.5, "c": true, "d": 1, "e\n": 2}))).unwrap_err();
    let paths: Vec<&str> = bad.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["a", "b", "d", "e\\n"]);
    assert_eq!(
        bad.accepted,
        "this tool takes `a` (int8, required), `b` (date, required), `c` (bool, required)"
    );
}

#[test]
fn bounds_and_allowed_values_compare_by_meaning() {
    let numeric = r#"{"name":"a","type":"numeric","min":"0.5","max":1e3}"#;
    assert_eq!(bind(numeric, r#"{"a":"1000.00"}"#), Ok(Some("1000.00".to_owned())));
    assert!(bind(numeric, r#"{"a":1000.0000000000000000000000001}"#).is_err());
    assert!(bind(numeric, r#"{"a":0.49999999999999999999999999999}"#).is_err());
    let moment = r#"{"name":"a","type":"timestamptz","max":"2026-01-01T00:00:00Z"}"#;
    assert!(bind(moment, r#"{"a":"2026-01-01 01:00:00+01:00"}"#).is_ok());
    assert!(bind(moment, r#"{"a":"2026-01-01 00:00:00.000001Z"}"#).is_err());
    let allowed = r#"{"name":"a","type":"int8","allowed":[10,"20"]}"#;
    assert_eq!(bind(allowed, r#"{"a":2e1}"#), Ok(Some("20".to_owned())));
    assert!(bind(allowed, r#"{"a":30}"#).unwrap_err().contains("allowed values `10`, `20`"));
}

#[test]
fn a_pin_without_parameters_says_so() {
    let pin = compiled("SELECT 1 LIMIT 1", json!([]));
    assert_eq!(pin.bind(&object(json!({}))), Ok(vec![]));
    let bad = pin.bind(&object(json!({"a": 1}))).unwrap_err();
    assert_eq!(bad.to_string(), "`a`: no such parameter; this tool takes no parameters");
}

/// A call of a pin of which `a` is the claim `org`, and `b` the agent's.
fn call(row: &str, arguments: Json, claims: Option<Json>) -> Result<Vec<Option<String>>, BadCall> {
    let pin = compiled("SELECT :a, :b LIMIT 1", json!([parsed(row), "b text"]));
    pin.bind_call(&object(arguments), claims.map(object).as_ref())
}

const CLAIM: &str = r#"{"name":"a","type":"text","claim":"org","allowed":["x","y","7","[1]"]}"#;

#[test]
fn a_claim_comes_from_the_token_alone() {
    let bound = call(CLAIM, json!({"b": "1"}), Some(json!({"org": "x", "a": "y"})));
    assert_eq!(bound, Ok(vec![Some("x".to_owned()), Some("1".to_owned())]));
    for sent in [json!("x"), json!("y"), json!(null)] {
        let bad = call(CLAIM, json!({"a": sent, "b": "1"}), Some(json!({"org": "x"}))).unwrap_err();
        assert_eq!(
            bad.to_string(),
            "`a`: comes from the caller's access token; leave it out; this tool takes `b` (text, required)"
        );
    }
    let unknown = call(CLAIM, json!({"org": "x"}), Some(json!({"org": "x"}))).unwrap_err().to_string();
    assert!(unknown.contains("`org`: no such parameter") && !unknown.contains("`a`"), "{unknown}");
}

#[test]
fn a_caller_without_the_claim_is_refused() {
    let missing = BadCall::MissingClaim("org".to_owned());
    assert_eq!(call(CLAIM, json!({"b": "1"}), None), Err(BadCall::NoToken("org".to_owned())));
    for claims in [json!({}), json!({"org": null}), json!({"ORG": "x"})] {
        assert_eq!(call(CLAIM, json!({"b": "1"}), Some(claims)), Err(missing.clone()));
    }
    let unfit = call(CLAIM, json!({"b": "1"}), Some(json!({"org": "z"}))).unwrap_err().to_string();
    assert!(unfit.starts_with("the claim `org` of the access token does not fit: is not one of"), "{unfit}");
}

#[test]
fn a_claim_of_another_kind_is_read_as_text() {
    let value = |row: &str, org: Json| {
        call(row, json!({"b": ""}), Some(json!({"org": org}))).map(|all| all[0].clone())
    };
    assert_eq!(value(CLAIM, json!(7)), Ok(Some("7".to_owned())));
    assert_eq!(value(CLAIM, json!([1])), Ok(Some("[1]".to_owned())));
    let whole = r#"{"name":"a","type":"int8","claim":"org"}"#;
    assert_eq!(value(whole, json!("9007199254740993")), Ok(Some("9007199254740993".to_owned())));
    assert_eq!(value(whole, parsed("9007199254740993")), Ok(Some("9007199254740993".to_owned())));
    assert!(matches!(value(whole, json!("x")), Err(BadCall::UnfitClaim { .. })));
    assert!(matches!(value(whole, json!([1])), Err(BadCall::UnfitClaim { .. })));
}
