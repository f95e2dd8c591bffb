//! Finds one relation by the name a caller gives, and reads what the catalog says of it.

mod facts;
mod sql;

use pg::Connection;
use pg::name::{self, quote_identifier};

use crate::ask;
use crate::failure::{Failure, Kind};
use crate::line::one_line;
use crate::scope::Scope;

pub(crate) use facts::{Column, Facts, Link};

/// Characters of a comment, or of a column's expression, that are shown.
const SHOWN_CHARS: usize = 500;

/// A relation that exists, can be read, and is within the selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) oid: String,
    pub(crate) qualified: String,
    pub(crate) kind: &'static str,
    pub(crate) comment: Option<String>,
    system: bool,
}

impl Found {
    /// Whether another server or a file holds its rows.
    pub(crate) fn is_foreign(&self) -> bool {
        self.kind == kind_word("f")
    }
}

/// Looks a name up: `schema.name`, or a bare name that fits one relation alone.
pub(crate) async fn find(
    connection: &mut Connection,
    name: &Name,
    scope: &Scope,
    deadline: tokio::time::Instant,
) -> Result<Found, Failure> {
    let (schemas, names) = scope.selected_arrays();
    let parameters = vec![Some(name.relation.clone()), name.schema.clone(), schemas, names];
    let [rows] = ask::tables(connection, [(sql::FIND, parameters)], deadline).await?;
    let mut found: Vec<Found> = rows.into_iter().filter_map(found).collect();
    if found.iter().any(|relation| !relation.system) {
        found.retain(|relation| !relation.system);
    }
    let choices =
        || found.iter().map(|relation| format!("`{}`", relation.qualified)).collect::<Vec<_>>().join(", ");
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(not_found(name, scope)),
        _ => Err(Failure::new(Kind::Argument, "ambiguous_name", format!("{name} fits {}", choices()))
            .hinting("call again with the schema before the name")),
    }
}

fn not_found(name: &Name, scope: &Scope) -> Failure {
    if scope.relations.is_empty() {
        let message = format!("there is no table or view {name} that this login can read");
        return Failure::new(Kind::Argument, "unknown_relation", message)
            .hinting("check the schema and the case of the name; names in upper case need double quotes");
    }
    let selected: Vec<String> = scope.relations.iter().map(ToString::to_string).collect();
    let message = format!("{name} is not one of the selected tables and views");
    Failure::new(Kind::Argument, "unknown_relation", message)
        .hinting(format!("choose one of {}", selected.join(", ")))
}

fn found(row: Vec<Option<String>>) -> Option<Found> {
    let [oid, qualified, kind, comment, system] = <[Option<String>; 5]>::try_from(row).ok()?;
    Some(Found {
        oid: oid?,
        qualified: qualified?,
        kind: kind_word(&kind?),
        comment: comment.map(|comment| one_line(&comment, SHOWN_CHARS)),
        system: system.as_deref() == Some("t"),
    })
}

/// The word for a `pg_class.relkind`.
pub(crate) fn kind_word(relkind: &str) -> &'static str {
    match relkind {
        "v" => "view",
        "m" => "materialized view",
        "f" => "foreign table",
        "p" => "partitioned table",
        _ => "table",
    }
}

/// Reads everything about one relation, in one flight.
pub(crate) async fn read(
    connection: &mut Connection,
    found: &Found,
    scope: &Scope,
    deadline: tokio::time::Instant,
) -> Result<Facts, Failure> {
    let (schemas, names) = scope.selected_arrays();
    let of_relation = vec![Some(found.oid.clone())];
    let within = vec![Some(found.oid.clone()), schemas, names];
    let asks = [
        (sql::COLUMNS, of_relation.clone()),
        (sql::PRIMARY_KEY, of_relation.clone()),
        (sql::FOREIGN_KEYS, within.clone()),
        (sql::VIEW_LINKS, within),
        (sql::DEFINITION, of_relation),
    ];
    let tables = ask::tables(connection, asks, deadline).await?;
    Ok(Facts::from_tables(tables))
}

/// A relation's name as a caller wrote it, read by PostgreSQL's rules: unquoted letters fold to lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) schema: Option<String>,
    pub(crate) relation: String,
}

impl Name {
    /// Reads `name`, `schema.name` and their quoted forms.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let parts =
            name::split(text, '.').and_then(|parts| parts.into_iter().map(name::identifier).collect());
        let mut parts: Vec<String> = parts.map_err(|error| Self::unreadable(text, &error.to_string()))?;
        match (parts.pop(), parts.pop(), parts.pop()) {
            (Some(relation), schema, None) => Ok(Self { schema, relation }),
            _ => Err(Self::unreadable(text, "it has more than a schema and a name")),
        }
    }

    fn unreadable(text: &str, reason: &str) -> Failure {
        Failure::argument(format!("`{text}` is not the name of a relation: {reason}"))
            .hinting("write `name`, `schema.name` or, with capitals, blanks or dots, `\"Schema\".\"Name\"`")
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("`")?;
        if let Some(schema) = &self.schema {
            write!(f, "{}.", quote_identifier(schema))?;
        }
        write!(f, "{}`", quote_identifier(&self.relation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, schema: Option<&str>, relation: &str) {
        let name = Name::parse(text).unwrap();
        assert_eq!((name.schema.as_deref(), name.relation.as_str()), (schema, relation));
    }

    #[test]
    fn names_are_read_by_the_rules_of_postgresql() {
        check("people", None, "people");
        check("App.People", Some("app"), "people");
        check("\"App\".\"People\"", Some("App"), "People");
        check("\"a.b\"", None, "a.b");
        check(" app . people ", Some("app"), "people");
        check("\"say \"\"hi\"\"\"", None, "say \"hi\"");
    }

    #[test]
    fn what_is_no_name_is_an_argument_failure() {
        for text in ["", "a.b.c", "\"open", "a..b", "people; DROP TABLE x", "a b"] {
            assert_eq!(Name::parse(text).unwrap_err().kind, Kind::Argument, "{text}");
        }
    }
}
