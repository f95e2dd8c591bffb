//! Writing rows, each behind the last, whoever else writes at the same time.

use std::collections::{BTreeMap, HashSet};

use hmac::Mac;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use super::chain::{AuditHead, AuditKey, Link, NOTHING, hex};
use super::event::AuditEvent;
use super::row::Row;
use crate::control::{ControlError, Links};

const MAKE_HEAD: &str = "
    INSERT INTO pinguard.audit_head (workspace, count, hmac) VALUES ($1, 0, $2) ON CONFLICT (workspace) DO NOTHING";

const LOCK_HEAD: &str = "SELECT count, hmac FROM pinguard.audit_head WHERE workspace = $1 FOR UPDATE";

const KNOWN: &str = "SELECT id::text FROM pinguard.audit WHERE workspace = $1 AND id::text = ANY ($2)";

const INSERT: &str = r#"
    INSERT INTO pinguard.audit
        (workspace, number, id, at, type, change, actor, user_name, flow, node, summary, detail, previous, hmac)
    SELECT workspace, number, id, at, type, change, actor, "user", flow, node, summary, detail::json,
           decode(previous, 'hex'), decode(hmac, 'hex')
    FROM jsonb_to_recordset($1) AS r(workspace text, number bigint, id uuid, at timestamptz, type text, change text,
        actor text, "user" text, flow text, node text, summary text, detail text, previous text, hmac text)"#;

const MOVE_HEAD: &str = "UPDATE pinguard.audit_head SET count = $2, hmac = $3 WHERE workspace = $1";

/// Writes the events that are not written yet, in one transaction. Gives the heads of the chains that grew.
pub(super) async fn append(
    links: &Links,
    key: &AuditKey,
    events: &[AuditEvent],
    deadline: Instant,
) -> Result<Vec<AuditHead>, ControlError> {
    // In the order of the names, so that two writers never wait for each other's heads.
    let mut workspaces: BTreeMap<&str, Vec<&AuditEvent>> = BTreeMap::new();
    for event in events {
        workspaces.entry(&event.workspace).or_default().push(event);
    }
    let write = async |client: &mut tokio_postgres::Client| {
        let transaction = client.transaction().await?;
        let mut heads = Vec::new();
        for (workspace, events) in workspaces {
            heads.extend(extend(&transaction, key, workspace, events).await?);
        }
        transaction.commit().await?;
        Ok(heads)
    };
    links.with_new(deadline, write).await
}

/// Writes the events of one workspace. Gives its new head, if any of them was new.
async fn extend(
    transaction: &Transaction<'_>,
    key: &AuditKey,
    workspace: &str,
    events: Vec<&AuditEvent>,
) -> Result<Option<AuditHead>, ControlError> {
    let name = (&workspace as _, Type::TEXT);
    let nothing = NOTHING.as_slice();
    transaction.query_typed(MAKE_HEAD, &[name.clone(), (&nothing, Type::BYTEA)]).await?;
    let head = transaction.query_typed_one(LOCK_HEAD, std::slice::from_ref(&name)).await?;
    let mut count: i64 = head.try_get(0)?;
    let mut last: Link = head.try_get::<_, &[u8]>(1)?.try_into().map_err(|_| ControlError::Answer)?;

    let ids: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    let known = transaction.query_typed(KNOWN, &[name.clone(), (&ids, Type::TEXT_ARRAY)]).await?;
    let mut known = known.iter().map(|row| row.try_get(0)).collect::<Result<HashSet<String>, _>>()?;

    let mut rows: Vec<Value> = Vec::new();
    for event in events {
        if !known.insert(event.id.to_string()) {
            continue;
        }
        count += 1;
        let row = Row::new(event, count, last);
        last = row.mac(key, count).finalize().into_bytes().into();
        rows.push(columns(&row, last));
    }
    if rows.is_empty() {
        return Ok(None);
    }
    transaction.query_typed(INSERT, &[(&Value::from(rows), Type::JSONB)]).await?;
    let moved = [name, (&count, Type::INT8), (&last.as_slice(), Type::BYTEA)];
    transaction.query_typed(MOVE_HEAD, &moved).await?;
    Ok(Some(AuditHead { workspace: workspace.to_owned(), count, hmac: hex(&last) }))
}

fn columns(row: &Row, hmac: Link) -> Value {
    json!({
        "workspace": row.workspace, "number": row.number, "id": row.id, "at": row.at, "type": row.kind,
        "change": row.change, "actor": row.actor, "user": row.user, "flow": row.flow, "node": row.node,
        "summary": row.summary, "detail": row.detail, "previous": hex(&row.previous), "hmac": hex(&hmac),
    })
}
