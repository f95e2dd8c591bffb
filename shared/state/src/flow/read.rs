//! From JSON text to a flow, with every problem found on the way.

use std::borrow::Cow;
use std::collections::HashMap;

use pins::Pin;
use serde_json::Value;

use super::fields::{Fields, expected, line, list, short, text, word};
use super::{
    Action, Actions, CredentialId, Flow, FlowId, FlowKind, FlowProblems, Limits, Node, NodeId, Problem,
    RowFormat, id, twice,
};
use pg::ClaimName;
use pg::name::{self, NameError, QualifiedName};

/// Draft and Live together stay under the 6 MB that a Lambda function can answer.
const MAX_BYTES: usize = 2_500_000;
const MAX_NAME_CHARS: usize = 100;
const MAX_SUMMARY_CHARS: usize = 300;
const MAX_RULES_CHARS: usize = 2_000;
const MAX_CLAIM_CHARS: usize = 100;
/// The largest whole number that every JSON reader takes exactly: 2^53.
const MAX_NUMBER: f64 = 9_007_199_254_740_992.0;

const FLOW_KEYS: [&str; 4] = ["id", "name", "kind", "nodes"];
const NODE_KEYS: [&str; 16] = [
    "id",
    "name",
    "summary",
    "credential",
    "actions",
    "relations",
    "rules",
    "rowCap",
    "timeoutSeconds",
    "searchPath",
    "allowedFunctions",
    "allowedForeignTables",
    "pins",
    "limits",
    "callerClaims",
    "rowFormat",
];
const LIMIT_KEYS: [&str; 7] = [
    "maxRows",
    "maxBytes",
    "timeoutSeconds",
    "callsPerMinute",
    "concurrentCalls",
    "maxEstimatedRows",
    "maxPlanCost",
];

/// Reads a document; it is a flow, or a list of all that is wrong with it.
pub(super) fn flow(text: &str) -> Result<Flow, FlowProblems> {
    if text.len() > MAX_BYTES {
        return Err(problem(format!(
            "the document has {} bytes; at most {MAX_BYTES} are allowed",
            text.len()
        )));
    }
    stored(text)
}

/// The same for a document that was taken before, however long it is now.
pub(super) fn stored(text: &str) -> Result<Flow, FlowProblems> {
    let broken = |error: serde_json::Error| {
        problem(format!(
            "the document is no valid JSON: look at line {}, column {}",
            error.line(),
            error.column()
        ))
    };
    let mut problems = Vec::new();
    twice::find(text, &mut problems).map_err(broken)?;
    let json: Value = serde_json::from_str(text).map_err(broken)?;
    let flow = read_flow(&json, &mut problems);
    find_twins(&json, &mut problems);
    match flow {
        Some(flow) if problems.is_empty() => Ok(flow),
        _ => Err(FlowProblems::new(problems)),
    }
}

fn problem(message: String) -> FlowProblems {
    FlowProblems::new(vec![Problem { path: String::new(), message }])
}

fn read_flow(json: &Value, problems: &mut Vec<Problem>) -> Option<Flow> {
    let mut flow = Fields::open(json, "", &FLOW_KEYS, problems)?;
    let id = flow.required("id", |json| read_id(json, FlowId::parse));
    let name = flow.optional("name", |json| line(json, MAX_NAME_CHARS));
    let kind = flow.required("kind", |json| word(json, &FlowKind::ALL));
    let nodes = flow.required("nodes", list).unwrap_or_default();
    let nodes = parts("nodes", &nodes, flow.problems(), read_node);
    let id = id?;
    Some(Flow { name: name.unwrap_or_else(|| id.to_string()), id, kind: kind?, nodes })
}

