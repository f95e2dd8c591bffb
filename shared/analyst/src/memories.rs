//! What an instance remembers of the databases that it was asked about: one memory a secret, and a new one when the secret
//! changes. One connection may wait beside them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use pg::{Connection, Idle, Lane, Memory, Place, ReadError, SearchPath};
use tokio::time::Instant;

use crate::failure::Failure;
use crate::login;
use crate::query::failed_read;

/// Databases that are remembered at most; past them all are forgotten.
const MOST: usize = 64;

/// A connection, and what is remembered of its database.
pub struct Reached {
    /// The connection.
    pub connection: Connection,
    /// The memory.
    pub database: Arc<Database>,
}

/// What is remembered of one database as one login sees it.
#[derive(Debug, Default)]
pub struct Database {
    pub(crate) memory: Memory,
    login: OnceLock<Vec<String>>,
}

impl Database {
    /// How PostgreSQL tells this login what it resolves a statement to; none before it was asked.
    pub fn lane(&self) -> Option<Lane> {
        self.memory.lane()
    }

    /// Sentences about the login, for its operator.
    pub fn warnings(&self) -> &[String] {
        self.login.get().map(Vec::as_slice).unwrap_or_default()
    }
}

impl Reached {
    /// Looks once at what the login may do. What the server says against that is no matter of the call.
    pub(crate) async fn look_at_login(&mut self, deadline: Instant) -> Result<(), Failure> {
        if self.database.login.get().is_some() {
            return Ok(());
        }
        let path = SearchPath::new(["pg_catalog"]).ok();
        let warnings = match self.connection.catalog(&[login::question()], path.as_ref(), deadline).await {
            Ok(tables) => tables.first().map(login::warnings).unwrap_or_default(),
            Err(ReadError::Own(_)) => Vec::new(),
            Err(error) => return Err(failed_read(error)),
        };
        // Another call may have looked meanwhile, and saw the same.
        let _ = self.database.login.set(warnings);
        Ok(())
    }
}

/// The memories of an instance, and its idle connection.
#[derive(Debug, Default)]
pub struct Memories {
    databases: Mutex<HashMap<Place, Arc<Database>>>,
    idle: Arc<Idle>,
}

impl Memories {
    /// Empty ones, beside which one connection may wait so long for the next call.
    pub fn keeping(most: Duration) -> Self {
        Self { idle: Arc::new(Idle::new(most)), ..Self::default() }
    }

    /// The idle connection.
    pub fn idle(&self) -> &Arc<Idle> {
        &self.idle
    }

    /// The memory for a secret in this version; an empty one for one that was not seen yet.
    pub fn of(&self, place: Place) -> Arc<Database> {
        let mut memories = self.databases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = memories.get(&place) {
            return Arc::clone(database);
        }
        // An older version of the secret is not used again.
        memories.retain(|known, _| known.secret != place.secret || known.consent != place.consent);
        if memories.len() >= MOST {
            memories.clear();
        }
        let database = Arc::new(Database { memory: Memory::new(place.consent), login: OnceLock::new() });
        memories.insert(place, Arc::clone(&database));
        database
    }
}

#[cfg(test)]
mod tests {
    use pg::Consent;

    use super::*;

    #[test]
    fn a_secret_that_changed_is_another_database() {
        let memories = Memories::default();
        let of = |version: &str| {
            let consent = Consent::default();
            memories.of(Place { secret: "sales".to_owned(), version: version.to_owned(), consent })
        };
        let first = of("1");
        assert!(Arc::ptr_eq(&first, &of("1")));
        let second = of("2");
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(!Arc::ptr_eq(&first, &of("1")));
    }
}
