//! Builds tool schemas from the few words that every client reads alike: type, properties, required, description, enum,
//! items, minimum, maximum. The same text means the same under draft-07 and 2020-12.

use rmcp::model::JsonObject;
use serde_json::{Map, Value, json};

/// An input schema: properties in order, the required ones named, nothing else taken.
pub(super) fn input(properties: Vec<(&str, Value)>, required: &[&str]) -> JsonObject {
    let mut schema = object(properties);
    schema.insert("required".to_owned(), json!(required));
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

/// An output schema: the answer's properties, and those that every failure has. Nothing is required, since either fits.
pub(super) fn output(properties: Vec<(&str, Value)>) -> JsonObject {
    let failure = vec![
        ("error", text("What went wrong; absent when the call succeeded.")),
        ("code", text("SQLSTATE of the database, or a word of this server.")),
        (
            "outcome",
            word("expected: yours to mend; unexpected: the server's trouble.", &["expected", "unexpected"]),
        ),
        ("hint", text("What to do next.")),
        ("position", whole("Where in the statement, in characters from 1.", 1, None)),
        (
            "findings",
            list(
                "Every rule that the statement breaks.",
                object_of(vec![
                    ("code", text("The rule.")),
                    ("message", text("What the statement did.")),
                    ("help", text("What is allowed instead.")),
                    ("position", whole("Where, in characters from 1.", 1, None)),
                ]),
            ),
        ),
        ("plan", text("The beginning of the plan that was too costly, as JSON.")),
    ];
    object(properties.into_iter().chain(failure).collect())
}

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

pub(super) fn truth(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

pub(super) fn word(description: &str, words: &[&str]) -> Value {
    json!({"type": "string", "description": description, "enum": words})
}

pub(super) fn whole(description: &str, minimum: u64, maximum: Option<u64>) -> Value {
    let mut schema = json!({"type": "integer", "description": description, "minimum": minimum});
    if let (Some(maximum), Some(fields)) = (maximum, schema.as_object_mut()) {
        fields.insert("maximum".to_owned(), json!(maximum));
    }
    schema
}

pub(super) fn list(description: &str, items: Value) -> Value {
    Value::Object(Map::from_iter([
        ("type".to_owned(), json!("array")),
        ("description".to_owned(), json!(description)),
        ("items".to_owned(), items),
    ]))
}

/// An object whose keys are names of the database.
pub(super) fn names_to_values(description: &str) -> Value {
    json!({"type": "object", "description": description, "properties": {}})
}

pub(super) fn object_of(properties: Vec<(&str, Value)>) -> Value {
    Value::Object(object(properties))
}

fn object(properties: Vec<(&str, Value)>) -> JsonObject {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    schema
}
