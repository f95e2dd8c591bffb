//! Secrets in AWS Secrets Manager.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, SdkConfig};
use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_secretsmanager::operation::get_secret_value::GetSecretValueError;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use pg::TokenRequest;
use tokio::sync::OnceCell;

use super::token::{self, TokenError};
use super::{Secret, SecretError, SecretStage, SecretText};

const ACCEPTED: &str = "a name or ARN of 1 to 2,048 characters of A-Z, a-z, 0-9 and `/_+=.@!:-`";
const MAX_ID_CHARS: usize = 2_048;

/// A call over a warm connection takes some 10 ms; a network without a way to the service says nothing at all.
const CONNECT_TIME: Duration = Duration::from_secs(2);
const ATTEMPT_TIME: Duration = Duration::from_secs(3);
const WHOLE_TIME: Duration = Duration::from_secs(8);

/// A client that is built at its first use. `AWS_ENDPOINT_URL` and its kin are honoured.
#[derive(Default)]
pub struct AwsSecrets {
    shared: OnceCell<Shared>,
}

/// What is made once an instance.
struct Shared {
    client: Client,
    config: SdkConfig,
}

impl AwsSecrets {
    pub(super) async fn read(&self, id: &str, stage: SecretStage) -> Result<Secret, SecretError> {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"/_+=.@!:-".contains(&byte);
        if !(1..=MAX_ID_CHARS).contains(&id.len()) || !id.bytes().all(letter) {
            return Err(SecretError::BadId { id: id.to_owned(), accepted: ACCEPTED });
        }
        let label = match stage {
            SecretStage::Current => "AWSCURRENT",
            SecretStage::Pending => "AWSPENDING",
        };
        let client = &self.shared.get_or_init(build).await.client;
        let answer = client.get_secret_value().secret_id(id).version_stage(label).send().await;
        let answer = answer.map_err(|error| explain(id, &error))?;
        let text = answer.secret_string.ok_or_else(|| SecretError::Binary { id: id.to_owned() })?;
        if text.trim().is_empty() {
            return Err(SecretError::Empty { id: id.to_owned() });
        }
        Ok(Secret { text: SecretText(text), version: answer.version_id.unwrap_or_default() })
    }

    /// Signs with the credentials that the process has now; a role's change every few hours.
    pub(super) async fn token(&self, request: &TokenRequest) -> Result<SecretText, TokenError> {
        let config = &self.shared.get_or_init(build).await.config;
        token::sign(request, config).await.map(SecretText)
    }
}

impl fmt::Debug for AwsSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AwsSecrets")
    }
}

async fn build() -> Shared {
    let tls = Provider::Rustls(CryptoMode::Ring);
    let http = aws_smithy_http_client::Builder::new().tls_provider(tls).build_https();
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIME)
        .operation_attempt_timeout(ATTEMPT_TIME)
        .operation_timeout(WHOLE_TIME)
        .build();
    let config = aws_config::defaults(BehaviorVersion::latest()).http_client(http).timeout_config(timeouts);
    let config = config.load().await;
    Shared { client: Client::new(&config), config }
}

fn explain(id: &str, error: &SdkError<GetSecretValueError>) -> SecretError {
    let id = id.to_owned();
    let source = chain(error).into();
    match error {
        SdkError::TimeoutError(_) => SecretError::Unreachable { id, source: Some(source) },
        // A line that ends before the answer is of no kind, but known to pass.
        SdkError::DispatchFailure(failure)
            if failure.is_io() || failure.is_timeout() || failure.as_other().is_some() =>
        {
            SecretError::Unreachable { id, source: Some(source) }
        }
        SdkError::ServiceError(answer) => {
            let message = answer.err().message().unwrap_or_default();
            match answer.err().code().unwrap_or_default() {
                "ResourceNotFoundException" if message.contains("staging label") => {
                    SecretError::NoSuchStage { id }
                }
                "ResourceNotFoundException" => SecretError::Missing { id },
                // It was deleted and can be restored for some days.
                "InvalidRequestException" if message.contains("delet") => SecretError::Missing { id },
                "AccessDeniedException"
                | "DecryptionFailure"
                | "ExpiredTokenException"
                | "IncompleteSignature"
                | "InvalidClientTokenId"
                | "InvalidSignatureException"
                | "UnrecognizedClientException" => SecretError::Denied { id, source: Some(source) },
                "ThrottlingException" | "TooManyRequestsException" | "RequestLimitExceeded" => {
                    SecretError::Throttled { id }
                }
                "InternalServiceError" | "ServiceUnavailable" => {
                    SecretError::Unreachable { id, source: Some(source) }
                }
                _ => SecretError::Unreadable { id, source },
            }
        }
        _ => SecretError::Unreadable { id, source },
    }
}

/// The sentences of an error and its causes. The SDK's own `Debug` is not kept: it may hold the whole answer.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ").replace('\n', " ")
}
