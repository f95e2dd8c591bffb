//! Queries of our own over the catalog: fixed texts, several in one transaction and one flight.

use std::io;

use postgres_protocol::message::backend::Message;
use tokio::time::{Instant, timeout_at};

use crate::connection::Connection;
use crate::flight::Flight;
use crate::raw::RawValue;
use crate::read_error::ReadError;
use crate::search_path::SearchPath;
use crate::server_error::ServerError;
use crate::settings::{self, BEGIN, Settings};
use crate::wire::{Event, Rows};

/// The most bytes that the answers of one call may have together.
const MAX_BYTES: usize = 64 << 20;

/// One query. Its text is fixed in the program; what comes from outside is a parameter.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The text, with every name in it qualified.
    pub sql: &'static str,
    /// What stands for `$1` and so on, as text.
    pub parameters: Vec<Option<String>>,
}

/// The rows of one query, as text.
pub type Table = Vec<Vec<Option<String>>>;

impl Connection {
    /// Asks several queries in one READ ONLY transaction; gives a table for each, in order. `search_path` decides
    /// what PostgreSQL's own printing functions qualify.
    pub async fn catalog(
        &mut self,
        asks: &[Ask],
        search_path: Option<&SearchPath>,
        deadline: Instant,
    ) -> Result<Vec<Table>, ReadError> {
        let began = Instant::now();
        let guard = self.begin()?;
        let outcome = timeout_at(deadline, self.ask(asks, search_path, deadline)).await;
        self.end(guard, outcome, began).await
    }

    /// The same where the connection is claimed already.
    pub(crate) async fn ask(
        &mut self,
        asks: &[Ask],
        search_path: Option<&SearchPath>,
        deadline: Instant,
    ) -> Result<Vec<Table>, ReadError> {
        let began = Instant::now();
        let timeout = settings::statement_timeout(deadline);
        let mut tries = 0;
        loop {
            let settings = self.settings(timeout, search_path, None);
            self.launch(flight(&settings, asks).map_err(ReadError::unsendable)?).await?;
            let error = match self.collect_tables(asks.len()).await? {
                Ok(tables) => return Ok(tables),
                Err(error) => error,
            };
            // The server may have ended the connection as well; its error says more.
            let settled = self.settle().await;
            if settings::is_timeout(&error, began.elapsed(), timeout) {
                return Err(ReadError::Deadline { after: began.elapsed() });
            }
            if tries > 0 || settled.is_err() || !self.learn_from(&error) {
                return Err(ReadError::Own(Box::new(error)));
            }
            tries += 1;
        }
    }

    async fn collect_tables(&mut self, count: usize) -> Result<Result<Vec<Table>, ServerError>, ReadError> {
        self.set_rows(Rows::Keep(MAX_BYTES));
        let mut tables: Vec<Table> = Vec::with_capacity(count);
        let mut table = Table::new();
        let mut bytes = 0;
        // BEGIN and the settings come before the queries.
        let mut ours = 2;
        loop {
            match self.next().await? {
                Event::Row(_) if ours > 0 => {}
                Event::Row(row) => {
                    bytes += row.iter().flatten().map(|value| value.full_bytes).sum::<usize>();
                    if bytes > MAX_BYTES {
                        return Err(ReadError::TooLarge { limit: MAX_BYTES });
                    }
                    table.push(row.iter().map(|value| value.as_ref().map(RawValue::text)).collect());
                }
                Event::Message(Message::CommandComplete(_)) if ours > 0 => ours -= 1,
                Event::Message(Message::CommandComplete(_)) => tables.push(std::mem::take(&mut table)),
                Event::Message(Message::ParseComplete | Message::BindComplete) => {}
                Event::Message(Message::ReadyForQuery(_)) => {
                    self.settle().await?;
                    return Ok(Ok(tables));
                }
                Event::Message(Message::ErrorResponse(body)) => {
                    return Ok(Err(ServerError::parse(body.fields())));
                }
                Event::Message(_) => return Err(ReadError::out_of_turn()),
            }
        }
    }
}

fn flight(settings: &Settings, asks: &[Ask]) -> io::Result<Flight> {
    let mut flight = Flight::default();
    flight.run(BEGIN, &[])?.run(settings.sql, &settings.parameters())?;
    for ask in asks {
        flight.run(ask.sql, &ask.parameters.iter().map(Option::as_deref).collect::<Vec<_>>())?;
    }
    flight.sync().rollback()?;
    Ok(flight)
}
