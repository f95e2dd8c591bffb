//! What clients really send, and what they must get back.
//!
//! The files in `exchanges/` hold requests in the form in which clients of several makers send them, headers and all, each
//! with the status and a pattern of the answer. A recording of such clients against another server is replayed as well,
//! where it is at hand.

mod pattern;
mod recorded;

use serde_json::Value;

use self::pattern::matches;
use crate::support::{
    command::{Folder, Ready, Serving},
    http::{Reply, send},
};

/// Sends a request as a client does, and with the server's key.
async fn ask(ready: &Ready, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let bearer = format!("Bearer {}", ready.key().unwrap());
    let headers = [headers, &[("authorization", bearer.as_str())]].concat();
    send(method, ready.url(), &headers, body).await
}

/// Headers as a file has them.
fn headers(value: &Value) -> Vec<(&str, &str)> {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.as_str(), value.as_str().unwrap())).collect()
}

/// Runs one file: `headers` go with each of its `exchanges`, which say `method` (else POST), `headers`, `body` (JSON) or
/// `text`, and what comes back: `status`, and a pattern of the `answer`, or none for an empty one.
async fn check(ready: &Ready, file: &str, text: &str) {
    let client: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{file}: {error}"));
    for exchange in client["exchanges"].as_array().unwrap() {
        let method = exchange["method"].as_str().unwrap_or("POST");
        let headers = [headers(&client["headers"]), headers(&exchange["headers"])].concat();
        let body = match (&exchange["text"], &exchange["body"]) {
            (Value::String(text), _) => text.clone(),
            (_, Value::Null) => String::new(),
            (_, body) => body.to_string(),
        };
        let reply = ask(ready, method, &headers, &body).await;
        let of = format!("{file}: {method} {body} {headers:?}");
        let said = String::from_utf8_lossy(&reply.body);
        assert_eq!(u64::from(reply.status), exchange["status"].as_u64().unwrap(), "{of}: {said}");
        if exchange["answer"].is_null() {
            assert_eq!(said, "", "{of}");
            continue;
        }
        assert_eq!(reply.headers["content-type"], "application/json", "{of}");
        if let Err(difference) = matches(&exchange["answer"], &reply.json()) {
            panic!("{of}: {difference}");
        }
    }
}

#[tokio::test]
async fn each_client_gets_what_it_asks_for_in_its_own_way() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    check(&ready, "typescript.json", include_str!("exchanges/typescript.json")).await;
    check(&ready, "typescript-2026.json", include_str!("exchanges/typescript-2026.json")).await;
    check(&ready, "python.json", include_str!("exchanges/python.json")).await;
    check(&ready, "inspector.json", include_str!("exchanges/inspector.json")).await;
    check(&ready, "plain.json", include_str!("exchanges/plain.json")).await;
}
