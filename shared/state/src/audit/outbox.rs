//! Events between the change that they tell of and the audit: written with the one, removed when handed on to the other.

use serde_json::Value;
use tokio::time::Instant;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use super::event::AuditEvent;
use super::sink::{EventSink, SinkError};
use crate::control::{ControlError, Links};

/// Events that are handed on at one time.
const BATCH: i64 = 500;

const INSERT: &str = "INSERT INTO pinguard.outbox (event) SELECT json_array_elements($1)";

/// Another that drains at the same time takes the events after these. One that cannot be read stays and is passed over.
const TAKE: &str = "
    SELECT position, event::text FROM pinguard.outbox WHERE position > $1
    ORDER BY position LIMIT $2 FOR UPDATE SKIP LOCKED";

const REMOVE: &str = "DELETE FROM pinguard.outbox WHERE position = ANY ($1)";

/// Writes events as part of a transaction.
pub(crate) async fn insert(transaction: &Transaction<'_>, events: &[AuditEvent]) -> Result<(), ControlError> {
    if events.is_empty() {
        return Ok(());
    }
    let events: Result<Vec<Value>, _> =
        events.iter().map(|event| serde_json::from_str(&event.to_json())).collect();
    let events = Value::from(events.map_err(|_| ControlError::Answer)?);
    transaction.query_typed(INSERT, &[(&events, Type::JSON)]).await?;
    Ok(())
}

/// Hands on what is there. An event is removed only after it was handed on, so one may be handed on twice and none is lost.
pub(super) async fn drain(links: &Links, sink: &EventSink, deadline: Instant) -> Result<Drained, SinkError> {
    let mut drained = Drained::default();
    let mut after = 0_i64;
    loop {
        let batch = links.with_new(deadline, async |client| {
            let transaction = client.transaction().await?;
            let rows = transaction.query_typed(TAKE, &[(&after, Type::INT8), (&BATCH, Type::INT8)]).await?;
            let (mut positions, mut events, mut last) = (Vec::new(), Vec::new(), None);
            for row in &rows {
                let position: i64 = row.try_get(0)?;
                last = Some(position);
                match AuditEvent::from_json(row.try_get(1)?) {
                    Ok(event) => {
                        positions.push(position);
                        events.push(event);
                    }
                    Err(_) => drained.unreadable += 1,
                }
            }
            if events.is_empty() {
                return Ok(Ok(last));
            }
            if let Err(error) = Box::pin(sink.deliver(&events, deadline)).await {
                return Ok(Err(error));
            }
            transaction.query_typed(REMOVE, &[(&positions, Type::INT8_ARRAY)]).await?;
            transaction.commit().await?;
            drained.handed_on += events.len();
            Ok(Ok(last))
        });
        match batch.await.map_err(SinkError::Control)?? {
            Some(last) => after = last,
            None => return Ok(drained),
        }
    }
}

/// What became of the outbox.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Drained {
    /// Events that were handed on.
    pub handed_on: usize,
    /// Events that stay because this build cannot read them.
    pub unreadable: usize,
}
