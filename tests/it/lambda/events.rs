//! Events as the two front doors of Lambda send them: an HTTP API (payload 2.0) and a Function URL.

use std::{fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// Where a request came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrontDoor {
    HttpApi,
    FunctionUrl,
}

/// The host that callers of both name: that of `PINGUARD_PUBLIC_URL`.
pub(crate) const HOST: &str = "mcp.example.com";

/// A request as an event. Without a key there is no `authorization` header.
pub(crate) fn event(door: FrontDoor, method: &str, path: &str, key: Option<&str>, body: &str) -> Value {
    let (domain, account) = match door {
        FrontDoor::HttpApi => ("a1b2c3d4e5.execute-api.us-east-1.amazonaws.com", "123456789012"),
        FrontDoor::FunctionUrl => ("q2w3e4r5t6.lambda-url.us-east-1.on.aws", "anonymous"),
    };
    let mut headers = json!({
        "accept": "application/json, text/event-stream", "accept-encoding": "gzip, br", "content-type": "application/json",
        "content-length": body.len().to_string(), "host": HOST, "user-agent": "python-httpx/0.28.1",
        "x-amzn-trace-id": "Root=1-674b8f1a-25b420912dee103a5db43407", "x-forwarded-for": "198.51.100.7",
        "x-forwarded-port": "443", "x-forwarded-proto": "https"
    });
    if let Some(key) = key {
        headers["authorization"] = json!(format!("Bearer {key}"));
    }
    let mut event = json!({
        "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": "", "headers": headers,
        "requestContext": {
            "accountId": account, "apiId": domain.split('.').next(), "domainName": domain,
            "domainPrefix": domain.split('.').next(),
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "198.51.100.7",
                "userAgent": "python-httpx/0.28.1"},
            "requestId": "CYhxGj8eoAMEPmA=", "routeKey": "$default", "stage": "$default",
            "time": "30/Nov/2026:22:14:34 +0000", "timeEpoch": 1_796_076_874_837_u64
        },
        "isBase64Encoded": false
    });
    if !body.is_empty() {
        event["body"] = json!(body);
    }
    event
}

/// A sample of `samples/`, an event as AWS sends it, with values in place of its `@WORDS@`.
pub(crate) fn sample(name: &str, values: &[(&str, &str)]) -> Value {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("it/lambda/samples").join(name).with_extension("json");
    let mut event: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    fill(&mut event, values);
    if event["isBase64Encoded"] == true {
        event["body"] = json!(STANDARD.encode(event["body"].as_str().unwrap()));
    }
    event
}

fn fill(value: &mut Value, values: &[(&str, &str)]) {
    match value {
        Value::String(text) => {
            for (word, with) in values {
                *text = text.replace(word, with);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, values)),
        Value::Object(members) => members.values_mut().for_each(|member| fill(member, values)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The body of a call of the tool `query`.
pub(crate) fn query(sql: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "query", "arguments": {"sql": sql}}})
    .to_string()
}
