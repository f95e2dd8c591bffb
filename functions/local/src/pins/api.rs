//! The API over HTTP: one blocking request after the other.

use std::{collections::BTreeMap, fmt, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use http::{Method, Request, Uri, header};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use ureq::Agent;

/// The path of the API below pinguard's URL.
const ROOT: &str = "/api/v1";
/// How long the server may take to let us in.
const CONNECT_TIME: Duration = Duration::from_secs(10);
/// How long an answer may take: a statement may run for 300 seconds where the operator lets it.
const TIME: Duration = Duration::from_secs(330);
/// The longest answer that is read: a flow's draft and Live.
const MAX_ANSWER_BYTES: u64 = 16 * 1024 * 1024;
/// The code of what the API does not know, which another server's 404 lacks.
const NOT_FOUND: &str = "not_found";

/// Where pinguard is, and what it is shown.
pub(super) struct Api {
    agent: Agent,
    root: String,
    bearer: Option<String>,
}

/// A flow on the server.
#[derive(Debug)]
pub(super) struct Stored {
    /// The draft's version; 0 where there is none yet.
    pub(super) version: i64,
    /// The ids of the nodes that a pin can be tested on.
    pub(super) nodes: Vec<String>,
}

/// What came of a test.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Tested {
    Passed(Passed),
    /// Pin, samples or statement were refused.
    Failed(Failure),
}

/// The answer of a test that passed.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Passed {
    #[serde(skip_serializing)]
    pub(super) stamp: Value,
    pub(super) row_count: u64,
    pub(super) tested_columns: Vec<Column>,
    pub(super) elapsed_ms: u64,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) ty: String,
}

/// What the API says of what it does not do.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failure {
    pub(super) code: String,
    pub(super) error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<String>,
    /// In the pin's statement, in characters from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) position: Option<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) findings: Vec<Value>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) problems: Vec<Problem>,
    /// Types for parameters that have none; null where somebody has to pick one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) suggested_types: BTreeMap<String, Option<String>>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Problem {
    pub(super) path: String,
    pub(super) message: String,
}

/// What publishing did.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Published {
    pub(super) live_version: i64,
    /// How many pins are other than before.
    pub(super) changes: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Saved {
    draft_version: i64,
}

/// As much of a flow as is needed here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    draft_version: i64,
    draft: Option<Document>,
    live: Option<Document>,
}

#[derive(Deserialize)]
struct Document {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
}

/// An answer in JSON.
struct Answer {
    status: u16,
    text: String,
    url: String,
}

