//! Callers with access tokens: who they are, what they are told when they are not let in, and where clients learn whom to ask.

use http::header::{ALLOW, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use oauth::{Rejected, ResourceServer};
use service::token_holder;
use state::{FlowId, Scope};
use tokio::time::Instant;

use crate::app::App;
use crate::front::Path;
use crate::rpc::{self, Answer, RpcCode};
use crate::{Admitted, control_down, not_found};

/// The metadata that a path is of, where it is of any; what could not be served has none.
pub(crate) fn metadata(server: &ResourceServer, method: &Method, path: &str) -> Option<Answer> {
    let resource = match ResourceServer::metadata_of(path)? {
        "" => String::new(),
        path => Path::read(path)?.canonical()?,
    };
    if !matches!(*method, Method::GET | Method::HEAD) {
        let message = "the metadata of this server takes GET only";
        let mut answer = rpc::error(StatusCode::METHOD_NOT_ALLOWED, RpcCode::InvalidRequest, message);
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Some(answer);
    }
    // The whole server is the editor's API too.
    let scopes = if resource.is_empty() { Scope::ALL.to_vec() } else { vec![Scope::McpCall] };
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    let metadata = server.metadata(&resource, &scopes);
    Some(rpc::with_json(StatusCode::OK, metadata.to_string()))
}

/// Checks the token of a request and opens the flow that it asks for.
pub(crate) async fn by_token(
    app: &App,
    server: &ResourceServer,
    path: &Path,
    headers: &HeaderMap,
    latest: Instant,
) -> Result<Admitted, Answer> {
    let scope = Scope::McpCall.as_str();
    let (Some(resource), Some(flow)) = (path.canonical(), FlowId::parse(&path.flow)) else {
        return Err(not_found(path));
    };
    let caller = token_holder(server, headers, &resource, latest).await.map_err(|why| {
        let message = why.to_string();
        match &why {
            Rejected::NoToken(_) | Rejected::Invalid(_) => {
                let challenge = server.challenge(&resource, Some(scope), &why);
                refused(StatusCode::UNAUTHORIZED, &message, &challenge)
            }
            Rejected::NoPlace(_) => rpc::error(StatusCode::FORBIDDEN, RpcCode::InvalidRequest, &message),
            Rejected::NoKeys => rpc::error(StatusCode::SERVICE_UNAVAILABLE, RpcCode::Internal, &message),
        }
    })?;
    if !caller.may(Scope::McpCall) {
        let message = format!("this token may not call tools: it lacks the scope {scope}");
        return Err(refused(StatusCode::FORBIDDEN, &message, &server.lacks(&resource, scope)));
    }
    if !caller.opens(&flow) {
        return Err(not_found(path));
    }
    let live = app.control.open_flow(&caller.workspace, &path.flow, latest).await;
    let live = live.map_err(|error| control_down(&error))?.ok_or_else(|| not_found(path))?;
    Ok(Admitted { workspace: caller.workspace, caller: Some(caller.name), claims: caller.claims, live })
}

fn refused(status: StatusCode, message: &str, challenge: &str) -> Answer {
    let mut answer = rpc::error(status, RpcCode::InvalidRequest, message);
    if let Ok(challenge) = HeaderValue::from_str(challenge) {
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    answer
}
