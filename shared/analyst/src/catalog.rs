//! The action `catalog`: schemas, tables, and one table's structure as data.

mod sql;

use pg::{Connection, Table};
use serde::Serialize;
use tokio::time::Instant;

use crate::ask;
use crate::failure::Failure;
use crate::line::one_line;
use crate::relation::{self, Column, Link, Name, kind_word};
use crate::scope::Scope;

/// JSON bytes of one list of tables; a list this long is about 8,000 tokens.
const LIST_BYTES: usize = 32 * 1024;

const NOTHING_FOUND: &str = "no table or view that can be read is here; `list_schemas` names the schemas, `schema` takes one as it is stored";

/// Characters of a comment in a list.
pub(crate) const LIST_COMMENT_CHARS: usize = 120;

/// Schemas that hold something readable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schemas {
    /// In the order of their names.
    pub schemas: Vec<Schema>,
}

/// One schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Schema {
    /// Quoted where PostgreSQL needs it.
    pub name: String,
    /// Tables and views that can be read in it; partitions count with their parent.
    pub relations: u64,
    /// Its comment, cut at 120 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// A page of tables and views.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tables {
    /// In the order of schema and name.
    pub tables: Vec<Listed>,
    /// How many there are in all.
    pub total: u64,
    /// Whether more follow.
    pub truncated: bool,
    /// The `offset` that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<u64>,
    /// What to do where nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// One table or view of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// Schema-qualified, quoted where PostgreSQL needs it.
    pub name: String,
    /// table, partitioned table, foreign table, view or materialized view.
    pub kind: &'static str,
    /// Columns that can be read.
    pub columns: u64,
    /// The planner's estimate; left out before the first ANALYZE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_rows: Option<u64>,
    /// Partitions or inheritance children that are folded into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<u64>,
    /// Its comment, cut at 120 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// One table's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Structure {
    /// Schema-qualified, quoted where PostgreSQL needs it.
    pub name: String,
    /// table, partitioned table, foreign table, view or materialized view.
    pub kind: &'static str,
    /// Its comment, cut at 500 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// In column order.
    pub columns: Vec<ColumnView>,
    /// The key's columns, in key order.
    pub primary_key: Vec<String>,
    /// Keys from and to the table.
    pub foreign_keys: Vec<ForeignKey>,
}

/// One column of a [`Structure`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnView {
    /// Quoted where PostgreSQL needs it.
    pub name: String,
    /// As `format_type` prints it.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Whether NULL can stand in it.
    pub nullable: bool,
    /// The default's expression, or a generated column's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// `identity always`, `identity by default` or `expression`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<&'static str>,
    /// Its comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// One foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ForeignKey {
    /// The table that refers.
    pub from: String,
    /// Its columns, in key order.
    pub from_columns: Vec<String>,
    /// The table referred to.
    pub to: String,
    /// Its columns, in key order.
    pub to_columns: Vec<String>,
}

/// Which tables a list asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// One schema, as it is stored; none for all.
    pub schema: Option<String>,
    /// Tables at most.
    pub limit: u32,
    /// Tables to skip.
    pub offset: u64,
}

/// Lists the schemas that hold something readable.
pub async fn list_schemas<Open>(scope: &Scope, deadline: Instant, open: Open) -> Result<Schemas, Failure>
where
    Open: AsyncFnOnce() -> Result<Connection, Failure>,
{
    let (schemas, names) = scope.selected_arrays();
    let rows = one_table(sql::SCHEMAS, vec![schemas, names], deadline, open).await?;
    Ok(Schemas { schemas: rows.into_iter().filter_map(schema).collect() })
}

