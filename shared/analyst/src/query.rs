//! The one road of a caller's SQL: the guard, a connection, the transaction, the answer.

use std::time::Instant as Clock;

use guard::{RowLimit, Shape};
use pg::values::{Column, Cut, PageBuilder, PageLimits, RowFormat};
use pg::{Estimate, Lost, PagePlan, Parameter, Question, Raw, Read, ReadError, ReadPlan, Stopped};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::connect::chain;
use crate::failure::{Failure, Kind};
use crate::hint;
use crate::memories::Reached;
use crate::pages::{Ahead, BYTES_AHEAD, End, Kept, ROWS_AHEAD, TIME_AHEAD};
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
    /// Rows of the result that come before the answer; fewer than a whole result may have.
    pub skipped: u32,
    /// Whether what follows the answer is kept.
    pub ahead: Ahead,
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
    /// Of a result that has several pages: which rows these are, and how to have others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The handle of what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// What to do about rows that are not here.
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
    /// This answer's rows and what follows them, where that was asked for and can be had.
    #[serde(skip)]
    pub kept: Option<Kept>,
}

/// How many rows a statement may give.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    /// In the answer.
    page: u32,
    /// Past it.
    ahead: u32,
    /// Whether a whole result must not have more than these.
    last: Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    No,
    /// The page ends it.
    Page,
    /// What is kept past the page does.
    Ahead,
}

