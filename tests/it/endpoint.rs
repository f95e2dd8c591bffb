//! The MCP endpoint as its callers know it: HTTP in, HTTP out, with a real PostgreSQL behind it.
//!
//! Every answer that a test gets through [`Endpoint::call`] is held against the tool's output schema.

mod arguments;
mod calls;
mod catalog;
mod claims;
mod connecting;
mod costs;
mod descriptions;
mod endings;
mod errors;
mod extremes;
mod faults;
mod flow_wide;
mod http;
mod lanes;
mod laws;
mod limits;
mod paging;
mod pins;
mod pooled;
mod records;
mod rows;
mod samples;
mod schemas;
mod selection;
mod shop;
mod tokens;
mod tools;

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use ::http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use mcp::{App, Callers, Settings};
use serde_json::{Value, json};
use state::{
    ApiKey, Cache, CallRecord, Control, Credential, CredentialId, Flow, FlowStage, Journal, Limiter, NewKey,
    Scope, SecretStore, StampKeys,
};
use tokio::{
    sync::{
        OnceCell,
        mpsc::{self, UnboundedReceiver},
    },
    time::Instant,
};

use crate::support::{TestDb, command::Folder, http::Reply};

/// The path of the node that every endpoint here serves.
const NODE: &str = "/mcp/shop/db";
const SECRET: &str = "db";
const CONTROL: &str = "control";
const STAMPS: &str = "stamps";
/// No call of these tests may take longer.
const LATEST: Duration = Duration::from_mins(1);

/// An instance with one flow `shop`, one node `db`, and one key.
struct Endpoint {
    app: Arc<App>,
    records: Mutex<UnboundedReceiver<CallRecord>>,
    secrets: Folder,
    key: String,
    /// The tools as they are listed, once a call has asked for them.
    tools: OnceCell<Vec<Value>>,
}

/// What an endpoint is set up with.
struct Setup {
    settings: Settings,
    /// Fields of the node, put over those that it has anyway.
    node: Value,
    /// Further nodes, whole.
    beside: Vec<Value>,
    callers: Callers,
    scopes: Vec<Scope>,
    /// The key of stamps; none leaves pins off.
    stamp_key: Option<String>,
    /// What instances share.
    cache: Arc<Cache>,
    /// What the instance remembers of databases.
    memories: mcp::Memories,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            node: json!({}),
            beside: Vec::new(),
            callers: Callers::ApiKeys,
            scopes: vec![Scope::McpCall],
            stamp_key: None,
            cache: Arc::new(Cache::memory()),
            memories: mcp::Memories::default(),
        }
    }
}

impl Setup {
    fn node(node: Value) -> Self {
        Self { node, ..Self::default() }
    }

    fn settings(settings: Settings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// An instance whose control schema lies in `db`, and whose node reads with `secret`.
    async fn start(self, db: &TestDb, secret: &str) -> Endpoint {
        let secrets = Folder::new();
        fs::write(secrets.0.join(CONTROL), &db.url).unwrap();
        fs::write(secrets.0.join(SECRET), secret).unwrap();
        let store = Arc::new(SecretStore::Files(secrets.0.clone()));
        let control = Control::new(Arc::clone(&store), CONTROL.to_owned());
        control.migrate().await.unwrap();

        let mut node = json!({"id": "db", "credential": "cred-1", "actions": ["query", "catalog"]});
        for (name, value) in self.node.as_object().unwrap() {
            node[name] = value.clone();
        }
        let nodes: Vec<Value> = std::iter::once(node).chain(self.beside).collect();
        let document = json!({"id": "shop", "name": "Shop", "kind": "chatflow", "nodes": nodes});
        let flow = Flow::from_json(&document.to_string()).unwrap();
        control.put_flow("w", &flow, FlowStage::Live).await.unwrap();
        let id = CredentialId::parse("cred-1").unwrap();
        control.put_credential("w", &Credential { id: &id, name: "db", secret_id: SECRET }).await.unwrap();
        let key = ApiKey::from_random([7; 32]);
        let new = NewKey { name: "laptop", hash: key.hash(), scopes: &self.scopes, flows: None };
        control.put_key("w", &new).await.unwrap();

        let stamp_keys = self.stamp_key.map(|key| {
            fs::write(secrets.0.join(STAMPS), key).unwrap();
            StampKeys::new(Arc::clone(&store), STAMPS.to_owned(), Duration::ZERO)
        });
        let (sender, records) = mpsc::unbounded_channel();
        let app = App {
            settings: self.settings,
            secrets: store,
            control,
            callers: self.callers,
            journal: Journal::Channel(sender),
            stamp_keys,
            limiter: Limiter::new(Arc::clone(&self.cache)),
            cache: self.cache,
            memories: self.memories,
        };
        Endpoint {
            app: Arc::new(app),
            records: Mutex::new(records),
            secrets,
            key: key.text().to_owned(),
            tools: OnceCell::new(),
        }
    }
}

impl Endpoint {
    /// With the defaults, reading as the superuser.
    async fn over(db: &TestDb) -> Self {
        Setup::default().start(db, &db.url).await
    }

