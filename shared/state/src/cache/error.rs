//! What can go wrong with the cache, told apart by who has to act.

use thiserror::Error;
use tokio_postgres::error::SqlState;

use super::target::CacheTargetError;
use crate::control::ControlError;
use crate::secrets::SecretError;

/// Why the cache did not do as asked. No message holds a value of the secret or of an entry.
#[derive(Debug, Error)]
pub enum CacheError {
    /// Its secret could not be read.
    #[error("the cache's secret could not be read")]
    Secret(#[source] SecretError),
    /// Its secret is no URL of a cache.
    #[error("the cache's secret is no usable URL")]
    Target(#[source] CacheTargetError),
    /// It cannot be used now.
    #[error("the cache {reason}")]
    Unavailable {
        /// In which way.
        reason: Unavailable,
        /// What the client or the server said.
        source: redis::RedisError,
    },
    /// The table that serves as cache cannot be used now.
    #[error("the control database, which serves as cache, did not do as asked")]
    Control(#[source] ControlError),
    /// The time was over.
    #[error("the cache did not answer in time")]
    Deadline,
    /// There is no room, and the server does not make any.
    #[error("the cache is full")]
    Full,
    /// More than an entry may have, or than the caps leave to all entries together.
    #[error("{bytes} bytes are too many for one entry of the cache, which takes {most}")]
    TooLarge {
        /// What was to be kept.
        bytes: usize,
        /// What may be.
        most: usize,
    },
    /// What lies there was not written by this build, or not whole.
    #[error("what lies in the cache does not read as an entry")]
    Malformed,
}

/// In which way a Valkey or Redis cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// No connection came about.
    #[error("could not be reached")]
    Unreachable,
    /// No secure connection came about.
    #[error("could not prove who it is")]
    Tls,
    /// The file of CAs that its URL names cannot be read.
    #[error("has a CA file that cannot be read")]
    RootFile,
    /// It refused the login.
    #[error("refused the login")]
    Login,
    /// The login may not do what we need.
    #[error("does not let its login do what is needed")]
    Rights,
    /// The connection ended in the middle.
    #[error("broke the connection off")]
    Lost,
    /// It is starting, changing its roles, or has lost a part of its cluster.
    #[error("is not ready")]
    NotReady,
    /// It answered with any other error.
    #[error("answered with an error")]
    Other,
}

impl CacheError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Secret(error) => error.code(),
            Self::Target(_) => "cache_secret_malformed",
            Self::Unavailable { reason, .. } => reason.code(),
            Self::Control(error) => error.code(),
            Self::Deadline => "cache_timeout",
            Self::Full => "cache_full",
            Self::TooLarge { .. } => "cache_entry_too_large",
            Self::Malformed => "cache_entry_malformed",
        }
    }

    /// What an operator does next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Secret(error) => error.hint(),
            Self::Target(_) => {
                "write a URL such as `rediss://user:password@host:6379` into the cache's secret"
            }
            Self::Unavailable { reason, .. } => reason.hint(),
            Self::Control(error) => error.hint(),
            Self::Deadline => {
                "try again; if it stays so, look at the cache's load, its security group, and whether its port speaks TLS"
            }
            Self::Full => "give the cache more memory, or an eviction policy such as `volatile-ttl`",
            Self::TooLarge { .. } => "ask for fewer or narrower rows",
            Self::Malformed => "ask again; entries of another build expire within their lifetime",
        }
    }

    pub(super) fn unavailable(reason: Unavailable, source: redis::RedisError) -> Self {
        Self::Unavailable { reason, source }
    }

    /// Whether a new connection may bring the answer.
    pub(super) fn is_lost(&self) -> bool {
        let worth = [Unavailable::Lost, Unavailable::NotReady];
        match self {
            Self::Deadline => true,
            Self::Unavailable { reason, .. } => worth.contains(reason),
            _ => false,
        }
    }

    /// Whether the server may hold another password by now than the secret that was read.
    pub(super) fn is_wrong_password(&self) -> bool {
        matches!(self, Self::Unavailable { reason: Unavailable::Login, .. })
    }
}

impl Unavailable {
    fn code(self) -> &'static str {
        match self {
            Self::Unreachable => "cache_unreachable",
            Self::Tls => "cache_tls_failed",
            Self::RootFile => "cache_root_file",
            Self::Login => "cache_login_failed",
            Self::Rights => "cache_rights_missing",
            Self::Lost => "cache_connection_lost",
            Self::NotReady => "cache_not_ready",
            Self::Other => "cache_error",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Self::Unreachable => {
                "check host and port in the cache's secret, and its route and security group"
            }
            Self::Tls => {
                "switch encryption in transit on, use the host name of its certificate, and name a private CA by `sslrootcert`"
            }
            Self::RootFile => "correct the path in `sslrootcert`, or write the PEM itself there",
            Self::Login => "correct user and password in the cache's secret",
            Self::Rights => {
                "let the login run EVAL and the commands of hashes, sorted sets and expiry on keys `pinguard:*`"
            }
            Self::Lost | Self::NotReady => "try again; if it stays so, look at the cache's state and log",
            Self::Other => "look at the cache's log; pinguard needs Valkey, or Redis 6.2 or newer",
        }
    }
}

impl From<ControlError> for CacheError {
    fn from(error: ControlError) -> Self {
        let full = [&SqlState::DISK_FULL, &SqlState::OUT_OF_MEMORY];
        match error {
            ControlError::Deadline | ControlError::Connect(pg::ConnectError::Timeout { .. }) => {
                Self::Deadline
            }
            ControlError::Database(source) if source.code().is_some_and(|code| full.contains(&code)) => {
                Self::Full
            }
            error => Self::Control(error),
        }
    }
}
