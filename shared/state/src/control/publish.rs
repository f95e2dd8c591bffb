//! From draft to Live, and away with both: one transaction each, with the events that tell of it.

use tokio::time::Instant;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Transaction};

use super::draft::kind;
use super::error::ControlError;
use super::link::Links;
use crate::audit::{self, Actor};
use crate::flow::{Flow, FlowId, FlowKind};

/// What became of a draft that was to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// It is Live.
    Published {
        /// Live's version.
        version: i64,
        /// The draft's version.
        draft: i64,
        /// How many pins were made, changed or removed.
        changes: usize,
    },
    /// The draft has this version, which is another than the one that was to be published.
    Stale(i64),
    /// This version of the draft is Live already.
    AlreadyLive(i64),
    /// The flow is not there, or has no draft.
    NotFound,
    /// The flow has a kind that may not be changed.
    NotAllowed(FlowKind),
}

/// What became of a flow that was to be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    /// It is gone.
    Deleted,
    /// The draft has this version, which is another than the one that was to go.
    Stale(i64),
    /// The flow is not there.
    NotFound,
    /// The flow has a kind that may not be changed.
    NotAllowed(FlowKind),
}

const LOCK: &str = "
    SELECT kind, draft::text AS draft, live::text AS live, draft_version,
           live IS NOT NULL AND published_draft = draft_version AS published
    FROM pinguard.flow WHERE workspace = $1 AND id = $2 FOR UPDATE";

const PUBLISH: &str = "
    UPDATE pinguard.flow SET live = draft, version = version + 1, revision = gen_random_uuid(),
        published_draft = draft_version, updated_at = now()
    WHERE workspace = $1 AND id = $2 RETURNING version";

const DELETE: &str = "DELETE FROM pinguard.flow WHERE workspace = $1 AND id = $2";

/// A flow whose row is locked.
struct Locked {
    kind: FlowKind,
    draft: Option<String>,
    live: Option<String>,
    draft_version: i64,
    published: bool,
}

pub(super) async fn publish(
    links: &Links,
    (workspace, flow): (&str, &FlowId),
    draft: Option<i64>,
    kinds: &[FlowKind],
    by: &Actor,
    deadline: Instant,
) -> Result<Publication, ControlError> {
    let work = async |client: &mut Client| {
        let transaction = client.transaction().await?;
        let Some(found) = lock(&transaction, workspace, flow).await? else {
            return Ok(Publication::NotFound);
        };
        let version = found.draft_version;
        if !kinds.contains(&found.kind) {
            return Ok(Publication::NotAllowed(found.kind));
        }
        if draft.is_some_and(|draft| draft != version) {
            return Ok(Publication::Stale(version));
        }
        if found.published {
            return Ok(Publication::AlreadyLive(version));
        }
        let Some(document) = &found.draft else { return Ok(Publication::NotFound) };
        let after = Flow::from_stored(document)
            .map_err(|source| ControlError::Flow { id: flow.to_string(), source })?;
        let events = audit::between(workspace, by, flow, found.before().as_ref(), Some(&after));
        let which = [(&workspace as _, Type::TEXT), (&flow.as_str() as _, Type::TEXT)];
        let live = transaction.query_typed_one(PUBLISH, &which).await?.try_get(0)?;
        audit::into_outbox(&transaction, &events).await?;
        transaction.commit().await?;
        Ok(Publication::Published { version: live, draft: version, changes: events.len() })
    };
    links.with_new(deadline, work).await
}

pub(super) async fn delete(
    links: &Links,
    (workspace, flow): (&str, &FlowId),
    draft: Option<i64>,
    kinds: &[FlowKind],
    by: &Actor,
    deadline: Instant,
) -> Result<Deletion, ControlError> {
    let work = async |client: &mut Client| {
        let transaction = client.transaction().await?;
        let Some(found) = lock(&transaction, workspace, flow).await? else { return Ok(Deletion::NotFound) };
        if !kinds.contains(&found.kind) {
            return Ok(Deletion::NotAllowed(found.kind));
        }
        if draft.is_some_and(|draft| draft != found.draft_version) {
            return Ok(Deletion::Stale(found.draft_version));
        }
        let events = audit::between(workspace, by, flow, found.before().as_ref(), None);
        let which = [(&workspace as _, Type::TEXT), (&flow.as_str() as _, Type::TEXT)];
        transaction.query_typed(DELETE, &which).await?;
        audit::into_outbox(&transaction, &events).await?;
        transaction.commit().await?;
        Ok(Deletion::Deleted)
    };
    links.with_new(deadline, work).await
}

async fn lock(
    transaction: &Transaction<'_>,
    workspace: &str,
    flow: &FlowId,
) -> Result<Option<Locked>, ControlError> {
    let which = [(&workspace as _, Type::TEXT), (&flow.as_str() as _, Type::TEXT)];
    let Some(row) = transaction.query_typed_opt(LOCK, &which).await? else { return Ok(None) };
    Ok(Some(Locked {
        kind: kind(row.try_get("kind")?)?,
        draft: row.try_get("draft")?,
        live: row.try_get("live")?,
        draft_version: row.try_get("draft_version")?,
        published: row.try_get::<_, Option<bool>>("published")?.unwrap_or_default(),
    }))
}

impl Locked {
    /// Live as it was. One that does not read as a flow offers no pins, and publishing is what mends it.
    fn before(&self) -> Option<Flow> {
        self.live.as_deref().and_then(|live| Flow::from_stored(live).ok())
    }
}
