//! Caches of every kind, each as several instances that share nothing but the place.

use std::{
    fs,
    sync::{Arc, OnceLock},
    time::Duration,
};

use local::embedded::random_word;
use state::{Cache, Control, SecretStore};
use tokio::time::Instant;

use super::redis::{Make, Server, cluster};
use crate::support::{TestDb, command::Folder, database, pooler::Pooler};

/// More than any operation needs, on a busy machine too.
pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// Instances of one cache, and a workspace of its own in it.
pub(super) struct Place {
    pub(super) caches: Vec<Arc<Cache>>,
    pub(super) workspace: String,
    _keeps: (Option<TestDb>, Option<Pooler>, Option<Folder>),
}

impl Place {
    pub(super) fn cache(&self) -> &Cache {
        &self.caches[0]
    }

    /// One of the instances, in turn.
    pub(super) fn instance(&self, number: usize) -> Arc<Cache> {
        Arc::clone(&self.caches[number % self.caches.len()])
    }
}

/// A secret in a folder.
pub(super) fn secret(text: &str) -> (Folder, Arc<SecretStore>) {
    let folder = Folder::new();
    fs::write(folder.0.join("cache"), text).unwrap();
    let store = Arc::new(SecretStore::Files(folder.0.clone()));
    (folder, store)
}

/// Instances of the Valkey or Redis at a URL.
pub(super) fn at(url: &str) -> Place {
    let (folder, store) = secret(url);
    let new = || Arc::new(Cache::valkey(Arc::clone(&store), "cache".to_owned()));
    let caches = (0..4).map(|_| new()).collect();
    Place { caches, workspace: random_word().unwrap(), _keeps: (None, None, Some(folder)) }
}

/// Instances of the tables of a control database.
pub(super) fn tables(url: &str, keeps: (Option<TestDb>, Option<Pooler>)) -> Place {
    let (folder, store) = secret(url);
    let new = || Arc::new(Cache::table(&Control::new(Arc::clone(&store), "cache".to_owned())));
    let caches = (0..4).map(|_| new()).collect();
    Place { caches, workspace: random_word().unwrap(), _keeps: (keeps.0, keeps.1, Some(folder)) }
}

pub(super) async fn migrated(major: u16) -> TestDb {
    let db = database(major).await;
    let (_folder, store) = secret(&db.url);
    Control::new(store, "cache".to_owned()).migrate().await.unwrap();
    db
}

pub(super) async fn memory() -> Place {
    Place {
        caches: vec![Arc::new(Cache::memory())],
        workspace: random_word().unwrap(),
        _keeps: (None, None, None),
    }
}

pub(super) async fn postgres_14() -> Place {
    let db = migrated(14).await;
    tables(&db.url.clone(), (Some(db), None))
}

pub(super) async fn postgres_18() -> Place {
    let db = migrated(18).await;
    tables(&db.url.clone(), (Some(db), None))
}

/// Each statement may meet another server connection.
pub(super) async fn pooled() -> Place {
    let db = migrated(16).await;
    let pooler = Pooler::start(db.server, 2);
    let url = pooler.through(&db.url, db.server.port());
    tables(&url, (Some(db), Some(pooler)))
}

pub(super) async fn redis_alone() -> Place {
    static SERVER: OnceLock<Server> = OnceLock::new();
    at(&SERVER.get_or_init(|| Server::start(&[])).url())
}

pub(super) async fn redis_over_tls() -> Place {
    static SERVER: OnceLock<Server> = OnceLock::new();
    at(&SERVER.get_or_init(|| Server::start(&[])).tls_url())
}

pub(super) async fn redis_cluster() -> Place {
    static NODES: OnceLock<Vec<Server>> = OnceLock::new();
    at(&NODES.get_or_init(|| cluster(&[]))[1].url())
}

pub(super) async fn redis_cluster_over_tls() -> Place {
    static NODES: OnceLock<Vec<Server>> = OnceLock::new();
    at(&NODES.get_or_init(|| cluster(&["tls-cluster yes"]))[1].tls_url())
}

pub(super) async fn valkey() -> Place {
    static SERVER: OnceLock<Server> = OnceLock::new();
    at(&SERVER.get_or_init(|| Server::start_as(Make::Valkey, Folder::new(), &[])).url())
}
