//! What a deployment allows at most; nodes and callers only lower it.

use std::time::Duration;

/// The ceilings of a deployment, and its default credential.
#[derive(Debug, Clone)]
pub struct Limits {
    /// `PINGUARD_ROW_CAP`: rows of an answer.
    pub row_cap: u32,
    /// `PINGUARD_MAX_BYTES`: JSON bytes of an answer's rows. 48 KiB stay under the 25,000 tokens at which clients cut.
    pub max_bytes: usize,
    /// `PINGUARD_TIMEOUT_SECONDS`: seconds of a call; 20 stay under the 30 of an HTTP API.
    pub timeout_seconds: u32,
    /// `PINGUARD_CONNECT_TIMEOUT_SECONDS`: seconds to a server's first answer.
    pub connect_timeout_seconds: u32,
    /// `PINGUARD_IDLE_SECONDS`: seconds that one connection waits for the next call; 0 keeps none.
    pub idle_seconds: u32,
    /// Characters of one value that are shown.
    pub value_chars: usize,
    /// `PINGUARD_DATABASE_SECRET`: the secret of nodes without a credential.
    pub default_secret: Option<String>,
}

impl Limits {
    /// The most that any setting or caller can ask for: rows, bytes of rows, seconds.
    pub const MOST_ROWS: u64 = 10_000;
    /// See [`Self::MOST_ROWS`].
    pub const MOST_BYTES: u64 = 1024 * 1024;
    /// See [`Self::MOST_ROWS`].
    pub const MOST_SECONDS: u64 = 300;

    /// How long one connection waits for the next call.
    pub fn idle(&self) -> Duration {
        Duration::from_secs(u64::from(self.idle_seconds))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            row_cap: 500,
            max_bytes: 48 * 1024,
            timeout_seconds: 20,
            connect_timeout_seconds: 5,
            idle_seconds: 60,
            value_chars: 4_000,
            default_secret: None,
        }
    }
}
