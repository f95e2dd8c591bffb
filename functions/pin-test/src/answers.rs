//! What a test is answered with: its rows and its stamp, or why there is none.

use analyst::pinned::{SuggestedTypes, TestFailure, Tested};
use analyst::{Failure, Kind};
use http::StatusCode;
use pins::{ParamType, Pin, Stamp};
use serde_json::{Map, Value, json};
use service::{Answer, Refusal, answer};

/// What is wrong with a request that could be read.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The pin.
    Pin(Vec<Value>),
    /// The node as it is on the canvas.
    Canvas(Vec<Value>),
}

impl From<Wrong> for Refusal {
    fn from(wrong: Wrong) -> Self {
        let (code, what, problems) = match wrong {
            Wrong::Pin(problems) => ("invalid_pin", "the pin cannot be tested as it is", problems),
            Wrong::Canvas(problems) => ("invalid_canvas", "the node on the canvas cannot be read", problems),
        };
        let first = problems.first().and_then(|problem| problem["message"].as_str()).unwrap_or_default();
        let path = problems.first().and_then(|problem| problem["path"].as_str()).unwrap_or_default();
        let place = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
        Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, code, format!("{what}: {place}{first}"))
            .with("problems", problems)
    }
}

/// A problem of a pin or a flow as JSON, below a path.
pub(crate) trait Told {
    /// Its path and its message.
    fn told(&self) -> (&str, &str);
}

impl Told for pins::Problem {
    fn told(&self) -> (&str, &str) {
        (&self.path, &self.message)
    }
}

impl Told for state::Problem {
    fn told(&self) -> (&str, &str) {
        (&self.path, &self.message)
    }
}

/// Problems as JSON, their paths below `within`.
pub(crate) fn problems_of(within: &str, problems: &[impl Told]) -> Vec<Value> {
    let one = |problem: &_| {
        let (path, message) = Told::told(problem);
        let path = match (within, path) {
            ("", path) => path.to_owned(),
            (within, "") => within.to_owned(),
            (within, path) => format!("{within}.{path}"),
        };
        json!({"path": path, "message": message})
    };
    problems.iter().map(one).collect()
}

/// A test that passed.
pub(crate) fn passed(pin: &Pin, tested: &Tested, stamp: &Stamp) -> Result<Answer, Refusal> {
    let Ok(Value::Object(mut body)) = serde_json::to_value(&tested.answer) else {
        let message = "the answer could not be written";
        return Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message));
    };
    let stamp = stamp.to_json();
    let shown = ["testedColumns", "testedBy", "testedAt"];
    body.extend(shown.iter().filter_map(|key| Some(((*key).to_owned(), stamp.get(key)?.clone()))));
    body.insert("stamp".to_owned(), stamp);
    body.insert("suggestedTypes".to_owned(), json!({}));
    if pin.compile().is_ok_and(|compiled| compiled.possibly_truncated(tested.answer.row_count as u64)) {
        body.insert("possiblyTruncated".to_owned(), json!(true));
    }
    Ok(answer::json(StatusCode::OK, &body.into()))
}

/// A test that did not pass.
pub(crate) fn failed(failure: TestFailure) -> Refusal {
    match failure {
        TestFailure::Pin(problems) => Wrong::Pin(problems_of("pin", &problems)).into(),
        TestFailure::Untyped { problems, suggested } => {
            Refusal::from(Wrong::Pin(problems_of("pin", &problems))).with("suggestedTypes", types(&suggested))
        }
        TestFailure::Values(bad) => {
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_values", bad.to_string())
                .with("problems", problems_of("values", &bad.problems))
        }
        TestFailure::Failed(failure) => failure_of(&failure),
    }
}

/// The types by name; null where somebody has to pick one.
fn types(suggested: &SuggestedTypes) -> Map<String, Value> {
    suggested.iter().map(|(name, ty)| (name.clone(), json!(ty.map(ParamType::name)))).collect()
}

/// What a statement's failure is for an editor.
pub(crate) fn failure_of(failure: &Failure) -> Refusal {
    if let Some(log) = &failure.log {
        tracing::info!(code = %failure.code, detail = %log, "a test failed");
    }
    let status = match failure.kind {
        Kind::Argument | Kind::Refusal | Kind::Statement => StatusCode::UNPROCESSABLE_ENTITY,
        Kind::Plumbing if failure.code == "no_credential" => StatusCode::CONFLICT,
        Kind::Plumbing => StatusCode::SERVICE_UNAVAILABLE,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut refusal = Refusal::new(status, failure.code.clone(), failure.message.clone());
    if let Some(hint) = &failure.hint {
        refusal = refusal.with("hint", hint.as_str());
    }
    if let Some(position) = failure.position {
        refusal = refusal.with("position", position);
    }
    if failure.findings.len() > 1 {
        refusal = refusal.with("findings", json!(failure.findings));
    }
    refusal
}

/// The same for a flow that is not there, another workspace's, and one that the key does not open.
pub(crate) fn no_flow(id: &str) -> Refusal {
    Refusal::not_found(format!("there is no flow `{id}`"))
}