    /// Changes what the node's secret says.
    fn point_to(&self, secret: &str) {
        fs::write(self.secrets.0.join(SECRET), secret).unwrap();
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.key)
    }

    /// A request at the node, with the key and as little else as a client can send.
    fn request(&self, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
        Request::post(NODE)
            .header("host", "127.0.0.1")
            .header("authorization", self.bearer())
            .header("content-type", "application/json")
            .body(Full::new(body.into()))
            .unwrap()
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        // On the heap, or the types of tests around it grow past what the compiler follows.
        let answer = Box::pin(mcp::handle(&self.app, request, Instant::now() + LATEST)).await;
        let (parts, body) = answer.into_parts();
        Reply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    }

    /// One JSON-RPC request without any state before it, as a client of the older revisions sends it.
    async fn ask(&self, method: &str, params: Value) -> Value {
        self.ask_at(NODE, method, params).await
    }

    async fn ask_at(&self, path: &str, method: &str, params: Value) -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request = self.request(message.to_string());
        *request.uri_mut() = path.parse().unwrap();
        let reply = self.send(request).await;
        let answer = reply.json();
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)), "{answer}");
        answer
    }

    /// A tool's result, checked against its output schema: its content, and whether it is a failure.
    async fn call(&self, tool: &str, arguments: Value) -> (Value, bool) {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{tool}: {answer}");
        schemas::judge(self.tool(tool).await, &answer["result"])
    }

    async fn tools(&self) -> &[Value] {
        let list =
            async || self.ask("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().clone();
        self.tools.get_or_init(list).await
    }

    /// A tool as it is listed.
    async fn tool(&self, name: &str) -> &Value {
        self.tools().await.iter().find(|tool| tool["name"] == name).unwrap()
    }

    /// The content of a call that goes well.
    async fn good(&self, tool: &str, arguments: Value) -> Value {
        let (content, failed) = self.call(tool, arguments).await;
        assert!(!failed, "{content}");
        content
    }

    /// The content of a call that fails.
    async fn bad(&self, tool: &str, arguments: Value) -> Value {
        let (content, failed) = self.call(tool, arguments).await;
        assert!(failed, "{content}");
        content
    }

    async fn query(&self, sql: &str) -> Value {
        self.good("query", json!({"sql": sql})).await
    }

    async fn refuses(&self, sql: &str) -> Value {
        self.bad("query", json!({"sql": sql})).await
    }

    /// The records since the last time.
    fn records(&self) -> Vec<CallRecord> {
        let mut records = self.records.lock().unwrap();
        std::iter::from_fn(|| records.try_recv().ok()).collect()
    }
}

/// Asserts the fields of a failure that an agent acts on.
#[track_caller]
fn assert_failure(failure: &Value, code: &str, outcome: &str, hint: &str) {
    assert_eq!(
        (failure["code"].as_str(), failure["outcome"].as_str()),
        (Some(code), Some(outcome)),
        "{failure}"
    );
    let said = failure["hint"].as_str().unwrap_or_default();
    assert!(said.contains(hint), "`{hint}` is not in {failure}");
    let message = failure["error"].as_str().unwrap();
    assert!(!message.is_empty() && !message.contains('\n') && !message.ends_with('.'), "{message:?}");
}
