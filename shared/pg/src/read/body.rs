//! The function lane: PostgreSQL keeps what it resolves a statement to as the body of a function that is rolled back.

use std::ops::ControlFlow;

use guard::facts::Oid;
use postgres_protocol::message::backend::Message;
use tokio::time::Instant;

use super::describing::{columns, parameter_types};
use super::judging::Verdict;
use super::opened::{At, Opened};
use super::{Attempt, Described, Failure, Reading, Waiting};
use crate::flight::{BODY_NAME, Flight};
use crate::memory::{Agreed, Known, LOOK, Lane, Parsing};
use crate::own::Table;
use crate::raw::RawValue;
use crate::read_error::ReadError;
use crate::server_error::ServerError;
use crate::settings::{BEGIN_WRITING, statement_timeout};
use crate::wire::{Event, Rows};

/// The most bytes of a body.
const MAX_BODY: usize = 32 << 20;

/// Stops where making a function would run an event trigger: any code of the database's owner.
const NO_EVENT_TRIGGERS: &str = "SELECT 1 OPERATOR(pg_catalog./) (NOT EXISTS (SELECT FROM pg_catalog.pg_event_trigger t \
     WHERE t.evtenabled OPERATOR(pg_catalog.<>) 'D'::pg_catalog.\"char\" \
     AND t.evtevent OPERATOR(pg_catalog.=) ANY ('{ddl_command_start,ddl_command_end}'::pg_catalog.name[])))::pg_catalog.int4";

/// `$1` types by OID: their names, as they can be written anywhere.
const TYPE_NAMES: &str = "SELECT pg_catalog.string_agg(pg_catalog.format('%I.%I', n.nspname, t.typname), ', ' ORDER BY k.place) \
     FROM pg_catalog.unnest($1::pg_catalog.oid[]) WITH ORDINALITY AS k(oid, place) \
     JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) k.oid \
     JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace";

/// The body as trees, and what the function depends on: pairs of catalog and OID.
const READ_BODY: &str = "SELECT p.prosqlbody::pg_catalog.text, (SELECT pg_catalog.to_json(pg_catalog.array_agg(ARRAY[\
     d.refclassid::pg_catalog.int8, d.refobjid::pg_catalog.int8]))::pg_catalog.text FROM pg_catalog.pg_depend d \
     WHERE d.classid OPERATOR(pg_catalog.=) 1255::pg_catalog.oid AND d.objid OPERATOR(pg_catalog.=) p.oid) \
     FROM pg_catalog.pg_proc p WHERE p.proname OPERATOR(pg_catalog.=) 'pinguard_body'::pg_catalog.name \
     AND p.pronamespace OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()";

/// From here on nothing is written.
const READ_ONLY: &str = "SET TRANSACTION READ ONLY";

/// The queries before the statement is parsed, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Begin,
    Settings,
    Gate,
    Look,
    EventTriggers,
}

/// A statement that is parsed, and the types of the judged text's parameters.
struct Typed {
    described: Described,
    judged_types: Vec<u32>,
}

/// The function as the server keeps it.
struct Body {
    tree: String,
    uses: Vec<(Oid, Oid)>,
}

