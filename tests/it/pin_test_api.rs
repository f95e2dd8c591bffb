//! The test of a pin as the editor knows it, with a real control database, a real database behind the node, and agents that call
//! what it stamped.

mod audited;
mod passing;
mod reaching;
mod refused;

use std::{sync::Arc, time::Duration};

use ::http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use pin_test::{App, Callers, Settings};
use serde_json::{Value, json};
use state::{Cache, EventSink, Journal, Limiter, Lines, SecretStore, StampKeys};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    time::Instant,
};

use crate::{
    flows_api::Editor,
    support::{TestDb, http::Reply},
};

const STAMPS: &str = "stamps";
const SHOP: &str = "shop";
const KEY: &str = "a stamp key of thirty-two bytes!";
const LATEST: Duration = Duration::from_mins(1);

pub(crate) const DEMO_SALES: &str = "
CREATE TABLE demo_sales (id int8 PRIMARY KEY, region text NOT NULL, month date NOT NULL, product text NOT NULL,
    amount numeric(12, 2) NOT NULL, units int8 NOT NULL);
INSERT INTO demo_sales VALUES
    (1, 'north', '2026-01-01', 'cedar tea', 120.00, 4), (2, 'north', '2026-01-01', 'maple soap', 45.50, 9),
    (3, 'south', '2026-01-01', 'cedar tea', 80.00, 2), (4, 'south', '2026-02-01', 'linen towel', 210.00, 6),
    (5, 'east', '2026-02-01', 'maple soap', 30.00, 3), (6, 'east', '2026-01-01', 'linen towel', 64.00, 2);";

/// An editor, the test function, and an endpoint for agents, over one control database in workspace `w`. The credential `shop`
/// reads the example's table.
pub(crate) struct Lab {
    pub(crate) editor: Editor,
    app: App,
    pub(crate) agents: Arc<mcp::App>,
    log: UnboundedReceiver<String>,
}

impl Lab {
    pub(crate) async fn over(db: &TestDb) -> Self {
        db.run(DEMO_SALES).await;
        let login = db.reader(&["public"]).await;
        let editor = Editor::over(db).await;
        editor.secret(SHOP, &login.url);
        editor.secret(STAMPS, KEY);
        let credential = json!({"id": SHOP, "name": "Shop", "secretId": SHOP});
        assert_eq!(editor.ask("POST", "/credentials", Some(&credential)).await.status, 201);
        let store = Arc::clone(&editor.app.secrets);
        let stamps = |store: &Arc<SecretStore>| {
            Some(StampKeys::new(Arc::clone(store), STAMPS.to_owned(), Duration::ZERO))
        };
        let control = || state::Control::new(Arc::clone(&store), "control".to_owned());
        let (sender, log) = mpsc::unbounded_channel();
        let app = App {
            settings: Settings::default(),
            secrets: Arc::clone(&store),
            control: control(),
            callers: Callers::ApiKeys,
            stamp_keys: stamps(&store),
            events: EventSink::InProcess(Arc::clone(&editor.auditor)),
            log: Lines::Channel(sender),
            memories: mcp::Memories::default(),
        };
        let cache = Arc::new(Cache::memory());
        let agents = mcp::App {
            settings: mcp::Settings::default(),
            secrets: Arc::clone(&store),
            control: control(),
            callers: Callers::ApiKeys,
            journal: Journal::Channel(mpsc::unbounded_channel().0),
            stamp_keys: stamps(&store),
            memories: mcp::Memories::default(),
            limiter: Limiter::new(Arc::clone(&cache)),
            cache,
        };
        Self { editor, app, agents: Arc::new(agents), log }
    }

    async fn send(&self, key: &str, path: &str, body: &str) -> Reply {
        let request = Request::post(path)
            .header("authorization", format!("Bearer {key}"))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body.to_owned())))
            .unwrap();
        let answer = pin_test::handle(&self.app, request, Instant::now() + LATEST).await;
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// A test by the owner.
    pub(crate) async fn test(&self, flow: &str, body: &Value) -> Reply {
        self.send(self.editor.owner(), &format!("/api/v1/pinned-queries/{flow}/test"), &body.to_string())
            .await
    }

    /// A test that passes.
    pub(crate) async fn pass(&self, flow: &str, body: &Value) -> Value {
        let reply = self.test(flow, body).await;
        assert_eq!(reply.status, 200, "{}", reply.json());
        reply.json()
    }

    /// What an agent gets at a node of a Live flow.
    pub(crate) async fn agent(&self, path: &str, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = Request::post(path)
            .header("host", "127.0.0.1")
            .header("authorization", format!("Bearer {}", self.editor.owner()))
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(message.to_string())))
            .unwrap();
        let answer = Box::pin(mcp::handle(&self.agents, request, Instant::now() + LATEST)).await;
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        serde_json::from_slice(&body).unwrap()
    }

    /// The pins that agents are offered.
    pub(crate) async fn offered(&self, path: &str) -> Vec<String> {
        let list = self.agent(path, "tools/list", json!({})).await;
        let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("pq_")).collect()
    }
}

pub(crate) fn revenue() -> Value {
    json!({"id": "p1", "name": "pq_revenue_by_region", "purpose": "Revenue of a month by region", "version": 1,
        "sql": "SELECT region, sum(amount) AS revenue FROM demo_sales WHERE month = :month GROUP BY region ORDER BY region LIMIT 100",
        "params": [{"name": "month", "type": "date"}]})
}

/// A flow with one node on the credential `shop`.
pub(crate) fn flow(id: &str, pins: &[Value]) -> Value {
    json!({"id": id, "name": "Sales", "kind": "chatflow", "nodes": [{"id": "db", "credential": SHOP, "actions": ["query"],
        "relations": ["public.demo_sales"], "pins": pins}]})
}

/// A test of the worked example's first pin.
pub(crate) fn body() -> Value {
    json!({"nodeId": "db", "pin": revenue(), "values": {"month": "2026-01-01"}})
}
