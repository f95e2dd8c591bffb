//! Patterns of JSON: how an answer must look, without saying all that it says.
//!
//! An object matches one that has at least its fields. A list of one pattern matches a list, not empty, whose every element
//! matches it. `"<string>"`, `"<number>"`, `"<object>"`, `"<list>"` stand for any value of the kind, `"<absent>"` for a
//! field that must not be there. Everything else matches what equals it.

use serde_json::Value;

/// Says where an answer is not as the pattern has it.
pub(super) fn matches(pattern: &Value, answer: &Value) -> Result<(), String> {
    at("$", pattern, Some(answer))
}

/// The kind of a value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn at(path: &str, pattern: &Value, answer: Option<&Value>) -> Result<(), String> {
    let word = pattern.as_str().and_then(|text| text.strip_prefix('<')?.strip_suffix('>'));
    let answer = match (answer, word) {
        (None, Some("absent")) => return Ok(()),
        (Some(found), Some("absent")) => return Err(format!("{path} is {found}, and must not be there")),
        (None, _) => return Err(format!("{path} is missing")),
        (Some(answer), _) => answer,
    };
    match (pattern, answer) {
        (Value::Object(fields), Value::Object(found)) => {
            fields.iter().try_for_each(|(name, field)| at(&format!("{path}.{name}"), field, found.get(name)))
        }
        (Value::Array(patterns), Value::Array(found)) if patterns.len() == 1 && !found.is_empty() => {
            let mut found = found.iter().enumerate();
            found.try_for_each(|(place, one)| at(&format!("{path}[{place}]"), &patterns[0], Some(one)))
        }
        _ if word.is_some_and(|word| word == kind(answer)) || pattern == answer => Ok(()),
        _ => Err(format!("{path} is {answer}, not {pattern}")),
    }
}

#[test]
fn a_pattern_tells_where_an_answer_differs() {
    let check = |pattern: &str, answer: &str, expected: Result<(), &str>| {
        let (pattern, answer) =
            (serde_json::from_str(pattern).unwrap(), serde_json::from_str(answer).unwrap());
        assert_eq!(matches(&pattern, &answer), expected.map_err(str::to_owned));
    };
    check(r#"{"a": "<string>"}"#, r#"{"a": "x", "b": 1}"#, Ok(()));
    check(r#"{"a": [{"b": "<number>"}]}"#, r#"{"a": [{"b": 1}, {"b": 2}]}"#, Ok(()));
    check(r#"{"a": "<absent>"}"#, "{}", Ok(()));
    check(r#"{"a": "<absent>"}"#, r#"{"a": 1}"#, Err("$.a is 1, and must not be there"));
    check(r#"{"a": "<string>"}"#, r#"{"a": 1}"#, Err(r#"$.a is 1, not "<string>""#));
    check(r#"{"a": {"b": 1}}"#, r#"{"a": {}}"#, Err("$.a.b is missing"));
    check(r#"[{"b": 1}]"#, r#"[{"b": 1}, {"b": 2}]"#, Err("$[1].b is 2, not 1"));
    check(r#"["<string>"]"#, "[]", Err(r#"$ is [], not ["<string>"]"#));
}
