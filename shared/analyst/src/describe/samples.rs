//! Sample values of a relation's text columns, so that a caller filters by what is there. Each is read as a caller's statement
//! would be: past the guard, in a transaction of its own.

use std::time::Duration;

use guard::RowLimit;
use pg::{Question, Raw, Read, ReadError, ReadPlan};
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::memories::Reached;
use crate::relation::{Column, Found};
use crate::scope::Scope;

/// Columns that are sampled of one relation.
const COLUMNS: usize = 8;
/// Rows that are looked at for one column.
const ROWS: u32 = 1_000;
/// More values than these are no sample of what there is.
const VALUES: u32 = 10;
/// A longer value is a text and no label.
const CHARS: usize = 40;
/// For one column.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of the longest character.
const MOST_UTF8_BYTES: usize = 4;

/// Sorted values by quoted column; a column of which there is no sample is left out.
pub(super) async fn of(
    reached: &mut Reached,
    found: &Found,
    columns: &[Column],
    scope: &Scope,
    deadline: Instant,
) -> Map<String, Value> {
    let mut samples = Map::new();
    if found.is_foreign() {
        return samples;
    }
    for column in columns.iter().filter(|column| column.has_labels).take(COLUMNS) {
        let until = deadline.min(Instant::now() + PATIENCE);
        match sample(reached, found, column, scope, until).await {
            Ok(Some(values)) => {
                samples.insert(column.name.clone(), values.into());
            }
            // The guard's no, or the server's, is about this column.
            Ok(None) | Err(ReadError::Server(_)) => {}
            Err(ReadError::Deadline { .. }) if reached.connection.is_reusable() => {}
            Err(_) => break,
        }
    }
    samples
}

async fn sample(
    reached: &mut Reached,
    found: &Found,
    column: &Column,
    scope: &Scope,
    deadline: Instant,
) -> Result<Option<Vec<String>>, ReadError> {
    let sql = format!(
        "SELECT DISTINCT s.v FROM (SELECT {}::pg_catalog.text AS v FROM {} LIMIT {ROWS}) AS s WHERE s.v IS NOT NULL",
        column.name, found.qualified
    );
    let rules = scope.rules(RowLimit::new(VALUES));
    let Ok(candidate) = guard::candidate(&sql, &rules) else { return Ok(None) };
    let plan = ReadPlan {
        search_path: scope.search_path.clone(),
        claims: scope.claims.clone(),
        deadline,
        row_limit: VALUES as usize,
        raw_byte_budget: usize::MAX,
        keep: CHARS * MOST_UTF8_BYTES,
        cost: None,
        page: None,
    };
    let question = Question { candidate: &candidate, rules: &rules, parameters: &[], plan: &plan };
    match pg::read(&mut reached.connection, &reached.database.memory, question).await? {
        Read::Ran(ran) => Ok(labels(&ran.raw)),
        Read::Refused(_) | Read::TooCostly(_) => Ok(None),
    }
}

/// The values, if they are all there and all short.
fn labels(raw: &Raw) -> Option<Vec<String>> {
    if raw.stopped.is_some() || raw.rows.is_empty() {
        return None;
    }
    let label = |row: &Vec<Option<pg::RawValue>>| {
        let value = row.first()?.as_ref().filter(|value| value.full_chars <= CHARS)?;
        String::from_utf8(value.bytes.clone()).ok()
    };
    let mut labels: Vec<String> = raw.rows.iter().map(label).collect::<Option<_>>()?;
    labels.sort_unstable();
    Some(labels)
}
