//! The real program of the function `mcp`, started and driven as Lambda does, with Secrets Manager beside it.

mod control_side;
mod emulator;
mod events;
mod frozen;
mod limits;
mod pages;
mod pins;
mod rds_tokens;
mod secrets_manager;
mod secrets_out_of_reach;
mod shapes;
mod tokens;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use state::{ApiKey, Control, Credential, CredentialId, Flow, FlowStage, NewKey, Scope, SecretStore};

use self::{
    emulator::Function,
    events::{FrontDoor, HOST, event, query},
    secrets_manager::SecretsManager,
};
use crate::support::{self, Login, TestDb, command::Folder};

const PATH: &str = "/mcp/team/sales";
const SQL: &str = "SELECT item, price, sold FROM stock ORDER BY item -- all of it";
const TIME: Duration = Duration::from_secs(29);

/// A function with all that it needs around it.
struct Deployed {
    function: Function,
    key: ApiKey,
    secrets: SecretsManager,
    login: Login,
    database: TestDb,
    log: PathBuf,
    _folder: Folder,
}

/// The program of a function: the release that `cargo lambda build` or `sam build` made, where `PINGUARD_BUILT` names its
/// folder (`target/lambda`), else the one that was built with the tests.
#[expect(clippy::disallowed_methods, reason = "whoever tests a release says so by hand")]
fn program(name: &str, usual: &str) -> PathBuf {
    match std::env::var_os("PINGUARD_BUILT") {
        Some(folder) => {
            Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join(name).join("bootstrap")
        }
        None => PathBuf::from(usual),
    }
}

/// Deploys one node over a database of one table; the key opens it.
async fn deploy() -> Deployed {
    deploy_with(&[]).await
}

/// The same with further settings.
async fn deploy_with(settings: &[(&str, &str)]) -> Deployed {
    let folder = Folder::new();
    let database = support::database(17).await;
    database.run("CREATE TABLE stock (item text, price numeric(8,2), sold bigint)").await;
    database.run("INSERT INTO stock VALUES ('nail', 0.10, 9007199254740993), ('screw', 1.00, 7)").await;
    let login = database.reader(&["public"]).await;
    let key = publish(&database).await;
    let secrets = SecretsManager::start(&folder.0);
    secrets.create("pinguard/control", &database.url);
    secrets.create("pinguard/stock", &login.url);
    let log = folder.0.join("function.log");
    let function = start(&secrets.url(), settings, &log);
    Deployed { function, key, secrets, login, database, log, _folder: folder }
}

/// Starts the function, with what it asks of AWS at this URL.
fn start(aws: &str, settings: &[(&str, &str)], log: &Path) -> Function {
    let public = format!("https://{HOST}");
    let own = [
        ("AWS_ENDPOINT_URL", aws),
        ("PINGUARD_CONTROL_SECRET", "pinguard/control"),
        ("PINGUARD_PUBLIC_URL", &public),
    ];
    Function::start(&program("mcp", env!("CARGO_BIN_EXE_mcp-under-test")), &[&own, settings].concat(), log)
}

fn control(database: &TestDb) -> Control {
    Control::new(Arc::new(SecretStore::given("control", &database.url)), "control".to_owned())
}

/// Writes flow, credential and key into the control database.
async fn publish(database: &TestDb) -> ApiKey {
    let control = control(database);
    control.migrate().await.unwrap();
    let id = CredentialId::parse("stock").unwrap();
    let credential = Credential { id: &id, name: "stock", secret_id: "pinguard/stock" };
    control.put_credential("acme", &credential).await.unwrap();
    go_live(&control, json!({"id": "sales", "credential": "stock", "actions": ["query"]})).await;
    let key = ApiKey::from_random([7; 32]);
    let new = NewKey { name: "agent", hash: key.hash(), scopes: &[Scope::McpCall], flows: None };
    control.put_key("acme", &new).await.unwrap();
    key
}

async fn go_live(control: &Control, node: Value) {
    let flow = json!({"id": "team", "kind": "chatflow", "nodes": [node]});
    control.put_flow("acme", &Flow::from_json(&flow.to_string()).unwrap(), FlowStage::Live).await.unwrap();
}

impl Deployed {
    /// The processes that serve the function at its database.
    async fn served_by(&self) -> Vec<i32> {
        self.database.activity().await.iter().map(|one| one.pid).collect()
    }

