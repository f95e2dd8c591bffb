//! The issuer's keys as this instance has them: fetched when needed, kept for a while, and kept longer while the issuer does
//! not answer.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{KeySet, NoKeySet};
use crate::fetch::{FetchError, fetch};
use crate::url::KeysUrl;

/// How long keys are used before they are fetched again: a key that the issuer withdraws counts no longer.
const FRESH: Duration = Duration::from_mins(10);

/// How long they are used while they cannot be fetched.
const STALE: Duration = Duration::from_hours(6);

/// How long nothing is fetched after a fetch, for tokens whose key is not known: anybody can write such a token.
const PAUSE: Duration = Duration::from_secs(30);

/// The same after a fetch that failed.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Where the keys are, and what is known of them.
#[derive(Debug)]
pub(crate) struct KeySource {
    url: KeysUrl,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    keys: Option<(Arc<KeySet>, SystemTime)>,
    /// When a fetch last began, and whether it has brought keys.
    tried: Option<(SystemTime, Outcome)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Fetched,
    /// Or was broken off.
    Failed,
}

/// There are no keys to check a token with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoKeys;

#[derive(Debug, Error)]
enum RefreshError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Parse(#[from] NoKeySet),
}

impl KeySource {
    pub(crate) fn new(url: KeysUrl) -> Self {
        Self { url, known: Mutex::default() }
    }

    /// The keys, fetched if they are not known or not fresh.
    pub(crate) async fn keys(&self, now: SystemTime, deadline: Instant) -> Result<Arc<KeySet>, NoKeys> {
        let mut known = self.known.lock().await;
        if let Some(keys) = known.younger_than(FRESH, now) {
            return Ok(keys);
        }
        if !known.failed_lately(now) {
            self.refresh(&mut known, now, deadline).await;
        }
        known.younger_than(STALE, now).ok_or(NoKeys)
    }

    /// The keys again, because one is wanted that is not among `seen`. They are the same where another fetch would come
    /// too soon or brings nothing.
    pub(crate) async fn newer_than(
        &self,
        seen: &Arc<KeySet>,
        now: SystemTime,
        deadline: Instant,
    ) -> Arc<KeySet> {
        let mut known = self.known.lock().await;
        let is_seen = known.keys.as_ref().is_none_or(|(keys, _)| Arc::ptr_eq(keys, seen));
        if is_seen && !known.tried_lately(now) {
            self.refresh(&mut known, now, deadline).await;
        }
        known.keys.as_ref().map_or_else(|| Arc::clone(seen), |(keys, _)| Arc::clone(keys))
    }

    /// Fetches; what fails is logged and leaves what was known.
    async fn refresh(&self, known: &mut Known, now: SystemTime, deadline: Instant) {
        known.tried = Some((now, Outcome::Failed));
        match self.fetched(deadline).await {
            Ok(keys) => {
                known.tried = Some((now, Outcome::Fetched));
                known.keys = Some((Arc::new(keys), now));
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
                tracing::error!(%error, cause, host = self.url.host, "no keys from the issuer");
            }
        }
    }

    async fn fetched(&self, deadline: Instant) -> Result<KeySet, RefreshError> {
        Ok(KeySet::parse(&fetch(&self.url, deadline).await?)?)
    }
}

impl Known {
    fn younger_than(&self, age: Duration, now: SystemTime) -> Option<Arc<KeySet>> {
        self.keys.as_ref().filter(|(_, since)| passed(*since, now) < age).map(|(keys, _)| Arc::clone(keys))
    }

    fn failed_lately(&self, now: SystemTime) -> bool {
        self.tried
            .is_some_and(|(at, outcome)| outcome == Outcome::Failed && passed(at, now) < PAUSE_AFTER_FAILURE)
    }

    fn tried_lately(&self, now: SystemTime) -> bool {
        let pause = |outcome| match outcome {
            Outcome::Fetched => PAUSE,
            Outcome::Failed => PAUSE_AFTER_FAILURE,
        };
        self.tried.is_some_and(|(at, outcome)| passed(at, now) < pause(outcome))
    }
}

/// A clock that was set back counts as one that stood still.
fn passed(since: SystemTime, now: SystemTime) -> Duration {
    now.duration_since(since).unwrap_or_default()
}
