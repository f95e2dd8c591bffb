//! Answers in the form that Lambda takes.

use std::error::Error;
use std::pin::Pin;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::BodyExt as _;
use lambda_http::{Body, IntoResponse};

/// The most bytes of an answer as Lambda counts it: a JSON document that holds the body as a string.
const LIMIT: usize = 6_291_556;
/// Room in it for status and headers.
const AROUND: usize = 64 * 1024;

/// An answer with its body in memory.
pub(crate) struct Whole(Response<Body>);

impl Whole {
    pub(crate) async fn read<B>(answer: Response<B>) -> Self
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (parts, body) = answer.into_parts();
        match body.collect().await {
            Ok(body) => Self(Response::from_parts(parts, encoded(body.to_bytes().into()))),
            Err(error) => {
                let error: Box<dyn Error + Send + Sync> = error.into();
                tracing::error!(%error, "an answer broke off");
                let mut answer = Response::new(Body::from(r#"{"error":"the answer broke off"}"#));
                *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                Self(answer)
            }
        }
    }
}

impl IntoResponse for Whole {
    fn into_response(self) -> Pin<Box<dyn Future<Output = Response<Body>> + Send>> {
        Box::pin(std::future::ready(self.0))
    }
}

/// Text goes as text, as long as it fits. Each quote in it takes two bytes more, and base64 a third of the whole.
fn encoded(body: Vec<u8>) -> Body {
    match String::from_utf8(body) {
        Ok(text) if text.is_empty() => Body::Empty,
        Ok(text) if length_in_json(&text) <= LIMIT - AROUND => Body::Text(text),
        Ok(text) => Body::Binary(text.into_bytes()),
        Err(binary) => Body::Binary(binary.into_bytes()),
    }
}

fn length_in_json(text: &str) -> usize {
    let escape = |byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0x00..=0x1f => 6,
        _ => 1,
    };
    text.bytes().map(escape).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_the_json_that_is_written() {
        let text: String = (0..0x2030).filter_map(char::from_u32).collect();
        assert_eq!(length_in_json(&text) + 2, serde_json::to_string(&text).unwrap().len());
    }

    #[test]
    fn text_that_would_not_fit_goes_in_base64_and_then_does() {
        let most = LIMIT - AROUND;
        assert!(matches!(encoded("x".repeat(most).into_bytes()), Body::Text(_)));
        assert!(matches!(encoded("x".repeat(most + 1).into_bytes()), Body::Binary(_)));
        assert!(matches!(encoded("\"".repeat(most / 2 + 1).into_bytes()), Body::Binary(_)));
        assert!(matches!(encoded(vec![0xff]), Body::Binary(_)));
        assert!(matches!(encoded(Vec::new()), Body::Empty));
    }
}
