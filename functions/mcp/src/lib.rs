#![doc = include_str!("../README.md")]

mod answer;
mod app;
mod arguments;
mod cors;
mod counting;
mod front;
mod instructions;
mod list;
mod paging;
mod pinned;
mod record;
mod rpc;
mod served;
mod server;
mod settings;
mod tokens;
mod tools;

use std::fmt::Display;
use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body::Body;
use http_body_util::Full;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value};
use state::{Admission, KeyToken, LiveFlow, Scope};
use tokio::time::Instant;

use crate::front::Path;
use crate::rpc::RpcCode;
use crate::served::Served;
use crate::server::Server;

pub use analyst::Memories;
pub use app::App;
pub use rpc::Answer;
pub use service::{Callers, Front, Limits, Problems};
pub use settings::{Deployment, Settings};
pub use tools::{BuiltIn, Takes};

/// Answers one HTTP request; `latest` is when the answer must be on its way.
pub async fn handle<B>(app: &Arc<App>, request: Request<B>, latest: Instant) -> Answer
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    let page = cors::Page::of(request.headers(), &app.settings.front.allowed_origins);
    if let (&Method::OPTIONS, Some(page)) = (request.method(), &page) {
        return page.preflight();
    }
    // Boxed here and below, or the compiler finds the future of a whole call nested too deep.
    let answer = Box::pin(answer(app, request, latest)).await.unwrap_or_else(|refused| refused);
    match page {
        Some(page) => page.may_read(answer),
        None => answer,
    }
}

async fn answer<B>(app: &Arc<App>, request: Request<B>, latest: Instant) -> Result<Answer, Answer>
where
    B: Body + Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Display,
{
    if let Callers::Tokens(server) = &app.callers
        && let Some(metadata) = tokens::metadata(server, request.method(), request.uri().path())
    {
        return Ok(metadata);
    }
    let path = front::route(request.method(), request.uri().path())?;
    let (mut parts, body) = request.into_parts();
    let server = Box::pin(admitted(app, &path, &parts.headers, latest)).await?;
    let message = front::message(&parts.headers, body).await?;
    front::normalise(&mut parts.headers);
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        protocol(app),
    );
    Ok(rpc::in_json(service.handle(Request::from_parts(parts, Full::new(message))).await).await)
}

fn protocol(app: &App) -> StreamableHttpServerConfig {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None)
        .with_max_request_body_bytes(front::MAX_BODY_BYTES)
        .with_allowed_hosts(&app.settings.front.allowed_hosts)
        .with_allowed_origins(&app.settings.front.allowed_origins);
    config.enforce_origin_validation()
}

/// Who calls, and the flow that is asked for.
struct Admitted {
    workspace: String,
    /// The name of a key, or a token's subject.
    caller: Option<String>,
    /// What the caller's token says.
    claims: Option<Arc<Map<String, Value>>>,
    live: LiveFlow,
}

/// Finds out who calls and what: the key or the token, the flow, the node.
async fn admitted(
    app: &Arc<App>,
    path: &Path,
    headers: &HeaderMap,
    latest: Instant,
) -> Result<Server, Answer> {
    let Admitted { workspace, caller, claims, live } = match &app.callers {
        Callers::ApiKeys => by_key(app, path, headers, latest).await?,
        Callers::Tokens(server) => tokens::by_token(app, server, path, headers, latest).await?,
        Callers::Anyone { workspace } => {
            let live = app
                .control
                .open_flow(workspace, &path.flow, latest)
                .await
                .map_err(|error| control_down(&error))?;
            let live = live.ok_or_else(|| not_found(path))?;
            Admitted { workspace: workspace.clone(), caller: None, claims: None, live }
        }
    };
    let served = Served::new(live, path.node.as_deref()).ok_or_else(|| not_found(path))?;
    Ok(Server { app: Arc::clone(app), served, workspace, caller, claims, latest })
}

async fn by_key(app: &App, path: &Path, headers: &HeaderMap, latest: Instant) -> Result<Admitted, Answer> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        return Err(rpc::unauthorized("send your key as `Authorization: Bearer pgk_…`"));
    };
    let token = header
        .to_str()
        .ok()
        .map_or(Err(state::HeaderError::NotBearer), KeyToken::from_header)
        .map_err(|error| rpc::unauthorized(&error.to_string()))?;
    match app.control.admit(&token, &path.flow, latest).await.map_err(|error| control_down(&error))? {
        Admission::Granted(caller, live) if caller.may(Scope::McpCall) => {
            Ok(Admitted { workspace: caller.workspace, caller: Some(caller.name), claims: None, live })
        }
        Admission::Granted(..) => {
            let message = "this key may not call tools: it lacks the scope mcp:call";
            Err(rpc::error(StatusCode::FORBIDDEN, RpcCode::InvalidRequest, message))
        }
        Admission::UnknownKey | Admission::Revoked => {
            Err(rpc::unauthorized("this key is not known, or was revoked"))
        }
        Admission::FlowNotFound => Err(not_found(path)),
    }
}

fn not_found(path: &Path) -> Answer {
    let message = match &path.node {
        Some(node) => format!("there is no node `{node}` in a flow `{}`", path.flow),
        None => format!("there is no flow `{}`", path.flow),
    };
    rpc::error(StatusCode::NOT_FOUND, RpcCode::InvalidRequest, &message)
}

fn control_down(error: &state::ControlError) -> Answer {
    tracing::error!(%error, code = error.code(), "no flow from the control database");
    let message = match error {
        state::ControlError::Flow { .. } => {
            "what is stored as this flow cannot be read; the operator's log says why, and publishing it again mends it"
        }
        _ => "the control database cannot be reached; try again in some seconds",
    };
    rpc::error(StatusCode::SERVICE_UNAVAILABLE, RpcCode::Internal, message)
}
