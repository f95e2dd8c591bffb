//! Flows: listed, read, saved, published, removed.

use std::time::Duration;

use http::header::ETAG;
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use service::{Answer, Asked, Refusal, answer};
use state::{Caller, Deletion, Flow, FlowId, FlowProblems, FlowSummary, Publication, Saving, Scope};
use tokio::time::Instant;

use crate::app::App;
use crate::route::no_flow;

/// How long an answer may wait for the audit's events to be handed on.
const HAND_ON_TIME: Duration = Duration::from_secs(5);

pub(crate) async fn list(app: &App, caller: &Caller, latest: Instant) -> Result<Answer, Refusal> {
    service::must(caller, Scope::FlowsRead)?;
    let flows = app.control.list_flows(&caller.workspace, latest).await?;
    let flows: Vec<_> = flows.iter().filter(|flow| caller.opens(&flow.id)).map(summary).collect();
    Ok(answer::json(StatusCode::OK, &json!({"flows": flows})))
}

pub(crate) async fn read(
    app: &App,
    caller: &Caller,
    flow: &FlowId,
    latest: Instant,
) -> Result<Answer, Refusal> {
    service::must(caller, Scope::FlowsRead)?;
    opens(caller, flow)?;
    let found = app.control.read_flow(&caller.workspace, flow, latest).await?;
    let found = found.ok_or_else(|| no_flow(flow.as_str()))?;
    let mut body = summary(&found.summary);
    body.insert("draft".to_owned(), found.draft.into());
    body.insert("live".to_owned(), found.live.into());
    Ok(tagged(answer::json(StatusCode::OK, &body.into()), found.summary.versions.draft))
}

/// A body is the document itself, or the document as `draft` with the `version` that it is to replace.
pub(crate) async fn save(
    app: &App,
    caller: &Caller,
    flow: &FlowId,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    let kinds = service::changeable(caller)?;
    opens(caller, flow)?;
    let (document, version) = document(asked)?;
    let draft = Flow::from_json(document).map_err(|problems| unreadable(&problems))?;
    if draft.id != *flow {
        let message =
            format!("the document's id is `{}` and the path's is `{flow}`; they must be one", draft.id);
        return Err(Refusal::bad_request(message));
    }
    let over = asked.version(version)?;
    match app.control.save_draft(&caller.workspace, &draft, over, &kinds, latest).await? {
        Saving::Saved(version) => {
            let status = if over.unwrap_or(0) == 0 { StatusCode::CREATED } else { StatusCode::OK };
            let body = json!({"id": flow.as_str(), "draftVersion": version});
            Ok(tagged(answer::json(status, &body), version))
        }
        Saving::Stale(version) => Err(changed_meanwhile(version)),
        Saving::NoVersion(version) => {
            let message =
                "the flow is there: send the draft's version that you have seen, as `If-Match` or `version`";
            let refusal = Refusal::new(StatusCode::PRECONDITION_REQUIRED, "version_required", message);
            Err(refusal.with("draftVersion", version))
        }
        Saving::NotFound => Err(no_flow(flow.as_str())),
        Saving::NotAllowed(kind) => Err(service::not_of_kind(kind)),
    }
}

pub(crate) async fn publish(
    app: &App,
    caller: &Caller,
    flow: &FlowId,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    let kinds = service::changeable(caller)?;
    opens(caller, flow)?;
    let version = version(asked)?;
    let place = (caller.workspace.as_str(), flow);
    match app.control.publish(place, version, &kinds, &caller.actor(), latest).await? {
        Publication::Published { version, draft, changes } => {
            hand_on(app, latest).await;
            let id = flow.as_str();
            let body = json!({"id": id, "liveVersion": version, "draftVersion": draft, "changes": changes});
            Ok(answer::json(StatusCode::OK, &body))
        }
        Publication::Stale(version) => Err(changed_meanwhile(version)),
        Publication::AlreadyLive(version) => {
            let message = "this draft is Live already; save another, then publish it";
            Err(Refusal::conflict("already_live", message).with("draftVersion", version))
        }
        Publication::NotFound => Err(no_flow(flow.as_str())),
        Publication::NotAllowed(kind) => Err(service::not_of_kind(kind)),
    }
}

pub(crate) async fn delete(
    app: &App,
    caller: &Caller,
    flow: &FlowId,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    let kinds = service::changeable(caller)?;
    opens(caller, flow)?;
    let version = version(asked)?;
    let place = (caller.workspace.as_str(), flow);
    match app.control.delete_flow(place, version, &kinds, &caller.actor(), latest).await? {
        Deletion::Deleted => {
            hand_on(app, latest).await;
            Ok(answer::done())
        }
        Deletion::Stale(version) => Err(changed_meanwhile(version)),
        Deletion::NotFound => Err(no_flow(flow.as_str())),
        Deletion::NotAllowed(kind) => Err(service::not_of_kind(kind)),
    }
}

/// What is done is done: events that cannot be handed on now stay in the outbox.
async fn hand_on(app: &App, latest: Instant) {
    let latest = latest.min(Instant::now() + HAND_ON_TIME);
    if let Err(error) = app.events.drain(&app.control, latest).await {
        tracing::warn!(%error, "audit events stay in the outbox for now");
    }
}

pub(crate) fn opens(caller: &Caller, flow: &FlowId) -> Result<(), Refusal> {
    if caller.opens(flow) { Ok(()) } else { Err(no_flow(flow.as_str())) }
}

fn document(asked: &Asked) -> Result<(&str, Option<i64>), Refusal> {
    /// Enough to tell the two forms apart; what else is wrong is for the reader of the document to say.
    #[derive(Deserialize)]
    struct Form {
        draft: Option<serde::de::IgnoredAny>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Save<'a> {
        #[serde(borrow)]
        draft: &'a RawValue,
        version: Option<i64>,
    }
    let text = asked.text()?;
    match serde_json::from_str(text) {
        Ok(Form { draft: Some(_) }) => asked.json().map(|Save { draft, version }| (draft.get(), version)),
        _ => Ok((text, None)),
    }
}

fn version(asked: &Asked) -> Result<Option<i64>, Refusal> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Seen {
        version: Option<i64>,
    }
    asked.version(asked.json_or_default::<Seen>()?.version)
}

fn unreadable(problems: &FlowProblems) -> Refusal {
    let list: Vec<Value> = problems
        .problems()
        .iter()
        .map(|problem| json!({"path": problem.path, "message": problem.message}))
        .collect();
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_flow", problems.to_string())
        .with("problems", list)
}

fn changed_meanwhile(version: i64) -> Refusal {
    let message = format!(
        "the draft was changed meanwhile and has version {version}; read it and apply your change anew"
    );
    Refusal::conflict("draft_changed", message).with("draftVersion", version)
}

fn summary(flow: &FlowSummary) -> Map<String, Value> {
    let fields: [(&str, Value); 7] = [
        ("id", flow.id.as_str().into()),
        ("name", flow.name.as_str().into()),
        ("kind", flow.kind.as_str().into()),
        ("draftVersion", flow.versions.draft.into()),
        ("liveVersion", flow.versions.live.into()),
        ("publishedDraft", flow.versions.published_draft.into()),
        ("updatedAt", flow.updated_at.as_str().into()),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn tagged(mut answer: Answer, version: i64) -> Answer {
    // Digits in quotes are a header's value.
    if let Ok(tag) = HeaderValue::from_str(&format!("\"{version}\"")) {
        answer.headers_mut().insert(ETAG, tag);
    }
    answer
}