    /// Waits until the function has nothing open at its database.
    async fn has_left(&self) {
        let since = Instant::now();
        while !self.served_by().await.is_empty() {
            assert!(since.elapsed() < Duration::from_secs(2), "{:?}", self.database.activity().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn ask(&mut self, door: FrontDoor, body: &str) -> Value {
        let event = event(door, "POST", PATH, Some(self.key.text()), body);
        self.function.invoke(&event, TIME)
    }
}

/// The `structuredContent` of a good answer.
#[track_caller]
fn content(answer: &Value) -> Value {
    assert_eq!(answer["statusCode"], 200, "{answer}");
    assert_eq!(answer["headers"]["content-type"], "application/json", "{answer}");
    let body = answer["body"].as_str().unwrap();
    let body = if answer["isBase64Encoded"] == true { STANDARD.decode(body).unwrap() } else { body.into() };
    let body: Value = serde_json::from_slice(&body).unwrap();
    body["result"]["structuredContent"].clone()
}

#[tokio::test]
async fn both_front_doors_get_exact_values_from_one_warm_function() {
    let mut deployed = deploy().await;
    let rows = json!([["nail", "0.10", "9007199254740993"], ["screw", "1.00", 7]]);
    for door in [FrontDoor::HttpApi, FrontDoor::FunctionUrl, FrontDoor::HttpApi, FrontDoor::FunctionUrl] {
        assert_eq!(content(&deployed.ask(door, &query(SQL)))["rows"], rows, "{door:?}");
    }
    deployed.function.settle();
    assert!(deployed.database.activity().await.len() <= 1, "an instance keeps one idle connection at most");
    println!("peak memory of a debug build: {} kB", deployed.function.peak_kilobytes());
}

#[tokio::test]
async fn a_warm_call_reads_one_secret_and_opens_no_connection() {
    let mut deployed = deploy().await;
    let before = deployed.secrets.requests();
    content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)));
    deployed.function.settle();
    assert_eq!(deployed.secrets.requests(), before + 2, "the control database's and the node's");
    let by = deployed.served_by().await;
    for calls in 1..=3 {
        content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)));
        deployed.function.settle();
        assert_eq!(deployed.secrets.requests(), before + 2 + calls);
        assert_eq!(deployed.served_by().await, by);
    }
}

#[tokio::test]
async fn each_call_leaves_one_record_without_values() {
    let mut deployed = deploy().await;
    content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)));
    content(&deployed.ask(FrontDoor::HttpApi, &query("DELETE FROM stock WHERE item = 'nail'")));
    deployed.function.settle();
    let log = fs::read_to_string(&deployed.log).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let records: Vec<_> = lines.iter().filter(|line| line.get("effect").is_some()).collect();
    assert_eq!(records.len(), 2, "{log}");
    assert_eq!((&records[0]["effect"], &records[0]["rowsReturned"]), (&json!("allowed"), &json!(2)));
    assert_eq!((&records[1]["effect"], &records[1]["caller"]), (&json!("refused"), &json!("agent")));
    assert!(!log.contains("nail") && !log.contains(&deployed.login.password), "{log}");
}

#[tokio::test]
async fn what_is_no_call_is_answered_in_http_terms() {
    let mut deployed = deploy().await;
    let key = deployed.key.text().to_owned();
    let other = ApiKey::from_random([8; 32]);
    for (method, path, key, status) in [
        ("GET", PATH, Some(key.as_str()), 405),
        ("DELETE", PATH, Some(&key), 405),
        ("POST", PATH, None, 401),
        ("POST", PATH, Some(other.text()), 401),
        ("POST", "/mcp/team/other", Some(&key), 404),
        ("POST", "/", Some(&key), 404),
    ] {
        for door in [FrontDoor::HttpApi, FrontDoor::FunctionUrl] {
            let answer = deployed.function.invoke(&event(door, method, path, key, &query(SQL)), TIME);
            assert_eq!(answer["statusCode"], status, "{method} {path} {answer}");
            assert_eq!(answer["headers"]["allow"] == "POST", status == 405, "{answer}");
        }
    }
    // Nothing of this goes as far as the database.
    assert!(deployed.database.activity().await.is_empty());
}

#[tokio::test]
async fn a_warm_function_follows_a_rotated_password() {
    let mut deployed = deploy().await;
    content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)));
    // A rotation changes the password first and puts the new value into use later: a call may come in between.
    for (password, stage) in [("first", "AWSCURRENT"), ("second", "AWSPENDING")] {
        let role = &deployed.login.role;
        deployed.database.run(&format!("ALTER ROLE {role} PASSWORD '{password}'")).await;
        let url = deployed.login.url.replacen(&deployed.login.password, password, 1);
        deployed.secrets.put("pinguard/stock", &url, stage);
        assert_eq!(content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)))["rowCount"], 2, "{stage}");
    }
}

#[tokio::test]
async fn a_secret_that_is_gone_is_named_and_is_no_fault_of_the_caller() {
    let mut deployed = deploy().await;
    deployed.secrets.delete("pinguard/stock");
    let failure = content(&deployed.ask(FrontDoor::FunctionUrl, &query(SQL)));
    assert_eq!((&failure["code"], &failure["outcome"]), (&json!("secret_missing"), &json!("unexpected")));
    deployed.secrets.create("pinguard/stock", &deployed.login.url);
    assert_eq!(content(&deployed.ask(FrontDoor::FunctionUrl, &query(SQL)))["rowCount"], 2);
}

#[tokio::test]
async fn a_call_ends_before_lambda_would_stop_the_function() {
    let mut deployed = deploy().await;
    content(&deployed.ask(FrontDoor::HttpApi, &query(SQL)));
    let endless =
        query("SELECT count(*) FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b");
    let time = Duration::from_secs(4);
    let since = Instant::now();
    let event = event(FrontDoor::FunctionUrl, "POST", PATH, Some(deployed.key.text()), &endless);
    let answer = deployed.function.invoke(&event, time);
    assert!(since.elapsed() < time, "{:?}", since.elapsed());
    let failure = content(&answer);
    assert_eq!((&failure["code"], &failure["outcome"]), (&json!("57014"), &json!("expected")), "{failure}");
    // And the instance serves on.
    assert_eq!(content(&deployed.ask(FrontDoor::FunctionUrl, &query(SQL)))["rowCount"], 2);
}
