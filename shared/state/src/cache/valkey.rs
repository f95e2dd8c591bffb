//! The cache in a Valkey or Redis. What must be one step is a script; all keys of a workspace share a hash tag, so that
//! a cluster keeps them on one node.

mod link;

use std::sync::Arc;
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::time::Instant;

use super::error::CacheError;
use super::key::{Digest, EntryKey, Seat};
use super::{Caps, Life, Place, milliseconds, place};
use crate::secrets::SecretStore;
use link::Links;

// Sent whole each time: a kilobyte, against a second round trip wherever a server has not seen the script.
const PUT: &str = include_str!("valkey/put.lua");
const GET: &str = include_str!("valkey/get.lua");
const DELETE: &str = include_str!("valkey/delete.lua");
const TAKE: &str = include_str!("valkey/take.lua");

#[derive(Debug)]
pub(super) struct Valkey(Links);

impl Valkey {
    pub(super) fn new(store: Arc<SecretStore>, secret_id: String) -> Self {
        Self(Links::new(store, secret_id))
    }

    pub(super) async fn put(
        &self,
        key: &EntryKey,
        parts: &[Vec<u8>],
        life: Life,
        caps: Caps,
        deadline: Instant,
    ) -> Result<(), CacheError> {
        let bytes: usize = parts.iter().map(Vec::len).sum();
        let mut command = script(PUT, &[index(key.workspace), entry(key)]);
        command
            .arg(key.owner.text())
            .arg(key.id.text())
            .arg(milliseconds(life.idle))
            .arg(milliseconds(life.total))
            .arg(caps.entries_per_owner)
            .arg(caps.bytes_per_workspace)
            .arg(prefix(key.workspace))
            .arg(bytes);
        for part in parts {
            command.arg(part.as_slice());
        }
        self.0.ask(&command, deadline).await?;
        Ok(())
    }

    pub(super) async fn get(
        &self,
        key: &EntryKey,
        parts: &[u32],
        deadline: Instant,
    ) -> Result<Option<Vec<Vec<u8>>>, CacheError> {
        let mut command = script(GET, &[index(key.workspace), entry(key)]);
        for part in parts {
            command.arg(*part);
        }
        match self.0.ask(&command, deadline).await? {
            Value::Nil => Ok(None),
            Value::Array(values) => Ok(Some(values.into_iter().filter_map(bytes).collect())),
            _ => Err(CacheError::Malformed),
        }
    }

    pub(super) async fn delete(&self, key: &EntryKey, deadline: Instant) -> Result<(), CacheError> {
        self.0.ask(&script(DELETE, &[index(key.workspace), entry(key)]), deadline).await?;
        Ok(())
    }

    pub(super) async fn take(
        &self,
        seat: &Seat,
        limit: u32,
        hold: Duration,
        deadline: Instant,
    ) -> Result<Place, CacheError> {
        let mut command = script(TAKE, &[counter(seat)]);
        command.arg(seat.id.text()).arg(limit).arg(milliseconds(hold));
        match self.0.ask(&command, deadline).await? {
            Value::Int(microseconds) => Ok(place(microseconds)),
            _ => Err(CacheError::Malformed),
        }
    }

    pub(super) async fn give_back(&self, seat: &Seat, deadline: Instant) -> Result<(), CacheError> {
        self.0.ask(redis::cmd("ZREM").arg(counter(seat)).arg(seat.id.text()), deadline).await?;
        Ok(())
    }
}

fn script(text: &str, keys: &[String]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(text).arg(keys.len()).arg(keys);
    command
}

/// What stands in braces decides on which node of a cluster a key lies.
fn tag(workspace: Digest) -> String {
    format!("pinguard:1:{{{}}}", workspace.text())
}

fn index(workspace: Digest) -> String {
    format!("{}:entries", tag(workspace))
}

fn prefix(workspace: Digest) -> String {
    format!("{}:entry:", tag(workspace))
}

fn entry(key: &EntryKey) -> String {
    prefix(key.workspace) + &key.id.text()
}

fn counter(seat: &Seat) -> String {
    format!("{}:counter:{}", tag(seat.workspace), seat.counter.text())
}

fn bytes(value: Value) -> Option<Vec<u8>> {
    match value {
        Value::BulkString(bytes) => Some(bytes),
        _ => None,
    }
}
