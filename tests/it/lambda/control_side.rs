//! The functions `flows` and `audit` as Lambda runs them, with a queue between them.

use std::{fs, io::Write as _, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use state::{ApiKey, AuditKey, NewKey, Scope};
use tokio::time::Instant;

use super::{
    control,
    emulator::Function,
    events::{FrontDoor, HOST, event, sample},
    program,
    secrets_manager::SecretsManager,
};
use crate::support::{self, TestDb, command::Folder, http};

const TIME: Duration = Duration::from_secs(29);
/// moto tells its services apart by this header, and checks no signature.
const AUTHORIZATION: &str =
    "AWS4-HMAC-SHA256 Credential=test/20261130/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0";
const AUDIT_KEY: &str = "0123456789abcdef0123456789abcdef";

pub(super) struct Deployed {
    flows: Function,
    pub(super) audit: Function,
    pub(super) key: ApiKey,
    pub(super) database: TestDb,
    pub(super) aws: SecretsManager,
    queue: String,
    folder: Folder,
}

pub(super) async fn deploy() -> Deployed {
    let folder = Folder::new();
    let database = support::database(18).await;
    let control = control(&database);
    control.migrate().await.unwrap();
    let key = ApiKey::from_random([7; 32]);
    let new = NewKey { name: "editor", hash: key.hash(), scopes: &Scope::ALL, flows: None };
    control.put_key("acme", &new).await.unwrap();
    let aws = SecretsManager::start(&folder.0);
    aws.create("pinguard/control", &database.url);
    aws.create("pinguard/audit", AUDIT_KEY);
    let queue = sqs(&aws, "CreateQueue", &json!({"QueueName": "audit"})).await["QueueUrl"]
        .as_str()
        .unwrap()
        .to_owned();
    let flows = start(&aws, &queue, &folder, "flows", env!("CARGO_BIN_EXE_flows-under-test"));
    let audit = start(&aws, &queue, &folder, "audit", env!("CARGO_BIN_EXE_audit-under-test"));
    Deployed { flows, audit, key, database, aws, queue, folder }
}

/// Starts a function with the settings of all.
fn start(aws: &SecretsManager, queue: &str, folder: &Folder, name: &str, usual: &str) -> Function {
    let (url, public) = (aws.url(), format!("https://{HOST}"));
    let environment = [
        ("AWS_ENDPOINT_URL_SECRETS_MANAGER", url.as_str()),
        ("AWS_ENDPOINT_URL_SQS", &url),
        ("PINGUARD_CONTROL_SECRET", "pinguard/control"),
        ("PINGUARD_AUDIT_SECRET", "pinguard/audit"),
        ("PINGUARD_AUDIT_QUEUE_URL", queue),
        ("PINGUARD_STAMP_SECRET", "pinguard/stamps"),
        ("PINGUARD_PINNED_QUERIES", "true"),
        ("PINGUARD_CREDENTIAL_PREFIX", "pinguard/db/{workspace}/"),
        ("PINGUARD_PUBLIC_URL", &public),
    ];
    Function::start(&program(name, usual), &environment, &folder.0.join(name).with_extension("log"))
}

async fn sqs(aws: &SecretsManager, action: &str, body: &Value) -> Value {
    let target = format!("AmazonSQS.{action}");
    let headers = [
        ("authorization", AUTHORIZATION),
        ("x-amz-target", target.as_str()),
        ("content-type", "application/x-amz-json-1.0"),
    ];
    let reply = http::send("POST", &format!("{}/", aws.url()), &headers, &body.to_string()).await;
    assert_eq!(reply.status, 200, "{action}: {}", String::from_utf8_lossy(&reply.body));
    if reply.body.is_empty() { Value::Null } else { reply.json() }
}

impl Deployed {
    /// Starts one more function beside the two.
    pub(super) fn start(&self, name: &str, usual: &str) -> Function {
        start(&self.aws, &self.queue, &self.folder, name, usual)
    }

    pub(super) fn ask(&mut self, method: &str, path: &str, body: &str) -> Value {
        let path = format!("/api/v1{path}");
        self.flows.invoke(&event(FrontDoor::HttpApi, method, &path, Some(self.key.text()), body), TIME)
    }

    /// Saves a draft with one pin and publishes it.
    fn publish(&mut self, version: i64) {
        let pin =
            json!({"id": "a", "name": "pq_a", "purpose": "a", "sql": format!("SELECT {version} LIMIT 1")});
        let draft = json!({"draft": {"id": "sales", "kind": "chatflow", "nodes": [{"id": "db", "pins": [pin]}]},
            "version": version});
        let saved = self.ask("PUT", "/flows/sales/draft", &draft.to_string());
        assert!([200, 201].contains(&saved["statusCode"].as_i64().unwrap()), "{saved}");
        let published = self.ask("POST", "/flows/sales/publish", "");
        assert_eq!(published["statusCode"], 200, "{published}");
    }

    /// Takes what the queue holds, as Lambda hands it to the audit function.
    pub(super) async fn batch(&self) -> Value {
        let ask = json!({"QueueUrl": self.queue, "MaxNumberOfMessages": 10});
        let answer = sqs(&self.aws, "ReceiveMessage", &ask).await;
        let records: Vec<_> = answer["Messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| {
                json!({"messageId": message["MessageId"], "receiptHandle": message["ReceiptHandle"],
                    "body": message["Body"], "eventSource": "aws:sqs"})
            })
            .collect();
        json!({"Records": records})
    }

    pub(super) async fn summaries(&self) -> Vec<String> {
        let sql = "SELECT summary FROM pinguard.audit ORDER BY number";
        let rows = self.database.client().await.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }
}

