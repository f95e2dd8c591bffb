//! Secrets by id: a folder of files, or AWS Secrets Manager (cargo feature `aws`).

#[cfg(feature = "aws")]
mod aws;
mod files;
mod token;

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;

use pg::TokenRequest;
use thiserror::Error as ThisError;

#[cfg(feature = "aws")]
pub use aws::AwsSecrets;
pub use token::TokenError;

/// The most bytes a secret may have: the limit of AWS Secrets Manager.
const MAX_BYTES: usize = 65_536;

/// Where secrets are kept.
#[derive(Debug)]
pub enum SecretStore {
    /// A folder with one file a secret, named by its id. A newline at a file's end is no part of the secret.
    Files(PathBuf),
    /// Values that whoever started the process gave, by id.
    Given(HashMap<String, SecretText>),
    /// AWS Secrets Manager.
    #[cfg(feature = "aws")]
    Aws(Box<AwsSecrets>),
}

/// Which of a secret's values is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStage {
    /// The one in use.
    Current,
    /// The one that a rotation under way has just written. Files have none.
    Pending,
}

/// A secret as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The value.
    pub text: SecretText,
    /// Differs whenever the value does; says nothing about it.
    pub version: String,
}

/// Text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(pub(crate) String);

/// Why a secret could not be read. No message holds any part of a value.
#[derive(Debug, ThisError)]
pub enum SecretError {
    /// The id could not be one.
    #[error("`{id}` is no secret id here: {accepted}")]
    BadId {
        /// The id.
        id: String,
        /// What an id looks like.
        accepted: &'static str,
    },
    /// No such secret.
    #[error("there is no secret `{id}`")]
    Missing {
        /// The id.
        id: String,
    },
    /// The secret is there and has no value of that stage.
    #[error("the secret `{id}` has no value of that stage")]
    NoSuchStage {
        /// The id.
        id: String,
    },
    /// We may not read it, or may not use the key it is encrypted with.
    #[error("reading the secret `{id}` was denied")]
    Denied {
        /// The id.
        id: String,
        /// What the store said.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The store asks to slow down.
    #[error("reading the secret `{id}` was throttled")]
    Throttled {
        /// The id.
        id: String,
    },
    /// The store did not answer, in time or at all.
    #[error("the secret store could not be reached for `{id}`")]
    Unreachable {
        /// The id.
        id: String,
        /// What went wrong.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The value is no text.
    #[error("the secret `{id}` is binary")]
    Binary {
        /// The id.
        id: String,
    },
    /// There is nothing in it.
    #[error("the secret `{id}` is empty")]
    Empty {
        /// The id.
        id: String,
    },
    /// Anything else.
    #[error("the secret `{id}` could not be read")]
    Unreadable {
        /// The id.
        id: String,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl SecretStore {
    /// AWS Secrets Manager, by the region, credentials and endpoint of the process's environment.
    /// Nothing is asked for before the first read.
    #[cfg(feature = "aws")]
    pub fn aws() -> Self {
        Self::Aws(Box::default())
    }

    /// One value that whoever started the process gave.
    pub fn given(id: &str, text: &str) -> Self {
        Self::Given(HashMap::from([(id.to_owned(), SecretText(text.to_owned()))]))
    }

    /// Reads one value. The caller bounds the time.
    pub async fn read(&self, id: &str, stage: SecretStage) -> Result<Secret, SecretError> {
        match self {
            Self::Files(folder) => files::read(folder, id, stage).await,
            Self::Given(_) if stage == SecretStage::Pending => {
                Err(SecretError::NoSuchStage { id: id.to_owned() })
            }
            Self::Given(values) => match values.get(id) {
                Some(text) => Ok(Secret { text: text.clone(), version: "given".to_owned() }),
                None => Err(SecretError::Missing { id: id.to_owned() }),
            },
            #[cfg(feature = "aws")]
            Self::Aws(secrets) => secrets.read(id, stage).await,
        }
    }

    /// Makes a token for one login at Amazon RDS. The caller bounds the time.
    #[cfg_attr(not(feature = "aws"), expect(clippy::unused_async, reason = "AWS has to be waited for"))]
    pub async fn token(&self, request: &TokenRequest) -> Result<SecretText, TokenError> {
        match self {
            Self::Files(_) | Self::Given(_) => {
                Err(TokenError::NotHere { user: request.user.clone(), host: request.host.clone() })
            }
            #[cfg(feature = "aws")]
            Self::Aws(secrets) => secrets.token(request).await,
        }
    }
}

impl Deref for SecretText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

impl SecretError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::BadId { .. } => "secret_bad_id",
            Self::Missing { .. } => "secret_missing",
            Self::NoSuchStage { .. } => "secret_no_such_stage",
            Self::Denied { .. } => "secret_denied",
            Self::Throttled { .. } => "secret_throttled",
            Self::Unreachable { .. } => "secret_store_unreachable",
            Self::Binary { .. } => "secret_binary",
            Self::Empty { .. } => "secret_empty",
            Self::Unreadable { .. } => "secret_unreadable",
        }
    }

    /// What an operator does next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadId { .. } => "correct the secret's id where it is configured",
            Self::Missing { .. } => "create the secret, or correct its id, region or folder",
            Self::NoSuchStage { .. } => "a rotation may not have written it yet: try again later",
            Self::Denied { .. } => {
                "let the function's role call secretsmanager:GetSecretValue on it and kms:Decrypt on its key, or make the file readable"
            }
            Self::Throttled { .. } => "try again in a few seconds",
            Self::Unreachable { .. } => {
                "a function inside a VPC needs an endpoint for Secrets Manager or a NAT: check its route, security group and region"
            }
            Self::Binary { .. } => "store the secret as UTF-8 text",
            Self::Empty { .. } => "write the value into the secret",
            Self::Unreadable { .. } => "read the secret by hand with the same identity to see the cause",
        }
    }
}
