//! The second flight: the gate, the statement itself, and the end of the transaction.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io;
use std::ops::ControlFlow;

use guard::Admitted;
use postgres_protocol::message::backend::Message;
use tokio::time::{Instant, timeout_at};

use super::gathering::Gathering;
use super::{Failure, Reading, tree};
use crate::flight::{Flight, GATE_NAME, OTHER_GATE_NAME, RESTORE_NAME};
use crate::memory::{Gate, Lane};
use crate::raw::{Raw, RawColumn, RawValue, Stopped};
use crate::read_error::ReadError;
use crate::server_error::ServerError;
use crate::types::{self, FACTS_SQL, TypeBook};
use crate::values::Column;
use crate::wire::{Event, Rows};

/// The portal of our query about types, which runs while the caller's portal is open.
const TYPES_PORTAL: &str = "pinguard_types";
/// Bytes kept of a value in the answer about types; the longest are type names.
const MAX_FACT: usize = 4 << 10;

/// What the second flight is made of. Whoever has it has a statement that may run.
pub(super) struct Second {
    /// What the first flight had parsed.
    pub(super) statement: Admitted,
    pub(super) texts: Vec<Option<Cow<'static, str>>>,
    pub(super) columns: Vec<RawColumn>,
    pub(super) gate: Option<Gate>,
    /// The gate whose text the first flight had parsed.
    pub(super) parsed_gate: Option<&'static str>,
    /// None where nothing was judged and nothing printed.
    pub(super) lane: Option<Lane>,
    pub(super) log_level: Option<String>,
}

/// How it ended.
pub(super) enum Outcome {
    Ran(Box<Raw>),
    /// The gate found that something changed since it was judged.
    Stale,
    /// The server resolved the statement anew: what ran is not what was judged.
    Replanned,
}

/// The parts of the flight, in their order; each ends with a completed command but the binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Gate,
    Bind,
    Restore,
    Types,
    Statement,
}

