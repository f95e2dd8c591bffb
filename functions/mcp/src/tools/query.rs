//! `query`: free SQL, one statement that reads.

use analyst::query::Ask;
use analyst::{Failure, Scope};
use pg::Parameter;
use pg::values::RowFormat;
use rmcp::model::JsonObject;
use serde_json::Value;
use service::Limits;

use super::schema::{input, list, object_of, output, text, truth, whole, word};
use super::{Listed, Work};
use crate::arguments::Arguments;

const SQL: &[&str] = &["sql", "statement", "query"];
const ACCEPTED: &[&str] =
    &["sql", "statement", "query", "params", "max_rows", "max_bytes", "timeout_seconds", "format"];

/// The fewest bytes that hold a row worth reading.
const FEWEST_BYTES: u64 = 256;

const FORMATS: &[(&str, RowFormat)] =
    &[("arrays", RowFormat::Arrays), ("objects", RowFormat::Objects), ("table", RowFormat::Table)];

pub(super) fn listed(scope: &Scope) -> Listed {
    let limits = scope.ceilings;
    let statements = if scope.relations.is_empty() {
        "SELECT, WITH, VALUES, TABLE, EXPLAIN of one of these, or SHOW"
    } else {
        "SELECT, WITH, VALUES or TABLE"
    };
    Listed {
        title: "Run a read-only SQL statement",
        description: format!(
            "Runs one read-only SQL statement in PostgreSQL's dialect ({statements}) and returns its rows. Nothing can be \
             written. Send values as `params` for $1, $2, … instead of writing them into the text. An answer holds at most \
             {} rows and {} bytes and takes at most {} seconds; `truncated` says exactly whether there are more rows. \
             numeric, and int8 beyond 2^53, come as strings with every digit. Before you report that a text filter finds \
             nothing, look at the distinct values of the column, or use ILIKE.",
            limits.rows, limits.bytes, limits.seconds
        ),
        input: input(
            vec![
                (
                    "sql",
                    text(
                        "One statement; a trailing semicolon and comments are fine. Aliases: statement, query.",
                    ),
                ),
                (
                    "params",
                    // Other kinds are taken too, but Vertex AI and others refuse a whole request over one schema without a
                    // type, and as text every value can be sent.
                    list(
                        "Values of $1, $2, … in order, as text of their types: \"7\", \"2026-01-31\", \"{a,b}\". JSON numbers, \
                         booleans, null and lists are fine too.",
                        text("A value."),
                    ),
                ),
                ("max_rows", whole("Rows at most, if fewer than the limit.", 1, Some(Limits::MOST_ROWS))),
                (
                    "max_bytes",
                    whole(
                        "Bytes of rows at most, if fewer than the limit.",
                        FEWEST_BYTES,
                        Some(Limits::MOST_BYTES),
                    ),
                ),
                (
                    "timeout_seconds",
                    whole("Seconds at most, if fewer than the limit.", 1, Some(Limits::MOST_SECONDS)),
                ),
                (
                    "format",
                    word(
                        "How rows are written; leave out for this node's own.",
                        &["arrays", "objects", "table"],
                    ),
                ),
            ],
            &["sql"],
        ),
        output: output(answer()),
    }
}

/// The properties of an answer with rows.
pub(super) fn answer() -> Vec<(&'static str, Value)> {
    vec![
        (
            "columns",
            list(
                "In order; names may repeat.",
                object_of(vec![("name", text("Its name.")), ("type", text("Its PostgreSQL type."))]),
            ),
        ),
        (
            "rows",
            Value::Object(serde_json::Map::from_iter([(
                "description".to_owned(),
                Value::from(
                    "A list of rows; each a list of values, or an object, by `format`; for `table` one text.",
                ),
            )])),
        ),
        ("rowCount", whole("Rows in this answer.", 0, None)),
        ("truncated", truth("Whether there are more rows than these; exact.")),
        ("truncatedBy", word("What ended the answer first.", &["rows", "bytes", "time"])),
        ("valuesCut", whole("Values of which only the beginning is shown.", 1, None)),
        ("notes", list("What a reader of the rows must know.", text("A note."))),
        ("elapsedMs", whole("Milliseconds, connecting included.", 0, None)),
    ]
}

/// A call's arguments, read.
struct Asked<'a> {
    ask: Ask<'a>,
    seconds: u32,
    lowered: Vec<String>,
}

pub(super) async fn call(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let Asked { ask, seconds, lowered } = read(given, work)?;
    let pins = work.standing_pins().await;
    work.report(|report| {
        report.sql = Some(ask.sql.to_owned());
        let names = pins.iter().map(|pin| pin.name().as_str().to_owned());
        report.free_sql_with_pin = Some(names.collect()).filter(|names: &Vec<String>| !names.is_empty());
    });
    let deadline = work.deadline(seconds);
    let open = async || work.reach(deadline).await;
    let mut answer = analyst::query::ask(&ask, &work.scope, deadline, open).await?;
    work.report(|report| report.answered(&answer));
    answer.notes.extend(lowered);
    Work::json(&answer)
}

fn read<'a>(given: &'a JsonObject, work: &Work<'_>) -> Result<Asked<'a>, Failure> {
    let arguments = Arguments::new("query", given, ACCEPTED)?;
    let sql = arguments.text(SQL)?.ok_or_else(|| {
        Failure::argument("the argument `sql` is missing or was cut off")
            .hinting("send one shorter statement in `sql`")
    })?;
    let limits = work.scope.ceilings;
    let mut lowered = Vec::new();
    let mut at_most = |name: &str, low: u64, most: u64, limit: u64| -> Result<u64, Failure> {
        let asked = arguments.whole(name, low..=most)?;
        if asked.is_some_and(|asked| asked > limit) {
            lowered.push(format!("`{name}` was lowered to this node's limit of {limit}"));
        }
        Ok(asked.unwrap_or(limit).min(limit))
    };
    let rows = at_most("max_rows", 1, Limits::MOST_ROWS, limits.rows.into())?;
    let bytes = at_most("max_bytes", FEWEST_BYTES, Limits::MOST_BYTES, limits.bytes as u64)?;
    let seconds = at_most("timeout_seconds", 1, Limits::MOST_SECONDS, limits.seconds.into())?;
    let format = arguments.choice("format", FORMATS)?.unwrap_or(work.row_format());
    let parameters = arguments.list("params")?.iter().cloned().map(Parameter::from).collect();
    let ask = Ask {
        sql,
        parameters,
        rows: u32::try_from(rows).unwrap_or(u32::MAX),
        bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        format,
    };
    Ok(Asked { ask, seconds: u32::try_from(seconds).unwrap_or(u32::MAX), lowered })
}
