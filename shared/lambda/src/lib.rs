#![doc = include_str!("../README.md")]

mod answer;
mod path;

use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use lambda_http::lambda_runtime::{self, LambdaEvent};
use lambda_http::{Context, RequestExt as _, service_fn};
use serde_json::Value;
use tokio::time::Instant;

pub use lambda_http::Request;

/// What is left of an invocation's time for the way back.
const HTTP_RESERVE: Duration = Duration::from_millis(1_500);
const EVENT_RESERVE: Duration = Duration::from_millis(500);
/// The time of an invocation that does not say.
const USUAL: Duration = Duration::from_secs(29);

/// The runtime ended, which it does not by itself.
#[derive(Debug, thiserror::Error)]
#[error("the Lambda runtime ended")]
pub struct Ended(#[source] Box<dyn Error + Send + Sync>);

/// Writes what is logged to standard output, one line of JSON each.
pub fn log() {
    tracing_subscriber::fmt().json().with_max_level(tracing::Level::INFO).init();
}

/// Answers HTTP requests as long as the instance lives. The handler is told by when it must have answered.
pub async fn http<Body, Answering>(handle: impl Fn(Request, Instant) -> Answering + Sync) -> Result<(), Ended>
where
    Body: http_body::Body + Send + 'static,
    Body::Data: Send,
    Body::Error: Into<Box<dyn Error + Send + Sync>>,
    Answering: Future<Output = http::Response<Body>> + Send,
{
    let handle = &handle;
    let serve = service_fn(async move |request: Request| {
        let latest = request.lambda_context_ref().map(Context::deadline);
        let latest = ahead_of(latest, HTTP_RESERVE);
        // Behind a pointer of no known type, or the compiler finds the future of a whole call nested too deep.
        let answering: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(handle(path::from_root(request), latest));
        Ok::<_, Infallible>(answer::Whole::read(answering.await).await)
    });
    lambda_http::run(serve).await.map_err(Ended)
}

/// Deals with events as long as the instance lives. The handler is told by when it must have answered.
pub async fn events<Failure, Answering>(
    handle: impl Fn(Value, Instant) -> Answering + Sync,
) -> Result<(), Ended>
where
    Failure: Error + Send + Sync + 'static,
    Answering: Future<Output = Result<Value, Failure>> + Send,
{
    let handle = &handle;
    let serve = service_fn(async move |event: LambdaEvent<Value>| {
        let latest = ahead_of(Some(event.context.deadline()), EVENT_RESERVE);
        handle(event.payload, latest).await.map_err(lambda_runtime::Error::from)
    });
    lambda_runtime::run(serve).await.map_err(Ended)
}

fn ahead_of(deadline: Option<SystemTime>, reserve: Duration) -> Instant {
    let left = deadline.map_or(USUAL, |at| at.duration_since(SystemTime::now()).unwrap_or_default());
    Instant::now() + left.saturating_sub(reserve)
}
