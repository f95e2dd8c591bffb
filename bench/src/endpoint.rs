//! The endpoint of one instance, in this process, and a caller with a key.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::Request;
use http_body_util::BodyExt as _;
use mcp::{App, Callers, Memories, Settings};
use serde_json::{Value, json};
use state::{Cache, Journal, Limiter, StampKeys};
use tokio::sync::mpsc;

use crate::world::World;

/// One instance.
pub(crate) struct Endpoint {
    app: Arc<App>,
    bearer: String,
}

impl Endpoint {
    /// One that keeps no connection.
    pub(crate) fn of(world: &World) -> Self {
        Self::with(world, Memories::default(), None)
    }

    /// One that keeps a connection for its next call.
    pub(crate) fn keeping(world: &World) -> Self {
        Self::with(world, Memories::keeping(Duration::from_mins(1)), None)
    }

    /// One with pins, whose stamps have the key of this secret.
    pub(crate) fn with_pins(world: &World, stamp_secret: &str) -> Self {
        Self::with(world, Memories::default(), Some(stamp_secret))
    }

    fn with(world: &World, memories: Memories, stamp_secret: Option<&str>) -> Self {
        let (secrets, control) = (world.secrets(), world.control());
        let cache = Arc::new(Cache::table(&control));
        let stamp_keys =
            stamp_secret.map(|id| StampKeys::new(Arc::clone(&secrets), id.to_owned(), StampKeys::LIFE));
        let app = App {
            settings: Settings::default(),
            stamp_keys,
            secrets,
            control,
            callers: Callers::ApiKeys,
            journal: Journal::Channel(mpsc::unbounded_channel().0),
            limiter: Limiter::new(Arc::clone(&cache)),
            cache,
            memories,
        };
        Self { app: Arc::new(app), bearer: format!("Bearer {}", world.key.text()) }
    }

    /// Calls a tool of the node at a path; the call must succeed.
    pub(crate) async fn call(&self, path: &str, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask(path, "tools/call", &json!({"name": tool, "arguments": arguments})).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"]["structuredContent"].clone()
    }

    pub(crate) async fn ask(&self, path: &str, method: &str, params: &Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let request = Request::post(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("authorization", &self.bearer)
            .body(body)
            .unwrap();
        let latest = tokio::time::Instant::now() + Duration::from_secs(20);
        let answer = mcp::handle(&self.app, request, latest).await;
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&bytes).unwrap()
    }
}

/// How long something takes.
pub(crate) async fn timed<T>(work: impl Future<Output = T>) -> Duration {
    let since = Instant::now();
    work.await;
    since.elapsed()
}
