//! Drafts: listing flows, reading one, saving its draft over the one that the writer has seen.

use serde_json::Value;
use tokio::time::Instant;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::error::ControlError;
use super::link::{Links, Parameter};
use crate::flow::{Flow, FlowId, FlowKind};

/// A flow in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowSummary {
    /// The id.
    pub id: FlowId,
    /// The name in the draft, else in Live.
    pub name: String,
    /// The kind.
    pub kind: FlowKind,
    /// The versions.
    pub versions: Versions,
    /// When draft or Live was last written, in UTC, as RFC 3339.
    pub updated_at: String,
}

/// A flow as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredFlow {
    /// What a list says of it.
    pub summary: FlowSummary,
    /// The document being edited.
    pub draft: Option<Value>,
    /// The document that agents are served.
    pub live: Option<Value>,
}

/// How often the documents of a flow were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// The draft's version, at least 1.
    pub draft: i64,
    /// Live's version; 0 before the first publish.
    pub live: i64,
    /// The draft's version that Live is a copy of.
    pub published_draft: Option<i64>,
}

/// What became of a draft that was to be saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Saving {
    /// It is stored as this version.
    Saved(i64),
    /// Another was stored meanwhile, as this version; nothing was changed.
    Stale(i64),
    /// The flow is there, and no version was given.
    NoVersion(i64),
    /// A version was given, and the flow is not there.
    NotFound,
    /// The flow has a kind that may not be changed.
    NotAllowed(FlowKind),
}

macro_rules! summary {
    () => {
        "id, kind, coalesce(draft ->> 'name', live ->> 'name', id) AS name, draft_version, version, published_draft,
         to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') AS updated_at"
    };
}

const LIST: &str = concat!("SELECT ", summary!(), " FROM pinguard.flow WHERE workspace = $1 ORDER BY id");

const READ: &str =
    concat!("SELECT ", summary!(), ", draft, live FROM pinguard.flow WHERE workspace = $1 AND id = $2");

const LOCK: &str =
    "SELECT kind, draft_version FROM pinguard.flow WHERE workspace = $1 AND id = $2 FOR UPDATE";

const MAKE: &str = "
    INSERT INTO pinguard.flow (workspace, id, kind, draft) VALUES ($1, $2, $3, $4)
    ON CONFLICT (workspace, id) DO NOTHING RETURNING draft_version";

const CHANGE: &str = "
    UPDATE pinguard.flow SET kind = $3, draft = $4, draft_version = draft_version + 1, updated_at = now()
    WHERE workspace = $1 AND id = $2 RETURNING draft_version";

pub(super) async fn list(
    links: &Links,
    workspace: &str,
    deadline: Instant,
) -> Result<Vec<FlowSummary>, ControlError> {
    let rows = links.rows(LIST, &[(&workspace, Type::TEXT)], deadline).await?;
    rows.iter().map(summary).collect()
}

pub(super) async fn read(
    links: &Links,
    workspace: &str,
    flow: &FlowId,
    deadline: Instant,
) -> Result<Option<StoredFlow>, ControlError> {
    let which = [(&workspace as _, Type::TEXT), (&flow.as_str() as _, Type::TEXT)];
    let Some(row) = links.read(READ, &which, deadline).await? else { return Ok(None) };
    Ok(Some(StoredFlow { summary: summary(&row)?, draft: row.try_get("draft")?, live: row.try_get("live")? }))
}

fn summary(row: &Row) -> Result<FlowSummary, ControlError> {
    Ok(FlowSummary {
        id: FlowId::parse(row.try_get("id")?).ok_or(ControlError::Answer)?,
        name: row.try_get("name")?,
        kind: kind(row.try_get("kind")?)?,
        versions: Versions {
            draft: row.try_get("draft_version")?,
            live: row.try_get("version")?,
            published_draft: row.try_get("published_draft")?,
        },
        updated_at: row.try_get("updated_at")?,
    })
}

pub(super) fn kind(word: &str) -> Result<FlowKind, ControlError> {
    FlowKind::parse(word).ok_or(ControlError::Answer)
}

pub(super) async fn save(
    links: &Links,
    workspace: &str,
    flow: &Flow,
    over: Option<i64>,
    kinds: &[FlowKind],
    deadline: Instant,
) -> Result<Saving, ControlError> {
    if !kinds.contains(&flow.kind) {
        return Ok(Saving::NotAllowed(flow.kind));
    }
    let document = flow.to_json();
    let id = flow.id.as_str();
    let parameters: [Parameter<'_>; 4] = [
        (&workspace, Type::TEXT),
        (&id, Type::TEXT),
        (&flow.kind.as_str(), Type::TEXT),
        (&document, Type::JSONB),
    ];
    let work = async |client: &mut Client| {
        let transaction = client.transaction().await?;
        let which = [(&workspace as _, Type::TEXT), (&id as _, Type::TEXT)];
        let found = transaction.query_typed_opt(LOCK, &which).await?;
        let saving = match (found, over) {
            (None, Some(1..)) => Saving::NotFound,
            (None, _) => match transaction.query_typed_opt(MAKE, &parameters).await? {
                Some(row) => Saving::Saved(row.try_get(0)?),
                // Somebody made it at the same time.
                None => Saving::Stale(1),
            },
            (Some(row), over) => {
                let (stored, version): (_, i64) = (kind(row.try_get(0)?)?, row.try_get(1)?);
                match over {
                    _ if !kinds.contains(&stored) => Saving::NotAllowed(stored),
                    None => Saving::NoVersion(version),
                    Some(over) if over != version => Saving::Stale(version),
                    Some(_) => {
                        Saving::Saved(transaction.query_typed_one(CHANGE, &parameters).await?.try_get(0)?)
                    }
                }
            }
        };
        transaction.commit().await?;
        Ok(saving)
    };
    links.with_new(deadline, work).await
}
