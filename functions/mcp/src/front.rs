//! The front of the endpoint: what a request must be before the protocol library sees it.
//!
//! The library is strict where clients are not (`Accept`, batches, odd ids) and answers such requests in plain text; here
//! they are put right or answered as JSON-RPC errors.

use std::fmt::Display;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use rmcp::model::ProtocolVersion;
use serde_json::{Map, Value};
use state::{FlowId, NodeId};

use crate::rpc::{Answer, RpcCode, error, only_post, unsupported_version};

/// The longest request that is read, in bytes: a statement of the guard's limit, its parameters, and room.
pub(crate) const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Where a request goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Path {
    pub(crate) flow: String,
    /// None means all nodes of the flow.
    pub(crate) node: Option<String>,
}

/// Reads method and path; a stale session id and a trailing slash do not matter.
pub(crate) fn route(method: &Method, path: &str) -> Result<Path, Answer> {
    let found = Path::read(path).ok_or_else(nothing_here)?;
    if method == Method::POST { Ok(found) } else { Err(only_post()) }
}

/// Nothing is served at a path.
pub(crate) fn nothing_here() -> Answer {
    let message =
        "there is nothing at this path; the endpoint is /mcp/{flow}/{node}, or /mcp/{flow} for all its nodes";
    error(StatusCode::NOT_FOUND, RpcCode::InvalidRequest, message)
}

impl Path {
    pub(crate) fn read(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match parts.as_slice() {
            ["mcp", flow] if !flow.is_empty() => Some(Self { flow: (*flow).to_owned(), node: None }),
            ["mcp", flow, node] if !flow.is_empty() && !node.is_empty() => {
                Some(Self { flow: (*flow).to_owned(), node: Some((*node).to_owned()) })
            }
            _ => None,
        }
    }

    /// The path in its one form; none where an id could be none.
    pub(crate) fn canonical(&self) -> Option<String> {
        let flow = FlowId::parse(&self.flow)?;
        Some(match &self.node {
            None => format!("/mcp/{}", flow.as_str()),
            Some(node) => format!("/mcp/{}/{}", flow.as_str(), NodeId::parse(node)?.as_str()),
        })
    }
}

/// Reads the body and checks that it is one JSON-RPC message.
pub(crate) async fn message<B>(headers: &HeaderMap, body: B) -> Result<Bytes, Answer>
where
    B: Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    is_json(headers)?;
    let collected = Limited::new(body, MAX_BODY_BYTES).collect().await.map_err(|failed| {
        if failed.is::<LengthLimitError>() {
            let message = format!("the request is longer than {MAX_BODY_BYTES} bytes");
            error(StatusCode::PAYLOAD_TOO_LARGE, RpcCode::InvalidRequest, &message)
        } else {
            error(
                StatusCode::BAD_REQUEST,
                RpcCode::ParseError,
                "the request's body ended before it was whole",
            )
        }
    })?;
    let bytes = collected.to_bytes();
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").map_or(bytes.clone(), |rest| bytes.slice_ref(rest));
    is_spoken(headers, &one_message(&bytes)?)?;
    Ok(bytes)
}

/// Makes the headers such as the protocol library takes.
pub(crate) fn normalise(headers: &mut HeaderMap) {
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
}

fn is_json(headers: &HeaderMap) -> Result<(), Answer> {
    let Some(given) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let essence =
        given.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        return Ok(());
    }
    let message = "send the request as `Content-Type: application/json`";
    Err(error(StatusCode::UNSUPPORTED_MEDIA_TYPE, RpcCode::InvalidRequest, message))
}

/// A version in the header alone is checked here; one in the message is the library's, which compares the two.
fn is_spoken(headers: &HeaderMap, message: &Map<String, Value>) -> Result<(), Answer> {
    let Some(header) = headers.get("mcp-protocol-version") else { return Ok(()) };
    let said = String::from_utf8_lossy(header.as_bytes());
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().any(|version| version.as_str() == said);
    let meta = message.get("params").and_then(|params| params.get("_meta"));
    if known || meta.is_some_and(|meta| meta.get("io.modelcontextprotocol/protocolVersion").is_some()) {
        return Ok(());
    }
    Err(unsupported_version(message.get("id"), &said))
}

