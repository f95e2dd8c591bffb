//! Who may call, and who does.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use oauth::{Rejected, ResourceServer};
use state::{Caller, Control, FlowId, FlowKind, HeaderError, Identity, KeyToken, Scope};
use tokio::time::Instant;

use crate::answer::Refusal;

/// The APIs belong to the whole server: tokens are for that.
const RESOURCE: &str = "";

/// Who may call. A deployment has one mode.
#[derive(Debug, Clone)]
pub enum Callers {
    /// Holders of an API key, as far as its scopes reach.
    ApiKeys,
    /// Holders of an access token of the issuer that the operator trusts, as far as its scopes reach.
    Tokens(Arc<ResourceServer>),
    /// Anyone who reaches the listener, with every right in this workspace: for loopback alone.
    Anyone {
        /// The workspace that calls belong to.
        workspace: String,
    },
}

impl Callers {
    /// Looks up the key of a request to an API, or checks its token.
    pub async fn caller(
        &self,
        control: &Control,
        headers: &HeaderMap,
        latest: Instant,
    ) -> Result<Caller, Refusal> {
        match self {
            Self::ApiKeys => by_key(control, headers, latest).await,
            Self::Tokens(server) => by_token(server, headers, latest).await,
            Self::Anyone { workspace } => Ok(Caller {
                key_id: "anyone".to_owned(),
                name: "anyone".to_owned(),
                workspace: workspace.clone(),
                scopes: Scope::ALL.into_iter().collect::<BTreeSet<_>>(),
                flows: None,
                claims: None,
            }),
        }
    }
}

async fn by_key(control: &Control, headers: &HeaderMap, latest: Instant) -> Result<Caller, Refusal> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        return Err(Refusal::unauthorized("send your key as `Authorization: Bearer pgk_…`"));
    };
    let token = header.to_str().ok().map_or(Err(HeaderError::NotBearer), KeyToken::from_header);
    let token = token.map_err(|error| Refusal::unauthorized(error.to_string()))?;
    match control.identify(&token, latest).await? {
        Identity::Known(caller) => Ok(caller),
        Identity::UnknownKey | Identity::Revoked => {
            Err(Refusal::unauthorized("this key is not known, or was revoked"))
        }
    }
}

async fn by_token(server: &ResourceServer, headers: &HeaderMap, latest: Instant) -> Result<Caller, Refusal> {
    token_holder(server, headers, RESOURCE, latest).await.map_err(|why| match &why {
        Rejected::NoToken(_) | Rejected::Invalid(_) => {
            Refusal::unauthorized(why.to_string()).challenging(&server.challenge(RESOURCE, None, &why))
        }
        Rejected::NoPlace(_) => Refusal::forbidden(why.to_string()),
        Rejected::NoKeys => {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "issuer_unavailable", why.to_string())
        }
    })
}

/// Checks the token of a request for a path of the server. A scope or a flow that this build does not know opens nothing.
pub async fn token_holder(
    server: &ResourceServer,
    headers: &HeaderMap,
    path: &str,
    latest: Instant,
) -> Result<Caller, Rejected> {
    // What is no text is no token either.
    let header = headers.get(AUTHORIZATION).map(|header| header.to_str().unwrap_or_default());
    let verified = server.verify(header, path, SystemTime::now(), latest).await?;
    Ok(Caller {
        key_id: verified.subject.clone(),
        name: verified.subject,
        workspace: verified.workspace,
        scopes: verified.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        flows: verified.flows.map(|flows| flows.iter().filter_map(|flow| FlowId::parse(flow)).collect()),
        claims: Some(Arc::new(verified.claims)),
    })
}

/// Refuses a caller without a scope.
pub fn must(caller: &Caller, scope: Scope) -> Result<(), Refusal> {
    if caller.may(scope) { Ok(()) } else { Err(lacks(&scope.to_string())) }
}

/// The kinds of flow that a caller may change; refuses one who may change none.
pub fn changeable(caller: &Caller) -> Result<Vec<FlowKind>, Refusal> {
    let kinds = [FlowKind::Chatflow, FlowKind::Agentflow];
    let kinds: Vec<_> = kinds.into_iter().filter(|kind| caller.may(scope_of(*kind))).collect();
    if kinds.is_empty() { Err(lacks("chatflows:update or agentflows:update")) } else { Ok(kinds) }
}

/// The caller may change flows, and not of this kind.
pub fn not_of_kind(kind: FlowKind) -> Refusal {
    lacks(scope_of(kind).as_str())
}

/// The caller lacks a scope.
pub fn lacks(scope: &str) -> Refusal {
    Refusal::forbidden(format!("the scope {scope} is needed for that, and this caller does not have it"))
}

fn scope_of(kind: FlowKind) -> Scope {
    match kind {
        FlowKind::Chatflow => Scope::ChatflowsUpdate,
        FlowKind::Agentflow => Scope::AgentflowsUpdate,
    }
}
