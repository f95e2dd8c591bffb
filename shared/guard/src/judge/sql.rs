//! Bodies of SQL functions and expressions of PL/pgSQL, kept as text: parsed, looked through node by node, and everything they
//! name put on the list.

use std::sync::Arc;

use pg_query::ParserOptions;
use serde_json::{Map, Value};

use super::{Judgement, Object, Origin};
use crate::verdict::Code;

/// The longest body that is looked at, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// Types that the grammar or `pg_catalog` means by a plain name.
const TYPES: &[&str] = &[
    "bit",
    "bool",
    "box",
    "bpchar",
    "bytea",
    "char",
    "cidr",
    "circle",
    "date",
    "daterange",
    "float4",
    "float8",
    "inet",
    "int2",
    "int4",
    "int4range",
    "int8",
    "int8range",
    "interval",
    "json",
    "jsonb",
    "line",
    "lseg",
    "macaddr",
    "macaddr8",
    "money",
    "name",
    "numeric",
    "numrange",
    "oid",
    "path",
    "point",
    "polygon",
    "record",
    "text",
    "time",
    "timestamp",
    "timestamptz",
    "timetz",
    "tsquery",
    "tsrange",
    "tstzrange",
    "tsvector",
    "uuid",
    "varbit",
    "varchar",
    "xml",
];

impl Judgement<'_> {
    /// The body of an SQL function: statements that compute.
    pub(super) fn sql_source(&mut self, source: &str, within: &Arc<Origin>) {
        self.sql_text(source, ParserOptions::DEFAULT, within);
    }

    pub(super) fn sql_text(&mut self, source: &str, mode: ParserOptions, within: &Arc<Origin>) {
        let parsed = (source.len() <= MAX_BODY_BYTES).then(|| pg_query::parse(source, mode).ok()).flatten();
        let tree = parsed.and_then(|parsed| serde_json::to_value(&parsed.protobuf.stmts).ok());
        match tree {
            Some(tree) => {
                self.reach(Object::Casts, within);
                self.look(&tree, within);
            }
            None => self.unreadable_body(within),
        }
    }

    pub(super) fn unreadable_body(&mut self, within: &Origin) {
        let message = "a function's body could not be read".to_owned();
        self.finding(Code::UserFunction, message, super::function::ALLOW, within);
    }

    fn look(&mut self, value: &Value, within: &Arc<Origin>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item, within)),
            Value::Object(fields) => {
                for (kind, node) in fields {
                    if let Value::Object(fields) = node {
                        self.body_node(kind, fields, within);
                    }
                    if matches!(kind.as_str(), "into_clause" | "with_clause") && !node.is_null() {
                        self.not_computing(within, kind);
                    }
                    self.look(node, within);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// What a node of a body brings in. Kinds that hold nothing but other nodes or data need no arm; those that could reach
    /// outside the body's arguments are refused by name or by the `Stmt` they end in.
    fn body_node(&mut self, kind: &str, fields: &Map<String, Value>, within: &Arc<Origin>) {
        match kind {
            "FuncCall" => {
                if let Some(name) = last_name(fields.get("funcname")) {
                    self.reach(Object::FunctionName(name), within);
                }
            }
            "AExpr" => {
                for name in operators(fields) {
                    self.reach(Object::OperatorName(name), within);
                }
            }
            "SubLink" => fields
                .get("oper_name")
                .and_then(|names| last_name(Some(names)))
                .into_iter()
                .chain(["=".to_owned()])
                .for_each(|name| self.reach(Object::OperatorName(name), within)),
            // `CASE x WHEN y` and `USING` compare by `=`, whatever that is for the types.
            "CaseExpr" | "JoinExpr" => self.reach(Object::OperatorName("=".to_owned()), within),
            // `row.name` is a column or a function of the row.
            "ColumnRef" if count(fields.get("fields")) > 1 => self.attribute(fields.get("fields"), within),
            "AIndirection" => self.attribute(fields.get("indirection"), within),
            "TypeName" => {
                let name = last_name(fields.get("names"));
                if !name.as_deref().is_some_and(|name| TYPES.contains(&name)) {
                    let name = name.unwrap_or_default();
                    let message = format!("a function's body uses the type `{name}`, which is not built in");
                    self.finding(Code::UserFunction, message, super::function::ALLOW, within);
                }
            }
            "RangeVar" | "LockingClause" => self.not_computing(within, kind),
            "SelectStmt" | "PlassignStmt" => {}
            _ if kind.ends_with("Stmt") && kind != "RawStmt" && kind != "stmt" => {
                self.not_computing(within, kind);
            }
            _ => {}
        }
    }

    fn attribute(&mut self, fields: Option<&Value>, within: &Arc<Origin>) {
        if let Some(name) = last_name(fields) {
            self.reach(Object::FunctionName(name), within);
        }
    }

    fn not_computing(&mut self, within: &Origin, what: &str) {
        let message = match what {
            "RangeVar" => "a function's body reads a table or view".to_owned(),
            _ => "a function's body does more than compute on its arguments".to_owned(),
        };
        self.finding(Code::FunctionReads, message, super::function::ALLOW, within);
    }
}

/// The operators behind an expression of operators, `IN`, `BETWEEN`, `LIKE`, `NULLIF` and their kin.
fn operators(fields: &Map<String, Value>) -> Vec<String> {
    let name = last_name(fields.get("name")).unwrap_or_default();
    if name.contains("BETWEEN") { vec!["<=".to_owned(), ">=".to_owned()] } else { vec![name] }
}

/// The last name of a list of names; a `*` or a subscript has none.
fn last_name(names: Option<&Value>) -> Option<String> {
    let last = names?.as_array()?.last()?;
    Some(last.pointer("/node/String/sval")?.as_str()?.to_owned())
}

fn count(list: Option<&Value>) -> usize {
    list.and_then(Value::as_array).map_or(0, Vec::len)
}