impl Reading<'_> {
    pub(super) async fn second_flight(&mut self, second: Second) -> Result<Outcome, ReadError> {
        let began = Instant::now();
        let unknown =
            types::unknown(second.columns.iter().map(|column| (column.type_oid, column.type_modifier)));
        let flight = flight(&second, &unknown).map_err(ReadError::unsendable)?;
        self.connection.launch(flight).await?;
        match self.collect(&second, !unknown.is_empty()).await? {
            Ok(outcome) => Ok(outcome),
            Err(failure) => {
                // The server may have ended the connection along with the statement; its error says more.
                let _ = self.connection.settle().await;
                Err(self.error(failure, |position| second.statement.caller_position(position), began))
            }
        }
    }

    /// Reads what the flight brings, to its end or until enough was read.
    async fn collect(
        &mut self,
        second: &Second,
        asks_types: bool,
    ) -> Result<Result<Outcome, Failure>, ReadError> {
        let plan = self.question.plan;
        let connection = &mut *self.connection;
        let prints = matches!(second.lane, Some(Lane::Quiet | Lane::Loud));
        let first = if second.gate.is_some() { Part::Gate } else { Part::Bind };
        let after_bind = if prints { Part::Restore } else { Part::Types };
        let mut part = first;
        let mut moment = String::new();
        let mut replanned = false;
        let mut fact_rows = Vec::new();
        let mut type_facts = TypeBook::default();
        let columns = OnceCell::new();
        let mut gathering = Gathering::new(plan);
        let mut command_tag = String::new();
        let mut stopped = None;
        let mut failed = None;
        connection.set_rows(Rows::Keep(MAX_FACT));
        loop {
            if part == Part::Types && !asks_types {
                part = Part::Statement;
                connection.set_rows(Rows::Keep(plan.keep));
            }
            let event = match gathering.until() {
                None => connection.next().await?,
                Some(until) => match timeout_at(until, connection.next()).await {
                    Ok(Ok(event)) => event,
                    Ok(Err(error)) => {
                        (stopped, failed) = (Some(Stopped::Failed), Some(ReadError::from(error).to_string()));
                        break;
                    }
                    Err(_) => {
                        stopped = Some(Stopped::Time);
                        break;
                    }
                },
            };
            match event {
                Event::Row(row) if part == Part::Statement => {
                    let columns = columns.get_or_init(|| second.columns(&type_facts));
                    if let ControlFlow::Break(why) = gathering.take(row, columns) {
                        stopped = Some(why);
                        break;
                    }
                }
                Event::Row(row) if part == Part::Gate => {
                    moment = row.first().and_then(Option::as_ref).map(RawValue::text).unwrap_or_default();
                }
                Event::Row(row) if part == Part::Types => {
                    fact_rows.push(row.iter().map(|value| value.as_ref().map(RawValue::text)).collect());
                }
                Event::Message(Message::BindComplete) if part == Part::Bind => {
                    replanned = tree::is_among(&connection.take_notices());
                    part = after_bind;
                }
                Event::Message(Message::CommandComplete(body)) => match part {
                    Part::Gate => {
                        if let Some(gate) = &second.gate {
                            self.memory.passed(&moment, gate);
                        }
                        connection.take_notices();
                        part = Part::Bind;
                    }
                    Part::Restore => {
                        connection.take_notices();
                        part = Part::Types;
                    }
                    Part::Types => {
                        type_facts = types::parse_facts(std::mem::take(&mut fact_rows));
                        part = Part::Statement;
                        connection.set_rows(Rows::Keep(plan.keep));
                    }
                    Part::Statement => body.tag().unwrap_or_default().clone_into(&mut command_tag),
                    Part::Bind => return Err(ReadError::out_of_turn()),
                },
                Event::Row(_)
                | Event::Message(Message::ParseComplete | Message::BindComplete | Message::CloseComplete) => {
                }
                Event::Message(Message::ReadyForQuery(_)) => {
                    connection.settle().await?;
                    break;
                }
                // What was read so far is a whole page.
                Event::Message(Message::ErrorResponse(body)) if gathering.until().is_some() => {
                    let error = ServerError::parse(body.fields());
                    let message = format!("{} ({})", error.message, error.sqlstate);
                    (stopped, failed) = (Some(Stopped::Failed), Some(message));
                    break;
                }
                Event::Message(Message::ErrorResponse(body)) => {
                    let error = ServerError::parse(body.fields());
                    if part == Part::Gate && error.sqlstate == "22012" {
                        connection.settle().await?;
                        return Ok(Ok(Outcome::Stale));
                    }
                    let theirs = matches!(part, Part::Bind | Part::Statement);
                    return Ok(Err(if theirs { Failure::Theirs(error) } else { Failure::Ours(error) }));
                }
                Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
        let notices = connection.take_notices();
        if replanned {
            if stopped.is_some() {
                connection.stop().await;
                return Err(ReadError::Unsettled);
            }
            return Ok(Ok(Outcome::Replanned));
        }
        let (rows, page) = gathering.finish(columns.get_or_init(|| second.columns(&type_facts)));
        let columns = second.columns.clone();
        let raw = Raw { columns, rows, page, stopped, failed, command_tag, notices, type_facts };
        Ok(Ok(Outcome::Ran(Box::new(raw))))
    }
}

impl Second {
    fn columns(&self, types: &TypeBook) -> Vec<Column> {
        let column = |column: &RawColumn| Column {
            name: column.name.clone(),
            fact: types.resolve(column.type_oid, column.type_modifier),
        };
        self.columns.iter().map(column).collect()
    }

    /// Puts the gate at the beginning of a flight.
    pub(super) fn gate(&self, flight: &mut Flight) -> io::Result<()> {
        let Some(gate) = &self.gate else { return Ok(()) };
        if self.parsed_gate == Some(gate.sql) {
            flight.run_named(GATE_NAME, &gate.parameters())?;
        } else {
            flight.parse_as(OTHER_GATE_NAME, gate.sql)?.run_named(OTHER_GATE_NAME, &gate.parameters())?;
        }
        Ok(())
    }

    pub(super) fn texts(&self) -> Vec<Option<&str>> {
        self.texts.iter().map(Option::as_deref).collect()
    }
}

/// Binds the caller's portal before anything of ours takes the unnamed statement's place; the portal lives on. Types are asked
/// for before it runs, because an error or a cancel would end both.
fn flight(second: &Second, unknown: &[(u32, i32)]) -> io::Result<Flight> {
    let mut flight = Flight::default();
    second.gate(&mut flight)?;
    flight.bind("", &second.texts())?;
    if matches!(second.lane, Some(Lane::Quiet | Lane::Loud)) {
        flight.run_named(RESTORE_NAME, &[second.log_level.as_deref()])?;
    }
    if !unknown.is_empty() {
        let [oids, modifiers] = types::facts_parameters(unknown);
        flight
            .parse(FACTS_SQL)?
            .bind(TYPES_PORTAL, &[Some(&oids), Some(&modifiers)])?
            .execute(TYPES_PORTAL)?
            .close(TYPES_PORTAL)?;
    }
    flight.execute("")?.sync().leave()?;
    Ok(flight)
}
