//! What leaves in one write: messages of the extended protocol, unnamed statements only.

use std::io;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};

/// The statement that ends every transaction of ours.
const ROLLBACK: &str = "ROLLBACK";

/// Messages that are sent together, and how often the server will report itself ready after them.
#[derive(Default)]
pub(crate) struct Flight {
    pub(crate) bytes: BytesMut,
    pub(crate) answers: usize,
}

impl Flight {
    /// Parses under no name, leaving all parameter types to the server.
    pub(crate) fn parse(&mut self, sql: &str) -> io::Result<&mut Self> {
        frontend::parse("", sql, [], &mut self.bytes)?;
        Ok(self)
    }

    /// Asks for the parameters and columns of the parsed statement.
    pub(crate) fn describe(&mut self) -> io::Result<&mut Self> {
        frontend::describe(b'S', "", &mut self.bytes)?;
        Ok(self)
    }

    /// Binds the parsed statement to a portal, everything as text.
    pub(crate) fn bind(&mut self, portal: &str, parameters: &[Option<&str>]) -> io::Result<&mut Self> {
        let write = |parameter: Option<&str>, bytes: &mut BytesMut| {
            Ok(match parameter {
                None => IsNull::Yes,
                Some(text) => {
                    bytes.extend_from_slice(text.as_bytes());
                    IsNull::No
                }
            })
        };
        frontend::bind(portal, "", [], parameters.iter().copied(), write, [], &mut self.bytes).map_err(
            |error| match error {
                BindError::Conversion(error) => io::Error::other(error),
                BindError::Serialization(error) => error,
            },
        )?;
        Ok(self)
    }

    /// Runs a portal to its end.
    pub(crate) fn execute(&mut self, portal: &str) -> io::Result<&mut Self> {
        frontend::execute(portal, 0, &mut self.bytes)?;
        Ok(self)
    }

    /// Closes a named portal.
    pub(crate) fn close(&mut self, portal: &str) -> io::Result<&mut Self> {
        frontend::close(b'P', portal, &mut self.bytes)?;
        Ok(self)
    }

    /// Parses, binds and runs a query of our own.
    pub(crate) fn run(&mut self, sql: &'static str, parameters: &[Option<&str>]) -> io::Result<&mut Self> {
        self.parse(sql)?.bind("", parameters)?.execute("")
    }

    /// Ends a group: after an error the server passes over everything up to here.
    pub(crate) fn sync(&mut self) -> &mut Self {
        frontend::sync(&mut self.bytes);
        self.answers += 1;
        self
    }

    /// Ends the transaction, whatever state it is in.
    pub(crate) fn rollback(&mut self) -> io::Result<&mut Self> {
        frontend::query(ROLLBACK, &mut self.bytes)?;
        self.answers += 1;
        Ok(self)
    }
}
