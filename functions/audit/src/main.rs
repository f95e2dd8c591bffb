//! The audit as a Lambda function.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use audit::Settings;
use lambda_runtime::{LambdaEvent, service_fn};
use serde_json::Value;
use state::{AuditKey, Auditor, Control, Lines, SecretStage, SecretStore};
use tokio::time::Instant;

/// What is left for the way back.
const RESERVE: Duration = Duration::from_millis(500);

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().json().with_max_level(tracing::Level::INFO).init();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let key = secrets.read(&settings.audit_secret, SecretStage::Current).await?;
    let key = AuditKey::new(key.text.as_bytes()).map_err(anyhow::Error::msg)?;
    let control = Control::new(secrets, settings.control_secret);
    let auditor = Arc::new(Auditor { control, key, heads: Lines::Stdout });
    let serve = service_fn(move |event: LambdaEvent<Value>| {
        let auditor = Arc::clone(&auditor);
        async move {
            let left = event.context.deadline().duration_since(SystemTime::now()).unwrap_or_default();
            let latest = Instant::now() + left.saturating_sub(RESERVE);
            audit::handle(&auditor, &event.payload, latest).await.map_err(lambda_runtime::Error::from)
        }
    });
    lambda_runtime::run(serve).await.map_err(anyhow::Error::from_boxed).context("the Lambda runtime ended")
}
