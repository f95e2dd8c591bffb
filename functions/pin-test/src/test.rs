//! The test itself.

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use analyst::pinned;
use analyst::{Failure, Scope, claims};
use pins::{Stamp, Test};
use serde::Deserialize;
use serde_json::{Map, Value};
use service::{Answer, Asked, Refusal, Way};
use state::{AuditEvent, Caller, ChangeKind, CredentialSecret, FlowId, Node, NodeId, StoredFlow};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::Instant;

use crate::answers;
use crate::app::App;
use crate::canvas::{self, Canvas};

/// How long the event of a test may take on its way; what takes longer becomes a line of the log.
const EVENT_TIME: Duration = Duration::from_secs(3);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Body {
    node_id: String,
    pin: Value,
    #[serde(default)]
    values: Map<String, Value>,
    #[serde(default)]
    canvas: Map<String, Value>,
}

/// Runs a pin with sample values, and stamps it if it passes.
pub(crate) async fn run(
    app: &App,
    caller: &Caller,
    flow: &FlowId,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    let stored = flow_to_change(app, caller, flow, latest).await?;
    let Some(keys) = &app.stamp_keys else {
        let message =
            "pinned queries are turned off here; the operator turns them on with PINGUARD_PINNED_QUERIES";
        return Err(Refusal::conflict("pins_off", message));
    };
    let Body { node_id, pin, values, canvas } = asked.json()?;
    let no_node = || {
        let message =
            format!("the flow has no node `{node_id}` in its draft, or in Live where it has no draft");
        Refusal::not_found(message)
    };
    let id = NodeId::parse(&node_id).ok_or_else(no_node)?;
    let document = stored.draft.or(stored.live).unwrap_or_default();
    let canvas = Canvas::read(canvas)?;
    let (node, pin) = canvas::node(document, &id, canvas, &pin)?.ok_or_else(no_node)?;
    let key = keys.key(latest).await.map_err(|error| {
        tracing::error!(%error, code = error.code(), "there is no stamp key");
        let failure = Failure::new(analyst::Kind::Plumbing, error.code(), error.to_string());
        answers::failure_of(&failure.hinting(error.hint()))
    })?;
    let secret = secret(app, caller, &node, latest).await?;
    let scope = scope(app, caller, &node).map_err(|failure| answers::failure_of(&failure))?;
    let deadline = latest.min(Instant::now() + Duration::from_secs(u64::from(scope.ceilings.seconds)));
    let way = Way { secrets: &app.secrets, memories: &app.memories, limits: &app.settings.limits };
    let open = || async { way.open(&secret, deadline).await.map(Into::into) };
    let tested = pinned::test(&pin, &values, &scope, deadline, open).await.map_err(answers::failed)?;
    let place = service::stamp_scope(&caller.workspace, &node, &secret);
    let by = Test { columns: tested.columns.clone(), by: caller.name.clone(), at: now() };
    let stamp: Stamp = pin
        .stamp_test(&key, &place, by)
        .map_err(|problems| answers::failed(pinned::TestFailure::Pin(problems)))?;
    let event = AuditEvent::now(&caller.workspace, &caller.actor(), ChangeKind::Test, (flow, &node, &pin));
    if let Err(error) = app.events.offer(event, &app.log, latest.min(Instant::now() + EVENT_TIME)).await {
        tracing::warn!(%error, "the event of a test could not be sent");
    }
    answers::passed(&pin, &tested, &stamp)
}

/// The flow, if the caller may change flows of its kind. Another workspace's is not found, as one that is not there.
async fn flow_to_change(
    app: &App,
    caller: &Caller,
    flow: &FlowId,
    latest: Instant,
) -> Result<StoredFlow, Refusal> {
    let kinds = service::changeable(caller)?;
    if !caller.opens(flow) {
        return Err(answers::no_flow(flow.as_str()));
    }
    let stored = app.control.read_flow(&caller.workspace, flow, latest).await?;
    let stored = stored.ok_or_else(|| answers::no_flow(flow.as_str()))?;
    let kind = stored.summary.kind;
    if kinds.contains(&kind) { Ok(stored) } else { Err(service::not_of_kind(kind)) }
}

/// The secret of the credential on the canvas, which must be one of the caller's workspace.
async fn secret(
    app: &App,
    caller: &Caller,
    node: &Node,
    latest: Instant,
) -> Result<CredentialSecret, Refusal> {
    let mut secrets = HashMap::new();
    if let Some(id) = &node.credential
        && let Some(secret) = app.control.secret_of(&caller.workspace, id, latest).await?
    {
        secrets.insert(id.clone(), secret);
    }
    service::secret(&app.settings.limits, &secrets, node).map_err(|failure| answers::failure_of(&failure))
}

/// What the node lets its callers see, with what the tester's own token says.
fn scope(app: &App, caller: &Caller, node: &Node) -> Result<Scope, Failure> {
    let claims = claims::of(&node.caller_claims, caller.claims.as_deref())?;
    Ok(Scope { claims, ..service::scope(&app.settings.limits, node) })
}

/// In UTC, as RFC 3339, in whole seconds.
fn now() -> String {
    let now = OffsetDateTime::from(SystemTime::now());
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
