//! Where a database is and how to get in: a secret, parsed into checked parts.

mod host;
mod json;
mod options;
mod password;
mod token;
mod url;

use std::fmt;
use std::time::Duration;

use thiserror::Error;

pub use host::Host;
pub use password::Password;
pub use token::TokenRequest;

use crate::tls::{Roots, TlsMode};
use options::{LoginBy, Options};

/// The port of PostgreSQL where a secret names none.
const DEFAULT_PORT: u16 = 5432;

/// A database to connect to. Its `Debug` shows no password, and nothing gives the secret's text back.
#[derive(Clone)]
pub struct Target {
    host: Host,
    port: u16,
    user: String,
    password: Option<Password>,
    database: String,
    options: Options,
}

/// Whether the login must be bound to the TLS connection (SCRAM-SHA-256-PLUS).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelBinding {
    Disable,
    Prefer,
    Require,
}

/// Why a secret is no target. No message repeats any part of the secret but the name of an option.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TargetError {
    /// Neither of the two forms.
    #[error(
        "the secret is neither a `postgres://` or `postgresql://` URL nor a JSON object with `host`, `port`, `username`, `password`, `dbname`"
    )]
    Form,
    /// JSON that does not parse, or is no flat object.
    #[error(
        "the secret is no valid JSON object: write `host`, `port`, `username`, `password`, `dbname` as strings, `port` may be a number"
    )]
    Json,
    /// No host.
    #[error("the secret names no host: a host name or address is needed, there is no default")]
    NoHost,
    /// No user.
    #[error("the secret names no user")]
    NoUser,
    /// Several hosts.
    #[error(
        "the secret names several hosts: name one, for example the pooler or the cluster's reader endpoint"
    )]
    SeveralHosts,
    /// A folder of a Unix socket.
    #[error("the secret's host is a path: Unix sockets are not supported, name a host or an address")]
    UnixSocket,
    /// A host that is neither a name nor an address.
    #[error(
        "the secret's host is no host name and no address: an IPv6 address stands in brackets, the port goes into `port`"
    )]
    BadHost,
    /// A port that is no number from 1 to 65535.
    #[error(
        "the secret's port is no number from 1 to 65535: characters like `:`, `/`, `?` and `@` in a password are written as `%3A`, `%2F`, `%3F`, `%40`"
    )]
    BadPort,
    /// A `/` or `@` where the database name or an option should be.
    #[error(
        "the secret holds a bare `@` or `/` after its host: characters like `/`, `?` and `@` in a user, password or database name are written as `%2F`, `%3F`, `%40`"
    )]
    Unencoded,
    /// A `%` that starts no two hex digits, or bytes that are no UTF-8.
    #[error("the secret holds a `%` that starts no percent code: a literal `%` is written as `%25`")]
    BadPercent,
    /// A NUL character.
    #[error("the secret holds a NUL character, which PostgreSQL cannot take")]
    Nul,
    /// An option without a value.
    #[error("the secret holds an option without `=`: options are written as `name=value`, joined by `&`")]
    OptionForm,
    /// The same thing given twice.
    #[error("the secret gives `{0}` twice: keep one")]
    Twice(String),
    /// A value that an option does not take.
    #[error("the option `{name}` takes {accepted}")]
    OptionValue {
        /// The option.
        name: &'static str,
        /// What it takes.
        accepted: &'static str,
    },
    /// An option that would weaken TLS or the login, or asks for something that is not done here.
    #[error("the option `{name}` is not accepted: {instead}")]
    OptionRefused {
        /// The option.
        name: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// A password, and the wish for a token instead of one.
    #[error("the secret holds a password and `auth=rds-iam`: keep one of them")]
    PasswordBesideToken,
    /// `channel_binding=require` without TLS.
    #[error("`channel_binding=require` needs TLS: remove `sslmode=disable`")]
    BindingWithoutTls,
}

/// What both forms of a secret are first taken apart into.
#[derive(Default)]
struct Parts {
    host: Option<String>,
    port: Option<String>,
    user: Option<String>,
    password: Option<String>,
    database: Option<String>,
    options: Vec<(String, String)>,
}

