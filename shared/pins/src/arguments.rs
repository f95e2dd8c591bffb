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

/// Why an agent's call cannot be bound.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadCall {
    /// The agent can mend it.
    #[error(transparent)]
    Arguments(#[from] BadArguments),
    /// The caller shows no access token.
    #[error("the claim `{0}` of an access token is needed")]
    NoToken(String),
    /// The caller's access token does not have the claim.
    #[error("the access token lacks the claim `{0}`")]
    MissingClaim(String),
    /// The claim has no value that the parameter takes.
    #[error("the claim `{claim}` of the access token does not fit: {why}")]
    UnfitClaim {
        /// The claim.
        claim: String,
        /// What the parameter takes.
        why: String,
    },
}

/// The arguments of a call and, for the parameters that are claims, their values. An argument that is a claim's is refused.
pub(crate) fn with_claims(
    rows: &[Row],
    arguments: &Map<String, Json>,
    claims: Option<&Map<String, Json>>,
) -> Result<Map<String, Json>, BadCall> {
    let bound: Vec<(&Row, &str)> = rows.iter().filter_map(|row| Some((row, row.param.claim()?))).collect();
    let name = |row: &Row| row.param.name().as_str().to_owned();
    let sent = bound.iter().filter(|(row, _)| arguments.contains_key(row.param.name().as_str()));
    let problems: Vec<Problem> = sent
        .map(|(row, _)| Problem::new(name(row), "comes from the caller's access token; leave it out"))
        .collect();
    if !problems.is_empty() {
        return Err(BadArguments { problems, accepted: accepted(rows) }.into());
    }
    let mut all = arguments.clone();
    for (row, claim) in bound {
        let claims = claims.ok_or_else(|| BadCall::NoToken(claim.to_owned()))?;
        let value = claims.get(claim).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| BadCall::MissingClaim(claim.to_owned()))?;
        let value =
            claimed(row, value).map_err(|why| BadCall::UnfitClaim { claim: claim.to_owned(), why })?;
        all.insert(name(row), value);
    }
    Ok(all)
}

/// A claim as an argument. Issuers write numbers as text and text as numbers; what is neither is JSON.
fn claimed(row: &Row, claim: &Json) -> Result<Json, String> {
    let text = Json::String(claim.as_str().map_or_else(|| claim.to_string(), str::to_owned));
    let value = match Value::read(row.ty, claim) {
        Ok(value) => value,
        Err(why) => Value::read(row.ty, &text).map_err(|_| why)?,
    };
    row.param.admit(&value)?;
    Ok(value.to_json())
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
        (Presence::Required | Presence::Claim(_), None) => {
            return Err(format!("missing; {} takes {}", row.ty.name(), row.ty.accepts()));
        }
        (Presence::Required | Presence::Claim(_), Some(_)) => {
            return Err(format!("{} takes {}; got null", row.ty.name(), row.ty.accepts()));
        }
    };
    let value = Value::read(row.ty, json)?;
    row.param.admit(&value)?;
    Ok(Some(value))
}

/// What a caller can send.
fn accepted(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.param.claim().is_none()).collect();
    if rows.is_empty() {
        return "this tool takes no parameters".to_owned();
    }
    let one = |row: &&Row| {
        let presence = if *row.param.presence() == Presence::Required { "required" } else { "optional" };
        format!("`{}` ({}, {presence})", row.param.name(), row.ty.name())
    };
    format!("this tool takes {}", rows.iter().map(one).collect::<Vec<_>>().join(", "))
}
