//! The event that a passing test leaves, also where it cannot be sent.

use std::sync::Arc;

use serde_json::{Value, json};
use state::{AuditEvent, AuditKey, Auditor, ChangeKind, Control, EventSink, Lines};

use super::{Lab, body, flow};
use crate::support;

#[tokio::test]
async fn a_passing_test_leaves_one_row_and_a_refused_one_none() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    let mut refused = body();
    refused["values"] = json!({});
    lab.test("sales", &refused).await;
    assert_eq!(lab.editor.get("/audit").await["events"], json!([]));
    lab.pass("sales", &body()).await;
    let page = lab.editor.get("/audit").await;
    let entries = page["events"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{page}");
    let detail = entries[0].to_string();
    for said in ["\"test\"", "pq_revenue_by_region", "key 1", "shop", "month"] {
        assert!(detail.contains(said), "{said} is not in {detail}");
    }
    for kept in ["SELECT", "2026-01-01", "postgresql"] {
        assert!(!detail.contains(kept), "{kept} is in {detail}");
    }
}

#[tokio::test]
async fn an_event_that_cannot_be_sent_becomes_a_line_and_the_test_passes_all_the_same() {
    let db = support::database(18).await;
    let mut lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    lab.editor.secret("away", "postgresql://a:b@127.0.0.1:1/d");
    lab.app.events = EventSink::InProcess(Arc::new(Auditor {
        control: Control::new(Arc::clone(&lab.app.secrets), "away".to_owned()),
        key: AuditKey::new(&[7; 32]).unwrap(),
        heads: Lines::Stderr,
    }));
    lab.pass("sales", &body()).await;
    let line: Value = serde_json::from_str(&lab.log.try_recv().unwrap()).unwrap();
    let event = AuditEvent::from_json(&line["auditEvent"].to_string()).unwrap();
    assert_eq!((event.change, event.pin.as_str()), (ChangeKind::Test, "pq_revenue_by_region"));
}
