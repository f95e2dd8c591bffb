//! The JSON schema of a pin's tool.
//!
//! Flat, and only `type`, `properties`, `required`, `additionalProperties`, `description`, `enum` of texts, `minimum` and
//! `maximum`: what every client takes, with one meaning under draft-07 and 2020-12. No `default`: some clients then refuse a call that leaves
//! the argument out.

use serde_json::{Map, Value as Json, json};

use crate::compile::Row;
use crate::fields;
use crate::param::Presence;
use crate::value::{MAX_SAFE_INTEGER, ParamType, Value};

/// The schema of an object with one property a row that a call gives, in the order of the table.
pub(crate) fn input(rows: &[Row]) -> Json {
    let rows = || rows.iter().filter(|row| row.param.claim().is_none());
    let properties: Map<String, Json> =
        rows().map(|row| (row.param.name().to_string(), property(row))).collect();
    let required = rows().filter(|row| *row.param.presence() == Presence::Required);
    let required: Vec<Json> = required.map(|row| row.param.name().as_str().into()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn property(row: &Row) -> Json {
    let mut property = Map::new();
    let mut notes: Vec<String> = row.param.description().map(str::to_owned).into_iter().collect();
    notes.push(format!("{}: {}", row.ty.name(), row.ty.accepts()));
    let shown = |value: &Value| fields::shown(value.text());
    match row.param.presence() {
        Presence::Required | Presence::Claim(_) => {}
        Presence::Nullable => notes.push("optional, NULL when left out".to_owned()),
        Presence::Default(value) => notes.push(format!("optional, `{}` when left out", shown(value))),
    }
    match shape(row) {
        Shape::Boolean => {
            property.insert("type".to_owned(), "boolean".into());
            if !row.param.allowed().is_empty() {
                notes.push(format!("only {}", fields::list(row.param.allowed().iter().map(Value::text))));
            }
        }
        Shape::Integer { minimum, maximum } => {
            property.insert("type".to_owned(), "integer".into());
            property.insert("minimum".to_owned(), minimum.into());
            property.insert("maximum".to_owned(), maximum.into());
        }
        Shape::Text => {
            property.insert("type".to_owned(), "string".into());
            let allowed: Vec<&str> = row.param.allowed().iter().map(Value::text).collect();
            if !allowed.is_empty() && allowed.iter().all(|text| !text.is_empty()) {
                property.insert("enum".to_owned(), allowed.into());
            } else if !allowed.is_empty() {
                // An empty text in `enum` makes some clients refuse the whole list of tools.
                notes.push(format!("only {}", fields::list(allowed.into_iter())));
            }
            notes.extend(row.param.min().map(|min| format!("at least `{}`", shown(min))));
            notes.extend(row.param.max().map(|max| format!("at most `{}`", shown(max))));
        }
    }
    property.insert("description".to_owned(), notes.join("; ").into());
    Json::Object(property)
}

/// How a parameter is typed for clients.
enum Shape {
    Boolean,
    Integer { minimum: i64, maximum: i64 },
    Text,
}

/// Many clients hold JSON numbers as doubles, and would round a larger one without a word. So numeric is text, and
/// int8 is an `integer` only where its bounds keep it within what a double holds; otherwise it is text, so that a
/// 64-bit identifier arrives as it was meant. A greatest value is enough: nobody misses numbers below −(2^53 − 1).
fn shape(row: &Row) -> Shape {
    let safe = |value: i64| value.unsigned_abs() <= MAX_SAFE_INTEGER.unsigned_abs();
    let maximum = row.param.max().and_then(Value::as_int).filter(|max| safe(*max));
    let minimum = row.param.min().map_or(Some(-MAX_SAFE_INTEGER), Value::as_int).filter(|min| safe(*min));
    match (row.ty, minimum, maximum) {
        (ParamType::Bool, ..) => Shape::Boolean,
        (ParamType::Int8, Some(minimum), Some(maximum)) if row.param.allowed().is_empty() => {
            Shape::Integer { minimum, maximum }
        }
        _ => Shape::Text,
    }
}
