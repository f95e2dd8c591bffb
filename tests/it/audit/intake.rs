//! The audit function: batches of the queue, payloads of the log, a schedule, and trouble with each.

use std::{fs, io::Write as _, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use state::{AuditKey, Auditor, Control, EventSink, Lines, SecretStore};
use tokio::sync::mpsc;

use super::{Lab, event, soon};
use crate::support::{self, TestDb};

fn batch(bodies: &[(&str, String)]) -> Value {
    let records: Vec<_> = bodies
        .iter()
        .map(|(id, body)| json!({"messageId": id, "body": body, "eventSource": "aws:sqs", "attributes": {}}))
        .collect();
    json!({"Records": records})
}

fn subscription(messages: &[String]) -> Value {
    let events: Vec<_> =
        messages.iter().map(|message| json!({"id": "1", "timestamp": 1, "message": message})).collect();
    let payload = json!({"messageType": "DATA_MESSAGE", "logGroup": "g", "logEvents": events});
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(payload.to_string().as_bytes()).unwrap();
    json!({"awslogs": {"data": STANDARD.encode(encoder.finish().unwrap())}})
}

async fn rows(db: &TestDb, sql: &str) -> String {
    let sql = format!("SELECT coalesce(string_agg(t::text, ' ' ORDER BY t::text), '') FROM ({sql}) t");
    db.client().await.query_one(&sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn of_a_batch_only_what_cannot_be_read_comes_again() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    let mut with_sql: Value = serde_json::from_str(&event("w", 3).to_json()).unwrap();
    with_sql["sql"] = json!("SELECT 1");
    let batch = batch(&[
        ("m1", event("w", 1).to_json()),
        ("m2", "{".to_owned()),
        ("m3", with_sql.to_string()),
        ("m4", event("v", 4).to_json()),
        ("m5", event("w", 1).to_json()),
    ]);
    let failures = json!({"batchItemFailures": [{"itemIdentifier": "m2"}, {"itemIdentifier": "m3"}]});
    assert_eq!(audit::handle(&lab.auditor, &batch, soon()).await.unwrap(), failures);
    assert_eq!(audit::handle(&lab.auditor, &batch, soon()).await.unwrap(), failures, "and once more");
    assert_eq!(
        rows(&db, "SELECT workspace, summary FROM pinguard.audit").await,
        "(v,\"pq_4 tested\") (w,\"pq_1 tested\")"
    );
}

#[tokio::test]
async fn while_the_control_database_is_away_everything_comes_again() {
    let db = support::database(17).await;
    let lab = Lab::over(&db).await;
    fs::write(lab.secrets.0.join(super::CONTROL), "postgres://u:p@127.0.0.1:1/d").unwrap();
    let messages = batch(&[("m1", event("w", 1).to_json()), ("m2", event("w", 2).to_json())]);
    let answer = audit::handle(&lab.auditor, &messages, soon()).await.unwrap();
    assert_eq!(answer, json!({"batchItemFailures": [{"itemIdentifier": "m1"}, {"itemIdentifier": "m2"}]}));
    let lines = subscription(&[
        json!({"auditEvent": serde_json::from_str::<Value>(&event("w", 3).to_json()).unwrap()}).to_string(),
    ]);
    assert!(audit::handle(&lab.auditor, &lines, soon()).await.is_err(), "Lambda sends a log payload again");
    fs::write(lab.secrets.0.join(super::CONTROL), &db.url).unwrap();
    assert_eq!(
        audit::handle(&lab.auditor, &messages, soon()).await.unwrap(),
        json!({"batchItemFailures": []})
    );
    audit::handle(&lab.auditor, &lines, soon()).await.unwrap();
    assert_eq!(lab.verify("w", None).await.rows, 3);
}

#[tokio::test]
async fn an_event_that_cannot_be_sent_becomes_a_log_line_which_is_delivered() {
    let db = support::database(16).await;
    let lab = Lab::over(&db).await;
    let away = SecretStore::given("control", "postgres://u:p@127.0.0.1:1/d");
    let (sender, mut lines) = mpsc::unbounded_channel();
    let log = Lines::Channel(sender);
    let broken = Auditor {
        control: Control::new(Arc::new(away), "control".to_owned()),
        key: AuditKey::new(&[1; 32]).unwrap(),
        heads: log.clone(),
    };
    let sink = EventSink::InProcess(Arc::new(broken));
    sink.offer(event("w", 1), &log, soon()).await.unwrap_err();
    let line = lines.try_recv().unwrap();
    audit::handle(&lab.auditor, &subscription(&["START".to_owned(), line]), soon()).await.unwrap();
    assert_eq!(rows(&db, "SELECT summary FROM pinguard.audit").await, "(\"pq_1 tested\")");

    EventSink::InProcess(Arc::clone(&lab.auditor)).offer(event("w", 2), &log, soon()).await.unwrap();
    assert!(lines.try_recv().is_err(), "what can be sent is no line");
}

#[tokio::test]
async fn call_records_are_stored_once_without_values_or_passwords() {
    support::each_major(async |server| {
        let db = server.database().await;
        let lab = Lab::over(&db).await;
        let full = json!({"id": "0197f3a0-0000-7000-8000-000000000001", "at": "2026-01-02T03:04:05.12Z", "workspace": "w",
            "flow": "sales", "node": "db", "caller": "laptop", "tool": "pq_a\u{0}", "pin": "a", "pinVersion": 2,
            "sqlHash": "00".repeat(32), "lane": "quiet", "effect": "refused", "code": "42P01", "rowsReturned": 0,
            "tablesRead": ["public.a", "public.b,c"], "bytes": 12, "elapsedMs": 18_446_744_073_709_551_615_u64, "page": 3,
            "freeSqlWithPin": ["pq_a"], "countedHere": "cache_timeout", "preview": "ALTER ROLE x PASSWORD 'hunter2'", "ofTomorrow": 1});
        let bare = json!({"id": "2", "at": "2026-01-02T03:04:05Z", "workspace": "w", "flow": "sales", "tool": "query",
            "effect": "none", "elapsedMs": 3});
        let payload = subscription(&[full.to_string(), "REPORT".to_owned(), bare.to_string() + "\n", bare.to_string()]);
        for _ in 0..2 {
            assert_eq!(audit::handle(&lab.auditor, &payload, soon()).await.unwrap(), Value::Null);
        }
        let stored = rows(&db, "SELECT c.* FROM pinguard.call c, set_config('TimeZone', 'UTC', false)").await;
        let hash = "00".repeat(32);
        assert_eq!(
            stored,
            format!(
                "(0197f3a0-0000-7000-8000-000000000001,\"2026-01-02 03:04:05.12+00\",w,sales,db,laptop,pq_a\u{fffd},a,2,{hash},\
                 quiet,refused,42P01,0,\"{{public.a,\"\"public.b,c\"\"}}\",12,9223372036854775807,3,{{pq_a}},\
                 \"ALTER ROLE x PASSWORD ********\",cache_timeout) \
                 (2,\"2026-01-02 03:04:05+00\",w,sales,,,query,,,,,none,,,,,3,,,,)"
            )
        );
    })
    .await;
}

#[tokio::test]
async fn a_schedule_writes_what_lies_in_the_outbox() {
    let db = support::database(15).await;
    let lab = Lab::over(&db).await;
    let insert = "INSERT INTO pinguard.outbox (event) SELECT $1::text::json";
    db.client().await.execute(insert, &[&event("w", 1).to_json()]).await.unwrap();
    let schedule = json!({"source": "aws.scheduler", "detail-type": "Scheduled Event"});
    assert_eq!(audit::handle(&lab.auditor, &schedule, soon()).await.unwrap(), Value::Null);
    assert_eq!(rows(&db, "SELECT summary FROM pinguard.audit").await, "(\"pq_1 tested\")");
    assert_eq!(rows(&db, "SELECT * FROM pinguard.outbox").await, "");
    assert!(audit::handle(&lab.auditor, &json!({"source": "aws.s3"}), soon()).await.is_err());
}
