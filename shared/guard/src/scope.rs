//! The relations that a text names, held against the selection before the server sees the text: its errors would tell which
//! relations there are and what their columns are called.
//!
//! This is the smaller half of the rule. What a name means is judged on the tree that PostgreSQL makes of it.

use serde_json::Value;

use crate::facts::ObjectName;
use crate::text::Text;
use crate::verdict::{Code, Finding};

/// A finding for each name that none of the selected relations has.
pub(crate) fn unselected(tree: &Value, selected: &[ObjectName], text: &Text<'_>) -> Vec<Finding> {
    let mut scope = Scope { selected, text, common: Vec::new(), findings: Vec::new() };
    scope.look(tree);
    scope.findings
}

/// Refuses a relation, named as the caller or the catalog names it.
pub(crate) fn not_selected(name: &str, selected: &[ObjectName]) -> Finding {
    let message = format!("it reads `{name}`, which is not one of the selected tables and views");
    let names: Vec<String> = selected.iter().map(ToString::to_string).collect();
    Finding::new(Code::RelationNotSelected, message, format!("the selected ones are {}", names.join(", ")))
}

struct Scope<'a> {
    selected: &'a [ObjectName],
    text: &'a Text<'a>,
    /// Names that `WITH` gives, where the look is now.
    common: Vec<String>,
    findings: Vec<Finding>,
}

impl Scope<'_> {
    fn look(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            Value::Object(fields) => {
                let outer = self.common.len();
                if let Some(with) = fields.get("with_clause") {
                    self.with(with);
                }
                for (kind, field) in fields.iter().filter(|(kind, _)| *kind != "with_clause") {
                    if kind == "RangeVar" {
                        self.relation(field);
                    }
                    self.look(field);
                }
                self.common.truncate(outer);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// Each part sees those before it; a recursive one sees all.
    fn with(&mut self, with: &Value) {
        let parts = with["ctes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |part: &Value| Some(part.pointer("/node/CommonTableExpr/ctename")?.as_str()?.to_owned());
        if with["recursive"] == Value::Bool(true) {
            self.common.extend(parts.iter().filter_map(name));
        }
        for part in parts {
            self.look(part);
            self.common.extend(name(part));
        }
    }

    fn relation(&mut self, named: &Value) {
        let (schema, name) = (text(named, "schemaname"), text(named, "relname"));
        let is_selected = self
            .selected
            .iter()
            .any(|known| known.name == name && (schema.is_empty() || known.schema == schema));
        if is_selected || (schema.is_empty() && self.common.iter().any(|common| common == name)) {
            return;
        }
        let shown = if schema.is_empty() { name.to_owned() } else { format!("{schema}.{name}") };
        let position = named["location"].as_i64().and_then(|byte| i32::try_from(byte).ok());
        let finding = not_selected(&shown, self.selected);
        self.findings.push(finding.at(position.and_then(|byte| self.text.position(byte))));
    }
}

fn text<'a>(node: &'a Value, field: &str) -> &'a str {
    node[field].as_str().unwrap_or_default()
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
