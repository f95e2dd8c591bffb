//! A statement that needs no resolving: `SHOW` of a listed setting.

use guard::Admitted;
use postgres_protocol::message::backend::Message;
use tokio::time::Instant;

use super::describing::columns;
use super::running::{Outcome, Second};
use super::{End, Failure, Ran, Reading};
use crate::flight::Flight;
use crate::raw::RawColumn;
use crate::read_error::ReadError;
use crate::server_error::ServerError;
use crate::settings::{BEGIN, statement_timeout};
use crate::wire::{Event, Rows};

impl Reading<'_> {
    pub(super) async fn show(&mut self, statement: &Admitted) -> Result<End, ReadError> {
        let began = Instant::now();
        let columns = loop {
            match self.describe(statement).await? {
                Ok(columns) => break columns,
                Err(error) if self.connection.learn_from(&error) => self.connection.settle().await?,
                Err(error) => {
                    let _ = self.connection.settle().await;
                    return Err(self.error(Failure::Ours(error), |_| None, began));
                }
            }
        };
        let statement = statement.clone();
        let second = Second {
            statement,
            texts: Vec::new(),
            columns,
            gate: None,
            parsed_gate: None,
            lane: None,
            log_level: None,
        };
        match self.second_flight(second).await? {
            Outcome::Ran(raw) => Ok(End::Ran(Ran { raw: *raw, relations: Vec::new(), lane: None })),
            Outcome::Stale | Outcome::Replanned => Err(ReadError::Unsettled),
        }
    }

    async fn describe(
        &mut self,
        statement: &Admitted,
    ) -> Result<Result<Vec<RawColumn>, ServerError>, ReadError> {
        let plan = self.question.plan;
        let connection = &mut *self.connection;
        let settings = connection.settings(
            statement_timeout(plan.deadline),
            plan.search_path.as_ref(),
            plan.claims.as_ref(),
        );
        let mut flight = Flight::default();
        let mut fill = || {
            flight.run(BEGIN, &[])?.run(settings.sql, &settings.parameters())?;
            flight.parse(statement.text())?.describe()?.sync();
            Ok(())
        };
        fill().map_err(ReadError::unsendable)?;
        connection.set_rows(Rows::Discard);
        connection.launch(flight).await?;
        let mut described = Vec::new();
        loop {
            match connection.next().await? {
                Event::Message(Message::RowDescription(body)) => described = columns(&body)?,
                Event::Message(Message::ReadyForQuery(_)) => return Ok(Ok(described)),
                Event::Message(Message::ErrorResponse(body)) => {
                    return Ok(Err(ServerError::parse(body.fields())));
                }
                Event::Message(
                    Message::CommandComplete(_)
                    | Message::ParameterDescription(_)
                    | Message::ParseComplete
                    | Message::BindComplete
                    | Message::NoData,
                ) => {}
                Event::Row(_) | Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
    }
}
