//! The relations that a node's login can read, for the editor to offer.

use std::collections::BTreeSet;
use std::time::Duration;

use analyst::{Failure, Kind, Memories, relation_list};
use http::StatusCode;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use service::{Answer, Asked, Refusal, Way, answer};
use state::{Caller, CredentialId, CredentialSecret, FlowId, NodeId, Scope};
use tokio::time::Instant;

use crate::app::App;
use crate::drafts;
use crate::route::{no_flow, no_node};

/// The time of a list, connecting included.
const LIST_TIME: Duration = Duration::from_secs(20);

/// The list of the node as it is saved.
pub(crate) async fn saved(
    app: &App,
    caller: &Caller,
    place: (&FlowId, &NodeId),
    latest: Instant,
) -> Result<Answer, Refusal> {
    service::must(caller, Scope::FlowsRead)?;
    let (_, credential) = node(app, caller, place, latest).await?;
    list(app, caller, credential, latest).await
}

/// The list of the node as it is on the canvas: with the credential that stands there, saved or not.
pub(crate) async fn on_canvas(
    app: &App,
    caller: &Caller,
    place: (&FlowId, &NodeId),
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Body {
        #[serde(default)]
        canvas: Canvas,
    }
    let kinds = service::changeable(caller)?;
    let (kind, saved) = node(app, caller, place, latest).await?;
    if !kinds.iter().any(|known| known.as_str() == kind) {
        return Err(service::lacks(&format!("{kind}s:update")));
    }
    let body: Body = asked.json_or_default()?;
    let credential = match body.canvas.credential {
        OnCanvas::NotSent => saved,
        OnCanvas::Default => None,
        OnCanvas::Named(id) => Some(id),
    };
    list(app, caller, credential, latest).await
}

/// What of a node may be sent as it is on the canvas. A list of relations depends on the credential alone.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "the other fields are taken and do not matter here")]
struct Canvas {
    #[serde(default)]
    credential: OnCanvas,
    relations: Option<Value>,
    allowed_functions: Option<Value>,
    search_path: Option<Value>,
    row_cap: Option<Value>,
    timeout_seconds: Option<Value>,
    pins: Option<Value>,
}

/// The node's credential as it is on the canvas.
#[derive(Default)]
enum OnCanvas {
    /// The saved one.
    #[default]
    NotSent,
    /// `null`: none, which means the default one.
    Default,
    Named(String),
}

impl<'de> Deserialize<'de> for OnCanvas {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Default, Self::Named))
    }
}

/// The flow's kind and the node's credential, from the draft, or from Live where there is no draft.
async fn node(
    app: &App,
    caller: &Caller,
    (flow, node): (&FlowId, &NodeId),
    latest: Instant,
) -> Result<(&'static str, Option<String>), Refusal> {
    drafts::opens(caller, flow)?;
    let found = app.control.read_flow(&caller.workspace, flow, latest).await?;
    let found = found.ok_or_else(|| no_flow(flow.as_str()))?;
    let document = found.draft.or(found.live).unwrap_or_default();
    let nodes = document.get("nodes").and_then(Value::as_array);
    let is_it = |json: &&Value| json.get("id").and_then(Value::as_str) == Some(node.as_str());
    let json = nodes.and_then(|nodes| nodes.iter().find(is_it)).ok_or_else(|| no_node(node.as_str()))?;
    let credential = json.get("credential").and_then(Value::as_str).map(str::to_owned);
    Ok((found.summary.kind.as_str(), credential))
}

async fn list(
    app: &App,
    caller: &Caller,
    credential: Option<String>,
    latest: Instant,
) -> Result<Answer, Refusal> {
    let deadline = latest.min(Instant::now() + LIST_TIME);
    let secret = match &credential {
        None => {
            let default = app.settings.limits.default_secret.clone();
            default.map(|secret_id| CredentialSecret { secret_id, agreed: BTreeSet::new() })
        }
        Some(id) => match CredentialId::parse(id) {
            Some(id) => app.control.secret_of(&caller.workspace, &id, latest).await?,
            None => None,
        },
    };
    let open = async || {
        let secret = secret.ok_or_else(|| no_secret(credential.as_deref()))?;
        let way = Way { secrets: &app.secrets, memories: &Memories::default(), limits: &app.settings.limits };
        Ok(way.open(&secret, deadline).await?.connection)
    };
    let relations = relation_list::options(deadline, open).await;
    Ok(answer::json(StatusCode::OK, &json!({"relations": relations})))
}

fn no_secret(credential: Option<&str>) -> Failure {
    let message = match credential {
        Some(id) => format!("the workspace has no credential `{id}`"),
        None => "the node has no credential, and there is no default one".to_owned(),
    };
    Failure::new(Kind::Plumbing, "no_credential", message)
        .hinting("give the node a credential of its workspace")
}
