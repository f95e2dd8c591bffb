//! The endpoint as a Lambda function.

use std::sync::Arc;

use mcp::{App, Deployment};
use state::{Cache, Control, Journal, Limiter, SecretStore, StampKeys};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    lambda::log();
    #[expect(clippy::disallowed_methods, reason = "the one place of this function that reads settings")]
    let deployment = Deployment::read(|name| std::env::var(name).ok())?;
    let secrets = Arc::new(SecretStore::aws());
    let control = Control::new(Arc::clone(&secrets), deployment.control_secret);
    let stamp_keys =
        deployment.stamp_secret.map(|secret| StampKeys::new(Arc::clone(&secrets), secret, StampKeys::LIFE));
    let cache = Arc::new(match deployment.cache_secret {
        Some(secret) => Cache::valkey(Arc::clone(&secrets), secret),
        None => Cache::table(&control),
    });
    let memories = mcp::Memories::keeping(deployment.settings.limits.idle());
    let app = Arc::new(App {
        settings: deployment.settings,
        secrets,
        control,
        callers: deployment.callers,
        journal: Journal::Stdout,
        stamp_keys,
        limiter: Limiter::new(Arc::clone(&cache)),
        cache,
        memories,
    });
    let answer = move |request, latest| {
        let app = Arc::clone(&app);
        async move { mcp::handle(&app, request, latest).await }
    };
    Ok(lambda::http(answer).await?)
}
