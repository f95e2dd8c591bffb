//! Who is calling, from where, and what for.

use std::collections::BTreeSet;

use http::HeaderMap;
use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::request::Parts;
use http::uri::Authority;
use state::{Caller, FlowKind, HeaderError, Identity, KeyToken, Scope};
use tokio::time::Instant;

use crate::answer::Refusal;
use crate::app::{App, Callers};
use crate::settings::Settings;
use crate::tokens;

/// Refuses requests that a browser sends for a page which has no business here, also where a name was made to point at us.
pub(crate) fn comes_from_where_it_may(settings: &Settings, parts: &Parts) -> Result<(), Refusal> {
    let is_one_of = |known: &[String], text: &str| known.iter().any(|one| one.eq_ignore_ascii_case(text));
    if let Some(origin) = parts.headers.get(ORIGIN)
        && !is_one_of(&settings.allowed_origins, origin.to_str().unwrap_or_default())
    {
        return Err(Refusal::forbidden(
            "pages of this origin may not call; the operator sets those that may",
        ));
    }
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or_else(|| parts.uri.authority().map(Authority::as_str)).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let hosts = &settings.allowed_hosts;
    if hosts.is_empty() || is_one_of(hosts, host) || is_one_of(hosts, name) {
        return Ok(());
    }
    Err(Refusal::forbidden("this host is not served; the operator sets the public URL"))
}

/// Looks up the key of a request, or checks its token.
pub(crate) async fn caller(app: &App, headers: &HeaderMap, latest: Instant) -> Result<Caller, Refusal> {
    match &app.callers {
        Callers::ApiKeys => by_key(app, headers, latest).await,
        Callers::Tokens(server) => tokens::caller(server, headers, latest).await,
        Callers::Anyone { workspace } => Ok(Caller {
            key_id: "anyone".to_owned(),
            name: "anyone".to_owned(),
            workspace: workspace.clone(),
            scopes: Scope::ALL.into_iter().collect::<BTreeSet<_>>(),
            flows: None,
        }),
    }
}

async fn by_key(app: &App, headers: &HeaderMap, latest: Instant) -> Result<Caller, Refusal> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        return Err(Refusal::unauthorized("send your key as `Authorization: Bearer pgk_…`"));
    };
    let token = header.to_str().ok().map_or(Err(HeaderError::NotBearer), KeyToken::from_header);
    let token = token.map_err(|error| Refusal::unauthorized(error.to_string()))?;
    match app.control.identify(&token, latest).await? {
        Identity::Known(caller) => Ok(caller),
        Identity::UnknownKey | Identity::Revoked => {
            Err(Refusal::unauthorized("this key is not known, or was revoked"))
        }
    }
}

/// Refuses a caller without a scope.
pub(crate) fn must(caller: &Caller, scope: Scope) -> Result<(), Refusal> {
    if caller.may(scope) { Ok(()) } else { Err(lacks(&scope.to_string())) }
}

/// The kinds of flow that a caller may change; refuses one who may change none.
pub(crate) fn changeable(caller: &Caller) -> Result<Vec<FlowKind>, Refusal> {
    let kinds = [FlowKind::Chatflow, FlowKind::Agentflow];
    let kinds: Vec<_> = kinds.into_iter().filter(|kind| caller.may(scope_of(*kind))).collect();
    if kinds.is_empty() { Err(lacks("chatflows:update or agentflows:update")) } else { Ok(kinds) }
}

/// The caller may change flows, and not of this kind.
pub(crate) fn not_of_kind(kind: FlowKind) -> Refusal {
    lacks(scope_of(kind).as_str())
}

fn scope_of(kind: FlowKind) -> Scope {
    match kind {
        FlowKind::Chatflow => Scope::ChatflowsUpdate,
        FlowKind::Agentflow => Scope::AgentflowsUpdate,
    }
}

pub(crate) fn lacks(scope: &str) -> Refusal {
    Refusal::forbidden(format!("the scope {scope} is needed for that, and this caller does not have it"))
}
