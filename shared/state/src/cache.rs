//! What instances share for some minutes: kept rows of capped results, and the counts behind limits.
//!
//! Three implementations keep one contract, and one suite of tests holds them to it: a Valkey or Redis, tables of the
//! control database, and this process. Losing the cache loses cursors and counts, never anything else.

mod error;
mod key;
mod memory;
mod packing;
mod table;
mod target;
mod valkey;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub use error::{CacheError, Unavailable};
pub use key::{EntryKey, Seat};
pub use target::{CacheTarget, CacheTargetError};

use crate::control::Control;
use crate::secrets::SecretStore;
use memory::Memory;
use table::Table;
use valkey::Valkey;

/// The cache. Every operation ends by its deadline, and may be repeated without harm.
#[derive(Debug)]
pub struct Cache(Kind);

#[derive(Debug)]
enum Kind {
    Valkey(Valkey),
    Table(Table),
    Memory(Memory),
}

/// How long an entry lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// After it was put or last got.
    pub idle: Duration,
    /// In all.
    pub total: Duration,
}

/// How much may be kept. Where a new entry goes beyond, the oldest go, in the order in which they were put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Entries of one owner, at least 1.
    pub entries_per_owner: usize,
    /// Bytes of all entries of a workspace, as they lie in the cache.
    pub bytes_per_workspace: usize,
}

/// Whether there was a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// It is taken now.
    Taken,
    /// All are taken.
    Over {
        /// Until the next becomes free, if it is not given back earlier.
        wait: Duration,
    },
}

impl Cache {
    /// A Valkey or Redis by the URL in a secret (see [`CacheTarget`]); whether it is a cluster is found out. Nothing is
    /// connected before the first use; then one connection is kept.
    pub fn valkey(store: Arc<SecretStore>, secret_id: String) -> Self {
        Self(Kind::Valkey(Valkey::new(store, secret_id)))
    }

    /// Unlogged tables of the control database, through its connection.
    pub fn table(control: &Control) -> Self {
        Self(Kind::Table(Table::new(control.links())))
    }

    /// This process alone.
    pub fn memory() -> Self {
        Self(Kind::Memory(Memory::default()))
    }

    /// Keeps an entry of some parts, numbered from 0, instead of the one of this key. Whatever has to go for it goes in
    /// the same step. [`CacheError::TooLarge`] where it alone is over the cap of bytes, or a part is over 16 MiB.
    pub async fn put(
        &self,
        key: &EntryKey,
        parts: &[impl AsRef<[u8]>],
        life: Life,
        caps: Caps,
        deadline: Instant,
    ) -> Result<(), CacheError> {
        let packed = parts.iter().map(|part| packing::pack(part.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let bytes = packed.iter().map(Vec::len).sum();
        if bytes > caps.bytes_per_workspace {
            return Err(CacheError::TooLarge { bytes, most: caps.bytes_per_workspace });
        }
        match &self.0 {
            Kind::Valkey(valkey) => valkey.put(key, &packed, life, caps, deadline).await,
            Kind::Table(table) => table.put(key, &packed, life, caps, deadline).await,
            Kind::Memory(memory) => {
                memory.put(key, packed, life, caps, Instant::now());
                Ok(())
            }
        }
    }

    /// Gives the named parts of an entry, in the order asked, and lets it live on. `None` where there is no such entry
    /// any more; [`CacheError::Malformed`] where it has no such part.
    pub async fn get(
        &self,
        key: &EntryKey,
        parts: &[u32],
        deadline: Instant,
    ) -> Result<Option<Vec<Vec<u8>>>, CacheError> {
        let found = match &self.0 {
            Kind::Valkey(valkey) => valkey.get(key, parts, deadline).await?,
            Kind::Table(table) => table.get(key, parts, deadline).await?,
            Kind::Memory(memory) => memory.get(key, parts, Instant::now()),
        };
        let Some(found) = found else { return Ok(None) };
        if found.len() != parts.len() {
            return Err(CacheError::Malformed);
        }
        found.iter().map(|part| packing::unpack(part)).collect::<Result<_, _>>().map(Some)
    }

    /// Lets an entry go, if it is there.
    pub async fn delete(&self, key: &EntryKey, deadline: Instant) -> Result<(), CacheError> {
        match &self.0 {
            Kind::Valkey(valkey) => valkey.delete(key, deadline).await,
            Kind::Table(table) => table.delete(key, deadline).await,
            Kind::Memory(memory) => {
                memory.delete(key);
                Ok(())
            }
        }
    }

    /// Takes one of `limit` places under a counter for a time. Held for a minute and never given back, places count the
    /// calls of a sliding minute; given back at a call's end, they count the calls at one time, and a call that was
    /// killed frees its place when the time is over. A refused call takes none.
    pub async fn take(
        &self,
        seat: &Seat,
        limit: u32,
        hold: Duration,
        deadline: Instant,
    ) -> Result<Place, CacheError> {
        match &self.0 {
            Kind::Valkey(valkey) => valkey.take(seat, limit, hold, deadline).await,
            Kind::Table(table) => table.take(seat, limit, hold, deadline).await,
            Kind::Memory(memory) => Ok(memory.take(seat, limit, hold, Instant::now())),
        }
    }

    /// Gives a place back, if it is still held.
    pub async fn give_back(&self, seat: &Seat, deadline: Instant) -> Result<(), CacheError> {
        match &self.0 {
            Kind::Valkey(valkey) => valkey.give_back(seat, deadline).await,
            Kind::Table(table) => table.give_back(seat, deadline).await,
            Kind::Memory(memory) => {
                memory.give_back(seat);
                Ok(())
            }
        }
    }
}

/// Whole milliseconds, as both servers take them.
fn milliseconds(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// The answer of both servers to [`Cache::take`]: microseconds to wait, none for a place.
fn place(microseconds: i64) -> Place {
    match u64::try_from(microseconds) {
        Ok(wait @ 1..) => Place::Over { wait: Duration::from_micros(wait) },
        Ok(0) | Err(_) => Place::Taken,
    }
}
