//! A finished call as MCP carries it: structured content, the same JSON as text, and what the model does not see.

use analyst::Failure;
use rmcp::model::{CallToolResult, MetaObject};
use serde_json::{Map, Value, json};

use crate::tools::{Done, Report};

/// The result of a tool call, whether it went well or not.
pub(crate) fn tool_result(done: Done, sql_hash: Option<&str>) -> CallToolResult {
    let Done { result, report } = done;
    let mut answer = match result {
        Ok(value) => CallToolResult::structured(value),
        Err(failure) => CallToolResult::structured_error(failure_json(&failure)),
    };
    answer.meta = meta(&report, sql_hash);
    answer
}

fn failure_json(failure: &Failure) -> Value {
    let mut fields = Map::new();
    fields.insert("error".to_owned(), json!(failure.message));
    fields.insert("code".to_owned(), json!(failure.code));
    fields.insert("outcome".to_owned(), json!(failure.kind.outcome()));
    if let Some(hint) = &failure.hint {
        fields.insert("hint".to_owned(), json!(hint));
    }
    if let Some(position) = failure.position {
        fields.insert("position".to_owned(), json!(position));
    }
    if let Some(plan) = &failure.plan {
        fields.insert("plan".to_owned(), json!(plan));
    }
    // A single finding is told by the fields above.
    if failure.findings.len() > 1 {
        fields.insert("findings".to_owned(), json!(failure.findings));
    }
    Value::Object(fields)
}

fn meta(report: &Report, sql_hash: Option<&str>) -> Option<MetaObject> {
    let mut fields = MetaObject::new();
    if let Some(lane) = report.lane() {
        fields.insert("lane".to_owned(), json!(lane));
    }
    if let Some(hash) = sql_hash {
        fields.insert("sqlHash".to_owned(), json!(hash));
    }
    let warnings = report.warnings();
    if !warnings.is_empty() {
        fields.insert("warnings".to_owned(), json!(warnings));
    }
    (!fields.is_empty()).then_some(fields)
}
