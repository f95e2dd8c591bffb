//! What PostgreSQL prints for a statement, asked for directly: the text that values are measured against.

use std::collections::{HashMap, hash_map::Entry};

use tokio_postgres::{Client, SimpleQueryMessage};

use super::{
    databases::Databases,
    records::{Record, TextRow},
};
use crate::support;

/// As the recording had them, and as the endpoint promises them.
const BEGIN: &str = "BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = '120s'; SET LOCAL datestyle = 'ISO, MDY'; \
     SET LOCAL intervalstyle = 'postgres'; SET LOCAL timezone = 'UTC'; SET LOCAL extra_float_digits = 1; \
     SET LOCAL bytea_output = 'hex'";

/// An advisory lock of the session outlives its transaction.
const END: &str = "ROLLBACK; SELECT pg_advisory_unlock_all()";

/// A connection to each database that was asked.
pub(super) struct ServerText<'a> {
    databases: &'a Databases,
    clients: HashMap<String, Client>,
}

impl<'a> ServerText<'a> {
    pub(super) fn of(databases: &'a Databases) -> Self {
        Self { databases, clients: HashMap::new() }
    }

    /// The rows of a statement, in the server's order.
    pub(super) async fn rows(&mut self, record: &Record) -> Vec<TextRow> {
        self.ask(record, &record.sql).await
    }

    /// Columns with each domain as what it is made of, which is all that the protocol told the recording.
    pub(super) async fn without_domains(
        &mut self,
        record: &Record,
        columns: &[(String, String)],
    ) -> Vec<(String, String)> {
        let mut bare = columns.to_vec();
        for (_, name) in &mut bare {
            while let [row] = self.ask(record, &base_of(name)).await.as_slice() {
                *name = row[0].clone().unwrap();
            }
        }
        bare
    }

    async fn ask(&mut self, record: &Record, sql: &str) -> Vec<TextRow> {
        let client = match self.clients.entry(record.database.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                new.insert(support::connect(&self.databases.reader_url(&record.database)).await)
            }
        };
        client.batch_execute(BEGIN).await.unwrap();
        if let Some(path) = &record.search_path {
            client.batch_execute(&format!("SET LOCAL search_path = {path}")).await.unwrap();
        }
        let messages = client.simple_query(sql).await;
        client.batch_execute(END).await.unwrap();
        let messages = messages.unwrap_or_else(|error| panic!("{}: {error:?}", record.id));
        messages.iter().filter_map(row).collect()
    }
}

/// Asks what a domain is made of; no row for any other type.
fn base_of(name: &str) -> String {
    format!(
        "SELECT format_type(typbasetype, nullif(typtypmod, -1)) FROM pg_type
          WHERE oid = to_regtype('{}') AND typtype = 'd'",
        name.replace('\'', "''")
    )
}

fn row(message: &SimpleQueryMessage) -> Option<TextRow> {
    match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
        }
        _ => None,
    }
}
