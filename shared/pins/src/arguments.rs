//! The arguments of a call, checked against the parameter table.

use serde_json::{Map, Value as Json};

use crate::compile::Row;
use crate::fields;
use crate::param::Presence;
use crate::problem::Problem;
use crate::value::Value;

/// Everything that is wrong with the arguments of a call. It names no value that the caller sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}; {accepted}", problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; "))]
pub struct BadArguments {
    /// Each problem, its path the argument's name.
    pub problems: Vec<Problem>,
    /// What the tool takes, in one line.
    pub accepted: String,
}

/// The values of the rows, in the order of the table; `None` is NULL.
pub(crate) fn read(rows: &[Row], arguments: &Map<String, Json>) -> Result<Vec<Option<Value>>, BadArguments> {
    let mut problems = Vec::new();
    let mut values = Vec::with_capacity(rows.len());
    for row in rows {
        let name = row.param.name().as_str();
        match read_one(row, arguments.get(name)) {
            Ok(value) => values.push(value),
            Err(message) => problems.push(Problem::new(name, message)),
        }
    }
    let known = |name: &str| rows.iter().any(|row| row.param.name().as_str() == name);
    for name in arguments.keys().filter(|name| !known(name)) {
        problems.push(Problem::new(fields::shown(name), "no such parameter"));
    }
    if problems.is_empty() { Ok(values) } else { Err(BadArguments { problems, accepted: accepted(rows) }) }
}

/// Left out, null and text are three things: the default, NULL where the row has none, and a value.
fn read_one(row: &Row, given: Option<&Json>) -> Result<Option<Value>, String> {
    let json = match (row.param.presence(), given) {
        (_, Some(json)) if !json.is_null() => json,
        (Presence::Nullable, _) => return Ok(None),
        (Presence::Default(value), None) => return Ok(Some(value.clone())),
        (Presence::Default(value), Some(_)) => {
            return Err(format!(
                "null is no value of it; leave it out for `{}`",
                fields::shown(value.text())
            ));
        }
        (Presence::Required, None) => {
            return Err(format!("missing; {} takes {}", row.ty.name(), row.ty.accepts()));
        }
        (Presence::Required, Some(_)) => {
            return Err(format!("{} takes {}; got null", row.ty.name(), row.ty.accepts()));
        }
    };
    let value = Value::read(row.ty, json)?;
    row.param.admit(&value)?;
    Ok(Some(value))
}

fn accepted(rows: &[Row]) -> String {
    if rows.is_empty() {
        return "this tool takes no parameters".to_owned();
    }
    let one = |row: &Row| {
        let presence = if *row.param.presence() == Presence::Required { "required" } else { "optional" };
        format!("`{}` ({}, {presence})", row.param.name(), row.ty.name())
    };
    format!("this tool takes {}", rows.iter().map(one).collect::<Vec<_>>().join(", "))
}
