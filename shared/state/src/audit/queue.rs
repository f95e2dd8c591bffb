//! An SQS queue that feeds the audit function.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use aws_config::BehaviorVersion;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use super::event::AuditEvent;
use super::sink::SinkError;

/// The most messages of one request.
const BATCH: usize = 10;
const CONNECT_TIME: Duration = Duration::from_secs(2);
const ATTEMPT_TIME: Duration = Duration::from_secs(3);

/// A queue by its URL. `AWS_ENDPOINT_URL` and its kin are honoured; nothing is connected before the first event.
pub struct Queue {
    url: String,
    client: OnceCell<Client>,
}

impl Queue {
    /// The queue of this URL.
    pub fn new(url: String) -> Self {
        Self { url, client: OnceCell::new() }
    }

    pub(super) async fn send(&self, events: &[AuditEvent], deadline: Instant) -> Result<(), SinkError> {
        for batch in events.chunks(BATCH) {
            let late = |_| SinkError::Queue("it did not answer in time".to_owned());
            timeout_at(deadline, self.send_batch(batch)).await.map_err(late)??;
        }
        Ok(())
    }

    async fn send_batch(&self, events: &[AuditEvent]) -> Result<(), SinkError> {
        let mut entries = Vec::with_capacity(events.len());
        for event in events {
            let entry = SendMessageBatchRequestEntry::builder().id(event.id.to_string());
            let entry = entry.message_body(event.to_json()).build();
            entries.push(entry.map_err(|error| SinkError::Queue(error.to_string()))?);
        }
        let client = self.client.get_or_init(build).await;
        let request = client.send_message_batch().queue_url(&self.url).set_entries(Some(entries));
        let answer = request.send().await.map_err(|error| SinkError::Queue(chain(&error)))?;
        match answer.failed().first() {
            None => Ok(()),
            Some(failed) => Err(SinkError::Queue(format!("it refused one with `{}`", failed.code()))),
        }
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("url", &self.url).finish_non_exhaustive()
    }
}

async fn build() -> Client {
    let tls = Provider::Rustls(CryptoMode::Ring);
    let http = aws_smithy_http_client::Builder::new().tls_provider(tls).build_https();
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIME)
        .operation_attempt_timeout(ATTEMPT_TIME)
        .build();
    let config = aws_config::defaults(BehaviorVersion::latest()).http_client(http).timeout_config(timeouts);
    Client::new(&config.load().await)
}

/// The sentences of an error and its causes, on one line.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ").replace('\n', " ")
}
