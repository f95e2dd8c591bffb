//! The functions `flows` and `audit` as Lambda runs them, with a queue between them.

use std::{fs, path::Path, time::Duration};

use serde_json::{Value, json};
use state::{ApiKey, AuditKey, Control, NewKey, Scope, SecretStore};
use tokio::time::Instant;

use super::{
    emulator::Function,
    events::{FrontDoor, HOST, event},
    secrets_manager::SecretsManager,
};
use crate::support::{self, TestDb, command::Folder, http};

const TIME: Duration = Duration::from_secs(29);
/// moto tells its services apart by this header, and checks no signature.
const AUTHORIZATION: &str =
    "AWS4-HMAC-SHA256 Credential=test/20261130/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0";
const AUDIT_KEY: &str = "0123456789abcdef0123456789abcdef";

struct Deployed {
    flows: Function,
    audit: Function,
    key: ApiKey,
    database: TestDb,
    aws: SecretsManager,
    queue: String,
    folder: Folder,
}

async fn deploy() -> Deployed {
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
    let url = aws.url();
    let public = format!("https://{HOST}");
    let environment = [
        ("AWS_ENDPOINT_URL", url.as_str()),
        ("PINGUARD_CONTROL_SECRET", "pinguard/control"),
        ("PINGUARD_AUDIT_SECRET", "pinguard/audit"),
        ("PINGUARD_AUDIT_QUEUE_URL", &queue),
        ("PINGUARD_PUBLIC_URL", &public),
    ];
    let start =
        |program: &str, log: &str| Function::start(Path::new(program), &environment, &folder.0.join(log));
    let flows = start(env!("CARGO_BIN_EXE_flows-under-test"), "flows.log");
    let audit = start(env!("CARGO_BIN_EXE_audit-under-test"), "audit.log");
    Deployed { flows, audit, key, database, aws, queue, folder }
}

fn control(database: &TestDb) -> Control {
    Control::new(std::sync::Arc::new(SecretStore::given("c", &database.url)), "c".to_owned())
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
    fn ask(&mut self, method: &str, path: &str, body: &str) -> Value {
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
    async fn batch(&self) -> Value {
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

    async fn summaries(&self) -> Vec<String> {
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
