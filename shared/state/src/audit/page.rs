//! Rows to read, the newest first.

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::event::ChangeKind;
use crate::control::{ControlError, Links};
use crate::flow::{FlowId, NodeId};

/// Which rows, and how many of them.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Only rows of these flows; none means all.
    pub flows: Option<Vec<FlowId>>,
    /// Only rows of this node.
    pub node: Option<NodeId>,
    /// Only rows of this kind.
    pub change: Option<ChangeKind>,
    /// Only rows before this number.
    pub before: Option<i64>,
    /// Rows of a page, at least 1.
    pub limit: u32,
}

/// Some rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditPage {
    /// The rows, the newest first.
    pub events: Vec<AuditEntry>,
    /// What [`AuditFilter::before`] is for the next page; none on the last.
    pub next: Option<i64>,
}

/// A row to read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AuditEntry {
    /// The place in the workspace's chain, from 1.
    pub number: i64,
    /// The event's id.
    pub id: String,
    /// When it was done, in UTC, as RFC 3339.
    pub at: String,
    /// The type.
    pub r#type: String,
    /// What was done.
    pub change: String,
    /// Who did it: the id of a key.
    pub actor: String,
    /// Who did it: the key's name.
    pub user: String,
    /// The flow.
    pub flow: String,
    /// The node.
    pub node: String,
    /// One line.
    pub summary: String,
    /// Pin, version, hash, credential, names of parameters; absent where it was too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
}

const PAGE: &str = r#"
    SELECT number, id::text, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, type, change,
           actor, user_name, flow, node, summary, detail
    FROM pinguard.audit
    WHERE workspace = $1 AND ($2::text[] IS NULL OR flow = ANY ($2)) AND ($3::text IS NULL OR node = $3)
        AND ($4::text IS NULL OR change = $4) AND ($5::bigint IS NULL OR number < $5)
    ORDER BY number DESC LIMIT $6"#;

pub(crate) async fn read(
    links: &Links,
    workspace: &str,
    filter: &AuditFilter,
    deadline: Instant,
) -> Result<AuditPage, ControlError> {
    let flows: Option<Vec<&str>> =
        filter.flows.as_ref().map(|flows| flows.iter().map(FlowId::as_str).collect());
    let node = filter.node.as_ref().map(NodeId::as_str);
    let change = filter.change.map(ChangeKind::as_str);
    let limit = filter.limit.max(1) as usize;
    // One more than the page tells whether there is another.
    let most = i64::try_from(limit + 1).unwrap_or(i64::MAX);
    let rows = links
        .rows(
            PAGE,
            &[
                (&workspace, Type::TEXT),
                (&flows, Type::TEXT_ARRAY),
                (&node, Type::TEXT),
                (&change, Type::TEXT),
                (&filter.before, Type::INT8),
                (&most, Type::INT8),
            ],
            deadline,
        )
        .await?;
    let mut events = rows.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    let more = events.len() > limit;
    events.truncate(limit);
    let next = events.last().map(|last| last.number).filter(|_| more);
    Ok(AuditPage { events, next })
}

fn entry(row: &tokio_postgres::Row) -> Result<AuditEntry, ControlError> {
    Ok(AuditEntry {
        number: row.try_get("number")?,
        id: row.try_get("id")?,
        at: row.try_get("at")?,
        r#type: row.try_get("type")?,
        change: row.try_get("change")?,
        actor: row.try_get("actor")?,
        user: row.try_get("user_name")?,
        flow: row.try_get("flow")?,
        node: row.try_get("node")?,
        summary: row.try_get("summary")?,
        detail: row.try_get("detail")?,
    })
}
