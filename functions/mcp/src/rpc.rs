//! Answers in JSON-RPC's own terms to what never reaches the protocol library.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

/// An answer, whole in memory.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// JSON-RPC's codes that are answered here.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RpcCode {
    ParseError = -32_700,
    InvalidRequest = -32_600,
    Internal = -32_603,
    UnsupportedVersion = -32_022,
}

/// A JSON-RPC error without the id of a request.
pub(crate) fn error(status: StatusCode, code: RpcCode, message: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code as i32, "message": message}});
    with_json(status, body.to_string())
}

/// The request is in a version of the protocol that is not spoken here; says which are, the newest first.
pub(crate) fn unsupported_version(id: Option<&Value>, requested: &str) -> Answer {
    let supported: Vec<&str> =
        ProtocolVersion::KNOWN_VERSIONS.iter().rev().map(ProtocolVersion::as_str).collect();
    let message =
        format!("the protocol version `{requested}` is not served; send one of {}", supported.join(", "));
    let error = json!({
        "code": RpcCode::UnsupportedVersion as i32,
        "message": message,
        "data": {"requested": requested, "supported": supported},
    });
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
    with_json(StatusCode::BAD_REQUEST, body.to_string())
}

/// An answer of the protocol library's; where it refuses in plain text, the same as JSON-RPC.
pub(crate) async fn in_json(answer: Answer) -> Answer {
    let status = answer.status();
    let failed = status.is_client_error() || status.is_server_error();
    let is_json = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !failed || is_json {
        return answer;
    }
    let Ok(body) = answer.into_body().collect().await;
    let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    // The text begins with the status in words.
    let reason = text.split_once(": ").map_or(text.as_str(), |(_, reason)| reason);
    let message = if status == StatusCode::FORBIDDEN {
        format!("{reason}; the operator sets the hosts and origins that are")
    } else {
        reason.to_owned()
    };
    error(status, RpcCode::InvalidRequest, &message)
}

/// The caller has shown no key that counts. No pointer to an authorization server: there is none in this mode, and some
/// clients drop the header they were configured with when they are shown one.
pub(crate) fn unauthorized(message: &str) -> Answer {
    let mut answer = error(StatusCode::UNAUTHORIZED, RpcCode::InvalidRequest, message);
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"pinguard\""));
    answer
}

/// Only POST is served.
pub(crate) fn only_post() -> Answer {
    let message = "this endpoint takes POST only: it keeps no session and pushes no events";
    let mut answer = error(StatusCode::METHOD_NOT_ALLOWED, RpcCode::InvalidRequest, message);
    answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
    answer
}

/// A JSON body.
pub(crate) fn with_json(status: StatusCode, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