/// Claims of which each has a setting of its own.
fn read_claims(node: &mut Fields<'_>) -> Vec<ClaimName> {
    let claims = node.each("callerClaims", list, |json| {
        let claim = line(json, MAX_CLAIM_CHARS)?;
        ClaimName::parse(&claim).ok_or_else(|| "is no name of a claim".to_owned())
    });
    for (index, claim) in claims.iter().enumerate() {
        let earlier = claims.iter().take(index).find(|earlier| earlier.setting() == claim.setting());
        if let Some(earlier) = earlier {
            let (one, other, setting) = (earlier.claim(), claim.claim(), claim.setting());
            node.problem(
                "callerClaims",
                format!("`{one}` and `{other}` would both be `{setting}`; keep one"),
            );
        }
    }
    claims
}

fn read_node(json: &Value, path: &str, problems: &mut Vec<Problem>) -> Option<Node> {
    let mut node = Fields::open(json, path, &NODE_KEYS, problems)?;
    let id = node.required("id", |json| read_id(json, NodeId::parse));
    let name = node.optional("name", |json| line(json, MAX_NAME_CHARS));
    let summary = node.optional("summary", |json| line(json, MAX_SUMMARY_CHARS));
    let credential = node.optional("credential", |json| read_id(json, CredentialId::parse));
    let actions = node.each("actions", list, |json| word(json, &Action::ALL));
    let relations = node.each("relations", names, qualified);
    let rules = node.optional("rules", read_rules).flatten();
    let row_cap = node.optional("rowCap", whole);
    let timeout_seconds = node.optional("timeoutSeconds", whole);
    let search_path = node.each("searchPath", names, schema);
    let allowed_functions = node.each("allowedFunctions", names, qualified);
    let allowed_foreign_tables = node.each("allowedForeignTables", names, qualified);
    let pins = node.optional("pins", list).unwrap_or_default();
    let pins = parts(&format!("{path}.pins"), &pins, node.problems(), read_pin);
    let limits = node.get("limits");
    let limits = limits.and_then(|limits| read_limits(limits, &format!("{path}.limits"), node.problems()));
    let caller_claims = read_claims(&mut node);
    let row_format = node.optional("rowFormat", |json| word(json, &RowFormat::ALL));
    let id = id?;
    Some(Node {
        name: name.unwrap_or_else(|| id.to_string()),
        id,
        summary,
        credential,
        actions: Actions(actions.into_iter().collect()),
        relations,
        rules,
        row_cap,
        timeout_seconds,
        search_path,
        allowed_functions,
        allowed_foreign_tables,
        pins,
        limits: limits.unwrap_or_default(),
        caller_claims,
        row_format: row_format.unwrap_or_default(),
    })
}

fn read_limits(json: &Value, path: &str, problems: &mut Vec<Problem>) -> Option<Limits> {
    let mut limits = Fields::open(json, path, &LIMIT_KEYS, problems)?;
    Some(Limits {
        max_rows: limits.optional("maxRows", whole),
        max_bytes: limits.optional("maxBytes", whole),
        timeout_seconds: limits.optional("timeoutSeconds", whole),
        calls_per_minute: limits.optional("callsPerMinute", whole),
        concurrent_calls: limits.optional("concurrentCalls", whole),
        max_estimated_rows: limits.optional("maxEstimatedRows", whole_large),
        max_plan_cost: limits.optional("maxPlanCost", positive),
    })
}

fn read_pin(json: &Value, path: &str, problems: &mut Vec<Problem>) -> Option<Pin> {
    let found = match Pin::from_json(json) {
        Ok(pin) => return Some(pin),
        Err(found) => found,
    };
    problems.extend(found.into_iter().map(|problem| {
        let path = if problem.path.is_empty() { path.to_owned() } else { format!("{path}.{}", problem.path) };
        Problem { path, message: problem.message }
    }));
    None
}

/// Reads what is in a list, entry by entry.
fn parts<T>(
    path: &str,
    entries: &[Value],
    problems: &mut Vec<Problem>,
    read: impl Fn(&Value, &str, &mut Vec<Problem>) -> Option<T>,
) -> Vec<T> {
    let entries = entries.iter().enumerate();
    entries.filter_map(|(index, entry)| read(entry, &format!("{path}[{index}]"), problems)).collect()
}

