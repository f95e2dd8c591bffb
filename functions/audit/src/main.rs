//! The audit as a Lambda function.

use std::sync::Arc;

use audit::Settings;
use state::{AuditKey, Auditor, Control, Lines, SecretStage, SecretStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    lambda::log();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let settings = Settings::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let key = secrets.read(&settings.audit_secret, SecretStage::Current).await?;
    let key = AuditKey::new(key.text.as_bytes()).map_err(anyhow::Error::msg)?;
    let control = Control::new(secrets, settings.control_secret);
    let auditor = Arc::new(Auditor { control, key, heads: Lines::Stdout });
    let write = move |event, latest| {
        let auditor = Arc::clone(&auditor);
        async move { audit::handle(&auditor, &event, latest).await }
    };
    Ok(lambda::events(write).await?)
}
