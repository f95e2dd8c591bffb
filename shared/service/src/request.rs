//! What a request says beside its path: a body of bounded size, a version, a query.

use std::fmt::Display;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IF_MATCH};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::Deserialize;

use crate::answer::Refusal;

/// The longest body that is read, in bytes.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// A request as far as the work needs it.
#[derive(Debug)]
pub struct Asked {
    body: Bytes,
    if_match: Option<i64>,
    query: String,
}

impl Asked {
    /// Takes the body in; refuses one that is too long, or of another type than JSON.
    pub async fn read<B>(parts: &Parts, body: B) -> Result<Self, Refusal>
    where
        B: Body,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
    {
        let body = Limited::new(body, MAX_BODY_BYTES).collect().await.map_err(|failed| {
            if failed.is::<LengthLimitError>() {
                let message = format!("the request is longer than {MAX_BODY_BYTES} bytes");
                Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
            } else {
                Refusal::bad_request("the request's body ended before it was whole")
            }
        })?;
        let body = body.to_bytes();
        if !body.is_empty() {
            is_json(&parts.headers)?;
        }
        Ok(Self {
            body,
            if_match: if_match(&parts.headers)?,
            query: parts.uri.query().unwrap_or_default().to_owned(),
        })
    }

    /// The body as text.
    pub fn text(&self) -> Result<&str, Refusal> {
        let text = str::from_utf8(&self.body).map_err(|_| Refusal::bad_request("the body is no UTF-8"))?;
        Ok(text.trim_start_matches('\u{feff}'))
    }

    /// The body as a JSON object of a known shape.
    pub fn json<'a, T: Deserialize<'a>>(&'a self) -> Result<T, Refusal> {
        let text = self.text()?;
        // A list would be read as the fields in their order.
        if !text.trim_start().starts_with('{') {
            return Err(Refusal::bad_request("the body is no JSON object"));
        }
        serde_json::from_str(text)
            .map_err(|error| Refusal::bad_request(format!("the body is not what this route takes: {error}")))
    }

    /// The same where the body may be left out.
    pub fn json_or_default<'a, T: Deserialize<'a> + Default>(&'a self) -> Result<T, Refusal> {
        if self.text()?.trim().is_empty() { Ok(T::default()) } else { self.json() }
    }

    /// The version that the caller has seen: the header's, else the body's. Two that differ are refused.
    pub fn version(&self, in_body: Option<i64>) -> Result<Option<i64>, Refusal> {
        match (self.if_match, in_body) {
            (Some(header), Some(body)) if header != body => {
                Err(Refusal::bad_request("`If-Match` and `version` name two versions; send one"))
            }
            (header, body) => Ok(header.or(body)),
        }
    }

    /// The query's words, each with its name, which must be one of `known`.
    pub fn query(&self, known: &[&str]) -> Result<Vec<(&str, &str)>, Refusal> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs
            .map(|(name, value)| {
                if known.contains(&name) {
                    return Ok((name, value));
                }
                let known = known.join("`, `");
                Err(Refusal::bad_request(format!("`{name}` is no word of this query; use `{known}`")))
            })
            .collect()
    }
}

fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let given = headers.get(CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || essence.ends_with("+json") {
        return Ok(());
    }
    let message = "send the body as `Content-Type: application/json`";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type", message))
}

fn if_match(headers: &HeaderMap) -> Result<Option<i64>, Refusal> {
    let Some(given) = headers.get(IF_MATCH) else { return Ok(None) };
    let version = given.to_str().ok().and_then(|text| {
        let text = text.trim().trim_start_matches("W/");
        text.trim_matches('"').parse::<i64>().ok()
    });
    match version {
        Some(version) => Ok(Some(version)),
        None => Err(Refusal::bad_request("`If-Match` must be the draft's version, such as \"3\"")),
    }
}