impl Reading<'_> {
    /// Tries the statement once.
    pub(super) async fn by_body(&mut self, known: Known, parsing: &Parsing) -> Result<Attempt, ReadError> {
        let began = Instant::now();
        let opened = self.open_writing(parsing).await?;
        let Typed { described, judged_types } =
            match self.parsed(opened, Lane::Function, &known, began).await? {
                ControlFlow::Continue(typed) => typed,
                ControlFlow::Break(attempt) => return Ok(attempt),
            };
        let body = match self.keep_as_body(&judged_types).await? {
            Ok(body) => body,
            Err(error) => {
                self.connection.settle().await?;
                return if is_for_want_of_rights(&error) {
                    self.leave_lane(Lane::Function)
                } else {
                    Err(self.error(Failure::Theirs(error), |_| None, began))
                };
            }
        };
        self.memory.take_lane(Some(Lane::Function));
        let admitted = match self.judge_tree(&body.tree, &known).await? {
            Verdict::Clear(admitted) => {
                match admitted.cross_checked(&body.uses, &body.tree, self.question.rules) {
                    Ok(admitted) => admitted,
                    Err(refusal) => return self.refuse(refusal).await,
                }
            }
            Verdict::Refused(refusal) => return self.refuse(refusal).await,
            Verdict::Learned | Verdict::Harmless(_) => return Ok(Attempt::Again),
        };
        let gate = known.versions.gate(&admitted.relied_on);
        let waiting =
            Waiting { described, admitted, gate, parsed_gate: None, lane: Lane::Function, log_level: None };
        self.finish(waiting).await
    }

    async fn open_writing(&mut self, parsing: &Parsing) -> Result<Opened<Typed>, ReadError> {
        let candidate = self.question.candidate;
        let plan = self.question.plan;
        let consent = self.memory.consent();
        let connection = &mut *self.connection;
        let settings = connection.settings(
            statement_timeout(plan.deadline),
            plan.search_path.as_ref(),
            plan.claims.as_ref(),
        );
        let mut before = vec![Before::Begin, Before::Settings];
        before.extend(parsing.gate.as_ref().map(|_| Before::Gate));
        before.push(Before::Look);
        before.extend((consent.event_triggers == Agreed::No).then_some(Before::EventTriggers));
        let mut flight = Flight::default();
        let mut fill = || {
            for query in &before {
                match query {
                    Before::Begin => flight.run(BEGIN_WRITING, &[])?,
                    Before::Settings => flight.run(settings.sql, &settings.parameters())?,
                    Before::Gate => match &parsing.gate {
                        Some(gate) => flight.run(gate.sql, &gate.parameters())?,
                        None => &mut flight,
                    },
                    Before::Look => flight.run(LOOK, &[Some(&parsing.version)])?,
                    Before::EventTriggers => flight.run(NO_EVENT_TRIGGERS, &[])?,
                };
            }
            flight.parse(candidate.judged_text())?.describe()?;
            if !candidate.runs_as_judged() {
                flight.parse(candidate.text())?.describe()?;
            }
            flight.sync();
            Ok(())
        };
        fill().map_err(ReadError::unsendable)?;
        connection.set_rows(Rows::Discard);
        connection.launch(flight).await?;
        let mut waiting = before.into_iter();
        let mut at = waiting.next();
        let mut described = Described::default();
        let mut judged_types = None;
        loop {
            match connection.next().await? {
                Event::Message(Message::CommandComplete(_)) => at = waiting.next(),
                Event::Message(Message::ParameterDescription(body)) => {
                    described.parameter_types = parameter_types(&body)?;
                    judged_types.get_or_insert_with(|| described.parameter_types.clone());
                }
                Event::Message(Message::RowDescription(body)) => described.columns = columns(&body)?,
                Event::Message(Message::ReadyForQuery(_)) => {
                    let judged_types = judged_types.unwrap_or_default();
                    return Ok(Opened::Parsed(Box::new(Typed { described, judged_types })));
                }
                Event::Message(Message::ErrorResponse(body)) => {
                    let error = ServerError::parse(body.fields());
                    return Ok(match (at, error.sqlstate.as_str()) {
                        (None, _) => Opened::failed(Failure::Theirs(error), At::Judged),
                        (Some(Before::Gate | Before::Look), "22012") => Opened::ParsingChanged,
                        // An event trigger, or a standby.
                        (Some(Before::EventTriggers), "22012") | (Some(Before::Begin), "0A000" | "25006") => {
                            Opened::NotThisLane
                        }
                        _ if connection.learn_from(&error) => Opened::Learned,
                        _ => Opened::failed(Failure::Ours(error), At::Judged),
                    });
                }
                Event::Message(Message::ParseComplete | Message::BindComplete | Message::NoData) => {}
                Event::Row(_) | Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
    }

    /// Makes the function and reads it back; after that the transaction only reads.
    async fn keep_as_body(&mut self, types: &[u32]) -> Result<Result<Body, ServerError>, ReadError> {
        let names = match self.names_of(types).await? {
            Ok(names) => names,
            Err(error) => return Ok(Err(error)),
        };
        let text = self.question.candidate.judged_text();
        let make = format!(
            "CREATE FUNCTION pg_temp.pinguard_body({names}) RETURNS pg_catalog.void LANGUAGE sql BEGIN ATOMIC {text}\n; END"
        );
        let tables = match self.beside(&[(&make, &[]), (READ_BODY, &[]), (READ_ONLY, &[])]).await? {
            Ok(tables) => tables,
            Err(error) => return Ok(Err(error)),
        };
        // A session that a pooler shares may hold another function of the name.
        let row = tables.into_iter().nth(1).and_then(|table| <[_; 1]>::try_from(table).ok());
        let [tree, uses] = row.and_then(|[row]| <[_; 2]>::try_from(row).ok()).ok_or(ReadError::NotOneTree)?;
        let uses: Vec<(u32, u32)> = match uses {
            Some(json) => serde_json::from_str(&json).map_err(|_| ReadError::out_of_turn())?,
            None => Vec::new(),
        };
        let uses = uses.into_iter().map(|(catalog, oid)| (Oid(catalog), Oid(oid))).collect();
        Ok(Ok(Body { tree: tree.ok_or(ReadError::NotOneTree)?, uses }))
    }

    async fn names_of(&mut self, types: &[u32]) -> Result<Result<String, ServerError>, ReadError> {
        if types.is_empty() {
            return Ok(Ok(String::new()));
        }
        let oids: Vec<String> = types.iter().map(u32::to_string).collect();
        let oids = format!("{{{}}}", oids.join(","));
        let tables = self.beside(&[(TYPE_NAMES, &[Some(&oids)])]).await?;
        let name = |tables: Vec<Table>| tables.into_iter().flatten().flatten().next().flatten();
        Ok(tables.map(|tables| name(tables).unwrap_or_default()))
    }

    /// Runs queries of ours beside the caller's statement, which stays parsed.
    async fn beside(
        &mut self,
        queries: &[(&str, &[Option<&str>])],
    ) -> Result<Result<Vec<Table>, ServerError>, ReadError> {
        let connection = &mut *self.connection;
        let mut flight = Flight::default();
        let mut fill = || {
            for (sql, parameters) in queries {
                flight.parse_as(BODY_NAME, sql)?.run_named(BODY_NAME, parameters)?.forget(BODY_NAME)?;
            }
            flight.sync();
            Ok(())
        };
        fill().map_err(ReadError::unsendable)?;
        connection.set_rows(Rows::Keep(MAX_BODY));
        connection.launch(flight).await?;
        let mut tables = Vec::new();
        let mut table = Table::new();
        loop {
            match connection.next().await? {
                Event::Row(row) => {
                    if row.iter().flatten().any(RawValue::is_cut) {
                        return Err(ReadError::TreeTooLarge { limit: MAX_BODY });
                    }
                    table.push(row.iter().map(|value| value.as_ref().map(RawValue::text)).collect());
                }
                Event::Message(Message::CommandComplete(_)) => tables.push(std::mem::take(&mut table)),
                Event::Message(Message::ReadyForQuery(_)) => return Ok(Ok(tables)),
                Event::Message(Message::ErrorResponse(body)) => {
                    return Ok(Err(ServerError::parse(body.fields())));
                }
                Event::Message(Message::ParseComplete | Message::BindComplete | Message::CloseComplete) => {}
                Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
    }
}

/// Whether the login or the server cannot write what the lane needs: no TEMP, no USAGE on the language, a standby.
fn is_for_want_of_rights(error: &ServerError) -> bool {
    matches!(error.sqlstate.as_str(), "42501" | "25006")
}