fn one_message(bytes: &[u8]) -> Result<Map<String, Value>, Answer> {
    let invalid = |message: &str| Err(error(StatusCode::BAD_REQUEST, RpcCode::InvalidRequest, message));
    let value: Value = serde_json::from_slice(bytes).map_err(|failed| {
        let message = format!("the body is not JSON: {failed}");
        error(StatusCode::BAD_REQUEST, RpcCode::ParseError, &message)
    })?;
    let Value::Object(message) = value else {
        return match value {
            Value::Array(_) => invalid("batches are not served: send one message a request"),
            _ => invalid("a JSON-RPC message is an object"),
        };
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("the message lacks \"jsonrpc\": \"2.0\"");
    }
    match message.get("id") {
        None | Some(Value::String(_)) => {}
        Some(Value::Number(id)) if id.is_i64() || id.is_u64() => {}
        Some(_) => return invalid("the id of a request is a string or a whole number"),
    }
    match message.get("method") {
        Some(Value::String(_)) => {}
        Some(_) => return invalid("the method is a string"),
        None if message.contains_key("result") || message.contains_key("error") => {
            return invalid("answers are not taken: this server asks its clients nothing");
        }
        None => return invalid("the message lacks a method"),
    }
    match message.get("params") {
        None | Some(Value::Object(_)) => Ok(message),
        Some(_) => invalid("params is an object"),
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    async fn check(body: &[u8], status: u16, code: i64) {
        let answer = message(&HeaderMap::new(), Full::new(Bytes::copy_from_slice(body))).await.unwrap_err();
        assert_eq!(answer.status(), status, "{}", String::from_utf8_lossy(body));
        let text = answer.into_body().collect().await.unwrap().to_bytes();
        let json: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(json["error"]["code"], code, "{json}");
        assert_eq!(json["id"], Value::Null);
    }

    #[tokio::test]
    async fn what_is_no_single_message_is_answered_in_json_rpc() {
        check(b"", 400, -32700).await;
        check(b"{\"jsonrpc\"", 400, -32700).await;
        check(b"\xff\xfe", 400, -32700).await;
        check(b"[]", 400, -32600).await;
        check(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400, -32600).await;
        check(br#"{"id":1,"method":"ping"}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"2.0","id":1}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32600).await;
        check(br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, 400, -32600).await;
        check(b"7", 400, -32600).await;
    }

    #[tokio::test]
    async fn a_byte_order_mark_and_blanks_around_a_message_are_taken() {
        let body = b"\xEF\xBB\xBF {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".to_vec();
        assert!(message(&HeaderMap::new(), Full::new(Bytes::from(body))).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_past_the_limit_is_refused_with_413() {
        let body = vec![b' '; MAX_BODY_BYTES + 1];
        let answer = message(&HeaderMap::new(), Full::new(Bytes::from(body))).await.unwrap_err();
        assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }

    #[test]
    fn only_json_types_pass() {
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
            is_json(&headers).is_ok()
        };
        assert!(
            with("application/json")
                && with("Application/JSON; charset=utf-8")
                && with("application/mcp+json")
        );
        assert!(!with("text/plain") && !with("application/x-www-form-urlencoded") && !with(""));
    }

    #[test]
    fn only_post_at_a_node_goes_on() {
        let status =
            |method: Method, path: &str| route(&method, path).map_err(|answer| answer.status().as_u16());
        let flow = Path { flow: "demo".into(), node: None };
        let node = Path { node: Some("sales".into()), ..flow.clone() };
        assert_eq!(status(Method::POST, "/mcp/demo"), Ok(flow));
        assert_eq!(status(Method::POST, "/mcp/demo/sales"), Ok(node.clone()));
        assert_eq!(status(Method::POST, "/mcp/demo/sales/"), Ok(node));
        for method in [Method::GET, Method::HEAD, Method::DELETE, Method::PUT] {
            assert_eq!(status(method, "/mcp/demo/sales"), Err(405));
        }
        for path in ["/", "/mcp", "/mcp/demo/sales/more", "/.well-known/oauth-protected-resource"] {
            assert_eq!(status(Method::POST, path), Err(404), "{path}");
        }
    }
}
