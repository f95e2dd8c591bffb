//! Exchanges that were recorded between the official clients and the MCP project's sample server, replayed here.
//!
//! Tool names and arguments are put in ours. What the protocol fixes must come back as it did: the status, one JSON message
//! (the recorded ones came as an event stream, which the protocol leaves to the server), the fields of its kind, and the
//! kinds of all fields that both answers have. Where this server answers otherwise on purpose, [`otherwise`] says so.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};

use super::{
    ask,
    pattern::{kind, matches},
};
use crate::{
    mcp_tools::tell,
    support::command::{Folder, Serving},
};

/// Headers that belong to a connection, not to a client.
const OF_THE_CONNECTION: [&str; 3] = ["host", "connection", "content-length"];

/// How much of an answer was recorded.
const RECORDED_AT_MOST: usize = 4_000;

/// The recording lies beside the checkout, if anywhere.
fn recording() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/workloads/mcp");
    folder.is_dir().then_some(folder)
}

fn read(file: &Path) -> Vec<Value> {
    let unpacked = Command::new("gzip").arg("-dc").arg(file).output().unwrap();
    assert!(unpacked.status.success(), "{}", String::from_utf8_lossy(&unpacked.stderr));
    let lines = String::from_utf8(unpacked.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The sample server's tools, put in ours; a tool of no server stays as it is.
fn in_our_words(mut message: Value) -> Value {
    let arguments = match message["params"]["name"].as_str() {
        Some("echo") => json!({"sql": "SELECT 'hi' AS message"}),
        // Called with an argument of the wrong kind.
        Some("get-sum") => json!({"sql": 1}),
        _ => return message,
    };
    message["params"]["name"] = json!("query");
    message["params"]["arguments"] = arguments;
    message
}

/// Where this server does not do as the recorded one did: the status, and a pattern of the answer.
fn otherwise(method: &str, message: &Value) -> Option<(u16, Value)> {
    let error = |code: i32| {
        Some((200, json!({"error": {"code": code, "message": "<string>"}, "result": "<absent>"})))
    };
    match (method, message["method"].as_str().unwrap_or_default()) {
        // There is no session to listen to or to end, which clients take as an answer.
        ("GET" | "DELETE", _) => Some((405, json!({"error": {"message": "<string>"}}))),
        // The recorded server knew no revision without a handshake.
        (_, "server/discover") => Some((
            200,
            json!({"result": {"supportedVersions": ["<string>"], "capabilities": {"tools": "<object>"}}}),
        )),
        // Not declared as capabilities, so a client has no reason to ask.
        (_, "logging/setLevel" | "resources/list" | "prompts/list") => error(-32601),
        // The protocol has an error for a tool that does not exist; the recorded server made a result of it.
        (_, "tools/call") if message["params"]["name"] == "no_such_tool" => error(-32602),
        _ => None,
    }
}

/// The fields that an answer to this message must have.
fn fixed(message: &Value) -> Value {
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"result": {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": "<object>"},
            "serverInfo": {"name": "<string>", "title": "<string>", "version": "<string>"},
            "instructions": "<string>",
        }}),
        "tools/list" => json!({"result": {"tools": [{
            "name": "<string>", "title": "<string>", "description": "<string>", "annotations": "<object>",
            "inputSchema": {"type": "object", "properties": "<object>"},
        }]}}),
        "tools/call" => json!({"result": {"content": [{"type": "text", "text": "<string>"}]}}),
        "ping" => json!({"result": {}}),
        other => panic!("no pattern for {other}"),
    }
}

/// Compares the kinds of all fields that both have.
fn alike(path: &str, theirs: &Value, ours: &Value) -> Result<(), String> {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let mut both =
                theirs.iter().filter_map(|(name, one)| ours.get(name).map(|other| (name, one, other)));
            both.try_for_each(|(name, one, other)| alike(&format!("{path}.{name}"), one, other))
        }
        (Value::Array(theirs), Value::Array(ours)) => match (theirs.first(), ours.first()) {
            (Some(one), Some(other)) => alike(&format!("{path}[0]"), one, other),
            _ => Ok(()),
        },
        _ if kind(theirs) == kind(ours) => Ok(()),
        _ => Err(format!("{path} is a {}, not a {}", kind(ours), kind(theirs))),
    }
}

/// The message in a recorded answer, which is JSON or a stream of events; none if it was too long to be recorded whole.
fn recorded_message(body: &str) -> Option<Value> {
    let data =
        body.lines().filter_map(|line| line.strip_prefix("data: ")).rfind(|data| data.starts_with('{'));
    match serde_json::from_str(data.unwrap_or(body)) {
        Ok(message) => Some(message),
        Err(error) if error.is_eof() && body.len() >= RECORDED_AT_MOST => None,
        Err(error) => panic!("{error} in {body}"),
    }
}

#[tokio::test]
async fn recorded_clients_get_what_they_got() {
    let Some(folder) = recording() else {
        tell("left out: there is no recording of MCP clients beside this checkout");
        return;
    };
    let data = Folder::new();
    let mut serving = Serving::start(&data.0, &["--json"]);
    let ready = serving.ready();
    let mut files: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut replayed = 0;
    for file in &files {
        for exchange in read(file) {
            let method = exchange["method"].as_str().unwrap();
            let body = exchange["body"].as_str().unwrap();
            let message = serde_json::from_str(body).map_or(Value::Null, in_our_words);
            let of = format!("{}, {method} {body}", file.display());
            let mut headers = super::headers(&exchange["headers"]);
            headers.retain(|(name, _)| !OF_THE_CONNECTION.contains(name));
            let body = if message.is_null() { String::new() } else { message.to_string() };
            let reply = ask(&ready, method, &headers, &body).await;
            replayed += 1;

            if let Some((status, pattern)) = otherwise(method, &message) {
                assert_eq!(reply.status, status, "{of}");
                matches(&pattern, &reply.json()).unwrap_or_else(|difference| panic!("{of}: {difference}"));
                continue;
            }
            assert_eq!(u64::from(reply.status), exchange["status"].as_u64().unwrap(), "{of}");
            if exchange["res_body"] == "" {
                assert!(reply.body.is_empty() && !reply.headers.contains_key("content-type"), "{of}");
                continue;
            }
            assert_eq!(reply.headers["content-type"], "application/json", "{of}");
            let ours = reply.json();
            assert_eq!((&ours["jsonrpc"], &ours["id"]), (&json!("2.0"), &message["id"]), "{of}: {ours}");
            let mut same = matches(&fixed(&message), &ours);
            if let Some(theirs) = recorded_message(exchange["res_body"].as_str().unwrap()) {
                let failed = |answer: &Value| answer["result"]["isError"] == true;
                assert_eq!(failed(&ours), failed(&theirs), "{of}: {ours}");
                same = same.and_then(|()| alike("$", &theirs, &ours));
            }
            same.unwrap_or_else(|difference| panic!("{of}: {difference}"));
        }
    }
    assert!(replayed > 0, "{} is empty", folder.display());
    tell(&format!("MCP clients: {replayed} recorded requests in {} files", files.len()));
}
