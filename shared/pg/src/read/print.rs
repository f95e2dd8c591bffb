//! The first flight where PostgreSQL prints what it resolves a statement to.

use std::ops::ControlFlow;
use std::sync::Arc;

use postgres_protocol::message::backend::Message;
use tokio::time::Instant;

use super::describing::{columns, parameter_types};
use super::judging::Verdict;
use super::opened::{At, Opened};
use super::{Attempt, Described, Failure, Reading, Waiting, tree};
use crate::flight::{Flight, GATE_NAME, RESTORE_NAME};
use crate::memory::{
    GATE, GATE_MOMENT, Known, Lane, PRINT_LOUDLY, PRINT_LOUDLY_STILL, PRINT_QUIETLY, PRINT_QUIETLY_STILL,
    Parsing, RESTORE,
};
use crate::raw::RawValue;
use crate::read_error::ReadError;
use crate::server_error::ServerError;
use crate::settings::{BEGIN, statement_timeout};
use crate::wire::{Event, Rows};

/// Bytes kept of a value in answers to our own queries here: the level of the log, and the moment. A longer one has a list of
/// transactions that are under way, and is of no use.
const MAX_VALUE: usize = 128;

/// A statement that is parsed, and its tree.
struct Printed {
    tree: String,
    described: Described,
    log_level: String,
}

impl Reading<'_> {
    /// Tries the statement once.
    pub(super) async fn by_print(
        &mut self,
        lane: Lane,
        known: Known,
        parsing: Arc<Parsing>,
    ) -> Result<Attempt, ReadError> {
        let began = Instant::now();
        let moment = self.memory.lasting(&parsing);
        let opened = self.print(lane, &parsing, moment.as_deref()).await?;
        let Printed { tree, described, log_level } = match self.parsed(opened, lane, &known, began).await? {
            ControlFlow::Continue(printed) => printed,
            ControlFlow::Break(attempt) => return Ok(attempt),
        };
        self.memory.take_lane(Some(lane));
        match self.judge_tree(&tree, &known).await? {
            Verdict::Clear(admitted) => {
                let gate = known.versions.gate(&admitted.relied_on).map(|gate| match &moment {
                    Some(moment) => self.memory.lighter(gate, moment),
                    None => gate,
                });
                let parsed_gate = Some(gate_ahead(moment.as_deref()));
                let quieted = lane == Lane::Quiet && !matches!(log_level.as_str(), "fatal" | "panic");
                let log_level = quieted.then_some(log_level);
                self.finish(Waiting { described, admitted, gate, parsed_gate, lane, log_level }).await
            }
            Verdict::Refused(refusal) => self.refuse(refusal).await,
            Verdict::Learned | Verdict::Harmless(_) => Ok(Attempt::Again),
        }
    }

    /// With a moment, nothing is looked at but whether it is still that moment.
    async fn print(
        &mut self,
        lane: Lane,
        parsing: &Arc<Parsing>,
        moment: Option<&str>,
    ) -> Result<Opened<Printed>, ReadError> {
        let candidate = self.question.candidate;
        let plan = self.question.plan;
        let connection = &mut *self.connection;
        let settings = connection.settings(
            statement_timeout(plan.deadline),
            plan.search_path.as_ref(),
            plan.claims.as_ref(),
        );
        let print = match (lane == Lane::Quiet, moment.is_some()) {
            (true, false) => PRINT_QUIETLY,
            (true, true) => PRINT_QUIETLY_STILL,
            (false, false) => PRINT_LOUDLY,
            (false, true) => PRINT_LOUDLY_STILL,
        };
        let gate = parsing.gate.as_ref().filter(|_| moment.is_none());
        let mut flight = Flight::default();
        let mut fill = || {
            flight.run(BEGIN, &[])?.run(settings.sql, &settings.parameters())?;
            if let Some(gate) = gate {
                flight.run(gate.sql, &gate.parameters())?;
            }
            flight.parse_as(GATE_NAME, gate_ahead(moment))?.parse_as(RESTORE_NAME, RESTORE)?;
            flight.run(print, &[Some(moment.unwrap_or(&parsing.version))])?.parse(candidate.judged_text())?;
            if !candidate.runs_as_judged() {
                flight.parse(candidate.text())?;
            }
            flight.describe()?.sync();
            Ok(())
        };
        fill().map_err(ReadError::unsendable)?;
        connection.set_rows(Rows::Keep(MAX_VALUE));
        connection.launch(flight).await?;

        // Of ours are BEGIN, the settings, a gate where there is one, and printing.
        let ours = if gate.is_some() { 4 } else { 3 };
        let mut done = 0;
        let mut answer = Vec::new();
        let mut gated_at = None;
        let mut log_level = String::new();
        let mut tree = None;
        let mut described = Described::default();
        loop {
            match connection.next().await? {
                Event::Row(row) => answer = row,
                Event::Message(Message::CommandComplete(_)) => {
                    done += 1;
                    connection.take_notices();
                    let mut texts = answer.drain(..).map(|value| value.as_ref().map(RawValue::text));
                    let mut text = || texts.next().flatten().unwrap_or_default();
                    if done == ours {
                        log_level = text();
                        let now = text();
                        if moment.is_none() && gated_at.as_ref().is_none_or(|then| *then == now) {
                            self.memory.began(&now, parsing);
                        }
                    } else if gate.is_some() && done == ours - 1 {
                        gated_at = Some(text());
                    }
                }
                Event::Message(Message::ParseComplete) if done == ours && tree.is_none() => {
                    if let Some(limit) = connection.notices_overflow() {
                        return Err(ReadError::TreeTooLarge { limit });
                    }
                    tree = Some(tree::the_one(connection.take_notices()));
                }
                Event::Message(Message::ParameterDescription(body)) => {
                    described.parameter_types = parameter_types(&body)?;
                }
                Event::Message(Message::RowDescription(body)) => described.columns = columns(&body)?,
                Event::Message(Message::ReadyForQuery(_)) => {
                    // Where another text runs than the judged one, its tree says nothing more.
                    connection.take_notices();
                    return match tree {
                        Some(Ok((tree, remarks))) => {
                            described.remarks = remarks;
                            Ok(Opened::Parsed(Box::new(Printed { tree, described, log_level })))
                        }
                        Some(Err(error)) => {
                            connection.settle().await?;
                            Err(error)
                        }
                        None => Err(ReadError::out_of_turn()),
                    };
                }
                Event::Message(Message::ErrorResponse(body)) => {
                    let error = ServerError::parse(body.fields());
                    if done == ours {
                        let at = if tree.is_some() { At::Runs } else { At::Judged };
                        return Ok(Opened::failed(Failure::Theirs(error), at));
                    }
                    return Ok(match error.sqlstate.as_str() {
                        "22012" if done >= 2 && moment.is_some() => {
                            self.memory.moved();
                            Opened::Learned
                        }
                        "22012" if done >= 2 => Opened::ParsingChanged,
                        "42501" if done == ours - 1 => Opened::NotThisLane,
                        _ if connection.learn_from(&error) => Opened::Learned,
                        _ => Opened::failed(Failure::Ours(error), At::Judged),
                    });
                }
                Event::Message(Message::ParseComplete | Message::BindComplete | Message::NoData) => {}
                Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
    }
}

/// The gate that the first flight has parsed for the second: the one that most statements need.
fn gate_ahead(moment: Option<&str>) -> &'static str {
    if moment.is_some() { GATE_MOMENT } else { GATE }
}
