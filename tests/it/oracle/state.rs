//! What a cluster holds: a fingerprint of all that a statement can leave behind there.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::hostile::{Asker, Ground};

/// A number for the rows of each table, the catalogs with all definitions, settings and large objects among them, and for where
/// each sequence stands. What other databases share is left out.
const ROWS: &str = "SELECT c.oid::regclass::text, (xpath('/row/f/text()', query_to_xml(format( \
      CASE c.relkind \
        WHEN 'S' THEN 'SELECT format(''%%s %%s'', last_value, is_called) AS f FROM %s' \
        ELSE 'SELECT format(''%%s %%s'', count(*), sum(hashtextextended(t::text, 0))) AS f FROM ONLY %s t' END, \
      c.oid::regclass), false, true, '')))[1]::text \
    FROM pg_class c WHERE c.relkind IN ('r', 'm', 'S') AND c.relpersistence <> 't' AND c.relisshared = $1";

/// What no table keeps.
const REST: &str = "SELECT * FROM (VALUES \
    ('prepared transactions', (SELECT string_agg(format('%s of %s in %s', gid, owner, database), ', ' ORDER BY gid) \
       FROM pg_prepared_xacts)), \
    ('replication slots', (SELECT string_agg(format('%s %s %s', slot_name, slot_type, database), ', ' ORDER BY slot_name) \
       FROM pg_replication_slots)), \
    ('advisory locks', (SELECT string_agg(format('%s %s %s %s', database, classid, objid, mode), ', ') \
       FROM pg_locks WHERE locktype = 'advisory')), \
    ('settings', (SELECT md5(string_agg(format('%s=%s', name, setting), ',' ORDER BY name)) FROM pg_settings)), \
    ('settings were read', pg_conf_load_time()::text), \
    ('server was started', pg_postmaster_start_time()::text), \
    ('statistics were reset', concat_ws(', ', (SELECT string_agg(stats_reset::text, ',' ORDER BY datid) FROM pg_stat_database), \
       (SELECT stats_reset FROM pg_stat_archiver), (SELECT stats_reset FROM pg_stat_bgwriter), \
       (SELECT stats_reset FROM pg_stat_wal), (SELECT string_agg(stats_reset::text, ',' ORDER BY name) FROM pg_stat_slru))) \
  ) AS rest(name, value)";

/// Parts of the data folder that change by themselves, or with reading: tables (their rows are looked at), transaction states,
/// the log of changes, statistics, caches.
const RESTLESS: [&str; 11] = [
    "pg_wal",
    "pg_xact",
    "pg_subtrans",
    "pg_multixact",
    "pg_stat",
    "pg_stat_tmp",
    "pg_dynshmem",
    "pgsql_tmp",
    "pg_internal.init",
    "postmaster.pid",
    "postmaster.opts",
];

/// All that was looked at, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State(BTreeMap<String, String>);

impl State {
    /// The cluster's, with the rows of the named databases.
    pub(super) async fn of(ground: &Ground, databases: impl IntoIterator<Item = &'static str>) -> Self {
        let mut state = BTreeMap::new();
        let admin = ground.client(Asker::Superuser, "postgres").await;
        admin.batch_execute("SET search_path = pg_catalog; BEGIN READ ONLY").await.unwrap();
        for row in admin.query(ROWS, &[&true]).await.unwrap() {
            state.insert(format!("rows of {}", row.get::<_, &str>(0)), row.get(1));
        }
        for row in admin.query(REST, &[]).await.unwrap() {
            state.insert(row.get(0), row.get::<_, Option<String>>(1).unwrap_or_default());
        }
        for database in databases {
            let client = ground.client(Asker::Superuser, database).await;
            // Reading a table must not run what a statement is to be kept from running.
            let ready = "SET search_path = pg_catalog; SET constraint_exclusion = off; BEGIN READ ONLY";
            client.batch_execute(ready).await.unwrap();
            for row in client.query(ROWS, &[&false]).await.unwrap() {
                state.insert(format!("rows of {} in {database}", row.get::<_, &str>(0)), row.get(1));
            }
        }
        let data = ground.server.server.data_dir();
        files(&data, &data, &mut state);
        for path in ground.written().iter().map(Path::new).filter(|path| path.exists()) {
            let told = fs::metadata(path).unwrap();
            state.insert(path.display().to_string(), format!("{} {:?}", told.len(), told.modified()));
        }
        Self(state)
    }

    /// What is not the same later, by name.
    pub(super) fn changes<'a>(&'a self, later: &'a Self) -> Vec<&'a str> {
        let names: BTreeSet<&String> = self.0.keys().chain(later.0.keys()).collect();
        names.into_iter().filter(|name| self.0.get(*name) != later.0.get(*name)).map(String::as_str).collect()
    }
}

/// Names and sizes of files, and what stands in those that a person may edit.
fn files(top: &Path, folder: &Path, state: &mut BTreeMap<String, String>) {
    // A file may go while the folder is read.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        if RESTLESS.contains(&name.as_str()) {
            continue;
        }
        let shown = format!("file {}", path.strip_prefix(top).unwrap().display());
        if path.is_dir() {
            files(top, &path, state);
        } else if Path::new(&name).extension().is_some_and(|extension| extension == "conf") {
            state.insert(shown, fs::read_to_string(&path).unwrap_or_default());
        } else if !name.starts_with(|first: char| first.is_ascii_digit()) {
            state.insert(
                shown,
                entry.metadata().map_or_else(|_| "gone".to_owned(), |told| told.len().to_string()),
            );
        }
    }
}
