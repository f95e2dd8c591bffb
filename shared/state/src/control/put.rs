//! Changes: flows, keys, credentials.

use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::error::ControlError;
use super::link::{Links, Parameter};
use crate::flow::{CredentialId, Flow, FlowId};
use crate::keys::{KeyHash, Scope};

/// Where a flow is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowStage {
    /// The draft alone; agents keep seeing what is Live.
    Draft,
    /// Draft and Live.
    Live,
}

/// A key to store.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// A name for people and call records.
    pub name: &'a str,
    /// The hash of the key.
    pub hash: KeyHash,
    /// What it may be used for.
    pub scopes: &'a [Scope],
    /// The only flows it opens; none means every flow of the workspace.
    pub flows: Option<&'a [FlowId]>,
}

/// A credential to store: the secret it names holds a PostgreSQL URL.
#[derive(Debug, Clone)]
pub struct Credential<'a> {
    /// The id that nodes name.
    pub id: &'a CredentialId,
    /// A name for people.
    pub name: &'a str,
    /// The secret.
    pub secret_id: &'a str,
}

const PUT_FLOW: &str = "
    INSERT INTO pinguard.flow AS f (workspace, id, kind, draft, live, version, published_draft)
    VALUES ($1, $2, $3, $4, CASE WHEN $5 THEN $4 END, CASE WHEN $5 THEN 1 ELSE 0 END, CASE WHEN $5 THEN 1 END)
    ON CONFLICT (workspace, id) DO UPDATE SET
        kind = excluded.kind,
        draft = excluded.draft,
        draft_version = f.draft_version + 1,
        published_draft = CASE WHEN $5 THEN f.draft_version + 1 ELSE f.published_draft END,
        live = CASE WHEN $5 THEN excluded.live ELSE f.live END,
        version = CASE WHEN $5 THEN f.version + 1 ELSE f.version END,
        revision = CASE WHEN $5 THEN excluded.revision ELSE f.revision END,
        updated_at = now()
    RETURNING version";

const PUT_KEY: &str = "
    INSERT INTO pinguard.api_key AS k (workspace, name, hash, scopes, flows)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (hash) DO UPDATE SET name = excluded.name, scopes = excluded.scopes, flows = excluded.flows
        WHERE k.workspace = excluded.workspace
    RETURNING id::text";

const REVOKE_KEY: &str = "
    UPDATE pinguard.api_key SET revoked_at = coalesce(revoked_at, now())
    WHERE workspace = $1 AND id::text = $2
    RETURNING id::text";

macro_rules! credential {
    ($conflict:literal) => {
        concat!(
            "INSERT INTO pinguard.credential AS c (workspace, id, name, kind, secret_id) VALUES ($1, $2, $3, 'url', $4)
             ON CONFLICT (workspace, id) DO ",
            $conflict,
            " RETURNING id"
        )
    };
}

const PUT_CREDENTIAL: &str = credential!(
    "UPDATE SET name = excluded.name, kind = excluded.kind, secret_id = excluded.secret_id, \
         agreed = CASE WHEN c.secret_id = excluded.secret_id THEN c.agreed ELSE '{}' END"
);

const NEW_CREDENTIAL: &str = credential!("NOTHING");

pub(super) async fn flow(
    links: &Links,
    workspace: &str,
    flow: &Flow,
    stage: FlowStage,
    deadline: Instant,
) -> Result<i64, ControlError> {
    let document = flow.to_json();
    let parameters: [Parameter<'_>; 5] = [
        (&workspace, Type::TEXT),
        (&flow.id.as_str(), Type::TEXT),
        (&flow.kind.as_str(), Type::TEXT),
        (&document, Type::JSONB),
        (&(stage == FlowStage::Live), Type::BOOL),
    ];
    let row = links.change(PUT_FLOW, &parameters, deadline).await?.ok_or(ControlError::Answer)?;
    Ok(row.try_get(0)?)
}

pub(super) async fn key(
    links: &Links,
    workspace: &str,
    key: &NewKey<'_>,
    deadline: Instant,
) -> Result<String, ControlError> {
    let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
    let flows: Option<Vec<&str>> = key.flows.map(|flows| flows.iter().map(FlowId::as_str).collect());
    let parameters: [Parameter<'_>; 5] = [
        (&workspace, Type::TEXT),
        (&key.name, Type::TEXT),
        (&key.hash.bytes().as_slice(), Type::BYTEA),
        (&scopes, Type::TEXT_ARRAY),
        (&flows, Type::TEXT_ARRAY),
    ];
    let row = links.change(PUT_KEY, &parameters, deadline).await?.ok_or(ControlError::KeyTaken)?;
    Ok(row.try_get(0)?)
}

pub(super) async fn revoke(
    links: &Links,
    workspace: &str,
    key_id: &str,
    deadline: Instant,
) -> Result<(), ControlError> {
    let parameters: [Parameter<'_>; 2] = [(&workspace, Type::TEXT), (&key_id, Type::TEXT)];
    let row = links.change(REVOKE_KEY, &parameters, deadline).await?;
    row.map(drop).ok_or_else(|| ControlError::NoSuchKey(key_id.to_owned()))
}

pub(super) async fn credential(
    links: &Links,
    workspace: &str,
    credential: &Credential<'_>,
    deadline: Instant,
) -> Result<(), ControlError> {
    store_credential(links, PUT_CREDENTIAL, workspace, credential, deadline).await.map(drop)
}

/// Says whether it was new, and is stored.
pub(super) async fn new_credential(
    links: &Links,
    workspace: &str,
    credential: &Credential<'_>,
    deadline: Instant,
) -> Result<bool, ControlError> {
    store_credential(links, NEW_CREDENTIAL, workspace, credential, deadline).await
}

async fn store_credential(
    links: &Links,
    sql: &str,
    workspace: &str,
    credential: &Credential<'_>,
    deadline: Instant,
) -> Result<bool, ControlError> {
    let parameters: [Parameter<'_>; 4] = [
        (&workspace, Type::TEXT),
        (&credential.id.as_str(), Type::TEXT),
        (&credential.name, Type::TEXT),
        (&credential.secret_id, Type::TEXT),
    ];
    Ok(links.change(sql, &parameters, deadline).await?.is_some())
}
