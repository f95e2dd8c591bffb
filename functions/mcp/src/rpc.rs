//! Answers in JSON-RPC's own terms to what never reaches the protocol library.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::json;

/// An answer, whole in memory.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// JSON-RPC's codes that are answered here.
#[derive(Debug, Clone, Copy)]
pub(crate) enum RpcCode {
    ParseError = -32_700,
    InvalidRequest = -32_600,
    Internal = -32_603,
}

/// A JSON-RPC error without the id of a request.
pub(crate) fn error(status: StatusCode, code: RpcCode, message: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code as i32, "message": message}});
    with_json(status, body.to_string())
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
