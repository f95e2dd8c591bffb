//! From a flow to its document.

use pg::ClaimName;
use serde_json::{Map, Value, json};

use super::{Action, CredentialId, Flow, Limits, Node, QualifiedName, quote_identifier, word};

/// The document: keys in the order of the contract, what is not set left out.
pub(super) fn flow(flow: &Flow) -> Value {
    json!({
        "id": flow.id.as_str(),
        "name": flow.name,
        "kind": flow.kind.as_str(),
        "nodes": flow.nodes.iter().map(node).collect::<Vec<_>>(),
    })
}

pub(super) fn node(node: &Node) -> Value {
    let names = |names: &[QualifiedName]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let actions: Vec<_> = node.actions.0.iter().map(|action| word(&Action::ALL, *action)).collect();
    let search_path: Vec<_> = node.search_path.iter().map(|schema| quote_identifier(schema)).collect();
    set(json!({
        "id": node.id.as_str(),
        "name": node.name,
        "summary": node.summary,
        "credential": node.credential.as_ref().map(CredentialId::as_str),
        "actions": actions,
        "relations": names(&node.relations),
        "rules": node.rules,
        "rowCap": node.row_cap,
        "timeoutSeconds": node.timeout_seconds,
        "searchPath": search_path,
        "allowedFunctions": names(&node.allowed_functions),
        "allowedForeignTables": names(&node.allowed_foreign_tables),
        "pins": node.pins.iter().map(pins::Pin::to_json).collect::<Vec<_>>(),
        "limits": limits(&node.limits),
        "callerClaims": node.caller_claims.iter().map(ClaimName::claim).collect::<Vec<_>>(),
        "rowFormat": node.row_format.as_str(),
    }))
}

fn limits(limits: &Limits) -> Value {
    set(json!({
        "maxRows": limits.max_rows,
        "maxBytes": limits.max_bytes,
        "timeoutSeconds": limits.timeout_seconds,
        "callsPerMinute": limits.calls_per_minute,
        "concurrentCalls": limits.concurrent_calls,
        "maxEstimatedRows": limits.max_estimated_rows,
        "maxPlanCost": limits.max_plan_cost,
    }))
}

/// An object without its nulls.
fn set(object: Value) -> Value {
    match object {
        Value::Object(fields) => {
            fields.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}
