//! Which work a method and a path ask for.

use http::Method;
use service::Refusal;
use state::{CredentialId, FlowId, NodeId};

/// A piece of work, with the ids of the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Flows,
    Flow(FlowId),
    SaveDraft(FlowId),
    Publish(FlowId),
    DeleteFlow(FlowId),
    Relations(FlowId, NodeId),
    RelationsOnCanvas(FlowId, NodeId),
    Audit,
    Credentials,
    AddCredential,
    ChangeCredential(CredentialId),
    RemoveCredential(CredentialId),
    Keys,
    CreateKey,
    RevokeKey(String),
}

impl Route {
    /// An id in the path that could be none is not found, as one that is not there.
    pub(crate) fn read(method: &Method, path: &str) -> Result<Self, Refusal> {
        let nothing = || Refusal::not_found("there is nothing at this path; the API is below /api/v1");
        let path = path.trim_end_matches('/').strip_prefix("/api/v1/").ok_or_else(nothing)?;
        let parts: Vec<&str> = path.split('/').collect();
        let is = |wanted: Method| *method == wanted;
        match parts.as_slice() {
            ["flows"] if is(Method::GET) => Ok(Self::Flows),
            ["flows", id] => match *method {
                Method::GET => Ok(Self::Flow(flow(id)?)),
                Method::DELETE => Ok(Self::DeleteFlow(flow(id)?)),
                _ => Err(Refusal::only("GET, DELETE")),
            },
            ["flows", id, "draft"] if is(Method::PUT) => Ok(Self::SaveDraft(flow(id)?)),
            ["flows", _, "draft"] => Err(Refusal::only("PUT")),
            ["flows", id, "publish"] if is(Method::POST) => Ok(Self::Publish(flow(id)?)),
            ["flows", _, "publish"] => Err(Refusal::only("POST")),
            ["flows", id, "nodes", node, "relations"] => {
                let found = (flow(id)?, NodeId::parse(node).ok_or_else(|| no_node(node))?);
                match *method {
                    Method::GET => Ok(Self::Relations(found.0, found.1)),
                    Method::POST => Ok(Self::RelationsOnCanvas(found.0, found.1)),
                    _ => Err(Refusal::only("GET, POST")),
                }
            }
            ["audit"] if is(Method::GET) => Ok(Self::Audit),
            ["flows" | "audit"] => Err(Refusal::only("GET")),
            ["credentials"] => match *method {
                Method::GET => Ok(Self::Credentials),
                Method::POST => Ok(Self::AddCredential),
                _ => Err(Refusal::only("GET, POST")),
            },
            ["credentials", id] => {
                let id = || CredentialId::parse(id).ok_or_else(|| no_credential(id));
                match *method {
                    Method::PUT => Ok(Self::ChangeCredential(id()?)),
                    Method::DELETE => Ok(Self::RemoveCredential(id()?)),
                    _ => Err(Refusal::only("PUT, DELETE")),
                }
            }
            ["keys"] => match *method {
                Method::GET => Ok(Self::Keys),
                Method::POST => Ok(Self::CreateKey),
                _ => Err(Refusal::only("GET, POST")),
            },
            ["keys", id] if is(Method::DELETE) => Ok(Self::RevokeKey((*id).to_owned())),
            ["keys", _] => Err(Refusal::only("DELETE")),
            _ => Err(nothing()),
        }
    }
}

fn flow(id: &str) -> Result<FlowId, Refusal> {
    FlowId::parse(id).ok_or_else(|| no_flow(id))
}

/// The same for a flow that is not there, another workspace's, and one that the key does not open.
pub(crate) fn no_flow(id: &str) -> Refusal {
    Refusal::not_found(format!("there is no flow `{id}`"))
}

pub(crate) fn no_node(id: &str) -> Refusal {
    Refusal::not_found(format!("the flow has no node `{id}` in its draft, or in Live where it has no draft"))
}

pub(crate) fn no_credential(id: &str) -> Refusal {
    Refusal::not_found(format!("there is no credential `{id}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: &str, path: &str) -> u16 {
        match Route::read(&method.parse().unwrap(), path) {
            Ok(_) => 200,
            Err(refusal) => refusal.into_answer().status().as_u16(),
        }
    }

    #[test]
    fn each_path_has_its_methods() {
        let paths = [
            ("/api/v1/flows", "GET"),
            ("/api/v1/flows/sales", "GET DELETE"),
            ("/api/v1/flows/sales/draft", "PUT"),
            ("/api/v1/flows/sales/publish", "POST"),
            ("/api/v1/flows/sales/nodes/db/relations", "GET POST"),
            ("/api/v1/audit", "GET"),
            ("/api/v1/credentials", "GET POST"),
            ("/api/v1/credentials/cred-1", "PUT DELETE"),
            ("/api/v1/keys", "GET POST"),
            ("/api/v1/keys/0197", "DELETE"),
        ];
        for (path, methods) in paths {
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
                let expected = if methods.split(' ').any(|known| known == method) { 200 } else { 405 };
                assert_eq!(status(method, path), expected, "{method} {path}");
                assert_eq!(status(method, &format!("{path}/")), expected, "{method} {path}/");
            }
        }
    }

    #[test]
    fn other_paths_and_ids_that_could_be_none_are_not_found() {
        for path in [
            "/",
            "/api/v1",
            "/api/v1/",
            "/api/v2/flows",
            "/api/v1/flows/A",
            "/api/v1/flows/../keys",
            "/api/v1/flows/sales/draft/more",
            "/api/v1/flows/sales/nodes",
            "/api/v1/flows/sales/nodes/_/relations",
            "/api/v1/flows/%00",
        ] {
            assert_eq!(status("GET", path), 404, "{path}");
        }
        assert_eq!(status("DELETE", "/api/v1/credentials/_"), 404);
    }
}
