//! The one way in which a caller's statement runs: PostgreSQL resolves it, the guard judges what it resolved to, and it runs
//! in a READ ONLY transaction that is always rolled back.
//!
//! Where everything it relies on is remembered, that takes two flights. The first opens the transaction and brings the tree;
//! the second checks that nothing has changed since it was judged, runs the statement and ends it all.

mod body;
mod costing;
mod describing;
mod gathering;
mod judging;
mod opened;
mod parsing;
mod plain;
mod print;
mod running;
mod tree;

use std::borrow::Cow;

pub use costing::{CostLimits, Estimate};
pub use gathering::PagePlan;

use guard::facts::{Needs, ObjectName};
use guard::{Candidate, Clear, ColumnType, Refusal, Rules};
use tokio::time::{Instant, timeout_at};

use crate::claims::Claims;
use crate::connection::Connection;
use crate::memory::{Gate, Lane, Memory};
use crate::parameter::Parameter;
use crate::raw::{Raw, RawColumn};
use crate::read_error::ReadError;
use crate::search_path::SearchPath;
use crate::server_error::{Notice, ServerError};
use crate::settings;

/// How often a statement is resolved anew before it is given up: views over views of 60 levels take as many questions.
const MOST_ROUNDS: usize = 100;
/// How often what was judged may change under a statement.
const MOST_CHANGES: usize = 4;

/// How a statement is to be read.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// Where unqualified names are looked up; none leaves what the login has.
    pub search_path: Option<SearchPath>,
    /// What the caller's token says, for policies and views to read; none sets nothing.
    pub claims: Option<Claims>,
    /// When everything must have ended.
    pub deadline: Instant,
    /// The most rows that are read; one more, and the result counts as stopped.
    pub row_limit: usize,
    /// The most bytes that are kept of all rows together, but for the row that goes past them.
    pub raw_byte_budget: usize,
    /// The most bytes that are kept of one value; four times the characters that are wanted of it.
    pub keep: usize,
    /// What the planner may expect; none does not ask it.
    pub cost: Option<CostLimits>,
    /// The page that is made of the first rows, and how far to read on past it; none keeps the rows alone.
    pub page: Option<PagePlan>,
}

/// A statement, and under which rules it is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The statement, past the local step.
    pub candidate: &'a Candidate,
    /// What it may do.
    pub rules: &'a Rules,
    /// Values of its `$1`, `$2`, …
    pub parameters: &'a [Parameter],
    /// How it is to be read.
    pub plan: &'a ReadPlan,
}

/// What came of a statement.
#[derive(Debug)]
pub enum Read {
    /// It ran.
    Ran(Box<Ran>),
    /// It may not run.
    Refused(Refusal),
    /// The planner expects too much of it, or does not say what.
    TooCostly(Box<Estimate>),
}

/// What came of a judgement alone.
#[derive(Debug)]
pub enum Judged {
    /// The statement may run.
    Clear {
        /// What the judgement says of it.
        clear: Box<Clear>,
        /// Types of its `$1`, `$2`, …, as the server inferred them where the statement does not say: OIDs of `pg_type`.
        parameter_types: Vec<u32>,
    },
    /// It may not.
    Refused(Refusal),
}

/// A statement that ran.
#[derive(Debug)]
pub struct Ran {
    /// What it sent back.
    pub raw: Raw,
    /// The relations that it names.
    pub relations: Vec<ObjectName>,
    /// How PostgreSQL told what it resolved the statement to; none for a statement that needs no resolving.
    pub lane: Option<Lane>,
}

/// Judges a statement and, if it may run, runs it. Nothing of it stays on the connection: no setting, no statement, no
/// transaction.
///
/// Dropping the future cancels the statement on the server.
pub async fn read(
    connection: &mut Connection,
    memory: &Memory,
    question: Question<'_>,
) -> Result<Read, ReadError> {
    match end(connection, memory, question, Purpose::Run).await? {
        End::Ran(ran) => Ok(Read::Ran(Box::new(ran))),
        End::Refused(refusal) => Ok(Read::Refused(refusal)),
        End::TooCostly(estimate) => Ok(Read::TooCostly(Box::new(estimate))),
        End::Clear { .. } => Err(ReadError::out_of_turn()),
    }
}

