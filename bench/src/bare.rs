//! The least that a transaction without a guard costs: everything in one flight, on a connection of its own.

use postgres_protocol::{
    IsNull,
    message::{backend, frontend},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

/// The settings of pinguard's transactions on PostgreSQL 18, in the same form.
const SETTINGS: &str = "SELECT pg_catalog.set_config('client_min_messages', 'notice', true), \
     pg_catalog.set_config('standard_conforming_strings', 'on', true), \
     pg_catalog.set_config('TimeZone', 'UTC', true), pg_catalog.set_config('DateStyle', 'ISO, MDY', true), \
     pg_catalog.set_config('IntervalStyle', 'postgres', true), pg_catalog.set_config('bytea_output', 'hex', true), \
     pg_catalog.set_config('extra_float_digits', '1', true), pg_catalog.set_config('xmloption', 'content', true), \
     pg_catalog.set_config('lc_monetary', 'C', true), pg_catalog.set_config('array_nulls', 'on', true), \
     pg_catalog.set_config('search_path', coalesce($1, pg_catalog.current_setting('search_path')), true), \
     pg_catalog.set_config('statement_timeout', $2, true), pg_catalog.set_config('lock_timeout', $3, true), \
     pg_catalog.set_config('client_connection_check_interval', $4, true), \
     pg_catalog.set_config('idle_in_transaction_session_timeout', $5, true), \
     pg_catalog.set_config('transaction_timeout', $5, true)";

const VALUES: [Option<&str>; 5] = [None, Some("19950"), Some("5000"), Some("1000"), Some("24950")];

/// A session without TLS, of a login that needs no password.
pub(crate) struct Bare(TcpStream);

impl Bare {
    pub(crate) async fn open(port: u16, user: &str) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut bare = Self(stream);
        let mut bytes = bytes::BytesMut::new();
        frontend::startup_message([("user", user), ("database", "postgres")], &mut bytes).unwrap();
        bare.flight(&bytes, 1).await;
        bare
    }

    /// BEGIN, the settings, the statement and ROLLBACK. Gives how many rows there were.
    pub(crate) async fn read(&mut self, sql: &str) -> usize {
        let mut bytes = bytes::BytesMut::new();
        run("BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY", &[], &mut bytes);
        run(SETTINGS, &VALUES, &mut bytes);
        run(sql, &[], &mut bytes);
        frontend::sync(&mut bytes);
        frontend::query("ROLLBACK", &mut bytes).unwrap();
        // One row is that of the settings.
        self.flight(&bytes, 2).await - 1
    }

    /// Sends, and reads until the server has reported itself ready so often.
    async fn flight(&mut self, bytes: &[u8], answers: usize) -> usize {
        self.0.write_all(bytes).await.unwrap();
        let mut inbox = bytes::BytesMut::with_capacity(16 << 10);
        let (mut ready, mut rows) = (0, 0);
        loop {
            while let Some(message) = backend::Message::parse(&mut inbox).unwrap() {
                match message {
                    backend::Message::DataRow(_) => rows += 1,
                    backend::Message::ErrorResponse(_) => panic!("an error of the server"),
                    backend::Message::ReadyForQuery(_) => ready += 1,
                    _ => {}
                }
            }
            if ready == answers {
                return rows;
            }
            assert_ne!(self.0.read_buf(&mut inbox).await.unwrap(), 0, "the server has gone");
        }
    }
}

fn run(sql: &str, parameters: &[Option<&str>], bytes: &mut bytes::BytesMut) {
    frontend::parse("", sql, [], bytes).unwrap();
    let write = |parameter: Option<&str>, bytes: &mut bytes::BytesMut| {
        Ok(match parameter {
            None => IsNull::Yes,
            Some(text) => {
                bytes.extend_from_slice(text.as_bytes());
                IsNull::No
            }
        })
    };
    frontend::bind("", "", [], parameters.iter().copied(), write, [], bytes).map_err(|_| ()).unwrap();
    frontend::execute("", 0, bytes).unwrap();
}
