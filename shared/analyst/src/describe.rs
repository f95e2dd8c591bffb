//! `describe`: one relation as an analyst reads it.

mod samples;

use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::failure::Failure;
use crate::line::cut;
use crate::memories::Reached;
use crate::relation::{self, Column, Facts, Found, Link, Name};
use crate::scope::Scope;

/// Characters of a view's definition that are shown.
const DEFINITION_CHARS: usize = 4_000;

/// One relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// Schema-qualified, quoted where PostgreSQL needs it.
    pub name: String,
    /// table, partitioned table, foreign table, view or materialized view.
    pub kind: &'static str,
    /// The relation's comment, cut at 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// One line a column, in column order.
    pub columns: Vec<String>,
    /// The key's columns, in key order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub primary_key: Vec<String>,
    /// Foreign keys, and what views read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relationships: Vec<String>,
    /// A view's statement, cut at 4,000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
    /// By quoted column, the sorted values of those that hold a few short ones.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Value>,
}

/// Describes the relation that `name` names.
pub async fn describe<Open>(
    name: &str,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<Description, Failure>
where
    Open: AsyncFnOnce() -> Result<Reached, Failure>,
{
    let name = Name::parse(name)?;
    let mut reached = open().await?;
    let described = with_samples(&mut reached, &name, scope, deadline).await;
    reached.connection.close().await;
    described
}

async fn with_samples(
    reached: &mut Reached,
    name: &Name,
    scope: &Scope,
    deadline: Instant,
) -> Result<Description, Failure> {
    let (found, facts) = found_and_read(&mut reached.connection, name, scope, deadline).await?;
    let values = samples::of(reached, &found, &facts.columns, scope, deadline).await;
    Ok(Description { values, ..rendered(found, facts) })
}

async fn found_and_read(
    connection: &mut pg::Connection,
    name: &Name,
    scope: &Scope,
    deadline: Instant,
) -> Result<(Found, Facts), Failure> {
    let found = relation::find(connection, name, scope, deadline).await?;
    let facts = relation::read(connection, &found, scope, deadline).await?;
    Ok((found, facts))
}

fn rendered(found: Found, facts: Facts) -> Description {
    Description {
        name: found.qualified,
        kind: found.kind,
        comment: found.comment,
        columns: facts.columns.iter().map(column_line).collect(),
        primary_key: facts.primary_key,
        relationships: facts.links.iter().map(link_line).collect(),
        definition: facts.definition.map(|mut text| {
            cut(&mut text, DEFINITION_CHARS);
            text
        }),
        values: Map::new(),
    }
}

fn column_line(column: &Column) -> String {
    let not_null = if column.not_null { " not null" } else { "" };
    let value = match (column.generated, column.identity, &column.default) {
        (true, _, Some(expression)) => format!(" generated always as ({expression})"),
        (_, Some(when), _) => format!(" generated {when} as identity"),
        (_, _, Some(expression)) => format!(" default {expression}"),
        _ => String::new(),
    };
    let comment = column.comment.as_ref().map_or(String::new(), |comment| format!(" -- {comment}"));
    format!("{} {}{not_null}{value}{comment}", column.name, column.type_name)
}

fn link_line(link: &Link) -> String {
    match link {
        Link::Key { from, from_columns, to, to_columns } => {
            format!("{from}({}) -> {to}({})", from_columns.join(", "), to_columns.join(", "))
        }
        Link::Reads(name) => format!("reads {name}"),
        Link::ReadBy(name) => format!("read by {name}"),
    }
}
