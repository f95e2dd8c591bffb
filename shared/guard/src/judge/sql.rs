//! Bodies of SQL functions and expressions of PL/pgSQL, kept as text: parsed, looked through node by node, and everything they
//! name put on the list.

use std::sync::Arc;

use pg_query::ParserOptions;
use serde_json::{Map, Value};

use super::scan::setting_is_told;
use super::{Given, Judgement, Object, Origin, Overloads, UsedBy};
use crate::facts::FunctionFact;
use crate::parse;
use crate::verdict::Code;

impl Judgement<'_> {
    /// The body of an SQL function: statements that compute.
    pub(super) fn sql_source(&mut self, source: &str, within: &Arc<Origin>) {
        self.sql_text(source, ParserOptions::DEFAULT, within);
    }

    pub(super) fn sql_text(&mut self, source: &str, mode: ParserOptions, within: &Arc<Origin>) {
        self.text(source, mode, None, within);
    }

    /// The body of an SQL function that is called on columns in an expression that is only simplified. A body that does more
    /// than compute one value does not take the call's place, so each name in it that could be an argument's is.
    pub(super) fn simplified_source(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        self.text(&fact.source, ParserOptions::DEFAULT, Some(&fact.argument_names), within);
    }

    fn text(&mut self, source: &str, mode: ParserOptions, columns: Option<&[String]>, within: &Arc<Origin>) {
        let Some(mentions) = Self::mentions(source, mode, columns, &self.rules.told_settings, within) else {
            return self.unreadable_body(within);
        };
        mentions.objects.into_iter().for_each(|object| self.reach(object, within));
        mentions.beyond.into_iter().for_each(|what| self.beyond(what, within));
    }

    pub(super) fn beyond(&mut self, what: Beyond, within: &Origin) {
        self.finding(Code::FunctionReads, what.message(), super::function::ALLOW, within);
    }

    /// The body of a listed extension's SQL function.
    pub(super) fn extension_sql(&mut self, fact: &FunctionFact, within: &Arc<Origin>) {
        let which = Overloads::of_body(fact);
        let mentions =
            Self::mentions(&fact.source, ParserOptions::DEFAULT, None, &self.rules.told_settings, within);
        let Some(mentions) = mentions else { return self.unreadable_body(within) };
        for object in mentions.objects {
            match object {
                Object::FunctionName(name, _) => self.reach(Object::FunctionName(name, which), within),
                other => self.reach(other, within),
            }
        }
    }

    fn mentions(
        source: &str,
        mode: ParserOptions,
        columns: Option<&[String]>,
        told: &[String],
        within: &Origin,
    ) -> Option<Mentions> {
        // What the catalog gave cannot be shown whole, so names in it cannot be looked up.
        if source.contains(char::REPLACEMENT_CHARACTER) {
            return None;
        }
        let (by, columns, told) = (within.by, columns.map(<[String]>::to_vec), told.to_vec());
        parse::body(source, mode, move |tree| {
            let mut mentions =
                Mentions { by, told, columns, objects: vec![Object::Casts], beyond: Vec::new() };
            mentions.look(tree);
            mentions
        })
    }

    pub(super) fn unreadable_body(&mut self, within: &Origin) {
        let message = "a function's body could not be read".to_owned();
        self.finding(Code::UserFunction, message, super::function::ALLOW, within);
    }
}

/// Names are cut at 63 bytes, between characters. In another encoding than UTF-8 these are others.
const CUT_BYTES: usize = 60;

/// Pseudo-types that stand for types of the caller's choice.
const ANY_TYPES: &[u32] =
    &[2249, 2276, 2277, 2283, 2287, 2776, 3500, 3831, 4537, 4538, 5077, 5078, 5079, 5080];

impl Overloads {
    /// Which functions must pass that a listed extension's body finds. Where its arguments are of any type the caller has a say
    /// in that, so all.
    pub(super) fn of_body(fact: &FunctionFact) -> Self {
        let any = fact.types.iter().any(|oid| ANY_TYPES.contains(&oid.0));
        if any { Self::Others } else { Self::Found }
    }
}

