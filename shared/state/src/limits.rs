//! How often and how many at a time a caller may call a node: counted in the cache, so that it holds across instances.
//!
//! Where the cache cannot count, this instance counts for itself, and says so.

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::time::Instant;

use crate::cache::{Cache, CacheError, Place, Seat};

/// What a minute is, for calls in one.
const MINUTE: Duration = Duration::from_mins(1);
/// How long the cache may take; a call does not wait for it longer.
const PATIENCE: Duration = Duration::from_millis(500);

/// The limits of a node; without either, nothing is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// Calls of one caller in any sliding minute.
    pub per_minute: Option<u32>,
    /// Calls of one caller at one time.
    pub at_once: Option<u32>,
}

/// A call that is to be counted.
#[derive(Debug, Clone, Copy)]
pub struct CountedCall<'a> {
    /// The caller's workspace.
    pub workspace: &'a str,
    /// Whose call it is; none where callers are not told apart.
    pub caller: Option<&'a str>,
    /// The flow.
    pub flow: &'a str,
    /// The node.
    pub node: &'a str,
    /// A word for this call alone.
    pub id: &'a str,
    /// When it has ended in any case: a killed call frees its place then.
    pub end: Instant,
}

/// Counts calls.
#[derive(Debug)]
pub struct Limiter {
    shared: Arc<Cache>,
    here: Cache,
}

/// A call that was let in. It is given back at its end.
#[derive(Debug)]
#[must_use]
pub struct Entry {
    seat: Option<Seat>,
    /// Who counted.
    pub counted: Counted,
}

/// Who counted a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Nobody: the node has no such limit.
    Not,
    /// All instances together.
    Together,
    /// This instance for itself: the cache did not, for the reason of this code.
    Here(&'static str),
}

/// A call that was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{limit}; the next call may come in {} s", wait.as_secs())]
pub struct Over {
    /// The limit that stands against it.
    pub limit: Limit,
    /// Until there is a place, in whole seconds; sooner, where calls end sooner than they may.
    pub wait: Duration,
    /// Who counted.
    pub counted: Counted,
}

/// A limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Limit {
    /// Calls in any sliding minute.
    #[error("a caller may call this node {0} times a minute, and has")]
    PerMinute(u32),
    /// Calls at one time.
    #[error("a caller may have {0} calls of this node at one time, and has")]
    AtOnce(u32),
}

impl Limiter {
    /// Counts in this cache.
    pub fn new(shared: Arc<Cache>) -> Self {
        Self { shared, here: Cache::memory() }
    }

    /// Counts a call, in one round trip, and lets it in if there is a place. A call that is not let in does not count.
    pub async fn enter(&self, call: &CountedCall<'_>, limits: CallLimits) -> Result<Entry, Over> {
        if limits == (CallLimits { per_minute: None, at_once: None }) {
            return Ok(Entry { seat: None, counted: Counted::Not });
        }
        match take(&self.shared, call, limits, Counted::Together).await {
            Ok(outcome) => outcome,
            Err(error) => {
                let counted = Counted::Here(error.code());
                // Memory does not fail; if it did, nobody would count.
                take(&self.here, call, limits, counted).await.unwrap_or(Ok(Entry { seat: None, counted }))
            }
        }
    }

    /// The call has ended.
    pub async fn leave(&self, entry: Entry) {
        let Some(seat) = entry.seat else { return };
        let cache = if entry.counted == Counted::Together { &*self.shared } else { &self.here };
        give_back(cache, &seat).await;
    }
}

async fn take(
    cache: &Cache,
    call: &CountedCall<'_>,
    limits: CallLimits,
    counted: Counted,
) -> Result<Result<Entry, Over>, CacheError> {
    let seat = |counter: &str| {
        let caller = [if call.caller.is_some() { "a caller" } else { "anyone" }, call.caller.unwrap_or("")];
        Seat::new(call.workspace, &[counter, caller[0], caller[1], call.flow, call.node], call.id)
    };
    let (minute, at_once) = (seat("calls a minute"), seat("calls at one time"));
    let deadline = call.end.min(Instant::now() + PATIENCE);
    let hold = call.end.saturating_duration_since(Instant::now());
    let place = async |seat: &Seat, limit: Option<u32>, hold| match limit {
        // Boxed, or the compiler finds the future of a whole call nested too deep.
        Some(limit) => Box::pin(cache.take(seat, limit, hold, deadline)).await,
        None => Ok(Place::Taken),
    };
    let (first, second) =
        tokio::join!(place(&minute, limits.per_minute, MINUTE), place(&at_once, limits.at_once, hold));
    let over = |limit, wait: Duration| {
        // Nobody who waits so long is too early.
        let wait = Duration::from_secs(wait.as_secs() + u64::from(wait.subsec_nanos() > 0));
        Over { limit, wait, counted }
    };
    let seat = limits.at_once.map(|_| at_once);
    Ok(match (first?, second?) {
        (Place::Taken, Place::Taken) => Ok(Entry { seat, counted }),
        (Place::Over { wait }, place) => {
            if let (Some(seat), Place::Taken) = (&seat, place) {
                give_back(cache, seat).await;
            }
            Err(over(Limit::PerMinute(limits.per_minute.unwrap_or(0)), wait))
        }
        (Place::Taken, Place::Over { wait }) => {
            if limits.per_minute.is_some() {
                give_back(cache, &minute).await;
            }
            Err(over(Limit::AtOnce(limits.at_once.unwrap_or(0)), wait))
        }
    })
}

