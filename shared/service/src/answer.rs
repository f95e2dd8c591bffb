//! Answers: JSON, and refusals with one shape.

use std::borrow::Cow;
use std::convert::Infallible;

use bytes::Bytes;
use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::{Map, Value, json};
use state::ControlError;

/// An answer, whole in memory.
pub type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A request that is not done, and why.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    code: Cow<'static, str>,
    message: String,
    more: Map<String, Value>,
    header: Option<(HeaderName, HeaderValue)>,
}

/// A JSON answer.
pub fn json(status: StatusCode, body: &Value) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// There is nothing to say.
pub fn done() -> Answer {
    let mut answer = Response::new(Full::new(Bytes::new()).boxed());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    answer
}

impl Refusal {
    /// A status, a stable code, and a message in the words of callers.
    pub fn new(status: StatusCode, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self { status, code: code.into(), message: message.into(), more: Map::new(), header: None }
    }

    /// The request itself is wrong.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// No good key came with the request.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        let challenge = HeaderValue::from_static("Bearer realm=\"pinguard\"");
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message).header(WWW_AUTHENTICATE, challenge)
    }

    /// The key is good and lacks a right.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// There is no such thing, or not for this caller.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// The path is there for other methods.
    pub fn only(methods: &'static str) -> Self {
        let message = format!("this path takes {methods}");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
            .header(ALLOW, HeaderValue::from_static(methods))
    }

    /// Something else was written meanwhile, or stands in the way.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, code, message)
    }

    /// A field beside the error's own.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// With the challenge of this deployment in place of the one for keys.
    #[must_use]
    pub fn challenging(self, challenge: &str) -> Self {
        match HeaderValue::from_str(challenge) {
            Ok(challenge) => self.header(WWW_AUTHENTICATE, challenge),
            Err(_) => self,
        }
    }

    fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }

    /// The refusal as an answer: `{"error", "code", "outcome", …}`.
    pub fn into_answer(self) -> Answer {
        let outcome = if self.status.is_server_error() { "unexpected" } else { "expected" };
        let mut body = Map::new();
        body.insert("error".to_owned(), self.message.into());
        body.insert("code".to_owned(), self.code.into());
        body.insert("outcome".to_owned(), json!(outcome));
        body.extend(self.more);
        let mut answer = json(self.status, &body.into());
        answer.headers_mut().extend(self.header);
        answer
    }
}

impl From<ControlError> for Refusal {
    /// What the operator has to know is logged; the caller learns whether to try again.
    fn from(error: ControlError) -> Self {
        let code = error.code();
        match &error {
            ControlError::NoSuchKey(_) => Self::not_found(error.to_string()),
            ControlError::Flow { .. } => {
                tracing::error!(%error, code, "a stored flow cannot be read");
                let message = "the stored draft cannot be read as a flow; save it again";
                Self::conflict("draft_malformed", message)
            }
            _ => {
                tracing::error!(%error, code, hint = error.hint(), "no answer from the control database");
                let message = "the control database cannot be reached; try again in some seconds";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "control_unavailable", message)
            }
        }
    }
}