impl Api {
    /// # Errors
    /// The URL is none, or would take a key over the network in clear text.
    pub(super) fn new(url: &str, key: Option<&str>) -> Result<Self> {
        let root = url.trim_end_matches('/');
        let uri: Uri = root.parse().with_context(|| format!("--url: `{url}` is no URL"))?;
        let host = uri.host().unwrap_or_default();
        let is_loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        ensure!(
            !host.is_empty() && uri.query().is_none(),
            "--url: `{url}` is no URL such as https://mcp.example.com"
        );
        match uri.scheme_str() {
            Some("https") => {}
            Some("http") if is_loopback => {}
            _ => bail!(
                "--url: `{url}` must begin with https://, since a key goes there; http:// is for this machine"
            ),
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_global(Some(TIME))
            .user_agent(concat!("pinguard/", env!("CARGO_PKG_VERSION")));
        if is_loopback {
            config = config.proxy(None);
        }
        let root = root.strip_suffix(ROOT).unwrap_or(root);
        Ok(Self {
            agent: config.build().into(),
            root: format!("{root}{ROOT}"),
            bearer: key.map(|key| format!("Bearer {}", key.trim())),
        })
    }

    /// Reads a flow; one that is not there has no version and no nodes.
    pub(super) fn flow(&self, id: &str) -> Result<Stored> {
        let answer = self.send(Method::GET, &format!("/flows/{id}"), None, None)?;
        if answer.status == 404 && answer.failure()?.code == NOT_FOUND {
            return Ok(Stored { version: 0, nodes: Vec::new() });
        }
        let found: Found = answer.good()?;
        let nodes = found.draft.or(found.live).map(|document| document.nodes).unwrap_or_default();
        Ok(Stored { version: found.draft_version, nodes: nodes.into_iter().map(|node| node.id).collect() })
    }

    /// Saves a draft over the one of this version. Gives its own.
    pub(super) fn save(&self, id: &str, document: &Value, over: i64) -> Result<i64> {
        let answer = self.send(Method::PUT, &format!("/flows/{id}/draft"), Some(document), Some(over))?;
        answer.good().map(|Saved { draft_version }| draft_version).context("the draft was not saved")
    }

    /// Makes the draft of this version Live.
    pub(super) fn publish(&self, id: &str, draft: i64) -> Result<Published> {
        let path = format!("/flows/{id}/publish");
        let answer = self.send(Method::POST, &path, Some(&json!({"version": draft})), None)?;
        answer.good().with_context(|| format!("the draft is saved as version {draft}, and was not published"))
    }

    /// Tests a pin. That it does not pass is no error.
    pub(super) fn test(&self, id: &str, body: &Value) -> Result<Tested> {
        let answer = self.send(Method::POST, &format!("/pinned-queries/{id}/test"), Some(body), None)?;
        match answer.status {
            422 => answer.failure().map(Tested::Failed),
            404 if answer.failure()?.code == NOT_FOUND => {
                bail!("{}; `pinguard pins push` saves what the server does not know yet", answer.failure()?)
            }
            _ => answer.good().map(Tested::Passed),
        }
    }

    fn send(&self, method: Method, path: &str, body: Option<&Value>, over: Option<i64>) -> Result<Answer> {
        let url = format!("{}{path}", self.root);
        let mut request = Request::builder().method(method).uri(&url);
        if let Some(bearer) = &self.bearer {
            request = request.header(header::AUTHORIZATION, bearer);
        }
        if let Some(version) = over {
            request = request.header(header::IF_MATCH, format!("\"{version}\""));
        }
        let sent = match body {
            Some(body) => {
                let request = request.header(header::CONTENT_TYPE, "application/json").body(body.to_string());
                self.agent.run(request.context("the key holds characters that no key has")?)
            }
            None => self.agent.run(request.body(()).context("the key holds characters that no key has")?),
        };
        let mut answer = sent.with_context(|| format!("no answer from {url}"))?;
        let text = answer.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_string();
        let text = text.with_context(|| format!("the answer from {url} broke off"))?;
        Ok(Answer { status: answer.status().as_u16(), text, url })
    }
}

impl Answer {
    /// What it says, if it tells of no failure.
    fn good<T: DeserializeOwned>(&self) -> Result<T> {
        match self.status {
            200..300 => self.read(),
            401 => Err(anyhow!("{}; it is read from PINGUARD_KEY or --key-file", self.failure()?)),
            _ => Err(anyhow!("{}", self.failure()?)),
        }
    }

    fn failure(&self) -> Result<Failure> {
        self.read()
    }

    fn read<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(&self.text).map_err(|_| {
            let Self { url, status, .. } = self;
            anyhow!("{url} answered with status {status}, and not as pinguard does: --url must name pinguard's own address")
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.error)?;
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

#[cfg(test)]
mod tests {
    use super::Api;

    #[track_caller]
    fn root(url: &str) -> Result<String, String> {
        Api::new(url, None).map(|api| api.root).map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_goes_over_tls_or_stays_on_this_machine() {
        assert_eq!(root("https://mcp.example.com/").unwrap(), "https://mcp.example.com/api/v1");
        assert_eq!(root("https://h/prod/api/v1/").unwrap(), "https://h/prod/api/v1");
        assert_eq!(root("http://127.0.0.1:8787").unwrap(), "http://127.0.0.1:8787/api/v1");
        assert_eq!(root("http://[::1]:8787").unwrap(), "http://[::1]:8787/api/v1");
        for url in [
            "http://mcp.example.com",
            "http://localhost.example.com",
            "ftp://h",
            "mcp.example.com",
            "/api",
            "",
        ] {
            assert!(root(url).unwrap_err().starts_with("--url: "), "{url}");
        }
    }
}
