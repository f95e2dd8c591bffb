//! The one way in which a caller's statement runs: in a READ ONLY transaction that is always rolled back,
//! in two flights. The first sets everything up and has the server parse; the second runs and ends it all.

use std::borrow::Cow;
use std::io;
use std::time::Duration;

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::{Message, ParameterDescriptionBody, RowDescriptionBody};
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;
use crate::flight::Flight;
use crate::parameter::Parameter;
use crate::raw::{Raw, RawColumn, RawValue, Stopped};
use crate::read_error::ReadError;
use crate::search_path::SearchPath;
use crate::server_error::ServerError;
use crate::settings::{self, BEGIN, Settings};
use crate::types::{self, FACTS_SQL, TypeBook};
use crate::wire::{Event, Rows};

/// The portal of our query about types, which runs while the caller's portal is open.
const FACTS_PORTAL: &str = "pinguard_types";
/// Bytes kept of a value in the answer about types; the longest are type names.
const MAX_FACT: usize = 4 << 10;
/// Bytes that a value costs besides its text.
const VALUE_COST: usize = 8;

/// How a statement is to be read.
#[derive(Debug, Clone)]
pub struct ReadPlan {
    /// Where unqualified names are looked up; none leaves what the login has.
    pub search_path: Option<SearchPath>,
    /// When everything must have ended.
    pub deadline: Instant,
    /// The most rows that are read; one more, and the result counts as stopped.
    pub row_limit: usize,
    /// The most bytes that are kept of all rows together, but for the row that goes past them.
    pub raw_byte_budget: usize,
    /// The most bytes that are kept of one value; four times the characters that are wanted of it.
    pub keep: usize,
}

/// Runs a statement. Nothing of it stays on the connection: no setting, no statement, no transaction.
///
/// Dropping the future cancels the statement on the server.
pub async fn read(
    connection: &mut Connection,
    statement: &guard::Admitted,
    parameters: &[Parameter],
    plan: &ReadPlan,
) -> Result<Raw, ReadError> {
    let began = Instant::now();
    let guard = connection.begin()?;
    let mut reading = Reading { connection, statement, parameters, plan };
    let outcome = timeout_at(plan.deadline, reading.run()).await;
    // Outside the deadline: rows that were read in time are not lost to the tidying up.
    if matches!(&outcome, Ok(Ok(raw)) if raw.stopped.is_some()) {
        connection.stop().await;
    }
    connection.end(guard, outcome, began).await
}

struct Reading<'a> {
    connection: &'a mut Connection,
    statement: &'a guard::Admitted,
    parameters: &'a [Parameter],
    plan: &'a ReadPlan,
}

/// What the server makes of the statement before it runs.
#[derive(Default)]
struct Described {
    parameter_types: Vec<u32>,
    columns: Vec<RawColumn>,
}

/// Whose part of a flight an error belongs to.
enum Failure {
    Ours(ServerError),
    Theirs(ServerError),
}

