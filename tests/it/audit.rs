//! The audit's rows: in whatever way events come, by however many writers, and what is noticed of somebody's work on them.

mod intake;
mod tampering;

use std::{
    fs,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use state::{AuditEvent, AuditHead, AuditKey, Auditor, Control, Lines, SecretStore, Verification};
use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    task::JoinSet,
    time::Instant,
};

use crate::support::{self, TestDb, command::Folder};

const CONTROL: &str = "control";

/// An auditor over a control database.
struct Lab {
    auditor: Arc<Auditor>,
    lines: Mutex<UnboundedReceiver<String>>,
    secrets: Folder,
}

impl Lab {
    async fn over(db: &TestDb) -> Self {
        let secrets = Folder::new();
        fs::write(secrets.0.join(CONTROL), &db.url).unwrap();
        let control = Control::new(Arc::new(SecretStore::Files(secrets.0.clone())), CONTROL.to_owned());
        control.migrate().await.unwrap();
        let (sender, lines) = mpsc::unbounded_channel();
        let auditor = Auditor { control, key: key(7), heads: Lines::Channel(sender) };
        Self { auditor: Arc::new(auditor), lines: Mutex::new(lines), secrets }
    }

    /// Writes one event after the other into the workspace `w`.
    async fn rows(&self, count: u64) {
        for number in 1..=count {
            self.auditor.record(&[event("w", number)], soon()).await.unwrap();
        }
    }

    async fn verify(&self, workspace: &str, logged: Option<&AuditHead>) -> Verification {
        self.auditor.control.verify_audit(&self.auditor.key, workspace, logged, soon()).await.unwrap()
    }

    /// The lines that told heads since the last look.
    fn heads(&self) -> Vec<AuditHead> {
        let mut lines = self.lines.lock().unwrap();
        let lines = std::iter::from_fn(|| lines.try_recv().ok());
        let head = |line: String| {
            let line: Value = serde_json::from_str(&line).unwrap();
            let head = &line["auditHead"];
            let text = format!("{}:{}", head["count"], head["hmac"].as_str().unwrap());
            AuditHead::parse(head["workspace"].as_str().unwrap(), &text).unwrap()
        };
        lines.map(head).collect()
    }
}

fn key(byte: u8) -> AuditKey {
    AuditKey::new(&[byte; 32]).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

/// The event of this number, which gives its id.
fn event(workspace: &str, number: u64) -> AuditEvent {
    let json = json!({
        "id": format!("0197f3a0-0000-7000-8000-{number:012}"), "at": "2026-01-02T03:04:05.1Z",
        "type": "pinned_query_change", "workspace": workspace, "actor": "key-1", "user": "Ada", "change": "test",
        "flow": "sales", "node": "db", "pin": format!("pq_{number}"), "version": number,
        "statementHash": "0f".repeat(32), "params": ["month"],
    });
    AuditEvent::from_json(&json.to_string()).unwrap()
}

#[tokio::test]
async fn many_writers_at_one_time_make_one_chain_for_each_workspace() {
    for major in [14, 18] {
        let db = support::database(major).await;
        let lab = Arc::new(Lab::over(&db).await);
        let mut at_once = JoinSet::new();
        for writer in 0..16_u64 {
            let lab = Arc::clone(&lab);
            at_once.spawn(async move {
                for turn in 0..4 {
                    let number = writer * 10 + turn;
                    // Workspaces in either order: writers that lock two heads must not wait for each other for ever.
                    let mut events = vec![event("w", number), event("v", number), event("w", number + 5)];
                    if writer % 2 == 0 {
                        events.reverse();
                    }
                    lab.auditor.record(&events, soon()).await.unwrap();
                }
            });
        }
        at_once.join_all().await;
        for (workspace, rows) in [("w", 128), ("v", 64)] {
            let found = lab.verify(workspace, None).await;
            assert_eq!((found.rows, found.findings.as_slice()), (rows, [].as_slice()), "{workspace}");
            assert_eq!(found.head.unwrap().count.unsigned_abs(), rows);
        }
        let heads = lab.heads();
        assert_eq!(heads.len(), 128, "each transaction tells both heads");
        for head in heads.iter().step_by(10) {
            let found = lab.verify(&head.workspace, Some(head)).await;
            assert!(found.is_whole(), "a head of the log fits for ever");
        }
    }
}

#[tokio::test]
async fn an_event_that_arrives_twice_is_written_once() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.auditor.record(&[event("w", 1), event("w", 1), event("v", 1)], soon()).await.unwrap();
    lab.auditor.record(&[event("w", 1)], soon()).await.unwrap();
    lab.auditor.record(&[], soon()).await.unwrap();
    assert_eq!((lab.verify("w", None).await.rows, lab.verify("v", None).await.rows), (1, 1));
    assert_eq!(lab.heads().len(), 2);
    assert_eq!(lab.auditor.control.audited_workspaces(soon()).await.unwrap(), ["v", "w"]);
}

#[tokio::test]
async fn a_chain_longer_than_one_read_is_whole() {
    let db = support::database(17).await;
    let lab = Lab::over(&db).await;
    let events: Vec<_> = (1..=4_500).map(|number| event("w", number)).collect();
    lab.auditor.record(&events, soon()).await.unwrap();
    let found = lab.verify("w", lab.heads().last()).await;
    assert_eq!((found.rows, found.is_whole()), (4_500, true));
    assert_eq!(lab.verify("none", None).await.rows, 0);
}
