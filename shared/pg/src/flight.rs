//! What leaves in one write: messages of the extended protocol. The caller's statement and portal have no name; those of
//! ours that must live beside it have.

use std::io;

use bytes::BytesMut;
use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};

/// The statement that ends every transaction of ours.
const ROLLBACK: &str = "ROLLBACK";

/// Stops the second flight where something has changed; the second is one that was not parsed ahead.
pub(crate) const GATE_NAME: &str = "pinguard_gate";
pub(crate) const OTHER_GATE_NAME: &str = "pinguard_other_gate";
/// Puts the server's log back.
pub(crate) const RESTORE_NAME: &str = "pinguard_restore";
/// Asks for the plan of the caller's statement.
pub(crate) const PLAN_NAME: &str = "pinguard_plan";
/// Makes the function of the function lane, reads it, and ends writing.
pub(crate) const BODY_NAME: &str = "pinguard_body";

/// All names of statements of ours.
const NAMES: [&str; 5] = [GATE_NAME, OTHER_GATE_NAME, RESTORE_NAME, PLAN_NAME, BODY_NAME];

/// Messages that are sent together, and how often the server will report itself ready after them.
#[derive(Default)]
pub(crate) struct Flight {
    pub(crate) bytes: BytesMut,
    pub(crate) answers: usize,
}

impl Flight {
    /// Parses under no name, leaving all parameter types to the server.
    pub(crate) fn parse(&mut self, sql: &str) -> io::Result<&mut Self> {
        self.parse_as("", sql)
    }

    /// Parses a statement that lives until it is closed or parsed anew.
    pub(crate) fn parse_as(&mut self, name: &str, sql: &str) -> io::Result<&mut Self> {
        frontend::parse(name, sql, [], &mut self.bytes)?;
        Ok(self)
    }

    /// Asks for the parameters and columns of the parsed statement.
    pub(crate) fn describe(&mut self) -> io::Result<&mut Self> {
        frontend::describe(b'S', "", &mut self.bytes)?;
        Ok(self)
    }

    /// Binds the unnamed statement to a portal, everything as text.
    pub(crate) fn bind(&mut self, portal: &str, parameters: &[Option<&str>]) -> io::Result<&mut Self> {
        self.bind_of("", portal, parameters)
    }

    fn bind_of(
        &mut self,
        statement: &str,
        portal: &str,
        parameters: &[Option<&str>],
    ) -> io::Result<&mut Self> {
        let write = |parameter: Option<&str>, bytes: &mut BytesMut| {
            Ok(match parameter {
                None => IsNull::Yes,
                Some(text) => {
                    bytes.extend_from_slice(text.as_bytes());
                    IsNull::No
                }
            })
        };
        frontend::bind(portal, statement, [], parameters.iter().copied(), write, [], &mut self.bytes)
            .map_err(|error| match error {
                BindError::Conversion(error) => io::Error::other(error),
                BindError::Serialization(error) => error,
            })?;
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

    /// Binds and runs a named statement, beside the caller's portal.
    pub(crate) fn run_named(&mut self, name: &str, parameters: &[Option<&str>]) -> io::Result<&mut Self> {
        self.bind_of(name, name, parameters)?.execute(name)?.close(name)
    }

    /// Closes a named statement; one that is not there does no harm.
    pub(crate) fn forget(&mut self, name: &str) -> io::Result<&mut Self> {
        frontend::close(b'S', name, &mut self.bytes)?;
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

    /// Forgets our named statements, and ends the transaction, whatever state it is in.
    pub(crate) fn leave(&mut self) -> io::Result<&mut Self> {
        for name in NAMES {
            self.forget(name)?;
        }
        self.rollback()
    }

    /// Ends the transaction, whatever state it is in.
    pub(crate) fn rollback(&mut self) -> io::Result<&mut Self> {
        frontend::query(ROLLBACK, &mut self.bytes)?;
        self.answers += 1;
        Ok(self)
    }
}