/// Lists tables and views, partitions folded into their parents.
pub async fn list_tables<Open>(
    listing: &Listing,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<Tables, Failure>
where
    Open: AsyncFnOnce() -> Result<Connection, Failure>,
{
    let (schemas, names) = scope.selected_arrays();
    let parameters = vec![
        listing.schema.clone(),
        Some(listing.limit.to_string()),
        Some(listing.offset.to_string()),
        schemas,
        names,
    ];
    let rows = one_table(sql::TABLES, parameters, deadline, open).await?;
    Ok(page(rows, listing.offset))
}

/// One table's structure, by name and, if the name is bare, schema.
pub async fn describe_table<Open>(
    table: &str,
    schema: Option<&str>,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<Structure, Failure>
where
    Open: AsyncFnOnce() -> Result<Connection, Failure>,
{
    let name = named(table, schema)?;
    let mut connection = open().await?;
    let structure = structure(&mut connection, &name, scope, deadline).await;
    connection.close().await;
    structure
}

fn named(table: &str, schema: Option<&str>) -> Result<Name, Failure> {
    let mut name = Name::parse(table)?;
    if let Some(schema) = schema {
        let schema = Name::parse(schema)?;
        if schema.schema.is_some() || name.schema.as_ref().is_some_and(|given| *given != schema.relation) {
            return Err(Failure::argument("`table` and `schema` name two schemas")
                .hinting("give the schema once: in `schema`, or in `table` before the dot"));
        }
        name.schema = Some(schema.relation);
    }
    Ok(name)
}

async fn structure(
    connection: &mut Connection,
    name: &Name,
    scope: &Scope,
    deadline: Instant,
) -> Result<Structure, Failure> {
    let found = relation::find(connection, name, scope, deadline).await?;
    let facts = relation::read(connection, &found, scope, deadline).await?;
    Ok(Structure {
        name: found.qualified,
        kind: found.kind,
        comment: found.comment,
        columns: facts.columns.into_iter().map(column_view).collect(),
        primary_key: facts.primary_key,
        foreign_keys: facts.links.into_iter().filter_map(foreign_key).collect(),
    })
}

fn column_view(column: Column) -> ColumnView {
    let generated = match (column.generated, column.identity) {
        (true, _) => Some("expression"),
        (_, Some("always")) => Some("identity always"),
        (_, Some(_)) => Some("identity by default"),
        _ => None,
    };
    ColumnView {
        name: column.name,
        type_name: column.type_name,
        nullable: !column.not_null,
        default: column.default,
        generated,
        comment: column.comment,
    }
}

fn foreign_key(link: Link) -> Option<ForeignKey> {
    match link {
        Link::Key { from, from_columns, to, to_columns } => {
            Some(ForeignKey { from, from_columns, to, to_columns })
        }
        Link::Reads(_) | Link::ReadBy(_) => None,
    }
}

/// Asks one query on a connection of its own.
pub(crate) async fn one_table<Open>(
    sql: &'static str,
    parameters: Vec<Option<String>>,
    deadline: Instant,
    open: Open,
) -> Result<Table, Failure>
where
    Open: AsyncFnOnce() -> Result<Connection, Failure>,
{
    let mut connection = open().await?;
    let tables = ask::tables(&mut connection, [(sql, parameters)], deadline).await;
    connection.close().await;
    tables.map(|[table]| table)
}

fn schema(row: Vec<Option<String>>) -> Option<Schema> {
    let [name, relations, comment] = <[Option<String>; 3]>::try_from(row).ok()?;
    let comment = comment.map(|comment| one_line(&comment, LIST_COMMENT_CHARS));
    Some(Schema { name: name?, relations: relations?.parse().ok()?, comment })
}

/// As many tables of the answer as fit into the bytes of a list.
fn page(rows: Table, offset: u64) -> Tables {
    let mut page = Tables { tables: Vec::new(), total: 0, truncated: false, next_offset: None, hint: None };
    let mut bytes = 0;
    for row in rows {
        let mut row = row.into_iter();
        page.total = row.next().flatten().and_then(|total| total.parse().ok()).unwrap_or(0);
        let Some(listed) = listed(row.collect()) else { continue };
        bytes += serde_json::to_string(&listed).map_or(0, |json| json.len() + 1);
        if bytes > LIST_BYTES && !page.tables.is_empty() {
            break;
        }
        page.tables.push(listed);
    }
    let next = offset.saturating_add(page.tables.len() as u64);
    page.truncated = next < page.total;
    page.next_offset = page.truncated.then_some(next);
    page.hint = (page.total == 0).then_some(NOTHING_FOUND);
    page
}

fn listed(row: Vec<Option<String>>) -> Option<Listed> {
    let [name, kind, columns, estimate, children, comment] = <[Option<String>; 6]>::try_from(row).ok()?;
    Some(Listed {
        name: name?,
        kind: kind_word(&kind?),
        columns: columns?.parse().ok()?,
        estimated_rows: estimate.and_then(|rows| rows.parse().ok()),
        children: children.and_then(|count| count.parse().ok()),
        comment: comment.map(|comment| one_line(&comment, LIST_COMMENT_CHARS)),
    })
}
