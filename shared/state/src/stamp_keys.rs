//! The key that stamps are made with, out of its secret.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pins::StampKey;
use tokio::time::{Instant, timeout_at};

use crate::secrets::{SecretError, SecretStage, SecretStore};

/// The deployment's stamp key. An instance reads it anew after some time, so that another key is noticed.
#[derive(Debug)]
pub struct StampKeys {
    store: Arc<SecretStore>,
    secret_id: String,
    life: Duration,
    kept: Mutex<Option<(Instant, StampKey)>>,
}

/// Why there is no stamp key. No message holds any part of it.
#[derive(Debug, thiserror::Error)]
pub enum StampKeyError {
    /// The secret could not be read.
    #[error("the stamp key's secret could not be read: {source}")]
    Secret {
        /// Why.
        source: SecretError,
    },
    /// The secret was not read in time.
    #[error("the stamp key's secret was not read in time")]
    Late,
    /// What the secret holds is no key.
    #[error("{problem}")]
    NoKey {
        /// What is wrong with it.
        problem: String,
    },
}

impl StampKeys {
    /// How long an instance works with a key that it has read.
    pub const LIFE: Duration = Duration::from_mins(1);

    /// The key in the secret `secret_id`, read again after `life`.
    pub fn new(store: Arc<SecretStore>, secret_id: String, life: Duration) -> Self {
        Self { store, secret_id, life, kept: Mutex::default() }
    }

    /// The key.
    pub async fn key(&self, deadline: Instant) -> Result<StampKey, StampKeyError> {
        let now = Instant::now();
        if let Some((read, key)) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).as_ref()
            && now.duration_since(*read) < self.life
        {
            return Ok(key.clone());
        }
        let reading = timeout_at(deadline, self.store.read(&self.secret_id, SecretStage::Current));
        let secret = reading.await.map_err(|_| StampKeyError::Late)?;
        let secret = secret.map_err(|source| StampKeyError::Secret { source })?;
        let key =
            StampKey::new(secret.text.as_bytes()).map_err(|problem| StampKeyError::NoKey { problem })?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, key.clone()));
        Ok(key)
    }
}

impl StampKeyError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Secret { source } => source.code(),
            Self::Late => "secret_store_unreachable",
            Self::NoKey { .. } => "stamp_key_malformed",
        }
    }

    /// What an operator does next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Secret { source } => source.hint(),
            Self::Late => "try again in some seconds; a function inside a VPC needs a way to Secrets Manager",
            Self::NoKey { .. } => {
                "the operator writes at least 32 random bytes into the secret of PINGUARD_STAMP_SECRET"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(1)
    }

    fn keys(text: &str, life: Duration) -> StampKeys {
        StampKeys::new(Arc::new(SecretStore::given("stamps", text)), "stamps".to_owned(), life)
    }

    #[tokio::test]
    async fn a_short_key_and_a_missing_one_are_told_apart() {
        let short = keys("too short", StampKeys::LIFE).key(soon()).await.unwrap_err();
        assert_eq!(short.code(), "stamp_key_malformed");
        assert!(!short.to_string().contains("too short"), "{short}");
        let missing = StampKeys::new(Arc::new(SecretStore::given("a", "b")), "c".to_owned(), StampKeys::LIFE);
        assert_eq!(missing.key(soon()).await.unwrap_err().code(), "secret_missing");
        assert!(keys(&"k".repeat(32), StampKeys::LIFE).key(soon()).await.is_ok());
    }
}
