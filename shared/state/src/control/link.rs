//! Connections to the control database: one kept warm for reading, a new one for each change.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pg::Moment;
use tokio::sync::Mutex;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row};

use super::error::ControlError;
use crate::secrets::{Secret, SecretError, SecretStage, SecretStore};

/// How long a kept connection may be silent before it counts as dead, if half of the call's time is not less: a network
/// that forgets idle connections drops what is sent on them without a word.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest that a connection is kept, unless told otherwise: a login whose password was changed, or that was locked, is
/// noticed by a new one.
pub(super) const MOST_AGE: Duration = Duration::from_mins(5);

/// A value to bind, and its type: naming the types saves the round trip of asking for them, and a statement without a
/// name also passes poolers that give every transaction another server connection.
pub(crate) type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// The way to the control database.
#[derive(Debug)]
pub(crate) struct Links {
    store: Arc<SecretStore>,
    secret_id: String,
    most_age: Duration,
    warm: Mutex<Option<Arc<Link>>>,
}

/// A connection and the task that drives it.
struct Link {
    client: Client,
    driver: AbortHandle,
    opened: Moment,
    dead: AtomicBool,
    /// One question at a time: a pooler that hands out transactions may give the server connection to another client
    /// while it still holds what this one sent ahead.
    turn: Mutex<()>,
}

#[derive(Debug, Clone, Copy)]
enum Origin {
    Kept,
    New,
}

impl Links {
    pub(super) fn new(store: Arc<SecretStore>, secret_id: String, most_age: Duration) -> Self {
        Self { store, secret_id, most_age, warm: Mutex::new(None) }
    }

    /// Asks for at most one row on the warm connection. Where that turns out dead, once more on a new one; so the
    /// statement must do no harm when it runs twice.
    pub(crate) async fn read(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
        deadline: Instant,
    ) -> Result<Option<Row>, ControlError> {
        Ok(self.rows(sql, parameters, deadline).await?.pop())
    }

    /// Asks for rows, as [`Links::read`] does for one.
    pub(crate) async fn rows(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
        deadline: Instant,
    ) -> Result<Vec<Row>, ControlError> {
        let (link, origin) = self.warm(deadline).await?;
        match (link.ask(sql, parameters, origin, deadline).await, origin) {
            (Err(error), Origin::Kept) if error.is_lost() && Instant::now() < deadline => {
                let (link, _) = self.warm(deadline).await?;
                link.ask(sql, parameters, Origin::New, deadline).await
            }
            (answer, _) => answer,
        }
    }

    /// Runs a statement that changes something, once, and gives the row it returns.
    pub(super) async fn change(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
        deadline: Instant,
    ) -> Result<Option<Row>, ControlError> {
        let work = async |client: &mut Client| Ok(client.query_typed_opt(sql, parameters).await?);
        self.with_new(deadline, work).await
    }

    /// Does some work on a connection of its own.
    pub(crate) async fn with_new<T>(
        &self,
        deadline: Instant,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, ControlError>,
    ) -> Result<T, ControlError> {
        let mut link = self.connect(deadline).await?;
        timeout_at(deadline, work(&mut link.client)).await.map_err(|_| ControlError::Deadline)?
    }

    async fn warm(&self, deadline: Instant) -> Result<(Arc<Link>, Origin), ControlError> {
        // Held while connecting, so that calls that come at one time share one connection.
        let mut warm = timeout_at(deadline, self.warm.lock()).await.map_err(|_| ControlError::Deadline)?;
        if let Some(link) = warm.as_ref().filter(|link| link.is_usable(self.most_age)) {
            return Ok((Arc::clone(link), Origin::Kept));
        }
        let link = Arc::new(self.connect(deadline).await?);
        *warm = Some(Arc::clone(&link));
        Ok((link, Origin::New))
    }

    /// Opens a connection by the secret as it reads now. Where the server refuses the login, the secret may have been
    /// rotated a moment ago: it is read again, then its pending value, and one of them is tried.
    async fn connect(&self, deadline: Instant) -> Result<Link, ControlError> {
        let secret = self.secret(SecretStage::Current, deadline).await?;
        let refused = match open(&secret, deadline).await {
            Err(error) if error.is_wrong_password() => error,
            other => return other,
        };
        for stage in [SecretStage::Current, SecretStage::Pending] {
            match self.secret(stage, deadline).await {
                Ok(other) if other.version != secret.version => return open(&other, deadline).await,
                Ok(_) | Err(_) => {}
            }
        }
        Err(refused)
    }

    async fn secret(&self, stage: SecretStage, deadline: Instant) -> Result<Secret, ControlError> {
        let read = timeout_at(deadline, self.store.read(&self.secret_id, stage)).await;
        let late = |_| SecretError::Unreachable { id: self.secret_id.clone(), source: None };
        read.map_err(late).flatten().map_err(ControlError::Secret)
    }
}

impl Link {
    /// Asks for rows. A connection that gives no answer is done with.
    async fn ask(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
        origin: Origin,
        deadline: Instant,
    ) -> Result<Vec<Row>, ControlError> {
        let _turn = timeout_at(deadline, self.turn.lock()).await.map_err(|_| ControlError::Deadline)?;
        let share = deadline.saturating_duration_since(Instant::now()) / 2;
        let until = match origin {
            Origin::New => deadline,
            Origin::Kept => Instant::now() + share.min(PATIENCE),
        };
        let answer = match timeout_at(until, self.client.query_typed(sql, parameters)).await {
            Ok(answer) => answer.map_err(ControlError::from),
            Err(_) => Err(ControlError::Deadline),
        };
        if answer.as_ref().is_err_and(ControlError::is_lost) {
            self.dead.store(true, Ordering::Relaxed);
            self.driver.abort();
        }
        answer
    }

    fn is_usable(&self, most_age: Duration) -> bool {
        !self.dead.load(Ordering::Relaxed) && !self.client.is_closed() && self.opened.elapsed() < most_age
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("opened", &self.opened).field("dead", &self.dead).finish_non_exhaustive()
    }
}

async fn open(secret: &Secret, deadline: Instant) -> Result<Link, ControlError> {
    let target = pg::Target::parse(&secret.text).map_err(ControlError::Target)?;
    let stream = pg::Socket::open(&target, deadline).await.map_err(ControlError::Connect)?;
    let mut config = Config::new();
    // TLS is the stream's affair and stands already.
    config
        .user(target.user())
        .dbname(target.database())
        .application_name("pinguard-control")
        .ssl_mode(SslMode::Disable);
    if let Some(password) = target.password() {
        config.password(password.reveal());
    }
    let login = timeout_at(deadline, config.connect_raw(stream, NoTls)).await;
    let (client, connection) = login.map_err(|_| ControlError::Deadline)?.map_err(ControlError::startup)?;
    let driver = tokio::spawn(connection).abort_handle();
    let dead = AtomicBool::new(false);
    Ok(Link { client, driver, opened: Moment::now(), dead, turn: Mutex::new(()) })
}
