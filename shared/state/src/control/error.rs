//! What can go wrong with the control database, told apart by who has to act.

use thiserror::Error;
use tokio_postgres::error::SqlState;

use crate::flow::FlowProblems;
use crate::secrets::SecretError;

/// Why the control database gave no answer. No message holds a value of the secret or of a row.
#[derive(Debug, Error)]
pub enum ControlError {
    /// Its secret could not be read.
    #[error("the control database's secret could not be read")]
    Secret(#[source] SecretError),
    /// Its secret is no connection URL.
    #[error("the control database's secret is no usable connection URL")]
    Target(#[source] pg::TargetError),
    /// No connection came about.
    #[error("the control database could not be reached")]
    Connect(#[source] pg::ConnectError),
    /// The server refused the login.
    #[error("the control database refused the login")]
    Login(#[source] tokio_postgres::Error),
    /// The server answered the login with something else than yes or no.
    #[error("the control database let nobody in")]
    Startup(#[source] tokio_postgres::Error),
    /// The connection ended in the middle, twice.
    #[error("the connection to the control database was lost")]
    Lost(#[source] tokio_postgres::Error),
    /// The time was over.
    #[error("the control database did not answer in time")]
    Deadline,
    /// The schema is missing or older than this build.
    #[error("the control database has no schema `pinguard` of this version")]
    NotMigrated(#[source] tokio_postgres::Error),
    /// The schema is newer than this build.
    #[error("the control database's schema has version {found}, this build knows {known}")]
    Newer {
        /// The schema's version.
        found: i32,
        /// The newest that this build knows.
        known: i32,
    },
    /// The server answered with an error.
    #[error("the control database answered with an error")]
    Database(#[source] tokio_postgres::Error),
    /// An answer of another shape than asked for.
    #[error("the control database's answer has another shape than asked for")]
    Answer,
    /// What is stored as a flow does not read as one.
    #[error("the stored flow `{id}` does not read as a flow document")]
    Flow {
        /// The flow.
        id: String,
        /// What is wrong with it.
        source: FlowProblems,
    },
    /// The key's hash is stored for another workspace.
    #[error("this key belongs to another workspace")]
    KeyTaken,
    /// No key of this id.
    #[error("the workspace has no key `{0}`")]
    NoSuchKey(String),
}

impl ControlError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Secret(error) => error.code(),
            Self::Target(_) => "control_secret_malformed",
            Self::Connect(error) => error.code(),
            Self::Login(_) => "control_login_failed",
            Self::Startup(_) => "control_startup_failed",
            Self::Lost(_) => "control_connection_lost",
            Self::Deadline => "control_timeout",
            Self::NotMigrated(_) => "control_not_migrated",
            Self::Newer { .. } => "control_schema_newer",
            Self::Database(_) => "control_database_error",
            Self::Answer => "control_answer_malformed",
            Self::Flow { .. } => "control_flow_malformed",
            Self::KeyTaken => "key_taken",
            Self::NoSuchKey(_) => "key_not_found",
        }
    }

    /// What an operator does next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Secret(error) => error.hint(),
            Self::Connect(error) => error.hint(),
            Self::Target(_) => {
                "write a postgres:// URL, or JSON as RDS writes it, into the control database's secret"
            }
            Self::Login(_) => "correct user and password in the control database's secret",
            Self::Startup(_) => "check that the database exists, accepts connections and has some left",
            Self::Lost(_) | Self::Deadline => {
                "try again; if it stays so, look at the control database's load and log"
            }
            Self::NotMigrated(_) => {
                "run the migrations on the control database with a role that owns the schema"
            }
            Self::Newer { .. } => "deploy the build that migrated the control database, or a newer one",
            Self::Database(_) | Self::Answer => {
                "look at the control database's log and at the rights of its login"
            }
            Self::Flow { .. } => "save and publish the flow again",
            Self::KeyTaken => "make a new key: one key opens one workspace",
            Self::NoSuchKey(_) => "list the workspace's keys and use the id of one",
        }
    }

    /// Whether the server may hold another password by now than the secret that was read.
    pub(super) fn is_wrong_password(&self) -> bool {
        matches!(self, Self::Login(_))
    }

    /// Whether a new connection may bring the answer.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Deadline)
    }

    /// An error of the login.
    pub(super) fn startup(error: tokio_postgres::Error) -> Self {
        let refused = [&SqlState::INVALID_PASSWORD, &SqlState::INVALID_AUTHORIZATION_SPECIFICATION];
        match error.code() {
            Some(code) if refused.contains(&code) => Self::Login(error),
            _ => Self::Startup(error),
        }
    }
}

impl From<tokio_postgres::Error> for ControlError {
    /// An error of a statement.
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else { return Self::Lost(error) };
        let missing =
            [&SqlState::UNDEFINED_TABLE, &SqlState::UNDEFINED_COLUMN, &SqlState::INVALID_SCHEMA_NAME];
        let ended = [&SqlState::ADMIN_SHUTDOWN, &SqlState::CRASH_SHUTDOWN, &SqlState::CANNOT_CONNECT_NOW];
        if missing.contains(&code) {
            Self::NotMigrated(error)
        } else if ended.contains(&code) {
            Self::Lost(error)
        } else {
            Self::Database(error)
        }
    }
}
