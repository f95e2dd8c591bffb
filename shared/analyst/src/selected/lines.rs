//! A selection as lines of a tool's description: what an agent sees of the relations before its first call.

use pg::Connection;
use tokio::time::Instant;

use super::{Most, Selected, read};
use crate::failure::Failure;
use crate::line::{collapsed, comment};
use crate::scope::Scope;

/// Characters of a comment.
const COMMENT_CHARS: usize = 120;
/// Relations shown with columns, and columns of each.
const MOST: Most = Most { relations: 100, columns: 12 };
/// Bytes of the lines with columns, and of all lines: a description is read by the agent of every conversation, and 32 KiB are
/// about 8,000 tokens.
const BYTES_WITH_COLUMNS: usize = 24 * 1024;
const BYTES: usize = 32 * 1024;

/// One line for each selected relation that exists, in the order of the selection; of a large selection the last ones by name
/// alone, or counted.
pub async fn described<Open>(scope: &Scope, deadline: Instant, open: Open) -> Result<Vec<String>, Failure>
where
    Open: AsyncFnOnce() -> Result<Connection, Failure>,
{
    if scope.relations.is_empty() {
        return Ok(Vec::new());
    }
    let mut connection = open().await?;
    let relations = read(&mut connection, scope, MOST, deadline).await;
    connection.close().await;
    Ok(within_bounds(&relations?))
}

/// The same where the database does not answer: names alone.
pub fn names_alone(scope: &Scope) -> Vec<String> {
    let mut lines = Lines::default();
    for relation in &scope.relations {
        lines.push_name(&relation.to_string());
    }
    lines.finish()
}

fn within_bounds(relations: &[Selected]) -> Vec<String> {
    let mut lines = Lines::default();
    for (place, relation) in relations.iter().enumerate() {
        let line = line(relation);
        if place < MOST.relations && lines.bytes + line.len() <= BYTES_WITH_COLUMNS {
            lines.push(line);
        } else {
            lines.push_name(&relation.name);
        }
    }
    lines.finish()
}

fn line(relation: &Selected) -> String {
    let columns = relation.columns.iter().map(|column| collapsed(column));
    let columns: Vec<String> = columns.chain(relation.more.then(|| "…".to_owned())).collect();
    let comment = relation.comment.as_deref().and_then(|text| comment(text, COMMENT_CHARS));
    let said = match (columns.is_empty(), comment) {
        (true, None) => String::new(),
        (true, Some(comment)) => format!(": {comment}"),
        (false, None) => format!(": {}", columns.join(", ")),
        (false, Some(comment)) => format!(": {} — {comment}", columns.join(", ")),
    };
    format!("- {} ({}){said}", collapsed(&relation.name), relation.kind)
}

/// Lines up to their bound, and how many more there would be.
#[derive(Default)]
struct Lines {
    shown: Vec<String>,
    bytes: usize,
    left_out: usize,
}

impl Lines {
    fn push(&mut self, line: String) {
        // After the first that is left out none follows, so that those shown are the first of the selection.
        if self.left_out > 0 || self.bytes + line.len() > BYTES {
            self.left_out += 1;
        } else {
            self.bytes += line.len() + 1;
            self.shown.push(line);
        }
    }

    fn push_name(&mut self, name: &str) {
        self.push(format!("- {}", collapsed(name)));
    }

    fn finish(mut self) -> Vec<String> {
        if self.left_out > 0 {
            self.shown.push(format!("- and {} more", self.left_out));
        }
        self.shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(columns: usize, comment: Option<&str>) -> Selected {
        Selected {
            name: "public.stores".to_owned(),
            kind: "table",
            comment: comment.map(str::to_owned),
            columns: (0..columns.min(MOST.columns)).map(|number| format!("c{number}")).collect(),
            more: columns > MOST.columns,
        }
    }

    #[track_caller]
    fn check(columns: usize, comment: Option<&str>, expected: &str) {
        assert_eq!(line(&relation(columns, comment)), expected);
    }

    #[test]
    fn a_line_holds_kind_columns_and_comment_as_far_as_there_are_any() {
        check(0, None, "- public.stores (table)");
        check(0, Some("empty"), "- public.stores (table): empty");
        check(2, None, "- public.stores (table): c0, c1");
        check(2, Some("a\n  b"), "- public.stores (table): c0, c1 — a b");
        check(2, Some(" \n"), "- public.stores (table): c0, c1");
        let twelve = "- public.stores (table): c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11";
        check(12, None, twelve);
        check(13, None, &format!("{twelve}, …"));
        check(1, Some(&"ü".repeat(121)), &format!("- public.stores (table): c0 — {}…", "ü".repeat(120)));
        check(1, Some(&"ü".repeat(120)), &format!("- public.stores (table): c0 — {}", "ü".repeat(120)));
    }

    #[test]
    fn a_name_with_a_line_break_stays_on_one_line() {
        let odd = Selected {
            name: "public.\"a\n b\"".to_owned(),
            columns: vec!["\"x\t\ty\"".to_owned()],
            ..relation(0, None)
        };
        assert_eq!(line(&odd), "- public.\"a b\" (table): \"x y\"");
    }

    #[test]
    fn a_large_selection_ends_in_names_and_then_in_a_count() {
        let some = within_bounds(&vec![relation(1, None); 150]);
        assert_eq!(
            (some.len(), some[99].as_str(), some[100].as_str()),
            (150, "- public.stores (table): c0", "- public.stores")
        );
        let long = within_bounds(&vec![relation(12, Some(&"x".repeat(500))); 5_000]);
        let bytes: usize = long.iter().map(|line| line.len() + 1).sum();
        assert!(bytes > BYTES - 100 && bytes < BYTES + 100, "{bytes}");
        let shown = long.len() - 1;
        assert_eq!(long[shown], format!("- and {} more", 5_000 - shown));
        assert!(long.iter().filter(|line| line.contains("c11")).count() > 90);
    }
}
