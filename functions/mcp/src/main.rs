//! The endpoint as a Lambda function.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use lambda_http::{Request, RequestExt as _, service_fn};
use mcp::{App, Callers, Deployment};
use oauth::ResourceServer;
use state::{Control, Journal, SecretStore, StampKeys};
use tokio::time::Instant;

/// What is left for the way back when a call has to end.
const RESERVE: Duration = Duration::from_millis(1_500);

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt().json().with_max_level(tracing::Level::INFO).init();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let deployment = Deployment::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let control = Control::new(Arc::clone(&secrets), deployment.control_secret);
    let stamp_keys =
        deployment.stamp_secret.map(|secret| StampKeys::new(Arc::clone(&secrets), secret, StampKeys::LIFE));
    let callers = match deployment.oauth {
        Some(oauth) => Callers::Tokens(Arc::new(ResourceServer::new(oauth))),
        None => Callers::ApiKeys,
    };
    let app = Arc::new(App {
        settings: deployment.settings,
        secrets,
        control,
        callers,
        journal: Journal::Stdout,
        stamp_keys,
        memories: mcp::Memories::default(),
    });
    let serve = service_fn(move |request: Request| {
        let app = Arc::clone(&app);
        async move {
            let latest = latest(&request);
            Ok::<_, Infallible>(mcp::handle(&app, request, latest).await)
        }
    });
    lambda_http::run(serve).await.map_err(anyhow::Error::from_boxed).context("the Lambda runtime ended")
}

fn latest(request: &Request) -> Instant {
    let left = request
        .lambda_context_ref()
        .and_then(|context| context.deadline().duration_since(SystemTime::now()).ok())
        .unwrap_or(Duration::from_secs(29));
    Instant::now() + left.saturating_sub(RESERVE)
}