/// Judges a statement, and no more: it does not run.
pub async fn judge(
    connection: &mut Connection,
    memory: &Memory,
    question: Question<'_>,
) -> Result<Judged, ReadError> {
    match end(connection, memory, question, Purpose::Judge).await? {
        End::Clear { clear, parameter_types } => {
            Ok(Judged::Clear { clear: Box::new(clear), parameter_types })
        }
        End::Refused(refusal) => Ok(Judged::Refused(refusal)),
        End::Ran(_) | End::TooCostly(_) => Err(ReadError::out_of_turn()),
    }
}

/// Boxed, or the compiler finds the future of a whole call nested too deep.
async fn end(
    connection: &mut Connection,
    memory: &Memory,
    question: Question<'_>,
    purpose: Purpose,
) -> Result<End, ReadError> {
    let began = Instant::now();
    let guard = connection.begin()?;
    // What somebody vouched for may leave something on a session: a lock, a connection to another server.
    if !(question.rules.allowed_functions.is_empty() && question.rules.allowed_foreign_tables.is_empty()) {
        connection.stay_not();
    }
    let mut reading = Reading { connection, memory, question, purpose };
    let outcome = timeout_at(question.plan.deadline, Box::pin(reading.run())).await;
    // Outside the deadline: rows that were read in time are not lost to the tidying up.
    if matches!(&outcome, Ok(Ok(End::Ran(ran))) if ran.raw.stopped.is_some()) {
        connection.stop().await;
    }
    connection.end(guard, outcome, began).await
}

struct Reading<'a> {
    connection: &'a mut Connection,
    memory: &'a Memory,
    question: Question<'a>,
    purpose: Purpose,
}

/// What a statement is judged for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Run,
    Judge,
}

/// How it ends, for either purpose.
enum End {
    Ran(Ran),
    Clear { clear: Clear, parameter_types: Vec<u32> },
    Refused(Refusal),
    TooCostly(Estimate),
}

/// What the server makes of a statement before it runs.
#[derive(Debug, Default)]
struct Described {
    parameter_types: Vec<u32>,
    columns: Vec<RawColumn>,
    /// What it remarks of the text.
    remarks: Vec<Notice>,
}

/// A transaction in which the statement is parsed and judged, and waits.
struct Waiting {
    described: Described,
    admitted: Clear,
    gate: Option<Gate>,
    /// The gate whose text is parsed already.
    parsed_gate: Option<&'static str>,
    lane: Lane,
    /// The level of the server's log before trees were printed; none where it was left alone.
    log_level: Option<String>,
}

/// An error of the server in a flight.
enum Failure {
    /// Of a query of ours.
    Ours(ServerError),
    /// About the caller's statement.
    Theirs(ServerError),
}

/// How trying a statement once ended.
enum Attempt {
    Done(Box<End>),
    /// Something was learned: it is worth another round.
    Again,
    /// What was judged is no longer what would run.
    Changed,
}

impl Attempt {
    fn done(end: End) -> Self {
        Self::Done(Box::new(end))
    }
}

