//! The state of a database and its server, as far as a statement could change it.

use std::collections::BTreeMap;

use tokio_postgres::Client;

use crate::support::TestDb;

/// For each table, catalogs among them: where its rows lie, who made them, who locked or removed them.
const TABLES: &str = "
SELECT string_agg(format(
         $$SELECT %L, md5(coalesce(string_agg(concat_ws(' ', ctid, xmin, xmax), ',' ORDER BY ctid), '')) FROM ONLY %s$$,
         format('%I.%I', n.nspname, c.relname), c.oid::regclass), ' UNION ALL ')
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'";

/// What no table shows.
const MORE: &str = "
SELECT 'sequences', (SELECT string_agg(concat_ws(' ', schemaname, sequencename, last_value), ',') FROM pg_sequences)
UNION ALL SELECT 'settings', (SELECT string_agg(name || '=' || setting, ',' ORDER BY sourcefile, sourceline) FROM pg_file_settings)
UNION ALL SELECT 'locks', (SELECT count(*)::text FROM pg_locks WHERE locktype = 'advisory')
UNION ALL SELECT 'prepared', (SELECT count(*)::text FROM pg_prepared_xacts)
UNION ALL SELECT 'slots', (SELECT count(*)::text FROM pg_replication_slots)
UNION ALL SELECT 'files', (SELECT string_agg(file, ',' ORDER BY file) FROM pg_ls_dir('.') AS file)";

/// What was seen last.
pub(super) struct State {
    client: Client,
    seen: BTreeMap<String, Option<String>>,
}

impl State {
    pub(super) async fn watch(db: &TestDb) -> Self {
        let client = db.client().await;
        // So that every table is shown with its schema.
        client.batch_execute("SET search_path = pg_temp").await.unwrap();
        let seen = look(&client).await;
        Self { client, seen }
    }

    /// What has changed since the last look.
    pub(super) async fn change(&mut self) -> Option<String> {
        let now = look(&self.client).await;
        let before = std::mem::replace(&mut self.seen, now);
        let mut names: Vec<&String> = before.keys().chain(self.seen.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let changed = names.into_iter().filter(|name| before.get(*name) != self.seen.get(*name));
        let changed: Vec<&str> = changed.map(String::as_str).collect();
        (!changed.is_empty()).then(|| format!("changed: {}", changed.join(", ")))
    }
}

async fn look(client: &Client) -> BTreeMap<String, Option<String>> {
    let tables: String = client.query_one(TABLES, &[]).await.unwrap().get(0);
    let rows = client.query(&format!("{tables} UNION ALL {MORE}"), &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}
