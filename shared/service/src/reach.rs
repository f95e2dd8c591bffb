//! From a credential's secret to a connection, and to what is remembered of its database.

use std::sync::Arc;
use std::time::Duration;

use analyst::connect::{self, Asked, Keeper, SecretText, Stage};
use analyst::{Database, Failure, Kind, Memories, Reached};
use pg::{Agreed, ConnectOptions, Connection, Consent, Place, TokenRequest};
use state::{Agreement, CredentialSecret, SecretStage, SecretStore};
use tokio::time::Instant;

use crate::limits::Limits;

/// The way to a node's database.
#[derive(Debug, Clone, Copy)]
pub struct Way<'a> {
    /// Where secrets are.
    pub secrets: &'a SecretStore,
    /// What the instance remembers of databases.
    pub memories: &'a Memories,
    /// The deployment's limits.
    pub limits: &'a Limits,
}

/// A credential, kept where secrets are.
struct Credential<'a> {
    secrets: &'a SecretStore,
    secret: &'a CredentialSecret,
}

/// A database that was reached.
pub struct Opened {
    /// The connection.
    pub connection: Connection,
    /// What is remembered of its database.
    pub database: Arc<Database>,
    /// What an operator should know of the secret and its TLS.
    pub warnings: Vec<String>,
}

impl Way<'_> {
    /// Opens a connection with a secret that is read for this call, or takes the one that waits for it.
    pub async fn open(&self, secret: &CredentialSecret, deadline: Instant) -> Result<Opened, Failure> {
        let connect_timeout = Duration::from_secs(u64::from(self.limits.connect_timeout_seconds));
        let options = ConnectOptions { connect_timeout, deadline };
        let credential = Credential { secrets: self.secrets, secret };
        let opened = connect::open(&credential, self.memories.idle(), options).await?;
        let database = self.memories.of(opened.place);
        Ok(Opened { connection: opened.connection, database, warnings: opened.warnings })
    }
}

impl Keeper for Credential<'_> {
    fn id(&self) -> &str {
        &self.secret.secret_id
    }

    fn secret(&self, stage: Stage) -> Asked<'_, SecretText> {
        Box::pin(async move {
            let stage = match stage {
                Stage::Current => SecretStage::Current,
                Stage::Pending => SecretStage::Pending,
            };
            let secret = self.secrets.read(&self.secret.secret_id, stage).await.map_err(|error| {
                Failure::new(Kind::Plumbing, error.code(), error.to_string()).hinting(error.hint())
            })?;
            Ok(SecretText { text: secret.text.to_string(), version: secret.version })
        })
    }

    fn place(&self, version: &str) -> Place {
        Place {
            secret: self.secret.secret_id.clone(),
            version: version.to_owned(),
            consent: consent(self.secret),
        }
    }

    fn token(&self, request: TokenRequest) -> Asked<'_, String> {
        Box::pin(async move {
            let token = self.secrets.token(&request).await.map_err(|error| {
                let failure = Failure::new(Kind::Plumbing, error.code(), error.to_string());
                failure.hinting(error.hint()).logging(connect::chain(&error))
            })?;
            Ok(token.to_string())
        })
    }
}

impl From<Opened> for Reached {
    fn from(opened: Opened) -> Self {
        Self { connection: opened.connection, database: opened.database }
    }
}

fn consent(secret: &CredentialSecret) -> Consent {
    let agreed = |agreement| {
        if secret.agreed.contains(&agreement) { Agreed::Yes } else { Agreed::No }
    };
    Consent { loud: agreed(Agreement::Loud), event_triggers: agreed(Agreement::EventTriggers) }
}
