//! The one connection that may wait between two calls. A function can be frozen in between, for minutes, and thawed beside a
//! network that has forgotten it: whoever takes it looks first whether the server is still there.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::connection::Connection;
use crate::memory::Consent;
use crate::moment::Moment;

/// The longest that a connection is used: a login that was revoked, or got other settings, is another one after that.
const MOST_AGE: Duration = Duration::from_mins(5);
/// How long a connection may wait before the server has to say a word ahead of the call.
const TRUSTED: Duration = Duration::from_secs(5);
/// How long that word may take, if half of the call's time is not less: a network that forgets idle connections drops what is
/// sent on them and tells nobody.
const PATIENCE: Duration = Duration::from_secs(1);

/// A secret in one version, and what its credential's owner agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The secret's id.
    pub secret: String,
    /// Its version; changes whenever its text does.
    pub version: String,
    /// What was agreed to.
    pub consent: Consent,
}

/// Where one connection may wait.
#[derive(Debug, Default)]
pub struct Idle {
    /// How long one waits; zero keeps none.
    most: Duration,
    waiting: Mutex<Option<Waiting>>,
}

#[derive(Debug)]
struct Waiting {
    connection: Connection,
    home: Home,
    since: Moment,
}

/// Where a connection goes when it is closed.
#[derive(Debug)]
pub(crate) struct Home {
    idle: Arc<Idle>,
    place: Place,
    opened: Moment,
}

impl Idle {
    /// One connection waits up to `most`; none does where that is zero.
    pub fn new(most: Duration) -> Self {
        Self { most, waiting: Mutex::default() }
    }

    /// The connection that waits for this place, if there is one and the server is still there. One of an older version of the
    /// secret is left.
    pub async fn take(&self, place: &Place, deadline: Instant) -> Option<Connection> {
        let Waiting { mut connection, home, since } = self.of_secret(&place.secret)?;
        let fit = home.place == *place && since.elapsed() < self.most && home.opened.elapsed() < MOST_AGE;
        let share = deadline.saturating_duration_since(Instant::now()) / 2;
        if fit
            && connection.is_reusable()
            && (since.elapsed() < TRUSTED
                || matches!(timeout(share.min(PATIENCE), connection.answers()).await, Ok(true)))
        {
            connection.set_home(home);
            return Some(connection);
        }
        connection.close().await;
        None
    }

    /// Ends the connection that waits for this secret, whatever its version: the secret cannot be read any more.
    pub async fn leave(&self, secret: &str) {
        if let Some(waiting) = self.of_secret(secret) {
            waiting.connection.close().await;
        }
    }

    /// Has a new connection wait here when it is closed, if nothing speaks against that.
    pub fn lend(self: &Arc<Self>, connection: &mut Connection, place: Place) {
        if !self.most.is_zero() {
            connection.set_home(Home { idle: Arc::clone(self), place, opened: Moment::now() });
        }
    }

    fn of_secret(&self, secret: &str) -> Option<Waiting> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.take_if(|waiting| waiting.home.place.secret == secret)
    }
}

impl Home {
    /// Has the connection wait; gives the one that has waited until now.
    pub(crate) fn receive(self, connection: Connection) -> Option<Connection> {
        let idle = Arc::clone(&self.idle);
        let waiting = Waiting { connection, home: self, since: Moment::now() };
        let mut place = idle.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        place.replace(waiting).map(|before| before.connection)
    }
}
