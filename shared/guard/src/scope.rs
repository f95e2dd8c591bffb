//! The relations that a text names, held against the selection before the server sees the text: its errors would tell which
//! relations there are and what their columns are called.
//!
//! This is the smaller half of the rule. What a name means is judged on the tree that PostgreSQL makes of it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::facts::ObjectName;
use crate::named::{self, NamedRelation};
use crate::text::Text;
use crate::verdict::{Code, Finding};

/// What a text names.
pub(crate) struct Named {
    /// A finding for each name that none of the selected relations has.
    pub(crate) findings: Vec<Finding>,
    /// The names without a schema. PostgreSQL may find another relation by them than the selected one.
    pub(crate) bare: BTreeSet<String>,
}

pub(crate) fn named(tree: &Value, selected: &[ObjectName], text: &Text<'_>) -> Named {
    let named = named::named(tree);
    let bare = named.iter().filter(|named| named.schema.is_none()).map(|named| named.name.clone()).collect();
    let is_selected =
        |named: &NamedRelation| selected.iter().any(|known| named.fits(&known.schema, &known.name));
    let others = named.into_iter().filter(|named| !is_selected(named));
    let findings = others
        .map(|named| {
            let schema = named.schema.map_or_else(String::new, |schema| schema + ".");
            let finding = not_selected(&format!("{schema}{}", named.name), selected);
            finding.at(named.location.and_then(|byte| text.position(byte)))
        })
        .collect();
    Named { findings, bare }
}

/// Refuses a relation, named as the caller or the catalog names it.
pub(crate) fn not_selected(name: &str, selected: &[ObjectName]) -> Finding {
    let message = format!("it reads `{name}`, which is not one of the selected tables and views");
    let names: Vec<String> = selected.iter().map(ToString::to_string).collect();
    Finding::new(Code::RelationNotSelected, message, format!("the selected ones are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::facts::ObjectName;
    use crate::{RowLimit, Rules, Selection};

    #[track_caller]
    fn check(sql: &str, refused: &[(&str, usize)]) {
        let orders = ObjectName { schema: "shop".to_owned(), name: "orders".to_owned() };
        let rules = Rules { selection: Selection::Only(vec![orders]), ..Rules::open(RowLimit::new(1)) };
        let found: Vec<(String, Option<usize>)> = match crate::candidate(sql, &rules) {
            Ok(_) => Vec::new(),
            Err(refusal) => {
                refusal.findings().map(|finding| (finding.message.clone(), finding.position)).collect()
            }
        };
        let expected: Vec<(String, Option<usize>)> = refused
            .iter()
            .map(|(name, position)| {
                let message = format!("it reads `{name}`, which is not one of the selected tables and views");
                (message, Some(*position))
            })
            .collect();
        assert_eq!(found, expected, "{sql}");
    }

    #[test]
    fn a_selected_relation_is_named_with_and_without_its_schema() {
        check("SELECT * FROM orders o JOIN shop.orders p USING (id)", &[]);
        check("TABLE ONLY Orders", &[]);
        check("SELECT * FROM \"Orders\"", &[("Orders", 15)]);
        check("SELECT * FROM hr.orders", &[("hr.orders", 15)]);
    }

    #[test]
    fn every_other_name_is_refused_wherever_it_stands() {
        check(
            "SELECT (SELECT max(a) FROM pay) FROM orders, LATERAL (TABLE pg_class) c",
            &[("pay", 28), ("pg_class", 61)],
        );
        check("SELECT 1 FROM orders UNION (SELECT 1 FROM a EXCEPT SELECT 1 FROM b)", &[("a", 43), ("b", 66)]);
    }

    #[test]
    fn a_name_that_with_gives_counts_where_it_is_seen() {
        check("WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, (SELECT * FROM a) c", &[]);
        check("WITH b AS (SELECT * FROM a), a AS (SELECT 1) SELECT * FROM b", &[("a", 26)]);
        check("WITH RECURSIVE b AS (SELECT * FROM a), a AS (SELECT 1 UNION SELECT 1 FROM a) TABLE b", &[]);
        check("SELECT (WITH a AS (SELECT 1) TABLE a), 1 FROM a", &[("a", 47)]);
        check("WITH a AS (SELECT 1) SELECT * FROM public.a", &[("public.a", 36)]);
        check("WITH a AS (SELECT 1) (WITH b AS (TABLE a) TABLE b) UNION TABLE b", &[("b", 64)]);
    }
}
