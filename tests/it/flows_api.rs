//! The editor's API as its callers know it: HTTP in, HTTP out, over a real control database.

mod drafts;
mod keys;
mod publishing;
mod relations;
mod rights;
mod tokens;

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use ::http::Request;
use flows::{App, Callers, Settings};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use serde_json::{Value, json};
use state::{ApiKey, AuditKey, Auditor, Control, EventSink, FlowId, Lines, NewKey, Scope, SecretStore};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    time::Instant,
};

use crate::support::{TestDb, command::Folder, http::Reply};

const CONTROL: &str = "control";
/// No request of these tests may take longer.
const LATEST: Duration = Duration::from_mins(1);

/// An instance of the API over a control database, with a key `owner` that may do everything in the workspace `w`.
pub(crate) struct Editor {
    pub(crate) app: Arc<App>,
    pub(crate) auditor: Arc<Auditor>,
    owner: String,
    heads: Mutex<UnboundedReceiver<String>>,
    secrets: Folder,
}

impl Editor {
    pub(crate) async fn over(db: &TestDb) -> Self {
        Self::with(db, EventSink::InProcess).await
    }

    /// The same with another way for events.
    pub(crate) async fn with(db: &TestDb, events: impl FnOnce(Arc<Auditor>) -> EventSink) -> Self {
        let secrets = Folder::new();
        fs::write(secrets.0.join(CONTROL), &db.url).unwrap();
        let store = Arc::new(SecretStore::Files(secrets.0.clone()));
        let control = || Control::new(Arc::clone(&store), CONTROL.to_owned());
        control().migrate().await.unwrap();
        let (sender, heads) = mpsc::unbounded_channel();
        let auditor = Arc::new(Auditor {
            control: control(),
            key: AuditKey::new(&[7; 32]).unwrap(),
            heads: Lines::Channel(sender),
        });
        let settings = Settings {
            limits: mcp::Limits::default(),
            own_secrets: vec![CONTROL.to_owned()],
            credential_prefix: None,
            front: mcp::Front {
                allowed_hosts: Vec::new(),
                allowed_origins: vec!["https://editor.example.com".to_owned()],
            },
        };
        let app = App {
            settings,
            secrets: Arc::clone(&store),
            control: control(),
            callers: Callers::ApiKeys,
            events: events(Arc::clone(&auditor)),
        };
        let editor =
            Self { app: Arc::new(app), auditor, owner: String::new(), heads: Mutex::new(heads), secrets };
        let owner = editor.key("w", 1, &Scope::ALL, None).await;
        Self { owner, ..editor }
    }

    /// A key made of one byte.
    pub(crate) async fn key(
        &self,
        workspace: &str,
        byte: u8,
        scopes: &[Scope],
        flows: Option<&[&str]>,
    ) -> String {
        let key = ApiKey::from_random([byte; 32]);
        let flows: Option<Vec<FlowId>> =
            flows.map(|flows| flows.iter().map(|id| FlowId::parse(id).unwrap()).collect());
        let name = format!("key {byte}");
        let new = NewKey { name: &name, hash: key.hash(), scopes, flows: flows.as_deref() };
        self.app.control.put_key(workspace, &new).await.unwrap();
        key.text().to_owned()
    }

    /// Writes a secret.
    pub(crate) fn secret(&self, id: &str, text: &str) {
        fs::write(self.secrets.0.join(id), text).unwrap();
    }

    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// Sends a request with headers of its own.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let answer = flows::handle(&self.app, request, Instant::now() + LATEST).await;
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Sends a JSON body with somebody's key.
    pub(crate) async fn by(&self, key: &str, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let bearer = format!("Bearer {key}");
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = body.map(Value::to_string).unwrap_or_default();
        self.send(method, &format!("/api/v1{path}"), &headers, &body).await
    }

    /// The same with the owner's.
    pub(crate) async fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.by(&self.owner, method, path, body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let reply = self.ask("GET", path, None).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        reply.json()
    }

    /// Saves a draft over a version; 0 makes the flow. Gives the new version.
    pub(crate) async fn save(&self, document: &Value, over: i64) -> i64 {
        let path = format!("/flows/{}/draft", document["id"].as_str().unwrap());
        let reply = self.ask("PUT", &path, Some(&json!({"draft": document, "version": over}))).await;
        assert!([200, 201].contains(&reply.status), "{}", reply.json());
        reply.json()["draftVersion"].as_i64().unwrap()
    }

    pub(crate) async fn publish(&self, flow: &str) -> Value {
        let reply = self.ask("POST", &format!("/flows/{flow}/publish"), None).await;
        assert_eq!(reply.status, 200, "{}", reply.json());
        reply.json()
    }

    /// The lines that told heads since the last look.
    pub(crate) fn heads(&self) -> Vec<Value> {
        let mut heads = self.heads.lock().unwrap();
        let lines = std::iter::from_fn(|| heads.try_recv().ok());
        lines.map(|line| serde_json::from_str(&line).unwrap()).collect()
    }
}

/// Status and code of a failure, whose other parts are checked.
#[track_caller]
pub(crate) fn failure(reply: &Reply) -> (u16, String) {
    let body = reply.json();
    let message = body["error"].as_str().unwrap();
    assert!(!message.is_empty() && !message.contains('\n') && !message.ends_with('.'), "{message:?}");
    let outcome = if reply.status >= 500 { "unexpected" } else { "expected" };
    assert_eq!(body["outcome"], outcome, "{body}");
    (reply.status, body["code"].as_str().unwrap().to_owned())
}

/// A document with one node that has these pins.
pub(crate) fn document(id: &str, pins: &[Value]) -> Value {
    json!({"id": id, "name": format!("Flow {id}"), "kind": "chatflow", "nodes": [{
        "id": "db", "name": "Database", "actions": ["query"], "relations": ["public.demo_sales"],
        "rules": "months are the first of a month", "pins": pins,
    }]})
}

/// A pin that compiles; the number makes it another.
pub(crate) fn pin(id: &str, number: i64) -> Value {
    json!({"id": id, "name": format!("pq_{id}"), "purpose": "sales of a month",
        "sql": format!("SELECT region FROM demo_sales WHERE month = :month AND units > {number} LIMIT 100"),
        "params": [{"name": "month", "type": "date", "required": false, "default": "2026-01-01"}], "version": number})
}
