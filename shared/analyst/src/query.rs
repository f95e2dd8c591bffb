//! The one road of a caller's SQL: the guard, a connection, the transaction, the answer.

use std::time::Instant as Clock;

use guard::{RowLimit, Shape};
use pg::values::{Column, Cut, Fit, Page, PageBuilder, PageLimits, RowFormat};
use pg::{Parameter, Question, Raw, Read, ReadError, ReadPlan, Stopped};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::connect::chain;
use crate::failure::{Failure, Kind};
use crate::hint;
use crate::memories::Reached;
use crate::scope::Scope;
use crate::selected::column_lists;

/// Bytes of a statement's result that are kept at most, for each byte of JSON that may be shown. JSON can be shorter: what
/// is kept of a cut value is four times what is shown of it, and a digit and its comma are counted as nine bytes.
const RAW_BYTES_A_JSON_BYTE: usize = 5;

/// The server cut a name to its 63 bytes: two columns may now have one name.
const NAME_CUT: &str = "42622";

/// Bytes of the longest character.
const MOST_UTF8_BYTES: usize = 4;

/// A statement to run, as a caller asks for it.
#[derive(Debug)]
pub struct Ask<'a> {
    /// The statement.
    pub sql: &'a str,
    /// Values of `$1`, `$2`, …
    pub parameters: Vec<Parameter>,
    /// Rows of this answer, at most; at least 1.
    pub rows: u32,
    /// Bytes of the JSON of the rows, at most.
    pub bytes: usize,
    /// How rows are written.
    pub format: RowFormat,
}

/// What a statement gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// In the order of the statement; names may repeat.
    pub columns: Vec<ColumnView>,
    /// A list of rows, or one text for the format `table`.
    pub rows: Value,
    /// Rows in this answer.
    pub row_count: usize,
    /// Whether there are more; exact.
    pub truncated: bool,
    /// What ended the answer before the result did: `rows`, `bytes` or `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated_by: Option<&'static str>,
    /// Values of which only the beginning is shown.
    #[serde(skip_serializing_if = "is_zero")]
    pub values_cut: usize,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What a reader of the rows must know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// From the call to the answer, connecting included.
    pub elapsed_ms: u64,
    /// JSON bytes of the rows.
    #[serde(skip)]
    pub bytes: usize,
    /// The tables and views that the statement names, schema-qualified.
    #[serde(skip)]
    pub tables: Vec<String>,
}

/// A column's name and type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ColumnView {
    /// As the statement names it.
    pub name: String,
    /// As `format_type` prints it.
    #[serde(rename = "type")]
    pub type_name: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Judges a statement and, if it may run, runs it in a transaction that reads only and is rolled back. No connection is
