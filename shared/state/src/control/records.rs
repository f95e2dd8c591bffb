//! Keys and credentials to list and to remove. Neither shows what it stands for: a key's text is nowhere, a credential's
//! URL lies in its secret.

use tokio::time::Instant;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::CredentialSecret;
use super::error::ControlError;
use super::link::Links;
use crate::flow::CredentialId;

/// A key in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// The id, a UUID.
    pub id: String,
    /// The name.
    pub name: String,
    /// The words of its scopes.
    pub scopes: Vec<String>,
    /// The only flows it opens; none means every flow of the workspace.
    pub flows: Option<Vec<String>>,
    /// When it was made, in UTC, as RFC 3339.
    pub created_at: String,
    /// When it was revoked, if it was.
    pub revoked_at: Option<String>,
}

/// A credential in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialRecord {
    /// The id that nodes name.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// What the secret holds: `url`.
    pub kind: String,
    /// The secret.
    pub secret_id: String,
    /// What its operator agreed to, by the words of [`crate::Agreement`].
    pub agreed: Vec<String>,
}

/// What became of a credential that was to be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// It is gone.
    Removed,
    /// Nodes of these flows name it, in draft or Live.
    InUse(Vec<String>),
    /// The workspace has none of this id.
    NotFound,
}

const KEYS: &str = "
    SELECT id::text, name, scopes, flows,
           to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'),
           to_char(revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')
    FROM pinguard.api_key WHERE workspace = $1 ORDER BY created_at DESC, id";

const CREDENTIALS: &str =
    "SELECT id, name, kind, secret_id, agreed FROM pinguard.credential WHERE workspace = $1 ORDER BY id";

const SECRET: &str = "SELECT secret_id, agreed FROM pinguard.credential WHERE workspace = $1 AND id = $2";

const OF_ANOTHER: &str =
    "SELECT EXISTS (SELECT FROM pinguard.credential WHERE secret_id = $2 AND workspace <> $1)";

const USERS: &str = "
    SELECT id FROM pinguard.flow f WHERE workspace = $1 AND EXISTS (
        SELECT FROM (VALUES (draft), (live)) documents (document)
        CROSS JOIN jsonb_array_elements(document -> 'nodes') node WHERE node ->> 'credential' = $2)
    ORDER BY id";

const REMOVE: &str = "DELETE FROM pinguard.credential WHERE workspace = $1 AND id = $2 RETURNING id";

pub(super) async fn keys(
    links: &Links,
    workspace: &str,
    deadline: Instant,
) -> Result<Vec<KeyRecord>, ControlError> {
    let rows = links.rows(KEYS, &[(&workspace, Type::TEXT)], deadline).await?;
    let key = |row: &tokio_postgres::Row| {
        Ok(KeyRecord {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            scopes: row.try_get(2)?,
            flows: row.try_get(3)?,
            created_at: row.try_get(4)?,
            revoked_at: row.try_get(5)?,
        })
    };
    rows.iter().map(key).collect()
}

pub(super) async fn credentials(
    links: &Links,
    workspace: &str,
    deadline: Instant,
) -> Result<Vec<CredentialRecord>, ControlError> {
    let rows = links.rows(CREDENTIALS, &[(&workspace, Type::TEXT)], deadline).await?;
    let credential = |row: &tokio_postgres::Row| {
        Ok(CredentialRecord {
            id: row.try_get(0)?,
            name: row.try_get(1)?,
            kind: row.try_get(2)?,
            secret_id: row.try_get(3)?,
            agreed: row.try_get(4)?,
        })
    };
    rows.iter().map(credential).collect()
}

pub(super) async fn secret_of(
    links: &Links,
    workspace: &str,
    id: &CredentialId,
    deadline: Instant,
) -> Result<Option<CredentialSecret>, ControlError> {
    let which = [(&workspace as _, Type::TEXT), (&id.as_str() as _, Type::TEXT)];
    let Some(row) = links.read(SECRET, &which, deadline).await? else { return Ok(None) };
    Ok(Some(CredentialSecret::new(row.try_get(0)?, &row.try_get::<_, Vec<String>>(1)?)))
}

pub(super) async fn is_secret_of_another(
    links: &Links,
    workspace: &str,
    secret_id: &str,
    deadline: Instant,
) -> Result<bool, ControlError> {
    let which = [(&workspace as _, Type::TEXT), (&secret_id as _, Type::TEXT)];
    let row = links.read(OF_ANOTHER, &which, deadline).await?.ok_or(ControlError::Answer)?;
    Ok(row.try_get(0)?)
}

pub(super) async fn remove_credential(
    links: &Links,
    workspace: &str,
    id: &CredentialId,
    deadline: Instant,
) -> Result<Removal, ControlError> {
    let work = async |client: &mut Client| {
        let transaction = client.transaction().await?;
        let which = [(&workspace as _, Type::TEXT), (&id.as_str() as _, Type::TEXT)];
        if transaction.query_typed_opt(REMOVE, &which).await?.is_none() {
            return Ok(Removal::NotFound);
        }
        let users = transaction.query_typed(USERS, &which).await?;
        if !users.is_empty() {
            // The transaction ends without a commit.
            let flows = users.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
            return Ok(Removal::InUse(flows));
        }
        transaction.commit().await?;
        Ok(Removal::Removed)
    };
    links.with_new(deadline, work).await
}