impl Reading<'_> {
    async fn run(&mut self) -> Result<End, ReadError> {
        if let Some(statement) = self.question.candidate.as_it_is() {
            return self.show(&statement).await;
        }
        let mut changes = 0;
        for _ in 0..MOST_ROUNDS {
            match self.attempt().await? {
                Attempt::Done(end) => return Ok(*end),
                Attempt::Again => {}
                Attempt::Changed if changes == MOST_CHANGES => return Err(ReadError::Unsettled),
                Attempt::Changed => changes += 1,
            }
        }
        Err(ReadError::TooManyRounds)
    }

    async fn attempt(&mut self) -> Result<Attempt, ReadError> {
        let known = self.memory.known();
        let Some(parsing) = known.parsing.clone() else {
            self.look_at_parsing().await?;
            return Ok(Attempt::Again);
        };
        if self.question.candidate.refused_for(&parsing.unsafe_types).is_some() {
            // They may have gone meanwhile.
            let now = self.look_at_parsing().await?;
            return Ok(match self.question.candidate.refused_for(&now.unsafe_types) {
                Some(refusal) => Attempt::done(End::Refused(refusal)),
                None => Attempt::Again,
            });
        }
        match self.memory.lane_to_take() {
            Lane::Function => self.by_body(known, &parsing).await,
            lane @ (Lane::Quiet | Lane::Loud) => self.by_print(lane, known, parsing).await,
        }
    }

    /// Runs a judged statement, and ends the transaction.
    async fn finish(&mut self, waiting: Waiting) -> Result<Attempt, ReadError> {
        let Waiting { described, admitted, gate, parsed_gate, lane, log_level } = waiting;
        if self.purpose == Purpose::Judge {
            self.connection.settle().await?;
            let parameter_types = described.parameter_types;
            return Ok(Attempt::done(End::Clear { clear: admitted, parameter_types }));
        }
        let texts = match self.parameter_texts(&described.parameter_types) {
            Ok(texts) => texts,
            Err(error) => {
                self.connection.settle().await?;
                return Err(error);
            }
        };
        let columns = with_domains(described.columns, &admitted.columns);
        let statement = admitted.statement;
        let second =
            running::Second { statement, texts, columns, gate, parsed_gate, lane: Some(lane), log_level };
        let gate = second.gate.clone();
        match self.costing(&second).await? {
            costing::Outcome::Within => {}
            costing::Outcome::TooCostly(estimate) => return Ok(Attempt::done(End::TooCostly(estimate))),
            costing::Outcome::Stale => return Ok(self.changed(gate.as_ref(), &admitted.relied_on)),
        }
        match self.second_flight(second).await? {
            running::Outcome::Ran(mut raw) => {
                raw.notices.splice(..0, described.remarks);
                let ran = Ran { raw: *raw, relations: admitted.relations, lane: Some(lane) };
                Ok(Attempt::done(End::Ran(ran)))
            }
            running::Outcome::Stale => Ok(self.changed(gate.as_ref(), &admitted.relied_on)),
            running::Outcome::Replanned => Ok(Attempt::Changed),
        }
    }

    /// A gate did not let pass: what it looked at is asked anew.
    fn changed(&self, gate: Option<&Gate>, relied_on: &Needs) -> Attempt {
        if gate.is_some_and(Gate::is_still) {
            self.memory.moved();
        } else {
            self.memory.forget(relied_on);
        }
        Attempt::Changed
    }

    /// Tells the server's error from ours and from time that ran out.
    fn error(
        &self,
        failure: Failure,
        position: impl Fn(usize) -> Option<usize>,
        began: Instant,
    ) -> ReadError {
        let (Failure::Ours(error) | Failure::Theirs(error)) = &failure;
        let timeout = settings::statement_timeout_at(self.question.plan.deadline, began);
        if settings::is_timeout(error, began.elapsed(), timeout) {
            return ReadError::Deadline { after: began.elapsed() };
        }
        match failure {
            Failure::Ours(error) => ReadError::Own(Box::new(error)),
            Failure::Theirs(mut error) => {
                error.position = error.position.and_then(position);
                ReadError::Server(Box::new(error))
            }
        }
    }

    fn parameter_texts(&self, types: &[u32]) -> Result<Vec<Option<Cow<'static, str>>>, ReadError> {
        let parameters = self.question.parameters;
        if types.len() != parameters.len() {
            return Err(ReadError::ParameterCount { given: parameters.len(), wanted: types.len() });
        }
        let texts: Vec<Option<Cow<'static, str>>> = parameters
            .iter()
            .zip(types)
            .map(|(parameter, &oid)| parameter.text(oid).map(|text| Cow::Owned(text.into_owned())))
            .collect();
        match texts.iter().position(|text| text.as_ref().is_some_and(|text| text.contains('\0'))) {
            Some(index) => Err(ReadError::ParameterNul { number: index + 1 }),
            None => Ok(texts),
        }
    }
}

/// The columns with the types that the tree gives them: the protocol describes a domain as its base type.
fn with_domains(mut columns: Vec<RawColumn>, types: &[ColumnType]) -> Vec<RawColumn> {
    if columns.len() == types.len() {
        for (column, known) in columns.iter_mut().zip(types) {
            column.type_oid = known.oid.0;
            column.type_modifier = known.modifier;
        }
    }
    columns
}
