//! The editor's API as a Lambda function.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use flows::{App, Callers, Deployment};
use lambda_http::{Request, RequestExt as _, service_fn};
use state::{Control, EventSink, Lines, Queue, SecretStore};
use tokio::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().json().with_max_level(tracing::Level::INFO).init();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let Deployment { settings, control_secret, audit_queue_url } =
        Deployment::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let control = Control::new(Arc::clone(&secrets), control_secret);
    let events =
        audit_queue_url.map_or(EventSink::Log(Lines::Stdout), |url| EventSink::Queue(Queue::new(url)));
    let app = Arc::new(App { settings, secrets, control, callers: Callers::ApiKeys, events });
    let serve = service_fn(move |request: Request| {
        let app = Arc::clone(&app);
        async move {
            let latest = latest(&request);
            Ok::<_, Infallible>(flows::handle(&app, request, latest).await)
        }
    });
    lambda_http::run(serve).await.map_err(anyhow::Error::from_boxed).context("the Lambda runtime ended")
}

fn latest(request: &Request) -> Instant {
    let context = request.lambda_context_ref();
    let left = context.and_then(|context| context.deadline().duration_since(SystemTime::now()).ok());
    Instant::now() + left.unwrap_or(Duration::from_secs(29)).saturating_sub(Duration::from_millis(1_500))
}
