//! The endpoint in this process, with a node for every database and search path, and limits that no result reaches.

use std::{collections::BTreeSet, fs, sync::Arc, time::Duration};

use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use mcp::{App, Callers, Settings};
use serde_json::{Value, json};
use state::{Cache, Control, Credential, CredentialId, Flow, FlowStage, Journal, Limiter, SecretStore};
use tokio::{sync::mpsc, time::Instant};

use super::{
    databases::{self, Databases},
    records::Record,
};
use crate::support::command::Folder;

const WORKSPACE: &str = "workloads";
const CONTROL_SECRET: &str = "control";
const SECONDS: u32 = 120;

/// The published flow, and the folder of its secrets.
pub(super) struct Nodes {
    folder: Folder,
    /// The node `n<i>` serves the i-th of these.
    served: Vec<Served>,
}

/// A database and a search path.
type Served = (String, Option<String>);

/// What came back for a statement.
pub(super) enum Answer {
    /// All rows, whole.
    Rows(Rows),
    /// The code of the refusal.
    Refused(String),
    /// Anything that a statement of the records must not meet.
    Failed(String),
}

/// A result as the endpoint gives it.
pub(super) struct Rows {
    /// Names and types.
    pub(super) columns: Vec<(String, String)>,
    pub(super) rows: Vec<Vec<Value>>,
}

/// An instance of the endpoint.
pub(super) struct Endpoint<'a> {
    app: Arc<App>,
    nodes: &'a Nodes,
}

impl Nodes {
    /// Writes the secrets and publishes the flow.
    pub(super) fn publish(databases: &Databases, records: &[Record]) -> Self {
        let served: BTreeSet<Served> =
            records.iter().map(|record| (record.database.clone(), record.search_path.clone())).collect();
        let nodes = Self { folder: Folder::new(), served: served.into_iter().collect() };
        let write = |name: &str, url: String| fs::write(nodes.folder.0.join(name), url).unwrap();
        write(CONTROL_SECRET, databases.make("pinguard"));
        let mut documents = Vec::new();
        for (number, (database, path)) in nodes.served.iter().enumerate() {
            write(&format!("c{number}"), databases.reader_url(database));
            let path: Vec<&str> = path.iter().flat_map(|path| path.split(',')).collect();
            let allowed: Vec<String> =
                databases::allowed_functions(database).iter().map(ToString::to_string).collect();
            documents.push(json!({"id": format!("n{number}"), "credential": format!("c{number}"),
                "actions": ["query"], "searchPath": path, "allowedFunctions": allowed}));
        }
        let flow = json!({"id": "asked", "kind": "chatflow", "nodes": documents}).to_string();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let control = nodes.control();
            control.migrate().await.unwrap();
            for number in 0..nodes.served.len() {
                let id = CredentialId::parse(&format!("c{number}")).unwrap();
                let credential = Credential { id: &id, name: id.as_str(), secret_id: id.as_str() };
                control.put_credential(WORKSPACE, &credential).await.unwrap();
            }
            control.put_flow(WORKSPACE, &Flow::from_json(&flow).unwrap(), FlowStage::Live).await.unwrap();
        });
        nodes
    }

    fn secrets(&self) -> Arc<SecretStore> {
        Arc::new(SecretStore::Files(self.folder.0.clone()))
    }

    fn control(&self) -> Control {
        Control::new(self.secrets(), CONTROL_SECRET.to_owned())
    }

    fn of(&self, record: &Record) -> usize {
        let served = (record.database.clone(), record.search_path.clone());
        self.served.binary_search(&served).unwrap()
    }
}

impl<'a> Endpoint<'a> {
    pub(super) fn open(nodes: &'a Nodes) -> Self {
        let settings = Settings {
            limits: mcp::Limits {
                row_cap: 1_000_000,
                max_bytes: 1 << 30,
                value_chars: 1 << 30,
                timeout_seconds: SECONDS,
                ..mcp::Limits::default()
            },
            ..Settings::default()
        };
        let cache = Arc::new(Cache::memory());
        let app = App {
            settings,
            secrets: nodes.secrets(),
            control: nodes.control(),
            callers: Callers::Anyone { workspace: WORKSPACE.to_owned() },
            journal: Journal::Channel(mpsc::unbounded_channel().0),
            stamp_keys: None,
            limiter: Limiter::new(Arc::clone(&cache)),
            cache,
            memories: mcp::Memories::default(),
        };
        Self { app: Arc::new(app), nodes }
    }

    /// Runs a statement by the tool `query`.
    pub(super) async fn query(&self, record: &Record) -> Answer {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "query", "arguments": {"sql": record.sql}}});
        let request = Request::post(format!("/mcp/asked/n{}", self.nodes.of(record)))
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(call.to_string())))
            .unwrap();
        let latest = Instant::now() + Duration::from_secs(u64::from(2 * SECONDS));
        let body =
            mcp::handle(&self.app, request, latest).await.into_body().collect().await.unwrap().to_bytes();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        read(&answer["result"]).unwrap_or_else(|| Answer::Failed(answer.to_string()))
    }
}

/// Reads the result of a call; none where it is not what the contract says.
fn read(result: &Value) -> Option<Answer> {
    let content = result.get("structuredContent")?;
    if result["isError"] == true {
        let code = content["code"].as_str()?.to_owned();
        let refused = content["error"].as_str()?.starts_with("this statement is refused");
        return refused.then_some(Answer::Refused(code));
    }
    let whole = content["truncated"] == false && content.get("valuesCut").is_none();
    let rows: Vec<Vec<Value>> = serde_json::from_value(content["rows"].clone()).ok()?;
    if !whole || content["rowCount"] != json!(rows.len()) {
        return None;
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let columns = content["columns"].as_array()?.iter();
    let columns = columns.map(|column| Some((text(&column["name"])?, text(&column["type"])?)));
    Some(Answer::Rows(Rows { columns: columns.collect::<Option<_>>()?, rows }))
}
