//! The schema `pinguard`, brought up to what this build needs.

use tokio::time::Instant;
use tokio_postgres::Transaction;

use super::error::ControlError;
use super::link::Links;

/// The migrations, in order; the first has version 1. One that has landed never changes.
const MIGRATIONS: [&str; 5] = [
    include_str!("migrations/0001_flows_keys_credentials.sql"),
    include_str!("migrations/0002_cache.sql"),
    include_str!("migrations/0003_audit.sql"),
    include_str!("migrations/0004_agreements.sql"),
    include_str!("migrations/0005_counted_here.sql"),
];

/// Held while migrating, so that two at one time do it one after the other: the bytes of `pinguard`.
const LOCK: i64 = i64::from_be_bytes(*b"pinguard");

/// Runs what is missing, in one transaction. A schema that is up to date needs no right but to read its version.
pub(super) async fn run(links: &Links, deadline: Instant) -> Result<(), ControlError> {
    links
        .with_new(deadline, async |client| {
            let transaction = client.transaction().await?;
            transaction.batch_execute(&format!("SELECT pg_advisory_xact_lock({LOCK})")).await?;
            let found = version(&transaction).await?;
            let missing = missing(found)?;
            for (number, sql) in missing {
                transaction.batch_execute(sql).await?;
                let row = format!("INSERT INTO pinguard.schema_version (version) VALUES ({number})");
                transaction.batch_execute(&row).await?;
            }
            Ok(transaction.commit().await?)
        })
        .await
}

/// The newest version that is there, 0 in an empty database; makes the place where it is noted.
async fn version(transaction: &Transaction<'_>) -> Result<i32, ControlError> {
    let there = "SELECT to_regclass('pinguard.schema_version') IS NOT NULL";
    if !transaction.query_typed_one(there, &[]).await?.try_get::<_, bool>(0)? {
        let make = "
            CREATE SCHEMA IF NOT EXISTS pinguard;
            CREATE TABLE pinguard.schema_version (
                version    integer     PRIMARY KEY,
                applied_at timestamptz NOT NULL DEFAULT now()
            )";
        transaction.batch_execute(make).await?;
    }
    let newest = "SELECT coalesce(max(version), 0) FROM pinguard.schema_version";
    Ok(transaction.query_typed_one(newest, &[]).await?.try_get(0)?)
}

/// The migrations after a version, with theirs.
fn missing(found: i32) -> Result<impl Iterator<Item = (i32, &'static str)>, ControlError> {
    let newer = |known| ControlError::Newer { found, known };
    let numbered = (1..).zip(MIGRATIONS);
    let known = i32::try_from(MIGRATIONS.len()).map_err(|_| newer(i32::MAX))?;
    if found > known { Err(newer(known)) } else { Ok(numbered.filter(move |(number, _)| *number > found)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_later_migrations_run_and_a_newer_schema_is_refused() {
        let numbers = |found| missing(found).map(|steps| steps.map(|(number, _)| number).collect::<Vec<_>>());
        let known = i32::try_from(MIGRATIONS.len()).unwrap();
        assert_eq!(numbers(0).unwrap(), (1..=known).collect::<Vec<_>>());
        assert_eq!(numbers(known - 1).unwrap(), [known]);
        assert_eq!(numbers(known).unwrap(), [0; 0]);
        assert_eq!(
            numbers(known + 1).unwrap_err().to_string(),
            format!("the control database's schema has version {}, this build knows {known}", known + 1)
        );
    }
}