/// opened for a statement that its text alone rules out.
pub async fn ask<Open>(ask: &Ask<'_>, scope: &Scope, deadline: Instant, open: Open) -> Result<Answer, Failure>
where
    Open: AsyncFnOnce() -> Result<Reached, Failure>,
{
    let started = Clock::now();
    let rules = scope.rules(RowLimit::new(ask.rows));
    let candidate = guard::candidate(ask.sql, &rules)?;
    let (wanted, given) = (candidate.parameters(), ask.parameters.len());
    if wanted != given {
        return Err(failed(&ReadError::ParameterCount { wanted, given }));
    }
    let plan = ReadPlan {
        search_path: scope.search_path.clone(),
        claims: scope.claims.clone(),
        deadline,
        row_limit: ask.rows as usize,
        raw_byte_budget: ask.bytes.saturating_mul(RAW_BYTES_A_JSON_BYTE),
        keep: scope.ceilings.value_chars.saturating_mul(MOST_UTF8_BYTES),
    };
    let mut reached = open().await?;
    reached.look_at_login(deadline).await?;
    let Reached { mut connection, database } = reached;
    let question =
        Question { candidate: &candidate, rules: &rules, parameters: &ask.parameters, plan: &plan };
    let read = pg::read(&mut connection, &database.memory, question).await;
    let columns = match &read {
        Err(ReadError::Server(error)) => {
            column_lists(&mut connection, &error.sqlstate, ask.sql, scope, deadline).await
        }
        Ok(_) | Err(_) => None,
    };
    connection.close().await;
    let read = read.map_err(|error| {
        let failure = failed_statement(error, ask.sql);
        match &columns {
            Some(columns) => failure.saying_also(columns),
            None => failure,
        }
    });
    match read? {
        Read::Refused(refusal) => Err(refusal.into()),
        Read::Ran(ran) => {
            let tables = ran.relations.iter().map(ToString::to_string).collect();
            let answer = answer(&ran.raw, ask, scope, candidate.shape(), started);
            Ok(Answer { tables, ..answer })
        }
    }
}

fn answer(raw: &Raw, ask: &Ask<'_>, scope: &Scope, shape: Shape, started: Clock) -> Answer {
    let columns: Vec<Column> = raw
        .columns
        .iter()
        .map(|column| Column {
            name: column.name.clone(),
            fact: raw.type_facts.resolve(column.type_oid, column.type_modifier),
        })
        .collect();
    let limits =
        PageLimits { max_bytes: ask.bytes, cut: Cut(scope.ceilings.value_chars), format: ask.format };
    let mut builder = PageBuilder::new(&columns, limits);
    for row in &raw.rows {
        if builder.push(row) == Fit::Full {
            break;
        }
    }
    let page = builder.finish();
    let truncated_by = match (page.full, raw.stopped) {
        (true, _) | (false, Some(Stopped::Bytes)) => Some("bytes"),
        (false, Some(Stopped::Rows)) => Some("rows"),
        (false, None) => None,
    };
    let mut notes = page.notes.clone();
    notes.extend(
        raw.notices.iter().filter(|notice| notice.sqlstate == NAME_CUT).map(|notice| notice.message.clone()),
    );
    let way_on = if ask.rows < scope.ceilings.rows {
        "aggregate, filter, or ask for more with `max_rows`"
    } else {
        "aggregate or filter"
    };
    Answer {
        hint: truncated_by.map(|by| truncation_hint(by, shape, way_on, &page)),
        columns: columns.iter().map(column_view).collect(),
        rows: page.rows,
        row_count: page.row_count,
        truncated: truncated_by.is_some(),
        truncated_by,
        values_cut: page.values_cut,
        notes,
        elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        bytes: page.bytes,
        tables: Vec::new(),
    }
}

fn column_view(column: &Column) -> ColumnView {
    ColumnView { name: column.name.clone(), type_name: column.fact.name.to_string() }
}

fn truncation_hint(by: &str, shape: Shape, way_on: &str, page: &Page) -> String {
    match (shape, by) {
        (Shape::Rows, "rows") => {
            let rows = page.row_count;
            format!("there are more than these {rows} rows: {way_on}")
        }
        (Shape::Rows, _) => {
            "the rows shown fill the answer: select fewer columns, filter or aggregate".to_owned()
        }
        (Shape::Explain | Shape::Show, _) => {
            "the plan is longer than an answer may be: leave VERBOSE out".to_owned()
        }
    }
}

/// What went wrong in a query of our own.
pub(crate) fn failed_read(error: ReadError) -> Failure {
    match error {
        ReadError::Own(error) => {
            let message =
                format!("the database did not answer a question about its catalog: {}", error.message);
            Failure::new(Kind::Plumbing, error.sqlstate, message)
        }
        other => failed(&other),
    }
}

/// What went wrong in a caller's statement.
pub(crate) fn failed_statement(error: ReadError, sql: &str) -> Failure {
    match error {
        ReadError::Server(error) => {
            let hint = hint::for_error(&error.sqlstate, &error.message, error.hint, sql);
            let kind = if about_the_server(&error.sqlstate) { Kind::Plumbing } else { Kind::Statement };
            let failure = Failure::new(kind, error.sqlstate, error.message);
            hinted(Failure { position: error.position, ..failure }, hint)
        }
        other => failed(&other),
    }
}

fn failed(error: &ReadError) -> Failure {
    let (kind, hint) = match error {
        ReadError::ParameterCount { .. } => {
            (Kind::Argument, Some("send one value in `params` for each of $1, $2, …, in their order"))
        }
        ReadError::ParameterNul { .. } => (Kind::Argument, Some("leave the character out")),
        ReadError::Unsendable(_) => (Kind::Argument, Some("send a shorter statement, or fewer parameters")),
        ReadError::Deadline { .. } => (Kind::Statement, Some(hint::OUT_OF_TIME)),
        ReadError::Lost { .. } | ReadError::Protocol { .. } | ReadError::Unusable => {
            (Kind::Plumbing, Some("try once more; the server's log says why the connection ended"))
        }
        ReadError::UnknownMajor(_) => {
            (Kind::Plumbing, Some("pinguard reads PostgreSQL 14 to 18; a newer pinguard may know more"))
        }
        ReadError::NoLane { major } => (Kind::Refusal, Some(hint::grant_for_a_lane(*major))),
        ReadError::NotOneTree | ReadError::TreeTooLarge { .. } | ReadError::TooManyRounds => (
            Kind::Refusal,
            Some("write it in another way: fewer tables and columns, no user-defined types in literals"),
        ),
        ReadError::Unsettled => (Kind::Statement, Some("try again")),
        ReadError::Server(_) | ReadError::Own(_) | ReadError::TooLarge { .. } => (Kind::Plumbing, None),
    };
    // Whichever clock ran out first, the server's or ours: for a caller it is the server's answer.
    let code = if matches!(error, ReadError::Deadline { .. }) { "57014" } else { error.code() };
    hinted(
        Failure::new(kind, code.to_owned(), error.to_string()).logging(chain(error)),
        hint.map(str::to_owned),
    )
}

fn hinted(failure: Failure, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => failure.hinting(hint),
        None => failure,
    }
}

/// Classes 08 (connection), 53 (resources), 57P (operator intervention), 58 (system) and XX (internal) tell of the
/// server, the others of the statement.
fn about_the_server(sqlstate: &str) -> bool {
    sqlstate.starts_with("08")
        || sqlstate.starts_with("53")
        || sqlstate.starts_with("57P")
        || sqlstate.starts_with("58")
        || sqlstate.starts_with("XX")
}
