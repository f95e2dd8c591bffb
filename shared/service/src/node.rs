//! A node of a flow as the use cases need it: what it may read, within which limits, with which secret.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

use analyst::{Ceilings, CostLimits, Failure, Kind, ObjectName, Scope};
use pg::SearchPath;
use pins::ScopeCredential;
use state::{CredentialId, CredentialSecret, Node, QualifiedName};

use crate::limits::Limits;

/// A node's limits and selection under the deployment's limits.
pub fn scope(limits: &Limits, node: &Node) -> Scope {
    let own = &node.limits;
    let rows = [node.row_cap, own.max_rows].into_iter().flatten().fold(limits.row_cap, u32::min);
    let seconds = [node.timeout_seconds, own.timeout_seconds]
        .into_iter()
        .flatten()
        .fold(limits.timeout_seconds, u32::min);
    let bytes = own.max_bytes.map_or(limits.max_bytes, |bytes| limits.max_bytes.min(bytes as usize));
    Scope {
        relations: node.relations.clone(),
        allowed_functions: node.allowed_functions.iter().map(object).collect(),
        allowed_foreign_tables: node.allowed_foreign_tables.iter().map(object).collect(),
        // The names were checked with the flow.
        search_path: SearchPath::new(&node.search_path).ok().filter(|path| !path.names().is_empty()),
        claims: None,
        ceilings: Ceilings {
            rows,
            result_rows: own.max_rows,
            bytes,
            seconds,
            value_chars: limits.value_chars,
        },
        cost: cost(own),
    }
}

/// What the planner may expect of a node's statements.
fn cost(limits: &state::Limits) -> Option<CostLimits> {
    let (rows, cost) = (limits.max_estimated_rows, limits.max_plan_cost);
    (rows.is_some() || cost.is_some()).then_some(CostLimits { rows, cost })
}

/// The secret of a node: its credential's, else the default one. `secrets` are those of the workspace's credentials that
/// its flow names.
pub fn secret<S: BuildHasher>(
    limits: &Limits,
    secrets: &HashMap<CredentialId, CredentialSecret, S>,
    node: &Node,
) -> Result<CredentialSecret, Failure> {
    let default = || {
        let secret_id = limits.default_secret.clone()?;
        Some(CredentialSecret { secret_id, agreed: BTreeSet::new() })
    };
    let found = node.credential.as_ref().map_or_else(default, |id| secrets.get(id).cloned());
    found.ok_or_else(|| {
        let message = match &node.credential {
            Some(credential) => {
                format!("the node's credential `{credential}` does not exist in its workspace")
            }
            None => "the node has no credential, and there is no default one".to_owned(),
        };
        Failure::new(Kind::Plumbing, "no_credential", message)
            .hinting("the operator gives the node a credential of its workspace")
    })
}

/// What a stamp covers of the place where its pin was tested.
pub fn stamp_scope(workspace: &str, node: &Node, secret: &CredentialSecret) -> pins::Scope {
    let texts = |names: &[QualifiedName]| names.iter().map(ToString::to_string).collect();
    pins::Scope {
        workspace: workspace.to_owned(),
        credential: match &node.credential {
            None => ScopeCredential::Default,
            Some(id) => {
                ScopeCredential::Named { id: id.as_str().to_owned(), secret: secret.secret_id.clone() }
            }
        },
        selection: texts(&node.relations),
        allowed_functions: texts(&node.allowed_functions),
        allowed_foreign_tables: texts(&node.allowed_foreign_tables),
        search_path: node.search_path.clone(),
    }
}

fn object(name: &QualifiedName) -> ObjectName {
    ObjectName { schema: name.schema().to_owned(), name: name.name().to_owned() }
}
