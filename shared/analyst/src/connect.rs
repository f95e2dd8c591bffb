//! From a secret to a connection: read for this call, parsed, opened, and read again where the password no longer fits.

use std::pin::Pin;
use std::sync::Arc;

use pg::{ConnectError, ConnectOptions, Connection, Idle, Place, Target, TokenRequest};

use crate::failure::{Failure, Kind};

/// What may be missing where RDS refuses a token.
const TOKEN_HINT: &str = "switch IAM logins on at the instance, grant rds_iam to the database user, and let the function's role call rds-db:connect for it";

/// Which version of a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The one in use.
    Current,
    /// The one that a rotation has made and not yet put into use.
    Pending,
}

/// A secret as it was read.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText {
    /// A PostgreSQL URL or RDS's JSON.
    pub text: String,
    /// Changes whenever the text does.
    pub version: String,
}

/// Something that is asked for.
pub type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send + 'a>>;

/// Who keeps a credential: gives its secret, and tokens where the secret holds no password.
pub trait Keeper: Sync {
    /// The secret's id.
    fn id(&self) -> &str;

    /// Reads the secret.
    fn secret(&self, stage: Stage) -> Asked<'_, SecretText>;

    /// What a connection by this version of the secret is for.
    fn place(&self, version: &str) -> Place;

    /// Makes a token for one login.
    fn token(&self, request: TokenRequest) -> Asked<'_, String>;
}

/// A connection, and what an operator should know of the way to it.
pub struct Opened {
    /// The connection.
    pub connection: Connection,
    /// The secret that opened it.
    pub place: Place,
    /// Sentences about the secret and its TLS; none holds a value of it.
    pub warnings: Vec<String>,
}

/// Opens a connection with a credential, or takes the one that waits for it. Where the server refuses the password, the secret
/// is read again, first as it is now, then as a rotation will leave it, and tried once more. Where it cannot be read, what waits
/// for it is ended.
pub async fn open(keeper: &dyn Keeper, idle: &Arc<Idle>, options: ConnectOptions) -> Result<Opened, Failure> {
    let first = match keeper.secret(Stage::Current).await {
        Ok(secret) => secret,
        Err(failure) => {
            idle.leave(keeper.id()).await;
            return Err(failure);
        }
    };
    let refused = match connect(keeper, &first, idle, options).await {
        Err(Attempt::PasswordRefused(failure)) => failure,
        Err(Attempt::Failed(failure)) => return Err(failure),
        Ok(opened) => return Ok(opened),
    };
    let again = keeper.secret(Stage::Current).await?;
    let second =
        if again.version == first.version { keeper.secret(Stage::Pending).await.ok() } else { Some(again) };
    match second {
        Some(second) if second.version != first.version => {
            connect(keeper, &second, idle, options).await.map_err(Attempt::into_failure)
        }
        _ => Err(refused),
    }
}

enum Attempt {
    PasswordRefused(Failure),
    Failed(Failure),
}

impl Attempt {
    fn into_failure(self) -> Failure {
        match self {
            Self::PasswordRefused(failure) | Self::Failed(failure) => failure,
        }
    }
}

async fn connect(
    keeper: &dyn Keeper,
    secret: &SecretText,
    idle: &Arc<Idle>,
    options: ConnectOptions,
) -> Result<Opened, Attempt> {
    let target = Target::parse(&secret.text).map_err(|error| {
        let failure = Failure::new(
            Kind::Plumbing,
            "secret_malformed",
            format!("the node's secret cannot be used: {error}"),
        );
        Attempt::Failed(
            failure.hinting("the operator mends the secret: a postgresql:// URL, or JSON as RDS writes it"),
        )
    })?;
    let warnings = target.warnings();
    let place = keeper.place(&secret.version);
    if let Some(connection) = idle.take(&place, options.deadline).await {
        return Ok(Opened { connection, place, warnings });
    }
    let request = target.token_request();
    let by_token = request.is_some();
    let target = match request {
        Some(request) => target.with_token(keeper.token(request).await.map_err(Attempt::Failed)?),
        None => target,
    };
    let mut connection = Connection::open(&target, options).await.map_err(|error| {
        let refused = error.is_login_failure();
        let failure = failed_connect(&error);
        let failure = if refused && by_token { failure.hinting(TOKEN_HINT) } else { failure };
        if refused { Attempt::PasswordRefused(failure) } else { Attempt::Failed(failure) }
    })?;
    idle.lend(&mut connection, place.clone());
    Ok(Opened { connection, place, warnings })
}

fn failed_connect(error: &ConnectError) -> Failure {
    Failure::new(Kind::Plumbing, error.code(), error.to_string()).hinting(error.hint()).logging(chain(error))
}

/// An error and its sources, one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