impl Reading<'_> {
    async fn run(&mut self) -> Result<Raw, ReadError> {
        let began = Instant::now();
        let timeout = settings::statement_timeout(self.plan.deadline);
        match self.run_within(timeout).await? {
            Ok(raw) => Ok(raw),
            Err(failure) => {
                // The server may have ended the connection along with the statement; its error says more.
                let _ = self.connection.settle().await;
                Err(match failure {
                    Failure::Ours(error) | Failure::Theirs(error)
                        if settings::is_timeout(&error, began.elapsed(), timeout) =>
                    {
                        ReadError::Deadline { after: began.elapsed() }
                    }
                    Failure::Theirs(error) => ReadError::Server(Box::new(self.in_callers_text(error))),
                    Failure::Ours(error) => ReadError::Own(Box::new(error)),
                })
            }
        }
    }

    async fn run_within(&mut self, timeout: Duration) -> Result<Result<Raw, Failure>, ReadError> {
        let described = match self.describe(timeout).await? {
            Err(Failure::Ours(error)) if self.connection.learn_from(&error) => {
                self.connection.settle().await?;
                self.describe(timeout).await?
            }
            outcome => outcome,
        };
        let described = match described {
            Ok(described) => described,
            Err(failure) => return Ok(Err(failure)),
        };
        let texts = match self.parameter_texts(&described.parameter_types) {
            Ok(texts) => texts,
            Err(error) => {
                self.connection.settle().await?;
                return Err(error);
            }
        };
        let unknown =
            types::unknown(described.columns.iter().map(|column| (column.type_oid, column.type_modifier)));
        let flight = second_flight(&texts, &unknown).map_err(ReadError::unsendable)?;
        self.connection.launch(flight).await?;
        self.collect(described.columns, &unknown).await
    }

    /// The first flight.
    async fn describe(&mut self, timeout: Duration) -> Result<Result<Described, Failure>, ReadError> {
        let connection = &mut *self.connection;
        let settings = connection.settings(timeout, self.plan.search_path.as_ref());
        let flight = first_flight(&settings, self.statement.text()).map_err(ReadError::unsendable)?;
        connection.set_rows(Rows::Discard);
        connection.launch(flight).await?;

        let mut described = Described::default();
        // Of ours are two: BEGIN and the settings.
        let mut done = 0;
        loop {
            match connection.next().await? {
                Event::Message(Message::CommandComplete(_)) => done += 1,
                Event::Message(Message::ParameterDescription(body)) => {
                    described.parameter_types = parameter_types(&body)?;
                }
                Event::Message(Message::RowDescription(body)) => described.columns = columns(&body)?,
                Event::Message(Message::ReadyForQuery(_)) => return Ok(Ok(described)),
                Event::Message(Message::ErrorResponse(body)) => {
                    let error = ServerError::parse(body.fields());
                    return Ok(Err(if done < 2 { Failure::Ours(error) } else { Failure::Theirs(error) }));
                }
                Event::Message(Message::ParseComplete | Message::BindComplete | Message::NoData) => {}
                Event::Row(_) | Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
    }

    /// Reads what the second flight brings, to its end or until enough was read.
    async fn collect(
        &mut self,
        columns: Vec<RawColumn>,
        unknown: &[(u32, i32)],
    ) -> Result<Result<Raw, Failure>, ReadError> {
        let mut facts = if unknown.is_empty() { Some(TypeBook::default()) } else { None };
        self.connection.set_rows(Rows::Keep(if facts.is_some() { self.plan.keep } else { MAX_FACT }));
        let mut bound = false;
        let mut fact_rows = Vec::new();
        let mut rows = Vec::new();
        let mut bytes = 0;
        let mut command_tag = String::new();
        let mut stopped = None;
        loop {
            match self.connection.next().await? {
                Event::Row(row) if facts.is_none() => fact_rows.push(row.into_iter().map(own_text).collect()),
                Event::Row(row) => {
                    // Only a row that finds no room tells that there are more.
                    if rows.len() >= self.plan.row_limit {
                        stopped = Some(Stopped::Rows);
                        break;
                    }
                    if bytes > self.plan.raw_byte_budget {
                        stopped = Some(Stopped::Bytes);
                        break;
                    }
                    bytes += row.iter().map(|value| cost(value.as_ref())).sum::<usize>();
                    rows.push(row);
                }
                Event::Message(Message::CommandComplete(_)) if facts.is_none() => {
                    facts = Some(types::parse_facts(std::mem::take(&mut fact_rows)));
                    self.connection.set_rows(Rows::Keep(self.plan.keep));
                }
                Event::Message(Message::CommandComplete(body)) => {
                    body.tag().unwrap_or_default().clone_into(&mut command_tag);
                }
                Event::Message(Message::BindComplete) => bound = true,
                Event::Message(Message::ParseComplete | Message::CloseComplete) => {}
                Event::Message(Message::ReadyForQuery(_)) => {
                    self.connection.settle().await?;
                    break;
                }
                Event::Message(Message::ErrorResponse(body)) => {
                    let error = ServerError::parse(body.fields());
                    let ours = bound && facts.is_none();
                    return Ok(Err(if ours { Failure::Ours(error) } else { Failure::Theirs(error) }));
                }
                Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
        let notices = self.connection.take_notices();
        Ok(Ok(Raw { columns, rows, stopped, command_tag, notices, type_facts: facts.unwrap_or_default() }))
    }

    fn in_callers_text(&self, mut error: ServerError) -> ServerError {
        error.position = error.position.and_then(|position| self.statement.caller_position(position));
        error
    }

    fn parameter_texts(&self, types: &[u32]) -> Result<Vec<Option<Cow<'_, str>>>, ReadError> {
        if types.len() != self.parameters.len() {
            return Err(ReadError::ParameterCount { given: self.parameters.len(), wanted: types.len() });
        }
        let texts: Vec<_> =
            self.parameters.iter().zip(types).map(|(parameter, &oid)| parameter.text(oid)).collect();
        match texts.iter().position(|text| text.as_ref().is_some_and(|text| text.contains('\0'))) {
            Some(index) => Err(ReadError::ParameterNul { number: index + 1 }),
            None => Ok(texts),
        }
    }
}

fn first_flight(settings: &Settings, statement: &str) -> io::Result<Flight> {
    let mut flight = Flight::default();
    flight.run(BEGIN, &[])?.run(settings.sql, &settings.parameters())?.parse(statement)?.describe()?.sync();
    Ok(flight)
}

/// Binds the caller's portal first: our query about types takes the unnamed statement's place, and the
/// portal lives on. It is asked before the portal runs, because an error or a cancel would end both.
fn second_flight(texts: &[Option<Cow<'_, str>>], unknown: &[(u32, i32)]) -> io::Result<Flight> {
    let mut flight = Flight::default();
    flight.bind("", &texts.iter().map(Option::as_deref).collect::<Vec<_>>())?;
    if !unknown.is_empty() {
        let [oids, modifiers] = types::facts_parameters(unknown);
        flight
            .parse(FACTS_SQL)?
            .bind(FACTS_PORTAL, &[Some(&oids), Some(&modifiers)])?
            .execute(FACTS_PORTAL)?
            .close(FACTS_PORTAL)?;
    }
    flight.execute("")?.sync().rollback()?;
    Ok(flight)
}

fn cost(value: Option<&RawValue>) -> usize {
    VALUE_COST + value.map_or(0, |value| value.bytes.len())
}

fn own_text(value: Option<RawValue>) -> Option<String> {
    value.map(|value| String::from_utf8_lossy(&value.bytes).into_owned())
}

fn parameter_types(body: &ParameterDescriptionBody) -> Result<Vec<u32>, ReadError> {
    body.parameters().collect().map_err(|error| ReadError::Protocol { reason: error.to_string() })
}

fn columns(body: &RowDescriptionBody) -> Result<Vec<RawColumn>, ReadError> {
    body.fields()
        .map(|field| {
            Ok(RawColumn {
                name: field.name().to_owned(),
                type_oid: field.type_oid(),
                type_modifier: field.type_modifier(),
                table_oid: field.table_oid(),
                column_number: field.column_id(),
            })
        })
        .collect()
        .map_err(|error| ReadError::Protocol { reason: error.to_string() })
}
