//! The second flight: the gate, the statement itself, and the end of the transaction.

use std::borrow::Cow;
use std::io;

use guard::Admitted;
use postgres_protocol::message::backend::Message;
use tokio::time::Instant;

use super::{Failure, Reading, tree};
use crate::flight::{Flight, GATE_ALL_NAME, GATE_NAME, RESTORE_NAME};
use crate::memory::{Gate, Lane};
use crate::raw::{Raw, RawColumn, RawValue, Stopped};
use crate::read_error::ReadError;
use crate::server_error::ServerError;
use crate::types::{self, FACTS_SQL, TypeBook};
use crate::wire::{Event, Rows};

/// The portal of our query about types, which runs while the caller's portal is open.
const TYPES_PORTAL: &str = "pinguard_types";
/// Bytes kept of a value in the answer about types; the longest are type names.
const MAX_FACT: usize = 4 << 10;
/// Bytes that a value costs besides its text.
const VALUE_COST: usize = 8;

/// What the second flight is made of. Whoever has it has a statement that may run.
pub(super) struct Second {
    /// What the first flight had parsed.
    pub(super) statement: Admitted,
    pub(super) texts: Vec<Option<Cow<'static, str>>>,
    pub(super) columns: Vec<RawColumn>,
    pub(super) gate: Option<Gate>,
    /// None where nothing was judged and nothing printed.
    pub(super) lane: Option<Lane>,
    pub(super) log_level: Option<String>,
}

/// How it ended.
pub(super) enum Outcome {
    Ran(Raw),
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
        let mut replanned = false;
        let mut fact_rows = Vec::new();
        let mut type_facts = TypeBook::default();
        let mut rows = Vec::new();
        let mut bytes = 0;
        let mut command_tag = String::new();
        let mut stopped = None;
        connection.set_rows(Rows::Keep(MAX_FACT));
        loop {
            if part == Part::Types && !asks_types {
                part = Part::Statement;
                connection.set_rows(Rows::Keep(plan.keep));
            }
            match connection.next().await? {
                Event::Row(row) if part == Part::Statement => {
                    // Only a row that finds no room tells that there are more.
                    if rows.len() >= plan.row_limit {
                        stopped = Some(Stopped::Rows);
                        break;
                    }
                    if bytes > plan.raw_byte_budget {
                        stopped = Some(Stopped::Bytes);
                        break;
                    }
                    bytes += row.iter().map(|value| cost(value.as_ref())).sum::<usize>();
                    rows.push(row);
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
        let columns = second.columns.clone();
        Ok(Ok(Outcome::Ran(Raw { columns, rows, stopped, command_tag, notices, type_facts })))
    }
}

/// Binds the caller's portal before anything of ours takes the unnamed statement's place; the portal lives on. Types are asked
/// for before it runs, because an error or a cancel would end both.
fn flight(second: &Second, unknown: &[(u32, i32)]) -> io::Result<Flight> {
    let mut flight = Flight::default();
    if let Some(gate) = &second.gate {
        let name = if gate.is_of_relations() { GATE_NAME } else { GATE_ALL_NAME };
        if name == GATE_ALL_NAME || second.lane == Some(Lane::Function) {
            flight.parse_as(name, gate.sql)?;
        }
        flight.run_named(name, &gate.parameters())?;
    }
    flight.bind("", &second.texts.iter().map(Option::as_deref).collect::<Vec<_>>())?;
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

fn cost(value: Option<&RawValue>) -> usize {
    VALUE_COST + value.map_or(0, |value| value.bytes.len())
}
