//! The relations that an editor offers for ticking.

mod sql;

use pg::Connection;
use serde::Serialize;
use tokio::time::Instant;

use crate::catalog::{LIST_COMMENT_CHARS, one_table};
use crate::failure::Failure;
use crate::line;
use crate::relation::kind_word;

/// Relations at most.
const MOST: u32 = 2_000;
/// The name of an option that is a message; no schema-qualified name is without a dot.
const ERROR: &str = "error";

/// One relation for ticking, or a message instead of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelationOption {
    /// What a selection stores: the schema-qualified name, quoted where PostgreSQL needs it. `error` for a message.
    pub name: String,
    /// What people see first.
    pub label: String,
    /// Kind, number of columns and comment, joined by ` · `; of a message, what went wrong.
    pub description: String,
}

/// Lists what the login can read: materialized views, then views, then tables, each by schema and name, at most 2,000. Whatever
/// goes wrong comes as the one option `error`.
pub async fn options<Open>(deadline: Instant, open: Open) -> Vec<RelationOption>
where
    Open: AsyncFnOnce() -> Result<Connection, Failure>,
{
    match one_table(sql::RELATIONS, vec![Some(MOST.to_string())], deadline, open).await {
        Ok(rows) => rows.into_iter().filter_map(option).collect(),
        Err(failure) => vec![message(&failure)],
    }
}

fn message(failure: &Failure) -> RelationOption {
    let hint = failure.hint.as_ref().map_or_else(String::new, |hint| format!("; {hint}"));
    RelationOption {
        name: ERROR.to_owned(),
        label: "could not list tables and views".to_owned(),
        description: format!("{}{hint}", failure.message),
    }
}

fn option(row: Vec<Option<String>>) -> Option<RelationOption> {
    let [name, kind, columns, comment] = <[Option<String>; 4]>::try_from(row).ok()?;
    let (name, columns) = (name?, columns?);
    let kind = match kind_word(&kind?) {
        // It is read on another server, with other rights: ticking alone does not open it.
        "foreign table" => "foreign table, to be allowed as well".to_owned(),
        kind => kind.to_owned(),
    };
    let columns = if columns == "1" { "1 column".to_owned() } else { format!("{columns} columns") };
    let comment = comment.and_then(|text| line::comment(&text, LIST_COMMENT_CHARS));
    let parts = [Some(kind), Some(columns), comment];
    let description = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    Some(RelationOption { label: name.clone(), name, description })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(row: [Option<&str>; 4], description: &str) {
        let row = row.into_iter().map(|value| value.map(str::to_owned)).collect();
        assert_eq!(option(row).unwrap().description, description);
    }

    #[test]
    fn an_option_says_kind_columns_and_comment() {
        check([Some("a.b"), Some("r"), Some("1"), None], "table · 1 column");
        check(
            [Some("a.b"), Some("m"), Some("2"), Some("by\n day")],
            "materialized view · 2 columns · by day",
        );
        check(
            [Some("a.b"), Some("f"), Some("0"), Some(" ")],
            "foreign table, to be allowed as well · 0 columns",
        );
        let long = "x".repeat(200);
        check(
            [Some("a.b"), Some("p"), Some("3"), Some(&long)],
            &format!("partitioned table · 3 columns · {}…", "x".repeat(120)),
        );
    }

    #[test]
    fn a_failure_is_one_option_that_says_what_to_do() {
        let failure = Failure::argument("it is so").hinting("do this");
        let option = message(&failure);
        assert_eq!((option.name.as_str(), option.description.as_str()), ("error", "it is so; do this"));
    }
}
