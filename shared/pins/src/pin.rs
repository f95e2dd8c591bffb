//! A pin as it is saved in a flow document.

use std::num::NonZeroU32;

use serde_json::{Value as Json, json};

use crate::fields::{self, Fields};
use crate::name::ToolName;
use crate::param::Param;
use crate::problem::Problem;
use crate::stamp::Stamp;

/// The longest statement, in bytes: what the guard takes too.
const MAX_SQL_BYTES: usize = 256 * 1024;
const MAX_ID_CHARS: usize = 64;
const MAX_PURPOSE_CHARS: usize = 300;
const MAX_PARAMS: usize = 100;

const KEYS: [&str; 8] = ["id", "name", "purpose", "sql", "params", "rowCap", "version", "stamp"];

/// One saved statement with its parameters. Its shape is right; whether its statement keeps the rules is what
/// [`Pin::compile`] finds out, so that an unfinished pin can be saved as a draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    id: String,
    name: ToolName,
    purpose: String,
    sql: String,
    params: Vec<Param>,
    row_cap: Option<NonZeroU32>,
    version: u64,
    stamp: Option<Stamp>,
}

impl Pin {
    /// Reads a pin of a flow document. All problems come at once, their paths relative to the pin (`params[0].type`).
    pub fn from_json(json: &Json) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        match read(json, &mut problems) {
            Some(pin) if problems.is_empty() => Ok(pin),
            _ => Err(problems),
        }
    }

    /// The pin as [`Pin::from_json`] reads it, with every key in the order of the contract.
    pub fn to_json(&self) -> Json {
        json!({
            "id": self.id,
            "name": self.name.as_str(),
            "purpose": self.purpose,
            "sql": self.sql,
            "params": self.params.iter().map(Param::to_json).collect::<Vec<_>>(),
            "rowCap": self.row_cap,
            "version": self.version,
            "stamp": self.stamp.as_ref().map(Stamp::to_json),
        })
    }

    /// What results and audit rows call it: stable while the pin is edited.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name of its tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// The line that tells agents what it answers.
    pub fn purpose(&self) -> &str {
        &self.purpose
    }

    /// The statement as a person wrote it.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The parameter table, in the order of the document.
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Rows of a page; only ever lowers what the node allows.
    pub fn row_cap(&self) -> Option<NonZeroU32> {
        self.row_cap
    }

    /// Which edit of the pin this is, from 1.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What its last test left; proves nothing until it is verified.
    pub fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// The same pin with what a test left.
    #[must_use]
    pub fn with_stamp(mut self, stamp: Option<Stamp>) -> Self {
        self.stamp = stamp;
        self
    }
}

fn read(json: &Json, problems: &mut Vec<Problem>) -> Option<Pin> {
    let mut pin = Fields::open(json, "", &KEYS, problems)?;
    let id = pin.required("id", read_id);
    let name = pin.required("name", |json| ToolName::parse(fields::text(json)?));
    let purpose = pin.required("purpose", |json| fields::line(json, MAX_PURPOSE_CHARS));
    let sql = pin.required("sql", read_sql);
    let row_cap = pin.optional("rowCap", read_row_cap);
    let version = pin.optional("version", read_version).unwrap_or(1);
    let rows = pin.optional("params", fields::array).map(Vec::as_slice).unwrap_or_default();
    let params = read_params(rows, pin.problems());
    let stamp = pin.get("stamp").and_then(|json| Stamp::read(json, "stamp", pin.problems()));
    Some(Pin { id: id?, name: name?, purpose: purpose?, sql: sql?, params, row_cap, version, stamp })
}

fn read_params(rows: &[Json], problems: &mut Vec<Problem>) -> Vec<Param> {
    if rows.len() > MAX_PARAMS {
        problems.push(Problem::new(
            "params",
            format!("has {} rows; at most {MAX_PARAMS} are allowed", rows.len()),
        ));
        return Vec::new();
    }
    let mut params: Vec<Param> = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate() {
        let path = format!("params[{index}]");
        let Some(param) = Param::read(row, &path, problems) else { continue };
        let name = param.name().as_str();
        if params.iter().any(|earlier| earlier.name().as_str().eq_ignore_ascii_case(name)) {
            let message = format!("`{name}` has a row already; names that differ only in case count as one");
            problems.push(Problem::new(format!("{path}.name"), message));
        }
        params.push(param);
    }
    params
}

fn read_id(json: &Json) -> Result<String, String> {
    let id = fields::text(json)?;
    let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    if id.is_empty() || id.len() > MAX_ID_CHARS || !plain {
        return Err(format!("an id has 1 to {MAX_ID_CHARS} letters a to z, digits, hyphens or underscores"));
    }
    Ok(id.to_owned())
}

fn read_sql(json: &Json) -> Result<String, String> {
    let sql = fields::text(json)?;
    if sql.trim().is_empty() {
        return Err("is blank; write one SELECT or WITH statement".to_owned());
    }
    if sql.contains('\0') {
        return Err("holds a NUL character; leave it out".to_owned());
    }
    if sql.len() > MAX_SQL_BYTES {
        return Err(format!("has {} bytes; at most {MAX_SQL_BYTES} are allowed", sql.len()));
    }
    Ok(sql.to_owned())
}

/// A row cap as people type it: a fraction is rounded down, and at least one row is left.
fn read_row_cap(json: &Json) -> Result<NonZeroU32, String> {
    let rows = json.as_f64().filter(|rows| *rows > 0.0 && *rows <= f64::from(u32::MAX));
    let rows = rows.ok_or_else(|| "expected a number of rows, at least 1".to_owned())?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "just held between 0 and u32::MAX"
    )]
    let whole = rows.floor() as u32;
    Ok(NonZeroU32::new(whole).unwrap_or(NonZeroU32::MIN))
}

fn read_version(json: &Json) -> Result<u64, String> {
    let version = json.as_u64().filter(|version| (1..=1 << 53).contains(version));
    version.ok_or_else(|| "expected a whole number, at least 1".to_owned())
}
