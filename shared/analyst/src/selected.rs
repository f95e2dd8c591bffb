//! The selected relations with their columns: as lines of a tool's description, and as lists after an error about a column.

mod columns;
mod lines;
mod sql;

use pg::{Connection, Table};
use tokio::time::Instant;

use crate::ask;
use crate::failure::Failure;
use crate::relation::kind_word;
use crate::scope::Scope;

pub use self::columns::column_lists;
pub use self::lines::{described, names_alone};

/// A selected relation that exists and can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Selected {
    /// Schema-qualified, quoted where PostgreSQL needs it.
    name: String,
    kind: &'static str,
    comment: Option<String>,
    /// The first ones that can be read, in column order, each quoted where PostgreSQL needs it; none where they were not asked
    /// for.
    columns: Vec<String>,
    /// Whether there are more columns than these.
    more: bool,
}

/// How much is read of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Most {
    /// Relations whose columns are read.
    relations: usize,
    /// Columns of each.
    columns: usize,
}

/// The query for the relations of a selection that is not empty, and what it is given.
fn question(scope: &Scope, most: Most) -> (&'static str, Vec<Option<String>>) {
    let (schemas, names) = scope.selected_arrays();
    // One more than is shown tells whether there are more.
    let columns = most.columns.saturating_add(1);
    (sql::SELECTED, vec![schemas, names, Some(most.relations.to_string()), Some(columns.to_string())])
}

/// Reads the relations of a selection that is not empty, in its order.
async fn read(
    connection: &mut Connection,
    scope: &Scope,
    most: Most,
    deadline: Instant,
) -> Result<Vec<Selected>, Failure> {
    let [rows] = ask::tables(connection, [question(scope, most)], deadline).await?;
    Ok(from_rows(rows, most))
}

fn from_rows(rows: Table, most: Most) -> Vec<Selected> {
    rows.into_iter().filter_map(|row| selected(row, most)).collect()
}

fn selected(row: Vec<Option<String>>, most: Most) -> Option<Selected> {
    let [name, kind, comment, columns] = <[Option<String>; 4]>::try_from(row).ok()?;
    let mut columns: Vec<String> =
        columns.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
    let more = columns.len() > most.columns;
    columns.truncate(most.columns);
    Some(Selected { name: name?, kind: kind_word(&kind?), comment, columns, more })
}
