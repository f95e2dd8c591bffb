//! Why a statement gave no result.

use std::fmt;
use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::server_error::ServerError;
use crate::wire::WireError;

/// When a connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Before the statement ran, as an idle connection is: on a new one it may be tried again.
    Before,
    /// While it ran.
    Amid,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before the statement ran",
            Self::Amid => "while the statement ran",
        })
    }
}

/// Why a statement gave no result.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The server's answer about the caller's statement; its position is in the caller's text.
    #[error("{0}")]
    Server(Box<ServerError>),
    /// The server's answer about a query of our own.
    #[error("a query of pinguard's own failed: {0}")]
    Own(Box<ServerError>),
    /// As many parameters as the statement has not.
    #[error("parameters of the statement: {wanted}; values in the call: {given}")]
    ParameterCount {
        /// How many were given.
        given: usize,
        /// How many `$n` the server found.
        wanted: usize,
    },
    /// A text that PostgreSQL cannot hold.
    #[error("parameter ${number} holds a NUL character, which PostgreSQL cannot take")]
    ParameterNul {
        /// Which one, from 1.
        number: usize,
    },
    /// Statement or parameters do not fit into the protocol.
    #[error("the statement cannot be sent: {0}")]
    Unsendable(String),
    /// Time ran out.
    #[error("the statement took too long and was cancelled after {} ms", after.as_millis())]
    Deadline {
        /// How long it was given.
        after: Duration,
    },
    /// A catalog answer beyond all bounds.
    #[error("the catalog's answer is too large: over {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// The connection broke.
    #[error("the connection was lost {lost}")]
    Lost {
        /// Whether the statement may have run.
        lost: Lost,
        /// What the system or the server said.
        source: io::Error,
    },
    /// The server answered out of turn.
    #[error("the server does not keep to the protocol: {reason}")]
    Protocol {
        /// What was wrong.
        reason: String,
    },
    /// A version of PostgreSQL whose trees nobody here has seen.
    #[error("PostgreSQL {0} is not one of the versions 14 to 18 whose statements can be judged")]
    UnknownMajor(u32),
    /// The server does not tell this login what a statement resolves to.
    #[error("this database login cannot have statements resolved, so that they cannot be judged")]
    NoLane {
        /// The server's major version, which decides what grant helps.
        major: u32,
    },
    /// Not exactly one tree arrived, or something that looks like one.
    #[error("the server did not say once and clearly what the statement resolves to")]
    NotOneTree,
    /// A tree beyond all bounds.
    #[error("what the statement resolves to is larger than {limit} bytes")]
    TreeTooLarge {
        /// The bound.
        limit: usize,
    },
    /// The catalog was asked again and again.
    #[error("the statement reaches more of the catalog than can be followed")]
    TooManyRounds,
    /// The catalog changed again and again.
    #[error("what the statement uses changed while it was judged")]
    Unsettled,
    /// The connection was left in the middle of an earlier statement.
    #[error("the connection cannot be used again")]
    Unusable,
}

impl ReadError {
    /// The SQLSTATE of the server's errors about the statement, else a stable word of ours.
    pub fn code(&self) -> &str {
        match self {
            Self::Server(error) => &error.sqlstate,
            Self::Own(_) => "own_query_failed",
            Self::ParameterCount { .. } => "parameter_count",
            Self::ParameterNul { .. } => "parameter_nul",
            Self::Unsendable(_) => "unsendable",
            Self::Deadline { .. } => "statement_timeout",
            Self::TooLarge { .. } => "catalog_too_large",
            Self::Lost { .. } => "connection_lost",
            Self::Protocol { .. } => "protocol",
            Self::Unusable => "connection_unusable",
            Self::UnknownMajor(_) => "unknown_major",
            Self::NoLane { .. } => "no_lane",
            Self::NotOneTree => "not_one_tree",
            Self::TreeTooLarge { .. } => "tree_too_large",
            Self::TooManyRounds => "too_many_rounds",
            Self::Unsettled => "unsettled",
        }
    }

    /// The server's answer, if it gave one.
    pub fn server(&self) -> Option<&ServerError> {
        match self {
            Self::Server(error) | Self::Own(error) => Some(error),
            _ => None,
        }
    }

    pub(crate) fn out_of_turn() -> Self {
        Self::Protocol { reason: "a message out of turn".to_owned() }
    }

    // By value, for `map_err`.
    #[expect(clippy::needless_pass_by_value, reason = "used as a function in map_err")]
    pub(crate) fn unsendable(error: io::Error) -> Self {
        Self::Unsendable(error.to_string())
    }
}

impl From<WireError> for ReadError {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Lost(source) => Self::Lost { lost: Lost::Amid, source },
            WireError::Protocol(error) => Self::Protocol { reason: error.to_string() },
        }
    }
}