impl Bounds {
    fn of(ask: &Ask<'_>, scope: &Scope) -> Self {
        let left = scope.ceilings.result_rows.map_or(u32::MAX, |most| most.saturating_sub(ask.skipped));
        let page = ask.rows.min(left);
        let wanted = match ask.ahead {
            Ahead::Nothing => 0,
            Ahead::Kept => ROWS_AHEAD,
        };
        let ahead = wanted.min(left - page);
        let last = match left - page {
            0 => Last::Page,
            rows if rows <= wanted => Last::Ahead,
            _ => Last::No,
        };
        Self { page, ahead, last }
    }
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
pub async fn ask<Open, Opening>(
    ask: &Ask<'_>,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<Answer, Failure>
where
    Open: Fn() -> Opening,
    Opening: Future<Output = Result<Reached, Failure>>,
{
    let started = Clock::now();
    let bounds = Bounds::of(ask, scope);
    let rules = scope.rules(RowLimit::new(bounds.page.saturating_add(bounds.ahead)).after(ask.skipped));
    let candidate = guard::candidate(ask.sql, &rules)?;
    let (wanted, given) = (candidate.parameters(), ask.parameters.len());
    if wanted != given {
        return Err(failed(&ReadError::ParameterCount { wanted, given }));
    }
    let plan = ReadPlan {
        search_path: scope.search_path.clone(),
        claims: scope.claims.clone(),
        deadline,
        row_limit: bounds.page as usize,
        raw_byte_budget: ask.bytes.saturating_mul(RAW_BYTES_A_JSON_BYTE),
        keep: scope.ceilings.value_chars.saturating_mul(MOST_UTF8_BYTES),
        cost: scope.cost,
        page: Some(PagePlan {
            limits: page_limits(ask, scope),
            rows: bounds.ahead as usize,
            bytes: BYTES_AHEAD,
            time: TIME_AHEAD,
        }),
    };
    let question =
        Question { candidate: &candidate, rules: &rules, parameters: &ask.parameters, plan: &plan };
    let attempt = async || {
        let mut reached = open().await?;
        reached.look_at_login(deadline).await?;
        let Reached { mut connection, database } = reached;
        let read = pg::read(&mut connection, &database.memory, question).await;
        Ok::<_, Failure>((connection, read))
    };
    let (mut connection, mut read) = attempt().await?;
    // The server left while the connection waited for its call.
    if let Err(ReadError::Lost { lost: Lost::Before, .. }) = read {
        connection.close().await;
        (connection, read) = attempt().await?;
    }
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
        Read::TooCostly(estimate) => Err(too_costly(*estimate, scope)),
        Read::Ran(ran) => {
            let tables = ran.relations.iter().map(ToString::to_string).collect();
            let answer = answer(ran.raw, ask, bounds, scope, candidate.shape(), started);
            Ok(Answer { tables, ..answer })
        }
    }
}

fn page_limits(ask: &Ask<'_>, scope: &Scope) -> PageLimits {
    PageLimits { max_bytes: ask.bytes, cut: Cut(scope.ceilings.value_chars), format: ask.format }
}

fn answer(raw: Raw, ask: &Ask<'_>, bounds: Bounds, scope: &Scope, shape: Shape, started: Clock) -> Answer {
    let columns: Vec<Column> = raw
        .columns
        .iter()
        .map(|column| Column {
            name: column.name.clone(),
            fact: raw.type_facts.resolve(column.type_oid, column.type_modifier),
        })
        .collect();
    let page = raw.page.unwrap_or_else(|| PageBuilder::new(&columns, page_limits(ask, scope)).finish());
    let truncated = raw.stopped.is_some() || page.row_count < raw.rows.len();
    let truncated_by =
        truncated.then_some(if page.row_count < bounds.page as usize { "bytes" } else { "rows" });
    let ends_here = truncated_by == Some("rows") && bounds.last == Last::Page;
    let mut notes = page.notes;
    notes.extend(
        raw.notices.iter().filter(|notice| notice.sqlstate == NAME_CUT).map(|notice| notice.message.clone()),
    );
    if ends_here && let Some(most) = scope.ceilings.result_rows {
        notes.push(format!("this node gives {most} rows of a whole result, and these are the last of them"));
    }
    if let Some(failed) = &raw.failed {
        notes.push(format!("what follows cannot be had, for reading on failed: {failed}"));
    }
    let way_on = if ask.rows < scope.ceilings.rows {
        "aggregate, filter, or ask for more with `max_rows`"
    } else {
        "aggregate or filter"
    };
    let end = match raw.stopped {
        _ if !truncated || ends_here || ask.ahead == Ahead::Nothing => None,
        Some(Stopped::Failed) => None,
        Some(_) if shape != Shape::Rows => Some(End::Limit),
        Some(Stopped::Rows) if bounds.last == Last::Ahead => Some(End::Limit),
        Some(Stopped::Rows) => Some(End::Rows),
        Some(Stopped::Bytes) => Some(End::Bytes),
        Some(Stopped::Time) => Some(End::Time),
        None => Some(End::Result),
    };
    Answer {
        hint: truncated_by.map(|by| truncation_hint(by, shape, way_on, page.row_count)),
        summary: None,
        cursor: None,
        columns: columns.iter().map(column_view).collect(),
        rows: page.rows,
        row_count: page.row_count,
        truncated,
        truncated_by,
        values_cut: page.values_cut,
        notes,
        elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        bytes: page.bytes,
        tables: Vec::new(),
        kept: end.map(|end| Kept::new(page.row_count, columns, raw.rows, end)),
    }
}

pub(crate) fn column_view(column: &Column) -> ColumnView {
    ColumnView { name: column.name.clone(), type_name: column.fact.name.to_string() }
}

/// With a selection the plan is not told: it names what views read.
fn too_costly(estimate: Estimate, scope: &Scope) -> Failure {
    let limits = scope.cost;
    let over = |what: &str, expected: Option<f64>, most: Option<f64>| {
        let most = most?;
        match expected {
            Some(expected) if expected <= most => None,
            Some(expected) => Some(format!("{what} {expected}, over this node's limit of {most}")),
            None => Some(format!("{what} nobody knows, where this node's limit is {most}")),
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "for a message")]
    let most_rows = limits.and_then(|limits| limits.rows).map(|rows| rows as f64);
    let over = [
        over("rows", estimate.rows, most_rows),
        over("a cost of", estimate.cost, limits.and_then(|limits| limits.cost)),
    ];
    let over: Vec<String> = over.into_iter().flatten().collect();
    let message = format!("the planner expects of this statement {}", over.join(", and "));
    let failure = Failure::new(Kind::Refusal, "plan_too_costly", message)
        .hinting("filter by indexed columns, aggregate less at once, or put a LIMIT into the statement");
    let plan = scope.relations.is_empty().then_some(estimate.plan).filter(|plan| !plan.is_empty());
    Failure { plan, ..failure }
}

fn truncation_hint(by: &str, shape: Shape, way_on: &str, rows: usize) -> String {
    match (shape, by) {
        (Shape::Rows, "rows") => {
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