/// What is not given back is free when its time is over.
async fn give_back(cache: &Cache, seat: &Seat) {
    let _ = Box::pin(cache.give_back(seat, Instant::now() + PATIENCE)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter() -> Limiter {
        Limiter::new(Arc::new(Cache::memory()))
    }

    fn call<'a>(caller: Option<&'a str>, id: &'a str) -> CountedCall<'a> {
        let end = Instant::now() + Duration::from_secs(20);
        CountedCall { workspace: "w", caller, flow: "f", node: "n", id, end }
    }

    fn limits(per_minute: Option<u32>, at_once: Option<u32>) -> CallLimits {
        CallLimits { per_minute, at_once }
    }

    #[tokio::test]
    async fn a_minute_counts_calls_of_one_caller() {
        let limiter = limiter();
        let two = limits(Some(2), None);
        assert!(limiter.enter(&call(Some("ann"), "1"), two).await.is_ok());
        assert!(limiter.enter(&call(Some("ann"), "2"), two).await.is_ok());
        let over = limiter.enter(&call(Some("ann"), "3"), two).await.unwrap_err();
        assert_eq!(
            (over.limit, over.wait),
            (Limit::PerMinute(2), MINUTE),
            "whole seconds, and never too few"
        );
        assert_eq!(
            over.to_string(),
            "a caller may call this node 2 times a minute, and has; the next call may come in 60 s"
        );
        assert!(limiter.enter(&call(Some("bob"), "4"), two).await.is_ok());
        assert!(limiter.enter(&call(None, "5"), two).await.is_ok());
        let elsewhere = CountedCall { node: "other", ..call(Some("ann"), "6") };
        assert!(limiter.enter(&elsewhere, two).await.is_ok());
    }

    #[tokio::test]
    async fn places_at_one_time_are_given_back_or_end() {
        let limiter = limiter();
        let one = limits(None, Some(1));
        let entry = limiter.enter(&call(Some("ann"), "1"), one).await.unwrap();
        assert_eq!(entry.counted, Counted::Together);
        let over = limiter.enter(&call(Some("ann"), "2"), one).await.unwrap_err();
        assert_eq!((over.limit, over.wait.as_secs()), (Limit::AtOnce(1), 20));
        limiter.leave(entry).await;
        let killed =
            CountedCall { end: Instant::now() + Duration::from_millis(200), ..call(Some("ann"), "3") };
        let _killed = limiter.enter(&killed, one).await.unwrap();
        assert!(limiter.enter(&call(Some("ann"), "4"), one).await.is_err());
        tokio::time::sleep(Duration::from_millis(250)).await;
        assert!(limiter.enter(&call(Some("ann"), "5"), one).await.is_ok());
    }

    #[tokio::test]
    async fn a_call_that_is_not_let_in_takes_no_place() {
        let limiter = limiter();
        let both = limits(Some(2), Some(1));
        let first = limiter.enter(&call(Some("ann"), "1"), both).await.unwrap();
        for id in ["2", "3", "4"] {
            let over = limiter.enter(&call(Some("ann"), id), both).await.unwrap_err();
            assert_eq!(over.limit, Limit::AtOnce(1), "the minute has one place left");
        }
        limiter.leave(first).await;
        limiter.leave(limiter.enter(&call(Some("ann"), "5"), both).await.unwrap()).await;
        for id in ["6", "7"] {
            let over = limiter.enter(&call(Some("ann"), id), both).await.unwrap_err();
            assert_eq!(over.limit, Limit::PerMinute(2), "and nobody sits in the one place");
        }
    }

    #[tokio::test]
    async fn without_limits_nobody_counts() {
        let limiter = limiter();
        let entry = limiter.enter(&call(None, "1"), limits(None, None)).await.unwrap();
        assert_eq!(entry.counted, Counted::Not);
    }
}