impl Parts {
    /// Puts a value to its place by libpq's name for it.
    fn set(&mut self, name: &str, value: String) -> Result<(), TargetError> {
        if value.contains('\0') {
            return Err(TargetError::Nul);
        }
        let place = match name {
            "host" => &mut self.host,
            "port" => &mut self.port,
            "user" => &mut self.user,
            "password" => &mut self.password,
            "dbname" => &mut self.database,
            _ => {
                self.options.push((name.to_owned(), value));
                return Ok(());
            }
        };
        match place.replace(value) {
            Some(_) => Err(TargetError::Twice(name.to_owned())),
            None => Ok(()),
        }
    }
}

impl Target {
    /// Parses a secret: a PostgreSQL URL, or JSON as RDS writes it.
    ///
    /// ```
    /// let target = pg::Target::parse("postgres://reader:s3cret@db.example.com/shop").unwrap();
    /// assert_eq!(target.to_string(), "reader@db.example.com:5432/shop");
    /// ```
    pub fn parse(secret: &str) -> Result<Self, TargetError> {
        let secret = secret.trim();
        let parts = if secret.starts_with('{') { json::parse(secret)? } else { url::parse(secret)? };
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());

        let host = Host::parse(&filled(parts.host).ok_or(TargetError::NoHost)?)?;
        let port = match filled(parts.port) {
            None => DEFAULT_PORT,
            Some(text) => parse_port(&text)?,
        };
        let user = filled(parts.user).ok_or(TargetError::NoUser)?;
        let database = filled(parts.database).unwrap_or_else(|| user.clone());
        let options = Options::parse(parts.options, &host)?;
        let password = filled(parts.password).map(Password::new);
        if password.is_some() && options.login_by != LoginBy::Password {
            return Err(TargetError::PasswordBesideToken);
        }
        Ok(Self { host, port, user, password, database, options })
    }

    /// What a token is asked for with, where the secret says `auth=rds-iam`. One token opens one connection:
    /// it is good for 15 minutes at most.
    pub fn token_request(&self) -> Option<TokenRequest> {
        match &self.options.login_by {
            LoginBy::Password => None,
            LoginBy::RdsToken { region } => Some(TokenRequest {
                host: self.host.to_string(),
                port: self.port,
                user: self.user.clone(),
                region: region.clone().or_else(|| self.host.rds_region().map(str::to_owned)),
            }),
        }
    }

    /// The same target, which logs in with this token.
    #[must_use]
    pub fn with_token(self, token: String) -> Self {
        Self { password: Some(Password::new(token)), ..self }
    }

    /// The host, as parsed.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The login role.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The database; the user's name where the secret names none.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Options of the secret that are for other programs and do nothing here.
    pub fn ignored(&self) -> &[String] {
        &self.options.ignored
    }

    /// What an operator should know about the secret, as sentences; none of them holds a value of it.
    pub fn warnings(&self) -> Vec<String> {
        self.options.warnings(&self.host)
    }

    /// The password, for the login alone.
    pub fn password(&self) -> Option<&Password> {
        self.password.as_ref()
    }

    pub(crate) fn tls_mode(&self) -> TlsMode {
        self.options.tls_mode
    }

    pub(crate) fn roots(&self) -> &Roots {
        &self.options.roots
    }

    pub(crate) fn channel_binding(&self) -> ChannelBinding {
        self.options.channel_binding
    }

    pub(crate) fn connect_timeout(&self) -> Option<Duration> {
        self.options.connect_timeout
    }
}

/// Digits only: `parse` alone would take `+5432`.
fn parse_port(text: &str) -> Result<u16, TargetError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let port = if digits { text.parse().unwrap_or(0) } else { 0 };
    if port == 0 { Err(TargetError::BadPort) } else { Ok(port) }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}:{}/{}", self.user, self.host, self.port, self.database)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("password", &self.password)
            .field("database", &self.database)
            .field("tls_mode", &self.options.tls_mode)
            .finish_non_exhaustive()
    }
}
