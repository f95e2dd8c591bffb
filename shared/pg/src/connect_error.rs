//! Why there is no connection: one variant per cause, each with a stable code and the next step.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::server_error::ServerError;
use crate::tls::RootsError;
use crate::wire::{FrameError, WireError};

/// How far a connection got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Looking up the name.
    Lookup,
    /// Reaching the port.
    Tcp,
    /// Setting up TLS.
    Tls,
    /// Logging in.
    Login,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lookup => "looking up the host",
            Self::Tcp => "reaching the port",
            Self::Tls => "setting up TLS",
            Self::Login => "logging in",
        })
    }
}

/// Why there is no connection. Hosts are named, passwords never.
#[derive(Debug, Error)]
pub enum ConnectError {
    /// The name resolves to nothing.
    #[error("the host `{host}` has no address")]
    UnknownHost {
        /// The host.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// No address could be reached.
    #[error("`{address}` cannot be reached")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What the system said of the last address tried.
        source: io::Error,
    },
    /// The name has IPv6 addresses only, and this machine has no way to them.
    #[error("the host `{host}` has IPv6 addresses only, and this machine reaches IPv4 only")]
    Ipv6Only {
        /// The host.
        host: String,
        /// What the system said.
        source: io::Error,
    },
    /// Time ran out.
    #[error("connecting to `{address}` took too long: time ran out while {stage}")]
    Timeout {
        /// Host and port.
        address: String,
        /// Where it hung.
        stage: Stage,
    },
    /// The server does no TLS, and the secret asks for it.
    #[error("the server at `{address}` offers no TLS")]
    TlsNotOffered {
        /// Host and port.
        address: String,
    },
    /// The server's certificate comes from an unknown CA.
    #[error("the certificate of `{address}` comes from a CA that is not known here")]
    TlsUnknownCa {
        /// Host and port.
        address: String,
        /// What the check found.
        source: io::Error,
    },
    /// The server's certificate is another host's.
    #[error("the certificate of `{address}` is for another host name")]
    TlsWrongHost {
        /// Host and port.
        address: String,
        /// What the check found.
        source: io::Error,
    },
    /// The server's certificate is not valid now.
    #[error("the certificate of `{address}` has expired or is not valid yet")]
    TlsExpired {
        /// Host and port.
        address: String,
        /// What the check found.
        source: io::Error,
    },
    /// TLS failed in another way.
    #[error("TLS with `{address}` failed")]
    TlsFailed {
        /// Host and port.
        address: String,
        /// What went wrong.
        source: io::Error,
    },
    /// The CAs that the secret gives cannot be used.
    #[error("the CAs of the secret cannot be used: {0}")]
    TlsRoots(String),
    /// The server takes encrypted connections only.
    #[error("the server requires TLS: {0}")]
    TlsRequired(Box<ServerError>),
    /// Wrong user or password, or the server's rules let this user not in.
    #[error("the login failed: {0}")]
    LoginFailed(Box<ServerError>),
    /// The server wants a password and the secret has none.
    #[error("the server wants a password and the secret has none")]
    PasswordMissing,
    /// No database of this name.
    #[error("the database does not exist: {0}")]
    UnknownDatabase(Box<ServerError>),
    /// The server or a pooler has no connection left.
    #[error("the server is busy: {0}")]
    TooManyConnections(Box<ServerError>),
    /// The server starts, stops or recovers.
    #[error("the server is not ready: {0}")]
    StartingUp(Box<ServerError>),
    /// The server refused for another reason.
    #[error("the server refused the connection: {0}")]
    Refused(Box<ServerError>),
    /// The server asks for a way of login that is not done here.
    #[error("the server asks for a login by {method}, which is not supported")]
    AuthUnsupported {
        /// The way it asks for.
        method: &'static str,
    },
    /// The server wants the password in clear on a connection that is not encrypted.
    #[error("the server wants the password in clear over a connection that is not encrypted")]
    AuthInClear,
    /// `channel_binding=require`, and the server or its certificate cannot do it.
    #[error(
        "the secret says `channel_binding=require`, and the server offers no SCRAM-SHA-256-PLUS over TLS"
    )]
    ChannelBinding,
    /// The server did not prove that it knows the password.
    #[error("the server failed to prove that it knows the password")]
    ServerUnproven {
        /// What was wrong with its proof.
        source: io::Error,
    },
    /// The connection broke during the login.
    #[error("the connection to `{address}` broke while {stage}")]
    Lost {
        /// Host and port.
        address: String,
        /// How far it got.
        stage: Stage,
        /// What the system said.
        source: io::Error,
    },
    /// What answers is no PostgreSQL server.
    #[error("what answers at `{address}` does not speak PostgreSQL's protocol: {reason}")]
    Protocol {
        /// Host and port.
        address: String,
        /// What was wrong.
        reason: String,
    },
}

