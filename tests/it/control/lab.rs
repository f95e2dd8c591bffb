//! A control database to try things on.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use state::{
    Admission, ApiKey, Caller, Control, ControlError, Flow, FlowId, FlowStage, KeyToken, LiveFlow, NewKey,
    Scope, SecretStore,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::Instant,
};

const SECRET: &str = "control";

/// A control database whose secret lies in a folder of its own.
pub(super) struct Lab {
    pub(super) control: Control,
    folder: PathBuf,
}

impl Lab {
    pub(super) fn new(url: &str) -> Self {
        Self::renewed_after(url, Duration::from_mins(5))
    }

    /// Keeps its connection no longer than this.
    pub(super) fn renewed_after(url: &str, most_age: Duration) -> Self {
        let folder =
            std::env::temp_dir().join(format!("pinguard-{}", local::embedded::random_word().unwrap()));
        fs::create_dir(&folder).unwrap();
        let store = Arc::new(SecretStore::Files(folder.clone()));
        let lab = Self { control: Control::renewed_after(store, SECRET.to_owned(), most_age), folder };
        lab.point_to(url);
        lab
    }

    pub(super) fn lose_secret(&self) {
        fs::remove_file(self.folder.join(SECRET)).unwrap();
    }

    pub(super) fn point_to(&self, url: &str) {
        fs::write(self.folder.join(SECRET), url).unwrap();
    }

    /// With the schema, a Live flow `sales` and one key that opens it, in the workspace `w`.
    pub(super) async fn ready(url: &str) -> (Self, KeyToken) {
        let lab = Self::new(url);
        lab.control.migrate().await.unwrap();
        lab.control.put_flow("w", &flow("sales", 1), FlowStage::Live).await.unwrap();
        let token = lab.key("w", 1, None).await.0;
        (lab, token)
    }

    /// A key made of one byte, and its id.
    pub(super) async fn key(
        &self,
        workspace: &str,
        byte: u8,
        flows: Option<&[FlowId]>,
    ) -> (KeyToken, String) {
        let key = ApiKey::from_random([byte; 32]);
        let scopes = [Scope::McpCall, Scope::AuditRead];
        let new = NewKey { name: "laptop", hash: key.hash(), scopes: &scopes, flows };
        (key.text().parse().unwrap(), self.control.put_key(workspace, &new).await.unwrap())
    }

    pub(super) async fn admit(&self, token: &KeyToken, flow: &str) -> Result<Admission, ControlError> {
        self.control.admit(token, flow, soon()).await
    }

    pub(super) async fn live(&self, token: &KeyToken, flow: &str) -> LiveFlow {
        self.granted(token, flow).await.1
    }

    pub(super) async fn granted(&self, token: &KeyToken, flow: &str) -> (Caller, LiveFlow) {
        match self.admit(token, flow).await.unwrap() {
            Admission::Granted(caller, live) => (caller, live),
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn code(&self, token: &KeyToken) -> &'static str {
        self.admit(token, "sales").await.unwrap_err().code()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Forty admissions at one time.
pub(super) async fn many(lab: Lab, token: &KeyToken) {
    let lab = Arc::new(lab);
    let mut at_once = JoinSet::new();
    for _ in 0..40 {
        let (lab, token) = (Arc::clone(&lab), token.clone());
        at_once.spawn(async move { lab.live(&token, "sales").await });
    }
    assert_eq!(at_once.join_all().await.len(), 40);
}

pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

pub(super) fn id(text: &str) -> FlowId {
    FlowId::parse(text).unwrap()
}

pub(super) fn flow(id: &str, row_cap: u32) -> Flow {
    let nodes = json!([
        {"id": "one", "credential": "cred-1", "actions": ["query"], "relations": ["public.\"Ünïcode\""], "rowCap": row_cap},
        {"id": "two", "credential": "cred-2"},
        {"id": "three"},
    ]);
    Flow::from_json(&json!({"id": id, "name": "S", "kind": "chatflow", "nodes": nodes}).to_string()).unwrap()
}

/// Forwards to a database, and counts how often the client speaks after the server has: a round trip each.
pub(super) async fn count_flights(url: &str, port: u16) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let here = listener.local_addr().unwrap().port();
    let flights = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&flights);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let counted = Arc::clone(&counted);
            tokio::spawn(async move {
                let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
                let mut server_spoke = true;
                loop {
                    tokio::select! {
                        Ok(length @ 1..) = client.read(&mut asked) => {
                            counted.fetch_add(usize::from(server_spoke), Ordering::SeqCst);
                            server_spoke = false;
                            server.write_all(&asked[..length]).await.unwrap();
                        }
                        Ok(length @ 1..) = server.read(&mut answered) => {
                            server_spoke = true;
                            client.write_all(&answered[..length]).await.unwrap();
                        }
                        else => return,
                    }
                }
            });
        }
    });
    (url.replacen(&format!(":{port}/"), &format!(":{here}/"), 1), flights)
}
