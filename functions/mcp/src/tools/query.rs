//! `query`: free SQL, one statement that reads.

use analyst::pages::Ahead;
use analyst::query::Ask;
use analyst::{Failure, Scope};
use pg::Parameter;
use rmcp::model::JsonObject;
use serde_json::Value;
use service::Limits;

use super::schema::{input, list, object_of, output, text, truth, whole, word};
use super::wishes::{self, Wishes};
use super::{Listed, Work, next_page};
use crate::arguments::Arguments;
use crate::paging::{By, Shape, Statement, Turn};

const SQL: &[&str] = &["sql", "statement", "query"];
const ACCEPTED: &[&str] = &[
    "sql",
    "statement",
    "query",
    "params",
    "max_rows",
    "max_bytes",
    "timeout_seconds",
    "format",
    "cursor",
    "page",
];

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
        input: input(arguments(), &["sql"]),
        output: output(answer()),
    }
}

fn arguments() -> Vec<(&'static str, Value)> {
    let mut arguments = vec![
        (
            "sql",
            text("One statement; a trailing semicolon and comments are fine. Aliases: statement, query."),
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
    ];
    arguments.extend(wishes::listed());
    arguments.push((
        "timeout_seconds",
        whole("Seconds at most, if fewer than the limit.", 1, Some(Limits::MOST_SECONDS)),
    ));
    arguments.push(wishes::format_listed());
    arguments.extend(next_page::cursor_listed());
    arguments
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
        (
            "summary",
            text("Of a result that has several pages: which rows these are, and how to have others."),
        ),
        (
            "cursor",
            text(
                "The handle of the next page, for `next_page`; absent where nothing follows that can be had.",
            ),
        ),
        ("notes", list("What a reader of the rows must know.", text("A note."))),
        ("elapsedMs", whole("Milliseconds, connecting included.", 0, None)),
    ]
}

pub(super) async fn call(given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
    let arguments = Arguments::new("query", given, ACCEPTED)?;
    let wishes = Wishes::read(&arguments)?;
    let parameters: Vec<Parameter> = arguments.list("params")?.iter().cloned().map(Parameter::from).collect();
    let statement = arguments.text(SQL)?.map(|sql| Statement { sql: sql.to_owned(), parameters, pin: None });
    if let Some(cursor) = arguments.text(&["cursor"])? {
        let page = next_page::page(&arguments)?;
        return work.turn(Turn { cursor, page, wishes, by: By::Query(statement) }).await;
    }
    if next_page::page(&arguments)?.is_some() {
        let failure = Failure::argument("`page` is a page of a `cursor`, and there is none");
        return Err(failure.hinting("send the `cursor` of an answer that was cut, or leave `page` out"));
    }
    let statement = statement.ok_or_else(|| {
        Failure::argument("the argument `sql` is missing or was cut off")
            .hinting("send one shorter statement in `sql`")
    })?;
    ask(statement, wishes, work).await
}

async fn ask(statement: Statement, wishes: Wishes, work: &Work<'_>) -> Result<Value, Failure> {
    let limits = work.scope.ceilings;
    let usual = Shape { rows: limits.rows, bytes: limits.bytes, format: work.row_format() };
    let mut lowered = Vec::new();
    let shape = wishes.shape(&work.scope, usual, u32::MAX, &mut lowered);
    let deadline = work.deadline(wishes.seconds(&work.scope, &mut lowered));
    let pins = work.standing_pins().await;
    work.report(|report| {
        report.sql = Some(statement.sql.clone());
        let names = pins.iter().map(|pin| pin.name().as_str().to_owned());
        report.free_sql_with_pin = Some(names.collect()).filter(|names: &Vec<String>| !names.is_empty());
    });
    let ask = Ask {
        sql: &statement.sql,
        parameters: statement.parameters.clone(),
        rows: shape.rows,
        bytes: shape.bytes,
        format: shape.format,
        skipped: 0,
        ahead: Ahead::Kept,
    };
    let open = || work.reach(deadline);
    let mut answer = analyst::query::ask(&ask, &work.scope, deadline, open).await?;
    work.report(|report| report.answered(&answer));
    work.keep(&mut answer, statement, shape).await;
    answer.notes.extend(lowered);
    Work::json(&answer)
}
