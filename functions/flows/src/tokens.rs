//! Callers with access tokens.

use std::time::SystemTime;

use http::header::AUTHORIZATION;
use http::{HeaderMap, StatusCode};
use oauth::{Rejected, ResourceServer};
use state::{Caller, FlowId};
use tokio::time::Instant;

use crate::answer::Refusal;

/// The API belongs to the whole server: tokens are for that.
const RESOURCE: &str = "";

/// Checks the token of a request. A scope or a flow that this build does not know opens nothing here.
pub(crate) async fn caller(
    server: &ResourceServer,
    headers: &HeaderMap,
    latest: Instant,
) -> Result<Caller, Refusal> {
    // What is no text is no token either.
    let header = headers.get(AUTHORIZATION).map(|header| header.to_str().unwrap_or_default());
    let caller =
        server.verify(header, RESOURCE, SystemTime::now(), latest).await.map_err(|why| match &why {
            Rejected::NoToken(_) | Rejected::Invalid(_) => {
                Refusal::unauthorized(why.to_string()).challenging(&server.challenge(RESOURCE, None, &why))
            }
            Rejected::NoPlace(_) => Refusal::forbidden(why.to_string()),
            Rejected::NoKeys => {
                Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "issuer_unavailable", why.to_string())
            }
        })?;
    Ok(Caller {
        key_id: caller.subject.clone(),
        name: caller.subject,
        workspace: caller.workspace,
        scopes: caller.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        flows: caller.flows.map(|flows| flows.iter().filter_map(|flow| FlowId::parse(flow)).collect()),
    })
}
