//! Parameters of a statement: JSON in, PostgreSQL's text out. The server says which types it takes them for.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The OIDs of json, jsonb, json[] and jsonb[].
const JSON: [u32; 2] = [114, 3802];
const JSON_ARRAY: [u32; 2] = [199, 3807];

/// One value for a `$n`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Parameter {
    /// SQL NULL, which is not the text `null`.
    Null,
    /// PostgreSQL's text form of a value.
    Text(String),
    /// A list: an array, or a JSON document where the server takes the parameter for one.
    List(Vec<Value>),
    /// A JSON document.
    Object(serde_json::Map<String, Value>),
}

impl From<Value> for Parameter {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Text(value.to_string()),
            // The digits as they were sent.
            Value::Number(number) => Self::Text(number.to_string()),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => Self::List(items),
            Value::Object(members) => Self::Object(members),
        }
    }
}

impl Parameter {
    /// The text for a parameter that the server takes for a value of this type; none is NULL.
    pub(crate) fn text(&self, type_oid: u32) -> Option<Cow<'_, str>> {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(Cow::Borrowed(text)),
            Self::List(items) if JSON.contains(&type_oid) => Some(Cow::Owned(json_list(items))),
            Self::List(items) if JSON_ARRAY.contains(&type_oid) => {
                let documents = items.iter().map(|item| match item {
                    Value::Null => "NULL".to_owned(),
                    document => quote_element(&document.to_string()),
                });
                Some(Cow::Owned(braces(documents)))
            }
            Self::List(items) => Some(Cow::Owned(braces(items.iter().map(element)))),
            Self::Object(members) => Some(Cow::Owned(Value::Object(members.clone()).to_string())),
        }
    }
}

fn json_list(items: &[Value]) -> String {
    let items: Vec<_> = items.iter().map(Value::to_string).collect();
    format!("[{}]", items.join(","))
}

fn braces(items: impl Iterator<Item = String>) -> String {
    format!("{{{}}}", items.collect::<Vec<_>>().join(","))
}

fn element(item: &Value) -> String {
    match item {
        Value::Null => "NULL".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quote_element(text),
        Value::Array(items) => braces(items.iter().map(element)),
        document @ Value::Object(_) => quote_element(&document.to_string()),
    }
}

/// An element of an array literal. Quoted always, so that no text is taken for NULL or a delimiter.
pub(crate) fn quote_element(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, type_oid: u32, text: Option<&str>) {
        assert_eq!(Parameter::from(value).text(type_oid).as_deref(), text);
    }

    #[test]
    fn plain_values_keep_their_text() {
        check(json!(null), 25, None);
        check(json!("null"), 25, Some("null"));
        check(json!(""), 25, Some(""));
        check(json!(true), 16, Some("true"));
        check(
            serde_json::from_str("12345678901234567890.10").unwrap(),
            1700,
            Some("12345678901234567890.10"),
        );
        check(serde_json::from_str("1E400").unwrap(), 1700, Some("1e+400"));
        check(json!({"a": [1, null]}), 3802, Some(r#"{"a":[1,null]}"#));
    }

    #[test]
    fn a_list_is_an_array_unless_the_server_wants_json() {
        let list = json!([1, null, "NULL", "a,b", "q\"\\", true, [2]]);
        check(list.clone(), 1009, Some(r#"{1,NULL,"NULL","a,b","q\"\\",true,{2}}"#));
        check(list, 114, Some(r#"[1,null,"NULL","a,b","q\"\\",true,[2]]"#));
        check(json!([]), 1007, Some("{}"));
        check(json!([[1, 2], [3, 4]]), 1007, Some("{{1,2},{3,4}}"));
        check(json!([{"a": 1}, [1], null]), 3807, Some(r#"{"{\"a\":1}","[1]",NULL}"#));
    }
}
