//! The columns of the selected relations that a statement names, after an error about one of its columns.

use pg::Connection;
use tokio::time::Instant;

use super::{Most, Selected, read};
use crate::scope::Scope;

/// The errors that lists of columns help with: a column that does not exist, and one that several relations have.
const ABOUT_A_COLUMN: [&str; 2] = ["42703", "42702"];
/// Columns of one list.
const COLUMNS: usize = 60;
/// Bytes of all lists; what does not fit any more is left out from the first list that does not.
const BYTES: usize = 8 * 1024;

/// Sentences that list the columns of each selected relation that a statement names, in the order of the selection: for an
/// error with this SQLSTATE about this statement, and only where there is a selection. The catalog is asked in one flight;
/// where it does not answer, the error stands alone.
pub async fn column_lists(
    connection: &mut Connection,
    sqlstate: &str,
    sql: &str,
    scope: &Scope,
    deadline: Instant,
) -> Option<String> {
    if !ABOUT_A_COLUMN.contains(&sqlstate) || scope.relations.is_empty() {
        return None;
    }
    let named = guard::named_relations(sql);
    let mut of_statement = scope.clone();
    of_statement
        .relations
        .retain(|relation| named.iter().any(|named| named.fits(relation.schema(), relation.name())));
    if of_statement.relations.is_empty() {
        return None;
    }
    let most = Most { relations: of_statement.relations.len(), columns: COLUMNS };
    sentences(&read(connection, &of_statement, most, deadline).await.ok()?)
}

fn sentences(relations: &[Selected]) -> Option<String> {
    let mut text = String::new();
    for relation in relations.iter().filter(|relation| !relation.columns.is_empty()) {
        let mut list = format!("Columns of {}: {}", relation.name, relation.columns.join(", "));
        list.push_str(if relation.more { ", …" } else { "." });
        if !text.is_empty() {
            if text.len() + list.len() >= BYTES {
                break;
            }
            text.push(' ');
        }
        text.push_str(&list);
    }
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(name: &str, columns: usize) -> Selected {
        Selected {
            name: name.to_owned(),
            kind: "table",
            comment: None,
            columns: (0..columns.min(COLUMNS)).map(|number| format!("c{number}")).collect(),
            more: columns > COLUMNS,
        }
    }

    #[test]
    fn each_relation_has_a_sentence_and_a_long_list_ends_open() {
        let said = sentences(&[relation("a.x", 2), relation("a.none", 0), relation("a.\"Y\"", 1)]).unwrap();
        assert_eq!(said, "Columns of a.x: c0, c1. Columns of a.\"Y\": c0.");
        let long = sentences(&[relation("a.x", 61)]).unwrap();
        assert!(long.ends_with("c58, c59, …"), "{long}");
        assert!(sentences(&[relation("a.x", 60)]).unwrap().ends_with("c58, c59."));
        assert_eq!(sentences(&[relation("a.none", 0)]), None);
    }

    #[test]
    fn many_lists_stay_within_their_bytes() {
        let many = sentences(&vec![relation("a.x", 60); 150]).unwrap();
        assert!(many.len() <= BYTES && many.len() > BYTES - 400, "{}", many.len());
    }
}
