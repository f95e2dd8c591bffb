//! `pinguard key`, `credential`, `audit` and `migrate` as an operator types them.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json};
use state::{Admission, AuditKey, Auditor, Control, Flow, FlowStage, KeyToken, Lines, SecretStore};
use tokio::time::Instant;

use crate::support::{
    self, TestDb,
    command::{Folder, Serving},
    http,
};

/// What a command did: exit code, standard output, standard error.
type Done = (i32, String, String);

/// Runs a command against the control database of a URL.
fn run(url: &str, words: &[&str]) -> Done {
    finish(pinguard(words).env("PINGUARD_CONTROL_URL", url))
}

fn pinguard(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pinguard-under-test"));
    command.args(words).env_remove("RUST_LOG").env_remove("PINGUARD_CONTROL_URL").stdin(Stdio::null());
    command
}

fn finish(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Runs a command that must go well, and gives its line of JSON.
#[track_caller]
fn json_of(url: &str, words: &[&str]) -> Value {
    let (code, out, errors) = run(url, &[words, &["--json"]].concat());
    assert_eq!((code, errors.as_str(), out.matches('\n').count()), (0, "", 1), "{out}");
    serde_json::from_str(&out).unwrap()
}

/// Runs a command that must fail, and gives what it said.
#[track_caller]
fn fails(url: &str, words: &[&str]) -> String {
    let (code, out, errors) = run(url, words);
    assert_ne!(code, 0, "{out}");
    assert!(!errors.contains("hunter2"), "{errors}");
    errors
}

fn control(url: &str) -> Control {
    Control::new(Arc::new(SecretStore::given("c", url)), "c".to_owned())
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

async fn migrated() -> TestDb {
    let db = support::database(18).await;
    assert_eq!(
        run(&db.url, &["migrate"]),
        (0, "the control database is up to date\n".to_owned(), String::new())
    );
    db
}

#[tokio::test]
async fn a_key_is_made_shown_once_listed_and_revoked() {
    let db = migrated().await;
    assert_eq!(run(&db.url, &["key", "list"]).1, "no keys\n");
    let (code, out, _) = run(&db.url, &["key", "create", "laptop", "--flow", "sales", "--flow", "other"]);
    assert_eq!(code, 0);
    let lines: Vec<_> = out.lines().collect();
    let value = |line: usize, name: &str| lines[line].strip_prefix(name).unwrap().trim().to_owned();
    let (key, id) = (value(0, "key"), value(1, "id"));
    assert_eq!(
        lines[2..],
        [
            "name    laptop",
            "scopes  mcp:call",
            "flows   sales, other",
            "",
            "The key is shown this once: nothing keeps it."
        ]
    );

    let control = control(&db.url);
    let flow = Flow::from_json(r#"{"id":"sales","kind":"chatflow","nodes":[]}"#).unwrap();
    control.put_flow("local", &flow, FlowStage::Live).await.unwrap();
    let token: KeyToken = key.parse().unwrap();
    assert!(matches!(control.admit(&token, "sales", soon()).await.unwrap(), Admission::Granted(..)));

    let all = json_of(&db.url, &["key", "create", "ci", "--scope", "flows:read", "--scope", "audit:read"]);
    assert_eq!((&all["scopes"], &all["flows"]), (&json!(["flows:read", "audit:read"]), &Value::Null));
    let (_, list, _) = run(&db.url, &["key", "list"]);
    assert!(list.starts_with("id ") && list.lines().count() == 3 && !list.contains("pgk_"), "{list}");
    assert!(list.contains("every flow") && list.contains("sales, other"), "{list}");
    assert_eq!(json_of(&db.url, &["key", "list", "--workspace", "other"]), json!({"keys": []}));

    assert_eq!(run(&db.url, &["key", "revoke", &id]), (0, format!("revoked {id}\n"), String::new()));
    assert!(matches!(control.admit(&token, "sales", soon()).await.unwrap(), Admission::Revoked));
    let keys = json_of(&db.url, &["key", "list"]);
    assert_ne!(keys["keys"][1]["revokedAt"], Value::Null, "{keys}");
    for id in ["none", all["id"].as_str().unwrap()] {
        let said = fails(&db.url, &["key", "revoke", id, "--workspace", "other"]);
        assert!(said.contains("list the workspace's keys") && said.contains(id), "{said}");
    }
}

#[tokio::test]
async fn credentials_are_added_listed_replaced_and_removed() {
    let db = migrated().await;
    assert_eq!(
        run(&db.url, &["credential", "add", "cred-1", "--secret", "pinguard/sales", "--name", "Sales"]).1,
        "cred-1 reads its connection URL from the secret pinguard/sales\n"
    );
    assert!(fails(&db.url, &["credential", "add", "cred-1"]).contains("change it with --replace"));
    let added = json_of(&db.url, &["credential", "add", "cred-2"]);
    assert_eq!(added, json!({"id": "cred-2", "name": "cred-2", "kind": "url", "secretId": "cred-2"}));
    json_of(&db.url, &["credential", "add", "cred-2", "--secret", "s2", "--replace"]);
    assert_eq!(
        run(&db.url, &["credential", "list"]).1,
        "id      name    kind  secret          agreed to\ncred-1  Sales   url   pinguard/sales  nothing\n\
         cred-2  cred-2  url   s2              nothing\n"
    );
    let agree = ["credential", "agree", "cred-1", "--to", "loud", "--to", "event-triggers"];
    assert_eq!(run(&db.url, &agree).1, "cred-1: agreed to event-triggers, loud\n");
    // It was agreed to for that secret.
    json_of(
        &db.url,
        &["credential", "add", "cred-1", "--secret", "pinguard/sales", "--name", "Sale", "--replace"],
    );
    let agreed = || json_of(&db.url, &["credential", "list"])["credentials"][0]["agreed"].clone();
    assert_eq!(agreed(), json!(["event-triggers", "loud"]));
    json_of(&db.url, &["credential", "add", "cred-1", "--secret", "pinguard/other", "--replace"]);
    assert_eq!(agreed(), json!([]));
    assert_eq!(run(&db.url, &["credential", "agree", "cred-1"]).1, "cred-1: agreed to nothing\n");
    assert!(
        fails(&db.url, &["credential", "agree", "cred-1", "--to", "all"]).contains("event-triggers, loud")
    );
    assert!(
        fails(&db.url, &["credential", "agree", "cred-9", "--to", "loud"]).contains("no credential `cred-9`")
    );
    let said = fails(&db.url, &["credential", "add", "c", "--secret", "postgres://u:hunter2@h/d"]);
    assert!(said.contains("the connection URL belongs into the secret"), "{said}");

    let document = r#"{"id":"sales","kind":"chatflow","nodes":[{"id":"db","credential":"cred-1"}]}"#;
    control(&db.url).put_flow("local", &Flow::from_json(document).unwrap(), FlowStage::Draft).await.unwrap();
    assert!(fails(&db.url, &["credential", "remove", "cred-1"]).contains("nodes of `sales` use `cred-1`"));
    assert_eq!(run(&db.url, &["credential", "remove", "cred-2"]).1, "removed cred-2\n");
    assert!(fails(&db.url, &["credential", "remove", "cred-2"]).contains("has no credential `cred-2`"));
}

#[tokio::test]
async fn the_audit_is_verified_and_what_was_done_to_it_is_told() {
    let db = migrated().await;
    let folder = Folder::new();
    let key = folder.0.join("audit.key");
    fs::write(&key, format!("{}\n", "k".repeat(32))).unwrap();
    let key = key.to_str().unwrap();
    let verify = |words: &[&str]| run(&db.url, &[&["audit", "verify", "--key-file", key], words].concat());
    assert_eq!(verify(&[]), (0, "no audit rows yet\n".to_owned(), String::new()));

    let auditor = Auditor {
        control: control(&db.url),
        key: AuditKey::new("k".repeat(32).as_bytes()).unwrap(),
        heads: Lines::Channel(tokio::sync::mpsc::unbounded_channel().0),
    };
    let event = |number: u32| {
        let json = json!({"id": format!("0197f3a0-0000-7000-8000-{number:012}"), "at": "2026-01-02T03:04:05Z",
            "type": "pinned_query_change", "workspace": "w", "actor": "k", "user": "Ada", "change": "test", "flow": "f",
            "node": "n", "pin": "pq_a", "version": 1, "params": []});
        state::AuditEvent::from_json(&json.to_string()).unwrap()
    };
    auditor.record(&[event(1), event(2), event(3)], soon()).await.unwrap();
    let (code, out, errors) = verify(&[]);
    assert!(out.starts_with("w: 3 rows, head 3:") && out.ends_with(", whole\n"), "{out}{errors}");
    assert_eq!(code, 0);
    let head = out.split(' ').nth(4).unwrap().trim_end_matches(',').to_owned();
    assert_eq!(verify(&["--workspace", "w", "--head", &head]).0, 0);

    db.run(
        "ALTER TABLE pinguard.audit DISABLE TRIGGER append_only; UPDATE pinguard.audit SET user_name = 'Bob' WHERE number = 2;
         DELETE FROM pinguard.audit WHERE number = 3;
         UPDATE pinguard.audit_head SET count = 2, hmac = (SELECT hmac FROM pinguard.audit WHERE number = 2)",
    )
    .await;
    let (code, out, errors) = verify(&["--workspace", "w", "--head", &head]);
    assert_eq!((code, errors.as_str()), (1, "error: the audit is not as it was written\n"));
    let found: Vec<_> = out.lines().skip(1).collect();
    assert_eq!(found, ["  row 2 was changed", "  row 3 is missing at the end"]);
    let (code, out, _) = verify(&["--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["whole"]), (1, &json!(false)));
    assert_eq!(
        json["workspaces"][0]["findings"],
        json!([{"code": "changed", "message": "row 2 was changed"}])
    );

    for (words, said) in [
        (["--head", "3"].as_slice(), "--workspace"),
        (&["--workspace", "w", "--head", "3"], "write COUNT:HMAC"),
        (&["--key-file", "/nowhere"], "give it with --key-file"),
        (&["--key-file", "/dev/null"], "at least 32 random ones are needed"),
    ] {
        let mut words = [&["audit", "verify"], words].concat();
        if !words.contains(&"--key-file") {
            words.extend(["--key-file", key]);
        }
        let errors = fails(&db.url, &words);
        assert!(errors.contains(said), "{errors}");
    }
}

#[tokio::test]
async fn wrong_words_and_databases_that_do_not_answer_are_told() {
    let db = support::database(17).await;
    for (words, said) in [
        (["key", "create", "a", "--scope", "admin"].as_slice(), "use mcp:call"),
        (&["key", "create", "a", "--flow", "A"], "a-z"),
        (&["key", "create", " "], "1 to 100 characters"),
        (&["credential", "add", "A"], "a-z"),
    ] {
        let (code, _, errors) = run(&db.url, words);
        assert_eq!(code, 2, "{errors}");
        assert!(errors.contains(said), "{errors}");
    }
    assert!(fails(&db.url, &["key", "list"]).contains("run the migrations"));
    assert!(fails("postgres://u:hunter2@127.0.0.1:1/d", &["key", "list"]).contains("could not be reached"));
    assert!(fails("mysql://u:hunter2@h/d", &["key", "list"]).contains("no usable connection URL"));
    let folder = Folder::new();
    let data = folder.0.to_str().unwrap();
    let (code, _, errors) = finish(&mut pinguard(&["key", "list", "--data", data]));
    assert!(
        code == 1 && errors.contains("no `pinguard serve` runs on") && errors.contains("--control-url"),
        "{errors}"
    );
    let help = finish(pinguard(&["key", "--help"]).env("PINGUARD_CONTROL_URL", "postgres://u:hunter2@h/d")).1;
    assert!(help.contains("PINGUARD_CONTROL_URL") && !help.contains("hunter2"), "{help}");
}

#[tokio::test]
async fn beside_a_running_serve_the_commands_need_no_address_and_the_api_answers() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    let beside = |words: &[&str]| json_beside(&folder.0, words);
    assert_eq!(beside(&["key", "list"])["keys"][0]["name"], "local");

    let api = ready.get("api_url").to_owned();
    let bearer = format!("Bearer {}", ready.key().unwrap());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let flows = http::send("GET", &format!("{api}/flows"), &headers, "").await.json();
    assert_eq!(flows["flows"][0]["id"], ready.get("flow"), "{flows}");
    let pin = json!({"id": "a", "name": "pq_a", "purpose": "a", "sql": "SELECT 1 LIMIT 1"});
    let draft = json!({"id": "mine", "kind": "chatflow", "nodes": [{"id": "db", "pins": [pin]}]});
    let saved = http::send("PUT", &format!("{api}/flows/mine/draft"), &headers, &draft.to_string()).await;
    assert_eq!(saved.status, 201, "{}", saved.json());
    let published = http::send("POST", &format!("{api}/flows/mine/publish"), &headers, "").await;
    assert_eq!(published.json()["changes"], 1);
    let relations =
        http::send("GET", &format!("{api}/flows/mine/nodes/db/relations"), &headers, "").await.json();
    assert!(relations.to_string().contains("demo_sales"), "{relations}");
    let audit = http::send("GET", &format!("{api}/audit"), &headers, "").await.json();
    assert_eq!(
        (&audit["events"][0]["summary"], &audit["events"][0]["user"]),
        (&json!("pq_a created"), &json!("local"))
    );
    let verified = beside(&["audit", "verify"]);
    assert_eq!(
        (&verified["whole"], &verified["workspaces"][0]["rows"]),
        (&json!(true), &json!(3)),
        "the tests of the demo's pins come first"
    );
    assert!(
        serving.stderr().contains("{\"auditHead\":{\"workspace\":\"local\",\"count\":3,"),
        "{}",
        serving.stderr()
    );

    let page = [headers[0], ("origin", "https://evil.example.com")];
    assert_eq!(http::send("GET", &format!("{api}/flows"), &page, "").await.status, 403);

    // The call leaves its record in the control database, before the server goes.
    http::call(ready.url(), ready.key(), "query", json!({"sql": "SELECT 1"})).await;
    let client = support::connect(ready.get("control_url")).await;
    let mut calls = 0_i64;
    for _ in 0..100 {
        calls = client
            .query_one("SELECT count(*) FROM pinguard.call WHERE tool = 'query'", &[])
            .await
            .unwrap()
            .get(0);
        if calls > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(calls, 1);
    assert_eq!(serving.signal("INT"), Some(0));
    let key = folder.0.join("secrets/pinguard.audit");
    assert!(key.is_file(), "rows of this run are verified by the next");
}

#[track_caller]
fn json_beside(data: &Path, words: &[&str]) -> Value {
    let words = [words, &["--json", "--data", data.to_str().unwrap()]].concat();
    let (code, out, errors) = finish(&mut pinguard(&words));
    assert_eq!(code, 0, "{out}{errors}");
    serde_json::from_str(&out).unwrap()
}
