//! The tables and views that a text names, as PostgreSQL reads names: unquoted letters folded, quotes and escapes off, and
//! what `WITH` gives left out where it is seen.

use serde_json::Value;

use crate::parse;
use crate::text::Text;

/// A name of a table or view in a statement, before PostgreSQL says which one it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRelation {
    /// The schema, where the statement names one.
    pub schema: Option<String>,
    /// The name.
    pub name: String,
    /// Its byte in the part of the text that was parsed.
    pub(crate) location: Option<i32>,
}

impl NamedRelation {
    /// Whether this can be the name of a relation; a bare name fits every schema.
    pub fn fits(&self, schema: &str, name: &str) -> bool {
        self.name == name && self.schema.as_ref().is_none_or(|named| named == schema)
    }
}

/// The relations that a statement names, in the order of its parse tree; none where the text cannot be parsed.
pub fn named_relations(sql: &str) -> Vec<NamedRelation> {
    let Ok(text) = Text::read(sql) else { return Vec::new() };
    parse::with_tree(&text, |tree| Ok(serde_json::to_value(&tree.stmts).map(|tree| named(&tree))))
        .ok()
        .and_then(Result::ok)
        .unwrap_or_default()
}

/// The relations that a parse tree names.
pub(crate) fn named(tree: &Value) -> Vec<NamedRelation> {
    let mut walk = Walk { common: Vec::new(), named: Vec::new() };
    walk.look(tree);
    walk.named
}

struct Walk {
    /// Names that `WITH` gives, where the look is now.
    common: Vec<String>,
    named: Vec<NamedRelation>,
}

impl Walk {
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

    fn relation(&mut self, node: &Value) {
        let text = |field: &str| node[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let Some(name) = text("relname") else { return };
        let schema = text("schemaname");
        if schema.is_some() || !self.common.contains(&name) {
            let location = node["location"].as_i64().and_then(|byte| i32::try_from(byte).ok());
            self.named.push(NamedRelation { schema, name, location });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sql: &str, names: &[&str]) {
        let found: Vec<String> = named_relations(sql)
            .into_iter()
            .map(|named| match named.schema {
                Some(schema) => format!("{schema}.{}", named.name),
                None => named.name,
            })
            .collect();
        assert_eq!(found, names, "{sql}");
    }

    #[test]
    fn names_are_folded_and_unquoted() {
        check("SELECT 'FROM pay', \"from hr\" FROM Stores -- FROM x", &["stores"]);
        check("TABLE \"Stores\"", &["Stores"]);
        check("TABLE HR . \"a.b\"", &["hr.a.b"]);
        check("TABLE U&\"st\\006fres\"", &["stores"]);
        check("EXPLAIN SELECT FROM a; ", &["a"]);
    }

    #[test]
    fn names_of_with_hide_tables_where_they_are_seen() {
        check("WITH a AS (TABLE a) SELECT * FROM a, public.a", &["a", "public.a"]);
        check("WITH RECURSIVE a AS (SELECT 1 UNION TABLE a) TABLE a", &[]);
    }

    #[test]
    fn what_cannot_be_parsed_names_nothing() {
        for text in ["", ";", "SELECT FROM", "SELECT '", "\0"] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_bare_name_fits_every_schema_and_a_qualified_one_its_own() {
        let named = |sql| named_relations(sql).remove(0);
        assert!(named("TABLE stores").fits("hr", "stores"));
        assert!(named("TABLE hr.stores").fits("hr", "stores"));
        assert!(!named("TABLE hr.stores").fits("public", "stores"));
        assert!(!named("TABLE \"Stores\"").fits("public", "stores"));
    }
}
