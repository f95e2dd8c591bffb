//! Bodies of PL/pgSQL functions, by the parser that PostgreSQL's grammar brings for them. What is not listed here is refused:
//! loops, cursors, `RAISE`, `PERFORM`, statements, dynamic SQL, exception blocks.

use std::sync::Arc;

use pg_query::ParserOptions;
use pg_query::protobuf::ScanToken;
use serde_json::{Map, Value};

use super::sql::Beyond;
use super::{Judgement, Object, Origin, Overloads};
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

/// Operators that words stand for: `IN`, `CASE`, `BETWEEN`, `LIKE` and their kin.
const IMPLIED_OPERATORS: &[&str] = &["=", "<>", "<=", ">=", "~~", "!~~", "~~*", "!~~*"];

impl Judgement<'_> {
    pub(super) fn plpgsql_source(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        let parsed = if has_itself_dumped(&fact.source) { None } else { parse::plpgsql(&declaration(fact)) };
        match parsed {
            Some(body) => self.plpgsql(&body, within),
            None => self.unreadable_body(within),
        }
    }

    /// The body of a listed extension's function, word by word: what it does is its author's affair, only the names that it
    /// looks up when it runs count. One that runs a text as SQL looks up nobody knows what.
    pub(super) fn extension_plpgsql(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        let which = Overloads::of_body(fact);
        let Some(tokens) = tokens(&fact.source) else { return self.unreadable_body(within) };
        self.reach(Object::Casts, within);
        for name in IMPLIED_OPERATORS {
            self.reach(Object::OperatorName((*name).to_owned()), within);
        }
        // The token before a name and all that qualifies it.
        let mut ahead = "";
        for (at, token) in tokens.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| tokens.get(at)).copied().unwrap_or_default();
            let after = tokens.get(at + 1).copied().unwrap_or_default();
            let Some(name) = word(token) else {
                if token.chars().all(|sign| "+-*/<>=~!@#%^&|`?".contains(sign)) {
                    self.reach(Object::OperatorName((*token).to_owned()), within);
                }
                continue;
            };
            if before != "." {
                ahead = before;
            }
            if name == "execute" {
                self.plpgsql_unlisted("dynamic SQL", within);
            }
            if after == "(" || before == "." {
                self.reach(Object::FunctionName(name.clone(), which), within);
            }
            // A type stands behind a cast or another word: a name that is declared, `AS`, `CONSTANT`.
            let declares = word(ahead).is_some_and(|word| !matches!(word.as_str(), "from" | "join" | "into"));
            if after != "." && (ahead == "::" || declares) {
                self.reach(Object::TypeName(name), within);
            }
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
        let query = fields.get("query").and_then(Value::as_str);
        let mode = match fields.get("parseMode").and_then(Value::as_u64) {
            Some(2) => ParserOptions::PLPGSQL_EXPR,
            Some(3) => ParserOptions::PLPGSQL_ASSIGN1,
            Some(4) => ParserOptions::PLPGSQL_ASSIGN2,
            Some(5) => ParserOptions::PLPGSQL_ASSIGN3,
            _ => return self.unreadable_body(within),
        };
        match query {
            Some(query) => self.sql_text(query, mode, within),
            None => self.unreadable_body(within),
        }
    }

    fn plpgsql_unlisted(&mut self, what: &str, within: &Origin) {
        let what = what.trim_start_matches("PLpgSQL_").trim_start_matches("stmt_");
        let message = format!("a function's body does more than compute on its arguments: {what}");
        self.finding(Code::UserFunction, message, super::function::ALLOW, within);
    }
}

/// The function as its parser wants it. Types do not matter for what the body does: every name in it is looked at by itself.
fn declaration(fact: &FunctionFact) -> String {
    let arguments: Vec<String> = match fact.argument_names.as_slice() {
        // Without names there may be numbers in use.
        [] => fact.types.iter().map(|_| "text".to_owned()).collect(),
        names => names.iter().map(|name| argument(name)).collect(),
    };
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

/// Whether a body may begin with `#option dump`, at which the parser writes the body to this process's own output, where log
/// lines go.
fn has_itself_dumped(source: &str) -> bool {
    let Some(tokens) = tokens(source) else { return true };
    let words = tokens.iter().map(|token| word(token).unwrap_or_default());
    words.take_while(|word| !matches!(word.as_str(), "declare" | "begin")).any(|word| word == "dump")
}

/// The words and signs of a text, without comments.
fn tokens(source: &str) -> Option<Vec<&str>> {
    let text =
        |token: &ScanToken| source.get(usize::try_from(token.start).ok()?..usize::try_from(token.end).ok()?);
    let all: Vec<&str> = pg_query::scan(source).ok()?.tokens.iter().map(text).collect::<Option<_>>()?;
    Some(all.into_iter().filter(|token| !token.starts_with("--") && !token.starts_with("/*")).collect())
}

/// A name or keyword as PostgreSQL looks it up; none for a sign, a literal or a comment.
fn word(token: &str) -> Option<String> {
    if let Some(quoted) = token.strip_prefix('"') {
        return quoted.strip_suffix('"').map(|name| name.replace("\"\"", "\""));
    }
    let is_word = token.starts_with(|first: char| first.is_alphabetic() || first == '_');
    is_word.then(|| token.to_ascii_lowercase())
}

fn argument(name: &str) -> String {
    if name.is_empty() { "text".to_owned() } else { format!("\"{}\" text", name.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_would_be_dumped_is_known_before_it_is_parsed() {
        for source in ["#option dump BEGIN END", "# /* */ OPTION\nDump\n<<a>> DECLARE BEGIN END", "'unended"]
        {
            assert!(has_itself_dumped(source), "{source}");
        }
        for source in [
            "BEGIN RETURN dump; END",
            "#variable_conflict use_column DECLARE dump int; BEGIN END",
            "-- dump\nBEGIN END",
        ] {
            assert!(!has_itself_dumped(source), "{source}");
        }
    }

    #[test]
    fn a_text_falls_into_words_and_signs() {
        let found = tokens("x := f /* g */ (\"A b\"::t); -- h").unwrap();
        assert_eq!(found, ["x", ":=", "f", "(", "\"A b\"", "::", "t", ")", ";"]);
        assert_eq!(word("\"A \"\"b\""), Some("A \"b".to_owned()));
        assert_eq!(word("Upper"), Some("upper".to_owned()));
        assert_eq!(word("'x'"), None);
        assert_eq!(tokens("'unended"), None);
    }
}
