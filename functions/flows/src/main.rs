//! The editor's API as a Lambda function.

use std::sync::Arc;

use flows::{App, Deployment};
use state::{Control, EventSink, Lines, Queue, SecretStore};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    lambda::log();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let Deployment { settings, control_secret, callers, audit_queue_url } =
        Deployment::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let control = Control::new(Arc::clone(&secrets), control_secret);
    let events =
        audit_queue_url.map_or(EventSink::Log(Lines::Stdout), |url| EventSink::Queue(Queue::new(url)));
    let app = Arc::new(App { settings, secrets, control, callers, events });
    let answer = move |request, latest| {
        let app = Arc::clone(&app);
        async move { flows::handle(&app, request, latest).await }
    };
    Ok(lambda::http(answer).await?)
}
