//! Pages of allowed origins, which browsers let call and read only where the answer says so.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt, Full};

use crate::rpc::Answer;

/// Headers that MCP clients send besides those that every page may.
const SENT: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, last-event-id",
);

/// A page that may call.
pub(crate) struct Page {
    origin: HeaderValue,
}

impl Page {
    /// The page that sends a request, if its origin is one of the allowed.
    pub(crate) fn of(headers: &HeaderMap, allowed: &[String]) -> Option<Self> {
        let origin = headers.get(ORIGIN)?;
        let text = origin.to_str().ok()?;
        allowed.iter().any(|known| known.eq_ignore_ascii_case(text)).then(|| Self { origin: origin.clone() })
    }

    /// The answer to a browser that asks before it sends the request itself.
    pub(crate) fn preflight(&self) -> Answer {
        let mut answer = Response::new(Full::new(Bytes::new()).boxed());
        *answer.status_mut() = StatusCode::NO_CONTENT;
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST"));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
        self.may_read(answer)
    }

    /// Lets the page read an answer.
    pub(crate) fn may_read(&self, mut answer: Answer) -> Answer {
        let headers = answer.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("www-authenticate"));
        headers.append(VARY, HeaderValue::from_static("origin"));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(origin: &'static str) -> Option<Page> {
        let mut headers = HeaderMap::new();
        headers.insert(ORIGIN, HeaderValue::from_static(origin));
        Page::of(&headers, &["https://app.example.com".to_owned()])
    }

    #[test]
    fn a_page_of_an_allowed_origin_may_ask_and_read() {
        let answer = page("https://app.example.com").unwrap().preflight();
        assert_eq!(answer.status(), StatusCode::NO_CONTENT);
        assert_eq!(answer.headers()[ACCESS_CONTROL_ALLOW_ORIGIN], "https://app.example.com");
        assert!(answer.headers()[ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap().contains("authorization"));
    }

    #[test]
    fn others_get_nothing() {
        for origin in
            ["https://evil.example.com", "null", "https://app.example.com.evil.com", "http://app.example.com"]
        {
            assert!(page(origin).is_none(), "{origin}");
        }
        assert!(Page::of(&HeaderMap::new(), &["https://app.example.com".to_owned()]).is_none());
    }
}
