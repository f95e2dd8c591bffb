//! The test of a pin as a Lambda function.

use std::sync::Arc;

use pin_test::{App, Deployment};
use state::{Control, EventSink, Lines, Queue, SecretStore, StampKeys};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    lambda::log();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let deployment = Deployment::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let queue = deployment.audit_queue_url.map(|url| EventSink::Queue(Queue::new(url)));
    let memories = pin_test::Memories::keeping(deployment.settings.limits.idle());
    let app = Arc::new(App {
        settings: deployment.settings,
        control: Control::new(Arc::clone(&secrets), deployment.control_secret),
        callers: deployment.callers,
        stamp_keys: deployment
            .stamp_secret
            .map(|secret| StampKeys::new(Arc::clone(&secrets), secret, StampKeys::LIFE)),
        secrets,
        events: queue.unwrap_or(EventSink::Log(Lines::Stdout)),
        log: Lines::Stdout,
        memories,
    });
    let answer = move |request, latest| {
        let app = Arc::clone(&app);
        async move { pin_test::handle(&app, request, latest).await }
    };
    Ok(lambda::http(answer).await?)
}
