//! Bodies of PL/pgSQL functions, by the parser that PostgreSQL's grammar brings for them. What is not listed here is refused:
//! loops, cursors, `RAISE`, `PERFORM`, statements, dynamic SQL, exception blocks.

use std::sync::Arc;

use pg_query::ParserOptions;
use serde_json::{Map, Value};

use super::sql::Beyond;
use super::{Judgement, Origin};
use crate::facts::FunctionFact;
use crate::parse;
use crate::verdict::Code;

/// What may stand in a body, and the fields that hold more of it.
const LISTED: &[(&str, &[&str])] = &[
    ("PLpgSQL_function", &["datums", "action"]),
    ("PLpgSQL_var", &["refname", "lineno", "datatype", "default_val", "isconst", "notnull"]),
    ("PLpgSQL_type", &["typname"]),
    ("PLpgSQL_expr", &["query", "parseMode"]),
    ("PLpgSQL_stmt_block", &["lineno", "label", "body"]),
    ("PLpgSQL_stmt_assign", &["lineno", "varno", "expr"]),
    ("PLpgSQL_stmt_if", &["lineno", "cond", "then_body", "elsif_list", "else_body"]),
    ("PLpgSQL_if_elsif", &["lineno", "cond", "stmts"]),
    ("PLpgSQL_stmt_case", &["lineno", "t_expr", "t_varno", "case_when_list", "have_else", "else_stmts"]),
    ("PLpgSQL_case_when", &["lineno", "expr", "stmts"]),
    ("PLpgSQL_stmt_return", &["lineno", "expr", "retvarno"]),
];

impl Judgement<'_> {
    pub(super) fn plpgsql_source(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        match parse::plpgsql(&declaration(fact)) {
            Some(body) => self.plpgsql(&body, within),
            None => self.unreadable_body(within),
        }
    }

    /// The body of a listed extension's function: only the names in its expressions and statements count.
    pub(super) fn extension_plpgsql(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        match parse::plpgsql(&declaration(fact)) {
            Some(body) => self.extension_names(&body, fact, within),
            None => self.unreadable_body(within),
        }
    }

    fn extension_names(&mut self, value: &Value, fact: &FunctionFact, within: &Arc<Origin>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.extension_names(item, fact, within)),
            Value::Object(node) => {
                for (kind, fields) in node {
                    match (kind.as_str(), fields) {
                        ("PLpgSQL_expr", Value::Object(fields)) => match expression(fields) {
                            Some((query, mode)) => self.extension_source(query, mode, fact, within),
                            None => self.unreadable_body(within),
                        },
                        ("PLpgSQL_stmt_dynexecute" | "PLpgSQL_stmt_dynfors" | "dynquery", _) => {
                            self.plpgsql_unlisted("dynamic SQL", within);
                        }
                        _ => self.extension_names(fields, fact, within),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn plpgsql(&mut self, value: &Value, within: &Arc<Origin>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.plpgsql(item, within)),
            Value::Object(node) => {
                for (kind, fields) in node {
                    match (kind.starts_with("PLpgSQL_"), fields) {
                        (true, Value::Object(fields)) => self.plpgsql_node(kind, fields, within),
                        _ => self.plpgsql_unlisted(kind, within),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn plpgsql_node(&mut self, kind: &str, fields: &Map<String, Value>, within: &Arc<Origin>) {
        let Some((_, known)) = LISTED.iter().find(|(listed, _)| *listed == kind) else {
            return self.plpgsql_unlisted(kind, within);
        };
        if let Some(field) = fields.keys().find(|field| !known.contains(&field.as_str())) {
            return self.plpgsql_unlisted(field, within);
        }
        if kind == "PLpgSQL_expr" {
            return self.plpgsql_expression(fields, within);
        }
        if let Some(declared) = fields.get("typname").and_then(Value::as_str) {
            // `%TYPE` and `%ROWTYPE` are no types of an expression: there `%` would be an operator.
            if declared.contains('%') {
                return self.beyond(Beyond::ColumnType, within);
            }
            // A declared type is read as a type of an expression would be.
            return self.sql_text(&format!("SELECT NULL::{declared}"), ParserOptions::DEFAULT, within);
        }
        fields.values().for_each(|field| self.plpgsql(field, within));
    }

    fn plpgsql_expression(&mut self, fields: &Map<String, Value>, within: &Arc<Origin>) {
        match expression(fields) {
            Some((_, ParserOptions::DEFAULT)) | None => self.unreadable_body(within),
            Some((query, mode)) => self.sql_text(query, mode, within),
        }
    }

    fn plpgsql_unlisted(&mut self, what: &str, within: &Origin) {
        let what = what.trim_start_matches("PLpgSQL_").trim_start_matches("stmt_");
        let message = format!("a function's body does more than compute on its arguments: {what}");
        self.finding(Code::UserFunction, message, super::function::ALLOW, within);
    }
}

/// The text of an expression or statement, and how PL/pgSQL has it parsed.
fn expression(fields: &Map<String, Value>) -> Option<(&str, ParserOptions)> {
    let mode = match fields.get("parseMode")?.as_u64()? {
        0 => ParserOptions::DEFAULT,
        2 => ParserOptions::PLPGSQL_EXPR,
        3 => ParserOptions::PLPGSQL_ASSIGN1,
        4 => ParserOptions::PLPGSQL_ASSIGN2,
        5 => ParserOptions::PLPGSQL_ASSIGN3,
        _ => return None,
    };
    Some((fields.get("query")?.as_str()?, mode))
}

/// The function as its parser wants it. Types do not matter for what the body does: every name in it is looked at by itself.
fn declaration(fact: &FunctionFact) -> String {
    let arguments: Vec<String> = fact
        .argument_names
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| format!("\"{}\" text", name.replace('"', "\"\"")))
        .collect();
    let mut tag = "b".to_owned();
    while fact.source.contains(&format!("${tag}$")) {
        tag.push('b');
    }
    format!(
        "CREATE FUNCTION f({}) RETURNS text LANGUAGE plpgsql AS ${tag}${}${tag}$",
        arguments.join(", "),
        fact.source
    )
}
