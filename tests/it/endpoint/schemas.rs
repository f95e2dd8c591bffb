//! Schemas: those that tools show, and whether answers keep to them.

use jsonschema::{Draft, Validator};
use serde_json::{Map, Value, json};

use super::Endpoint;
use crate::support;

/// The words that every client reads, and reads alike.
const WORDS: [&str; 9] = [
    "type",
    "properties",
    "required",
    "description",
    "enum",
    "items",
    "minimum",
    "maximum",
    "additionalProperties",
];
const DRAFTS: [Draft; 2] = [Draft::Draft7, Draft::Draft202012];

fn compiled(schema: &Value, draft: Draft) -> Validator {
    jsonschema::options().with_draft(draft).build(schema).unwrap()
}

/// Holds a tool's result against what the tool says of it. Gives the content, and whether it is a failure.
#[track_caller]
pub(super) fn judge(tool: &Value, result: &Value) -> (Value, bool) {
    let content = &result["structuredContent"];
    let text = &result["content"][0];
    assert_eq!(text["type"], "text", "{result}");
    let same: Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
    assert_eq!(same, *content, "the text says the same as the structure");
    assert_eq!(result["content"].as_array().unwrap().len(), 1);

    let (name, schema) = (&tool["name"], &tool["outputSchema"]);
    for draft in DRAFTS {
        if let Err(error) = compiled(schema, draft).validate(content) {
            panic!("{name}, {draft:?}: {error} at {} in {content}", error.instance_path());
        }
    }
    for field in content.as_object().unwrap().keys() {
        assert!(!schema["properties"][field].is_null(), "`{field}` of {name} is not in its schema");
    }
    let failed = result["isError"] == json!(true);
    assert_eq!(failed, content["error"].is_string(), "{result}");
    assert_eq!(failed, content["code"].is_string() && content["outcome"].is_string(), "{result}");
    (content.clone(), failed)
}

/// Every schema inside a schema, itself first.
fn inner(schema: &Value, found: &mut Vec<Map<String, Value>>) {
    let schema = schema.as_object().unwrap();
    found.push(schema.clone());
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    for part in properties.chain(schema.get("items")) {
        inner(part, found);
    }
}

#[tokio::test]
async fn schemas_keep_to_the_words_that_every_client_reads() {
    let db = support::database(18).await;
    for tool in Endpoint::over(&db).await.tools().await {
        for which in ["inputSchema", "outputSchema"] {
            let schema = &tool[which];
            assert_eq!(schema["type"], "object", "{tool}");
            assert!(schema["properties"].is_object(), "{tool}");
            let mut parts = Vec::new();
            inner(schema, &mut parts);
            for part in parts {
                for word in part.keys() {
                    assert!(WORDS.contains(&word.as_str()), "`{word}` in {tool}");
                }
                assert!(part.get("type").is_none_or(Value::is_string), "{part:?}");
                assert!(part.get("type") != Some(&json!("array")) || part.contains_key("items"), "{part:?}");
                let words = part.get("enum").and_then(Value::as_array);
                assert!(words.is_none_or(|words| words.iter().all(Value::is_string)), "{part:?}");
            }
        }
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert!(properties.values().all(|property| property["description"].is_string()), "{tool}");
        let required = tool["inputSchema"]["required"].as_array().unwrap();
        assert!(required.iter().all(|name| properties.contains_key(name.as_str().unwrap())), "{tool}");
    }
}

#[tokio::test]
async fn schemas_are_valid_and_mean_the_same_under_both_drafts() {
    let arguments = [
        ("query", json!({"sql": "SELECT 1"}), true),
        ("query", json!({"sql": "SELECT 1", "params": ["1", "a"], "max_rows": 1, "format": "table"}), true),
        ("query", json!({}), false),
        ("query", json!({"sql": 1}), false),
        ("query", json!({"sql": "SELECT 1", "limit": 3}), false),
        ("query", json!({"sql": "SELECT 1", "max_rows": 0}), false),
        ("query", json!({"sql": "SELECT 1", "max_rows": 10_001}), false),
        ("query", json!({"sql": "SELECT 1", "max_rows": 1.5}), false),
        ("query", json!({"sql": "SELECT 1", "params": {}}), false),
        ("query", json!({"sql": "SELECT 1", "format": "csv"}), false),
        ("describe", json!({"name": "a"}), true),
        ("describe", json!({}), false),
        ("list_schemas", json!({}), true),
        ("list_schemas", json!({"a": 1}), false),
        ("list_tables", json!({"schema": "a", "limit": 2_000, "offset": 0}), true),
        ("list_tables", json!({"offset": -1}), false),
        ("describe_table", json!({"table": "a", "schema": "b"}), true),
        ("describe_table", json!({"schema": "b"}), false),
        ("next_page", json!({"cursor": "c", "page": 2, "max_rows": 1, "format": "table"}), true),
        ("next_page", json!({"page": 2}), false),
        ("next_page", json!({"cursor": "c", "page": 0}), false),
        ("query", json!({"sql": "SELECT 1", "cursor": "c", "page": 1}), true),
    ];
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for tool in endpoint.tools().await {
        for which in ["inputSchema", "outputSchema"] {
            for draft in DRAFTS {
                assert!(jsonschema::draft7::meta::is_valid(&tool[which]), "{tool}");
                assert!(jsonschema::draft202012::meta::is_valid(&tool[which]), "{tool}");
                compiled(&tool[which], draft);
            }
        }
    }
    for (name, given, valid) in arguments {
        let schema = &endpoint.tool(name).await["inputSchema"];
        for draft in DRAFTS {
            assert_eq!(compiled(schema, draft).is_valid(&given), valid, "{name} {given} {draft:?}");
        }
    }
}

#[tokio::test]
async fn what_the_input_schema_takes_the_server_takes_and_what_it_refuses_is_refused() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for (arguments, taken) in [
        (json!({"sql": "SELECT 1", "max_rows": 10_000}), true),
        (serde_json::from_str(r#"{"sql": "SELECT 1", "max_rows": 3.0}"#).unwrap(), true),
        (json!({"sql": "SELECT 1", "max_rows": 10_001}), false),
        (json!({"sql": "SELECT 1", "max_bytes": 256}), true),
        (json!({"sql": "SELECT 1", "max_bytes": 255}), false),
        (json!({"sql": "SELECT 1", "timeout_seconds": 300}), true),
        (json!({"sql": "SELECT 1", "timeout_seconds": 301}), false),
        (json!({"sql": "SELECT 1", "format": "objects"}), true),
        (json!({"sql": "SELECT 1", "format": "Objects"}), false),
    ] {
        let schema = &endpoint.tool("query").await["inputSchema"];
        assert_eq!(compiled(schema, Draft::Draft202012).is_valid(&arguments), taken, "{arguments}");
        let (content, failed) = endpoint.call("query", arguments.clone()).await;
        assert_eq!(failed, !taken, "{arguments}: {content}");
    }
}