#[tokio::test]
async fn a_publish_reaches_the_audit_through_the_queue() {
    let mut deployed = deploy().await;
    deployed.publish(0);
    let batch = deployed.batch().await;
    assert_eq!(batch["Records"].as_array().unwrap().len(), 1, "{batch}");
    assert!(deployed.summaries().await.is_empty());
    for _ in 0..2 {
        assert_eq!(deployed.audit.invoke(&batch, TIME), json!({"batchItemFailures": []}));
    }
    assert_eq!(deployed.summaries().await, ["pq_a created"]);
    let key = AuditKey::new(AUDIT_KEY.as_bytes()).unwrap();
    let control = control(&deployed.database);
    let found = control.verify_audit(&key, "acme", None, Instant::now() + TIME).await.unwrap();
    assert!(found.is_whole());
    deployed.audit.settle();
    let log = fs::read_to_string(deployed.folder.0.join("audit.log")).unwrap();
    let head = json!({"auditHead": found.head}).to_string();
    assert!(log.lines().any(|line| line == head), "{head} in {log}");
}

#[tokio::test]
async fn without_its_queue_a_publish_goes_through_and_the_schedule_brings_the_events() {
    let mut deployed = deploy().await;
    sqs(&deployed.aws, "DeleteQueue", &json!({"QueueUrl": deployed.queue})).await;
    deployed.publish(0);
    deployed.publish(1);
    assert!(deployed.summaries().await.is_empty());
    let schedule = json!({"source": "aws.scheduler", "detail": {}});
    assert_eq!(deployed.audit.invoke(&schedule, TIME), Value::Null);
    assert_eq!(deployed.summaries().await, ["pq_a created", "pq_a edited"]);
}

/// A payload as CloudWatch Logs packs it.
fn packed(payload: &Value) -> Value {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(payload.to_string().as_bytes()).unwrap();
    json!({"awslogs": {"data": STANDARD.encode(encoder.finish().unwrap())}})
}

#[tokio::test]
async fn of_a_batch_only_the_message_that_cannot_be_read_comes_again() {
    let mut deployed = deploy().await;
    deployed.publish(0);
    let held = deployed.batch().await;
    let batch = sample("sqs", &[("@EVENT@", held["Records"][0]["body"].as_str().unwrap())]);
    let failed = json!({"batchItemFailures": [{"itemIdentifier": batch["Records"][1]["messageId"]}]});
    assert_eq!(deployed.audit.invoke(&batch, TIME), failed);
    assert_eq!(deployed.summaries().await, ["pq_a created"]);
}

#[tokio::test]
async fn call_records_come_out_of_the_log_and_other_lines_stay_there() {
    let mut deployed = deploy().await;
    let record = json!({"id": "0197b2c1-0000-7000-8000-000000000001", "at": "2026-11-30T22:14:34Z", "workspace": "acme",
        "flow": "team", "node": "sales", "tool": "query", "effect": "allowed", "rowsReturned": 2, "elapsedMs": 41});
    let payload = packed(&sample("logs", &[("@RECORD@", &record.to_string())]));
    for _ in 0..2 {
        assert_eq!(deployed.audit.invoke(&payload, TIME), Value::Null);
    }
    assert_eq!(deployed.audit.invoke(&packed(&sample("logs-control", &[])), TIME), Value::Null);
    let client = deployed.database.client().await;
    let sql = "SELECT count(*), min(node), sum(rows_returned)::text FROM pinguard.call";
    let row = client.query_one(sql, &[]).await.unwrap();
    assert_eq!((row.get::<_, i64>(0), row.get::<_, &str>(1), row.get::<_, &str>(2)), (1, "sales", "2"));
}

#[tokio::test]
async fn an_event_of_another_service_fails_and_the_next_is_served() {
    let mut deployed = deploy().await;
    let stray = json!({"Records": [{"eventSource": "aws:s3", "s3": {}}]});
    let said = deployed.audit.outcome(&stray, TIME).unwrap_err();
    assert_eq!(said["errorMessage"], "the event is none of this function's");
    assert_eq!(deployed.audit.invoke(&sample("schedule", &[]), TIME), Value::Null);
}