/// What a body names.
struct Mentions {
    by: UsedBy,
    /// Settings that may be read besides those of the list.
    told: Vec<String>,
    /// Names of the arguments, where those are columns and the body is simplified.
    columns: Option<Vec<String>>,
    objects: Vec<Object>,
    beyond: Vec<Beyond>,
}

/// What a body does besides computing on its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) enum Beyond {
    Reads,
    /// `%TYPE`, which is of a column.
    ColumnType,
    LongName,
    More,
}

impl Beyond {
    fn message(self) -> String {
        match self {
            Self::Reads => "a function's body reads a table or view",
            Self::ColumnType => "a function's body uses the type of a column",
            Self::LongName => "a function's body uses a name that is too long to be looked up",
            Self::More => "a function's body does more than compute on its arguments",
        }
        .to_owned()
    }
}

impl Mentions {
    fn look(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.look(item)),
            Value::Object(fields) => {
                for (kind, node) in fields {
                    if let Value::Object(fields) = node {
                        self.node(kind, fields);
                    }
                    if matches!(kind.as_str(), "into_clause" | "with_clause") && !node.is_null() {
                        self.beyond.push(Beyond::More);
                    }
                    self.look(node);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// What a node of a body brings in. Kinds that hold nothing but other nodes or data need no arm; those that could reach
    /// outside the body's arguments are refused by name or by the `Stmt` they end in.
    fn node(&mut self, kind: &str, fields: &Map<String, Value>) {
        match kind {
            "FuncCall" => self.call(fields),
            "AExpr" => operators(fields).into_iter().for_each(|name| self.operator(name)),
            "SubLink" => {
                self.operator("=".to_owned());
                names(fields.get("oper_name")).last().into_iter().for_each(|name| self.operator(name));
            }
            "SortBy" => names(fields.get("use_op")).last().into_iter().for_each(|name| self.operator(name)),
            // `CASE x WHEN y` and `USING` compare by `=`, whatever that is for the types.
            "CaseExpr" | "JoinExpr" => self.operator("=".to_owned()),
            // Each name after the first is a column or a function of the row before it.
            "ColumnRef" => {
                let names = self.lookable(fields.get("fields"));
                for name in names.into_iter().skip(1) {
                    self.function(name);
                }
            }
            "AIndirection" => {
                let names = self.lookable(fields.get("indirection"));
                for name in names {
                    self.function(name);
                }
            }
            // As a node of its own, or as a field of one.
            "TypeName" | "type_name" => self.type_name(fields),
            "RangeVar" => self.beyond.push(Beyond::Reads),
            "LockingClause" => self.beyond.push(Beyond::More),
            "SelectStmt" | "PlassignStmt" | "RawStmt" | "stmt" => {}
            _ if kind.ends_with("Stmt") => self.beyond.push(Beyond::More),
            _ => younger_keywords(kind).iter().for_each(|name| self.function((*name).to_owned())),
        }
    }

    fn call(&mut self, call: &Map<String, Value>) {
        let Some(name) = self.lookable(call.get("funcname")).pop() else { return };
        if name == "current_setting"
            && first_literal(call).is_some_and(|setting| setting_is_told(setting, self.by, &self.told))
        {
            self.objects.push(Object::FunctionName(name, Overloads::Others));
        } else if let Some(given) = self.given(call) {
            self.objects.push(Object::TypeName(name.clone()));
            self.objects.push(Object::FunctionName(name, Overloads::Simplified(given)));
        } else {
            self.function(name);
        }
    }

    /// On what a call stands that is only simplified, as for calls in a tree; none where it counts as made. What an argument
    /// becomes by a cast or another call is not known here.
    fn given(&self, call: &Map<String, Value>) -> Option<Given> {
        let names = self.columns.as_ref()?;
        let arguments = call.get("args")?.as_array()?;
        let (columns, others): (Vec<_>, Vec<_>) =
            arguments.iter().partition(|argument| is_argument(argument, names));
        match (columns.is_empty(), others.is_empty()) {
            (true, _) => None,
            (false, true) => Some(Given::Columns),
            (false, false) => others.into_iter().all(is_constant).then_some(Given::ConstantsToo),
        }
    }

    /// A name that is called, be it in front of its argument or behind a dot. Where no function fits, it is a type.
    fn function(&mut self, name: String) {
        self.objects.push(Object::TypeName(name.clone()));
        self.objects.push(Object::FunctionName(name, Overloads::All));
    }

    /// Names, one of which might be longer in the server's encoding than this parser takes them to be.
    fn lookable(&mut self, list: Option<&Value>) -> Vec<String> {
        let names: Vec<String> = names(list).collect();
        if names.iter().any(|name| !name.is_ascii() && name.len() >= CUT_BYTES) {
            self.beyond.push(Beyond::LongName);
        }
        names
    }

    fn operator(&mut self, name: String) {
        self.objects.push(Object::OperatorName(name));
    }

    fn type_name(&mut self, fields: &Map<String, Value>) {
        if fields.get("pct_type") != Some(&Value::Bool(false)) {
            self.beyond.push(Beyond::ColumnType);
        }
        let name = self.lookable(fields.get("names")).pop();
        self.objects.extend(name.map(Object::TypeName));
    }
}

/// The operators behind an expression of operators, `IN`, `BETWEEN`, `LIKE`, `NULLIF` and their kin.
fn operators(fields: &Map<String, Value>) -> Vec<String> {
    let name = names(fields.get("name")).last().unwrap_or_default();
    if name.contains("BETWEEN") { vec!["<=".to_owned(), ">=".to_owned()] } else { vec![name] }
}

/// The names in a list of names; a `*` or a subscript has none.
fn names(list: Option<&Value>) -> impl Iterator<Item = String> {
    let items = list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| Some(item.pointer("/node/String/sval")?.as_str()?.to_owned()))
}

/// Whether it is an argument of the function as it is: `$1`, or its name, maybe under a collation.
fn is_argument(value: &Value, names: &[String]) -> bool {
    if let Some(collated) = value.pointer("/node/CollateClause/arg") {
        return is_argument(collated, names);
    }
    let column = value.pointer("/node/ColumnRef/fields").and_then(Value::as_array).map(Vec::as_slice);
    let name = match column {
        Some([field]) => field.pointer("/node/String/sval").and_then(Value::as_str),
        _ => None,
    };
    name.is_some_and(|name| names.iter().any(|known| known == name))
        || value.pointer("/node/ParamRef").is_some()
}

/// Whether it is a literal that is not NULL: a plain one, or a string with its type.
fn is_constant(value: &Value) -> bool {
    let typed = value.pointer("/node/TypeCast/arg/node/AConst/val/Sval");
    typed.is_some() || value.pointer("/node/AConst/isnull") == Some(&Value::Bool(false))
}

/// The first argument of a call, where it is a string and nothing else.
fn first_literal(call: &Map<String, Value>) -> Option<&str> {
    call.get("args")?.get(0)?.pointer("/node/AConst/val/Sval/sval")?.as_str()
}

/// What an older server calls as a function where the newest grammar, by which bodies are read here, has syntax of its own.
fn younger_keywords(kind: &str) -> &'static [&'static str] {
    match kind {
        "JsonParseExpr" => &["json"],
        "JsonScalarExpr" => &["json_scalar"],
        "JsonSerializeExpr" => &["json_serialize"],
        "JsonFuncExpr" => &["json_exists", "json_query", "json_value"],
        "JsonObjectConstructor" => &["json_object"],
        "JsonArrayConstructor" | "JsonArrayQueryConstructor" => &["json_array"],
        "JsonObjectAgg" => &["json_objectagg"],
        "JsonArrayAgg" => &["json_arrayagg"],
        "JsonTable" => &["json_table"],
        "MergeSupportFunc" => &["merge_action"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a body names, as `function name`, `type name`, `operator name`, and what it does besides.
    fn named(source: &str) -> Vec<String> {
        named_with(source, None)
    }

    fn named_with(source: &str, columns: Option<&[String]>) -> Vec<String> {
        let within = Origin::statement();
        let Some(mentions) = Judgement::mentions(source, ParserOptions::DEFAULT, columns, &[], &within)
        else {
            return vec!["unreadable".to_owned()];
        };
        let mut named: Vec<String> = mentions
            .objects
            .into_iter()
            .filter_map(|object| match object {
                Object::FunctionName(name, Overloads::All) => Some(format!("function {name}")),
                Object::FunctionName(name, which) => Some(format!("{which:?} function {name}")),
                Object::TypeName(name) => Some(format!("type {name}")),
                Object::OperatorName(name) => Some(format!("operator {name}")),
                _ => None,
            })
            .chain(mentions.beyond.into_iter().map(|beyond| format!("{beyond:?}")))
            .collect();
        named.sort();
        named.dedup();
        named
    }

    #[track_caller]
    fn check(source: &str, expected: &[&str]) {
        assert_eq!(named(source), expected, "{source}");
    }

    #[test]
    fn a_type_is_seen_wherever_it_is_written() {
        check("SELECT x::public.Email", &["type email"]);
        check("SELECT CAST(x AS email[])", &["type email"]);
        check(
            "SELECT r.a FROM json_to_record(x) AS r(a email)",
            &["function a", "function json_to_record", "type a", "type email", "type json_to_record"],
        );
        check("SELECT a FROM xmltable('/a' PASSING x COLUMNS a email PATH '.')", &["type email"]);
    }

    #[test]
    fn a_call_is_of_a_function_or_a_type() {
        check("SELECT public.email(x)", &["function email", "type email"]);
        check("SELECT (x).a.b[1].*", &["function a", "function b", "type a", "type b"]);
        check("SELECT x.a", &["function a", "type a"]);
    }

    #[test]
    fn operators_are_seen_where_no_sign_of_them_stands() {
        check("SELECT x IN (1), nullif(x, 2)", &["operator ="]);
        check("SELECT x BETWEEN 1 AND 2", &["operator <=", "operator >="]);
        check("SELECT CASE x WHEN 1 THEN 2 END", &["operator ="]);
        check("SELECT 1 ORDER BY x USING OPERATOR(public.<<<)", &["operator <<<"]);
    }

    #[test]
    fn a_setting_by_a_listed_literal_is_no_call_of_the_built_in() {
        check("SELECT current_setting('TimeZone')", &["Others function current_setting"]);
        check(
            "SELECT current_setting('data_directory')",
            &["function current_setting", "type current_setting"],
        );
    }

    #[test]
    fn syntax_of_a_younger_grammar_is_a_call_on_an_older_server() {
        check("SELECT json_scalar(x)", &["function json_scalar", "type json_scalar"]);
        check("SELECT JSON(x)", &["function json", "type json"]);
    }

    #[test]
    fn what_does_more_than_compute_is_seen() {
        check("SELECT 1 FROM t", &["Reads"]);
        check("WITH c AS (SELECT 1) SELECT 1", &["More"]);
        check("SELECT 1; NOTIFY x", &["More"]);
        check("SELECT 'x\u{FFFD}'", &["unreadable"]);
        let long = "é".repeat(40);
        assert!(named(&format!("SELECT {long}(x)")).contains(&"LongName".to_owned()));
    }

    #[test]
    fn a_call_in_a_simplified_body_is_kept_on_arguments_as_they_are() {
        let check = |call: &str, expected: &str| {
            let named = named_with(&format!("SELECT {call}"), Some(&["a".to_owned()]));
            assert!(named.contains(&format!("{expected} f")), "{call}: {named:?}");
        };
        for kept in ["f($1)", "f(a)", "f(a, $2)", "f(a COLLATE \"C\")"] {
            check(kept, "Simplified(Columns) function");
        }
        for kept in ["f($1, 'x')", "f(1, a)", "f(regdictionary 'x', a)"] {
            check(kept, "Simplified(ConstantsToo) function");
        }
        for made in
            ["f()", "f('x')", "f(b)", "f(a.b)", "f(a, NULL)", "f(a, g(a))", "f(a::text)", "f(a || 'x')"]
        {
            check(made, "function");
        }
    }
}
