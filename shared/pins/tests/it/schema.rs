//! The schema of a pin's tool.

use serde_json::{Value as Json, json};

use crate::{parsed, pin};

fn schema(sql: &str, params: Json) -> Json {
    pin(sql, params).input_schema().unwrap()
}

#[track_caller]
fn property(row: &str) -> Json {
    schema("SELECT :a LIMIT 1", json!([parsed(row)]))["properties"]["a"].clone()
}

#[test]
fn the_schema_of_the_worked_example_is_this() {
    let month = json!({"name": "month", "type": "date", "description": "first day of the month"});
    let n = json!({"name": "n", "type": "int8", "required": false, "default": 5, "min": 1, "max": 20});
    let schema = schema("SELECT 1 WHERE :n > 0 AND :month > '2026-01-01' LIMIT 20", json!([month, n]));
    let expected = r#"{"type":"object","properties":{"month":{"type":"string","description":"first day of the month; date: text `YYYY-MM-DD`"},"n":{"type":"integer","minimum":1,"maximum":20,"description":"int8: a whole number of 64 bits, as a number or as text; optional, `5` when left out"}},"required":["month"],"additionalProperties":false}"#;
    assert_eq!(schema.to_string(), expected);
}

#[test]
fn a_number_that_a_double_would_round_is_sent_as_text() {
    for (row, ty) in [
        (r#"{"name":"a","type":"int8"}"#, "string"),
        (r#"{"name":"a","type":"int8","min":1}"#, "string"),
        (r#"{"name":"a","type":"int8","max":9007199254740992}"#, "string"),
        (r#"{"name":"a","type":"int8","min":"-9223372036854775808","max":5}"#, "string"),
        (r#"{"name":"a","type":"int8","max":"-9223372036854775800"}"#, "string"),
        (r#"{"name":"a","type":"int8","max":9007199254740991}"#, "integer"),
        (r#"{"name":"a","type":"numeric","min":0,"max":1}"#, "string"),
    ] {
        assert_eq!(property(row)["type"], ty, "{row}");
    }
    assert_eq!(
        property(r#"{"name":"a","type":"int8","max":20}"#)["minimum"],
        json!(-9_007_199_254_740_991_i64)
    );
}

#[test]
fn a_schema_has_only_keys_that_every_client_takes() {
    let known = ["type", "description", "enum", "minimum", "maximum"];
    for row in [
        r#"{"name":"a","type":"text","allowed":["x","y"]}"#,
        r#"{"name":"a","type":"text","allowed":["","y"],"required":false,"default":""}"#,
        r#"{"name":"a","type":"int8","min":1,"max":20,"required":false}"#,
        r#"{"name":"a","type":"numeric","min":1,"max":20,"required":false,"default":"1.50"}"#,
        r#"{"name":"a","type":"bool","allowed":[true]}"#,
        r#"{"name":"a","type":"timestamptz","min":"2026-01-01T00:00Z"}"#,
    ] {
        let property = property(row);
        for (key, value) in property.as_object().unwrap() {
            assert!(known.contains(&key.as_str()), "{row}: {key}");
            assert!(key != "type" || value.is_string(), "{row}");
            let texts = |values: &Vec<Json>| {
                values.iter().all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
            };
            assert!(key != "enum" || value.as_array().is_some_and(texts), "{row}");
        }
    }
}

#[test]
fn what_the_schema_cannot_say_stands_in_the_description() {
    for (row, said) in [
        (
            r#"{"name":"a","type":"numeric","min":"0.5","required":false,"default":"1.50"}"#,
            "numeric: a decimal number, as a number or as text; optional, `1.50` when left out; at least `0.5`",
        ),
        (r#"{"name":"a","type":"text","allowed":["","y"]}"#, "text: text without NUL; only ``, `y`"),
        (
            r#"{"name":"a","type":"bool","required":false}"#,
            "bool: true or false; optional, NULL when left out",
        ),
    ] {
        assert_eq!(property(row)["description"], said);
    }
}

#[test]
fn a_pin_without_parameters_has_an_empty_object() {
    let nothing = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    assert_eq!(schema("SELECT 1 LIMIT 1", json!([])), nothing);
}

#[test]
fn a_parameter_that_is_a_claim_is_not_in_the_schema() {
    let tenant = json!({"name": "tenant", "type": "text", "claim": "tenant_id"});
    let schema = schema("SELECT :tenant, :n LIMIT 1", json!([tenant, "n int8"]));
    let properties: Vec<&str> =
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((properties, &schema["required"]), (vec!["n"], &json!(["n"])));
}