/// Ids of nodes, and ids and names of pins, that stand twice. This goes over the JSON and not over what was read, so
/// that a twin is found also where its neighbour has other problems.
fn find_twins(json: &Value, problems: &mut Vec<Problem>) {
    let mut seen = HashMap::new();
    let mut look = |entry: &Value, path: &str, kind: &'static str, key: &str| {
        let Some(text) = entry.get(key).and_then(Value::as_str) else { return };
        let first = seen.entry((kind, text.to_owned())).or_insert_with(|| path.to_owned());
        if first != path {
            let message = format!("`{text}` is taken by `{first}`; {kind} must differ within a flow");
            problems.push(Problem { path: format!("{path}.{key}"), message });
        }
    };
    let entries = |json: &Value, key| json.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    for (index, node) in entries(json, "nodes").iter().enumerate() {
        let path = format!("nodes[{index}]");
        look(node, &path, "node ids", "id");
        for (index, pin) in entries(node, "pins").iter().enumerate() {
            let path = format!("{path}.pins[{index}]");
            look(pin, &path, "pin ids", "id");
            look(pin, &path, "pin names", "name");
        }
    }
}

fn read_id<T>(json: &Value, parse: impl Fn(&str) -> Option<T>) -> Result<T, String> {
    let text = json.as_str().ok_or_else(|| expected(id::ACCEPTED, json))?;
    parse(text).ok_or_else(|| format!("expected {}", id::ACCEPTED))
}

/// A list of names, or one text with commas between them. A comma inside double quotes is part of a name.
fn names(json: &Value) -> Result<Cow<'_, [Value]>, String> {
    match json {
        Value::Array(names) => Ok(Cow::Borrowed(names)),
        Value::String(names) if names.trim().is_empty() => Ok(Cow::Borrowed(&[])),
        Value::String(names) => {
            let names = name::split(names, ',').map_err(|error| error.to_string())?;
            Ok(names.into_iter().map(Value::from).collect())
        }
        _ => Err(expected("a list of names, or text with commas between them", json)),
    }
}

fn qualified(json: &Value) -> Result<QualifiedName, String> {
    text(json)?.parse().map_err(|error: NameError| error.to_string())
}

/// A schema of a search path; `$user` stands for itself.
fn schema(json: &Value) -> Result<String, String> {
    let text = text(json)?.trim();
    if text == "$user" {
        return Ok(text.to_owned());
    }
    name::identifier(text).map_err(|error| error.to_string())
}

/// Rules that are blank are none.
fn read_rules(json: &Value) -> Result<Option<String>, String> {
    let rules = short(text(json)?.trim(), MAX_RULES_CHARS)?;
    if rules.contains('\0') {
        return Err("holds a NUL character; leave it out".to_owned());
    }
    Ok((!rules.is_empty()).then(|| rules.to_owned()))
}

/// A number as people type it: a fraction is rounded down, and at least 1 is left.
fn whole(json: &Value) -> Result<u32, String> {
    let number = positive_up_to(json, f64::from(u32::MAX))?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "just held between 0 and u32::MAX"
    )]
    let whole = number.floor() as u32;
    Ok(whole.max(1))
}

/// The same for numbers that may be larger.
fn whole_large(json: &Value) -> Result<u64, String> {
    let number = positive_up_to(json, MAX_NUMBER)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "just held between 0 and 2^53"
    )]
    let whole = number.floor() as u64;
    Ok(whole.max(1))
}

fn positive_up_to(json: &Value, most: f64) -> Result<f64, String> {
    let number = positive(json)?;
    if number > most { Err(format!("expected a number above 0 and at most {most}")) } else { Ok(number) }
}

fn positive(json: &Value) -> Result<f64, String> {
    let Value::Number(number) = json else { return Err(expected("a number above 0", json)) };
    number.as_f64().filter(|number| *number > 0.0).ok_or_else(|| "expected a number above 0".to_owned())
}
