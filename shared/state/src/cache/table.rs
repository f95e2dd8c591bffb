//! The cache in unlogged tables of the control database. What must be one step is a function of the schema.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::error::CacheError;
use super::key::{EntryKey, Seat};
use super::{Caps, Life, Place, milliseconds, place};
use crate::control::{ControlError, Links, Parameter};

#[derive(Debug)]
pub(super) struct Table(Arc<Links>);

const PUT: &str = "SELECT pinguard.cache_put($1, $2, $3, $4, $5, $6, $7, $8)::text";

/// The parts come in the order asked; one that is not there is left out.
const GET: &str = "
    WITH touched AS (
        UPDATE pinguard.cache_entry SET due = least(ends, clock_timestamp() + idle)
        WHERE id = $1 AND due > clock_timestamp()
        RETURNING id)
    SELECT ARRAY(
        SELECT part.body
        FROM unnest($2) WITH ORDINALITY AS asked (number, place)
        JOIN pinguard.cache_part part ON part.entry = touched.id AND part.number = asked.number
        ORDER BY asked.place)
    FROM touched";

const DELETE: &str = "DELETE FROM pinguard.cache_entry WHERE id = $1";

const TAKE: &str = "SELECT pinguard.cache_take($1, $2, $3, $4)";

const GIVE_BACK: &str = "DELETE FROM pinguard.cache_seat WHERE counter = $1 AND id = $2";

impl Table {
    pub(super) fn new(links: Arc<Links>) -> Self {
        Self(links)
    }

    pub(super) async fn put(
        &self,
        key: &EntryKey,
        parts: &[Vec<u8>],
        life: Life,
        caps: Caps,
        deadline: Instant,
    ) -> Result<(), CacheError> {
        let parameters: [Parameter<'_>; 8] = [
            (&key.workspace.bytes(), Type::BYTEA),
            (&key.owner.bytes(), Type::BYTEA),
            (&key.id.bytes(), Type::BYTEA),
            (&parts, Type::BYTEA_ARRAY),
            (&milliseconds(life.idle), Type::INT8),
            (&milliseconds(life.total), Type::INT8),
            (&i64::try_from(caps.entries_per_owner).unwrap_or(i64::MAX), Type::INT8),
            (&i64::try_from(caps.bytes_per_workspace).unwrap_or(i64::MAX), Type::INT8),
        ];
        self.0.read(PUT, &parameters, deadline).await?;
        Ok(())
    }

    pub(super) async fn get(
        &self,
        key: &EntryKey,
        parts: &[u32],
        deadline: Instant,
    ) -> Result<Option<Vec<Vec<u8>>>, CacheError> {
        let numbers: Vec<i64> = parts.iter().copied().map(i64::from).collect();
        let parameters: [Parameter<'_>; 2] = [(&key.id.bytes(), Type::BYTEA), (&numbers, Type::INT8_ARRAY)];
        let Some(row) = self.0.read(GET, &parameters, deadline).await? else { return Ok(None) };
        Ok(Some(row.try_get(0).map_err(ControlError::from)?))
    }

    pub(super) async fn delete(&self, key: &EntryKey, deadline: Instant) -> Result<(), CacheError> {
        self.0.read(DELETE, &[(&key.id.bytes(), Type::BYTEA)], deadline).await?;
        Ok(())
    }

    pub(super) async fn take(
        &self,
        seat: &Seat,
        limit: u32,
        hold: Duration,
        deadline: Instant,
    ) -> Result<Place, CacheError> {
        let parameters: [Parameter<'_>; 4] = [
            (&seat.counter.bytes(), Type::BYTEA),
            (&seat.id.bytes(), Type::BYTEA),
            (&i64::from(limit), Type::INT8),
            (&milliseconds(hold), Type::INT8),
        ];
        let row = self.0.read(TAKE, &parameters, deadline).await?.ok_or(ControlError::Answer)?;
        Ok(place(row.try_get(0).map_err(ControlError::from)?))
    }

    pub(super) async fn give_back(&self, seat: &Seat, deadline: Instant) -> Result<(), CacheError> {
        let parameters: [Parameter<'_>; 2] =
            [(&seat.counter.bytes(), Type::BYTEA), (&seat.id.bytes(), Type::BYTEA)];
        self.0.read(GIVE_BACK, &parameters, deadline).await?;
        Ok(())
    }
}