impl ConnectError {
    /// The stable word for the cause.
    pub fn code(&self) -> &'static str {
        self.parts().0
    }

    /// The next step, for an operator.
    pub fn hint(&self) -> &'static str {
        self.parts().1
    }

    fn parts(&self) -> (&'static str, &'static str) {
        match self {
            Self::UnknownHost { .. } => {
                ("unknown_host", "check the host name in the secret, and that this network resolves it")
            }
            Self::Unreachable { .. } => (
                "unreachable",
                "check host and port in the secret, that the server listens there, and that its security group or firewall lets this network in",
            ),
            Self::Ipv6Only { .. } => (
                "ipv6_only",
                "use the service's IPv4 or pooler host in the secret, or give this network IPv6",
            ),
            Self::Timeout { .. } => (
                "connect_timeout",
                "check that the security group or firewall lets this network in; a closed one drops packets without an answer; raise PINGUARD_CONNECT_TIMEOUT_SECONDS for a server that sleeps",
            ),
            Self::TlsNotOffered { .. } => (
                "tls_not_offered",
                "turn `ssl` on in the server's settings; only if nobody can listen on the way, write `sslmode=disable` into the secret",
            ),
            Self::TlsUnknownCa { .. } => (
                "tls_unknown_ca",
                "put the CA's certificate into the secret as `sslrootcert`, as PEM text or path",
            ),
            Self::TlsWrongHost { .. } => (
                "tls_wrong_host",
                "use the host name that the certificate is for; with a CA of your own, `sslmode=verify-ca` leaves the name unchecked",
            ),
            Self::TlsExpired { .. } => {
                ("tls_expired", "renew the server's certificate, and check both clocks")
            }
            Self::TlsFailed { .. } => {
                ("tls_failed", "the server must speak TLS 1.2 or 1.3 with a certificate of version 3")
            }
            Self::TlsRoots(_) => ("tls_roots", "`sslrootcert` is a PEM text or the path of a PEM file"),
            Self::TlsRequired(_) => ("tls_required", "remove `sslmode=disable` from the secret"),
            Self::LoginFailed(_) => (
                "login_failed",
                "check user and password in the secret, and that the server's pg_hba.conf lets this user in from this network",
            ),
            Self::PasswordMissing => ("password_missing", "put the password into the secret"),
            Self::UnknownDatabase(_) => ("unknown_database", "check the database name in the secret"),
            Self::TooManyConnections(_) => (
                "too_many_connections",
                "try again in some seconds; a pooler in front, or fewer concurrent instances, keeps this away",
            ),
            Self::StartingUp(_) => ("starting_up", "try again in some seconds"),
            Self::Refused(_) => ("refused", "the server's message and its log say why"),
            Self::AuthUnsupported { .. } => (
                "auth_unsupported",
                "give this user a password login by scram-sha-256 in the server's pg_hba.conf",
            ),
            Self::AuthInClear => (
                "auth_in_clear",
                "use TLS, or give this user a login by scram-sha-256 in the server's pg_hba.conf",
            ),
            Self::ChannelBinding => (
                "channel_binding",
                "the server needs TLS and a SCRAM password for this user; else remove `channel_binding=require` from the secret",
            ),
            Self::ServerUnproven { .. } => (
                "server_unproven",
                "somebody may stand between this network and the server: check the host and use `sslmode=verify-full`",
            ),
            Self::Lost { .. } => {
                ("connection_lost", "try again; the server's log says why it closed the connection")
            }
            Self::Protocol { .. } => ("protocol", "check that the secret's port is PostgreSQL's"),
        }
    }

    /// Whether a new secret may help: the caller reads it again and tries once more.
    pub fn is_login_failure(&self) -> bool {
        matches!(self, Self::LoginFailed(_))
    }

    /// Whether a second try may help: a sleeping serverless database answers the first one like this.
    pub(crate) fn may_be_waking(&self) -> bool {
        match self {
            Self::StartingUp(_) | Self::Lost { .. } => true,
            Self::Refused(error) => error.sqlstate == "XX000",
            _ => false,
        }
    }

    pub(crate) fn of_roots(error: &RootsError) -> Self {
        let reason = match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        Self::TlsRoots(reason)
    }

    pub(crate) fn of_wire(error: WireError, address: &str, stage: Stage) -> Self {
        let address = address.to_owned();
        match error {
            WireError::Lost(source) => Self::Lost { address, stage, source },
            WireError::Protocol(FrameError::Message(source)) => {
                Self::Protocol { address, reason: source.to_string() }
            }
            WireError::Protocol(error) => Self::Protocol { address, reason: error.to_string() },
        }
    }

    /// Sorts what a server, or a pooler before it, says instead of letting us in.
    pub(crate) fn of_server(error: ServerError, encrypted: bool) -> Self {
        let says = |texts: &[&str]| texts.iter().any(|text| error.message.contains(text));
        // Poolers have few codes of their own, so some causes are known by their words only.
        let kind = if !encrypted && says(&["no encryption", "SSL off", "SSL required", "sslmode=require"]) {
            Self::TlsRequired
        } else if says(&["Tenant or user not found", "authentication failed", "no such user"]) {
            Self::LoginFailed
        } else if says(&["no such database"]) {
            Self::UnknownDatabase
        } else if says(&["no more connections allowed", "too many clients", "max client connections"]) {
            Self::TooManyConnections
        } else {
            match error.sqlstate.as_str() {
                "28P01" | "28000" => Self::LoginFailed,
                "3D000" => Self::UnknownDatabase,
                "53300" => Self::TooManyConnections,
                "57P03" => Self::StartingUp,
                _ => Self::Refused,
            }
        };
        kind(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sqlstate: &str, message: &str, encrypted: bool, code: &str) {
        let mut error = ServerError::default();
        error.sqlstate = sqlstate.into();
        error.message = message.into();
        let error = ConnectError::of_server(error, encrypted);
        assert_eq!(error.code(), code, "{message}");
        assert!(!error.hint().is_empty());
    }

    #[test]
    fn each_cause_has_its_code() {
        let no_entry = "no pg_hba.conf entry for host \"10.0.0.1\", user \"u\", database \"d\"";
        check("28000", &format!("{no_entry}, no encryption"), false, "tls_required");
        check("28000", &format!("{no_entry}, SSL off"), false, "tls_required");
        check("28000", &format!("{no_entry}, SSL encryption"), true, "login_failed");
        check("08P01", "SSL required", false, "tls_required");
        check("28P01", "password authentication failed for user \"u\"", true, "login_failed");
        check("XX000", "Tenant or user not found", true, "login_failed");
        check("08P01", "SASL authentication failed", true, "login_failed");
        check("08P01", "no such user: u", true, "login_failed");
        check("3D000", "database \"x\" does not exist", true, "unknown_database");
        check("08P01", "no such database: x", true, "unknown_database");
        check("53300", "sorry, too many clients already", true, "too_many_connections");
        check("08P01", "no more connections allowed (max_client_conn)", true, "too_many_connections");
        check("57P03", "the database system is starting up", true, "starting_up");
        check("XX000", "internal error", true, "refused");
        check("42501", "permission denied for database", true, "refused");
    }
}
