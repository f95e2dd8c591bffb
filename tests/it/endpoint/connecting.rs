//! What keeps a call from its database, and what the caller and the operator learn of it.

use std::{cell::RefCell, fs, io, sync::Once, time::Duration};

use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{Endpoint, SECRET, Setup, assert_failure};
use crate::support::{
    self,
    proxy::{Fault, Proxy},
};

thread_local! {
    /// What this thread has logged; each test has a thread of its own.
    static LOGGED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED.with_borrow_mut(|logged| logged.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Starts to keep what is logged, as much of it as the deployed function logs. One subscriber serves all threads, since one
/// for each comes and goes too late for log lines that another test has met before.
fn keep_log() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| {
        let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(|| Log);
        tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    });
    LOGGED.with_borrow_mut(Vec::clear);
}

fn log() -> String {
    LOGGED.with_borrow(|logged| String::from_utf8(logged.clone()).unwrap())
}

/// Every tool meets the same wall.
async fn check(endpoint: &Endpoint, code: &str, hint: &str) -> Value {
    let failure = endpoint.refuses("SELECT 1").await;
    assert_failure(&failure, code, "unexpected", hint);
    for (tool, arguments) in [
        ("describe", json!({"name": "t"})),
        ("list_schemas", json!({})),
        ("list_tables", json!({})),
        ("describe_table", json!({"table": "t"})),
    ] {
        assert_eq!(endpoint.bad(tool, arguments).await, failure, "{tool}");
    }
    failure
}

#[tokio::test]
async fn each_cause_has_its_code_and_its_next_step() {
    let db = support::database(18).await;
    let login = db.login("someone", "").await;
    let endpoint = Endpoint::over(&db).await;
    let port = db.server.port();
    let closed = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap().port();
    keep_log();
    for (secret, code, hint) in [
        (format!("postgres://u:hunter2@127.0.0.1:{closed}/d"), "unreachable", "port"),
        (login.url.replace(&login.password, "hunter2"), "login_failed", "password"),
        (format!("postgres://stranger:hunter2@127.0.0.1:{port}/{}", db.name), "login_failed", "user"),
        (db.url.replace(&db.name, "nosuch"), "unknown_database", "database"),
        (format!("{}?sslmode=require", login.url), "tls_not_offered", "`ssl`"),
        ("postgres://u:hunter2@host.invalid/d".to_owned(), "unknown_host", "host name"),
        ("mysql://u:hunter2@h/d".to_owned(), "secret_malformed", "postgresql://"),
        ("{\"host\": 5, \"password\": \"hunter2\"}".to_owned(), "secret_malformed", "postgresql://"),
        (
            format!("postgres://u:hunter2@127.0.0.1:{port}/d?sslmode=no-verify"),
            "secret_malformed",
            "postgresql://",
        ),
        (" \n".to_owned(), "secret_empty", "write the value"),
    ] {
        endpoint.point_to(&secret);
        let failure = check(&endpoint, code, hint).await.to_string();
        for private in ["hunter2", login.password.as_str()] {
            assert!(!failure.contains(private), "{failure}");
        }
    }
    fs::remove_file(endpoint.secrets.0.join(SECRET)).unwrap();
    check(&endpoint, "secret_missing", "create the secret").await;
    let log = log();
    assert!(
        log.contains("a call failed") && !log.contains("hunter2") && !log.contains(&login.password),
        "{log}"
    );
    // The list of tools does not ask the database.
    assert_eq!(endpoint.ask("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn a_node_without_a_credential_uses_the_default_one_or_says_that_there_is_none() {
    let db = support::database(18).await;
    let none = json!({"credential": null});
    for node in [json!({"credential": "cred-2"}), none.clone()] {
        let endpoint = Setup::node(node).start(&db, &db.url).await;
        let list = endpoint.ask("tools/list", json!({})).await;
        assert_eq!(list["error"]["data"]["code"], "no_credential", "{list}");
        let call =
            endpoint.ask("tools/call", json!({"name": "query", "arguments": {"sql": "SELECT 1"}})).await;
        assert_eq!(call["result"]["isError"], true, "{call}");
        assert_failure(&call["result"]["structuredContent"], "no_credential", "unexpected", "credential");
    }
    let settings = mcp::Settings {
        limits: mcp::Limits { default_secret: Some(SECRET.to_owned()), ..mcp::Limits::default() },
        ..mcp::Settings::default()
    };
    let setup = Setup { settings, node: none, ..Setup::default() };
    assert_eq!(setup.start(&db, &db.url).await.query("SELECT 1").await["rows"], json!([[1]]));
}

#[tokio::test]
async fn a_rotated_password_is_read_again_and_works() {
    support::each_major(async |server| {
        let db = server.database().await;
        let login = db.reader(&[]).await;
        let endpoint = Setup::default().start(&db, &login.url).await;
        assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]));
        db.run(&format!("ALTER ROLE {} PASSWORD 'fresh'", login.role)).await;
        assert_failure(&endpoint.refuses("SELECT 1").await, "login_failed", "unexpected", "password");
        endpoint.point_to(&login.url.replace(&login.password, "fresh"));
        assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]));
    })
    .await;
}

#[tokio::test]
async fn a_server_without_a_connection_left_says_when_to_come_back() {
    support::each_major(async |server| {
        let db = server.database().await;
        let login = db.login("one", "CONNECTION LIMIT 1").await;
        let endpoint = Setup::default().start(&db, &login.url).await;
        let held = support::connect(&login.url).await;
        check(&endpoint, "too_many_connections", "again").await;
        drop(held);
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_is_the_plumbings_and_runs_nothing_twice() {
    let db = support::database(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    let url = proxy.through(&db.url, db.server.port());
    let endpoint = Setup::default().start(&db, &format!("{url}?sslmode=disable")).await;
    let before = proxy.connections();
    proxy.set(Fault::CutAtMessage(b'D'));
    let failure = endpoint.refuses("SELECT generate_series(1, 10)").await;
    assert_failure(&failure, "connection_lost", "unexpected", "once more");
    assert_eq!(proxy.connections() - before, 1);
    proxy.set(Fault::None);
    assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]));
}

#[tokio::test]
async fn what_an_administrator_ends_is_told_apart_from_what_ran_out_of_time() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = Endpoint::over(&db).await;
        let admin = db.client().await;
        for (ends, code, outcome, hint) in [
            ("pg_cancel_backend(pid)", "57014", "expected", "somebody cancelled"),
            ("pg_terminate_backend(pid)", "57P01", "unexpected", "stopping or starting"),
        ] {
            let end = format!(
                "SELECT {ends} FROM pg_stat_activity WHERE application_name = 'pinguard' \
                 AND datname = current_database() AND state = 'active' AND query LIKE '%300000%'"
            );
            // Again and again: a cancel that comes between two messages of a statement is lost.
            let ending = async {
                loop {
                    admin.query(&end, &[]).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            let failure = tokio::select! {
                failure = endpoint.refuses(support::SLOW) => failure,
                () = ending => unreachable!("it never ends"),
            };
            assert_failure(&failure, code, outcome, hint);
        }
        assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]));
    })
    .await;
}

#[tokio::test]
async fn no_literal_or_parameter_reaches_a_log() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    keep_log();
    endpoint.query("SELECT 'mandrill'").await;
    for sql in [
        "SELECT 'mandrill'::int",
        "SELECT 'mandrill' FROM nosuch",
        "DELETE FROM t WHERE a = 'mandrill'",
        "SELECT 'mandrill",
    ] {
        endpoint.refuses(sql).await;
    }
    endpoint.bad("query", json!({"sql": "SELECT $1::int", "params": ["mandrill"]})).await;
    endpoint.bad("describe", json!({"name": "mandrill"})).await;
    let records: Vec<String> =
        endpoint.records().iter().map(|record| serde_json::to_string(record).unwrap()).collect();
    assert_eq!(records.len(), 7);
    assert!(!records.concat().contains("mandrill"), "{records:?}");
    assert!(!log().contains("mandrill"), "{}", log());
}

#[tokio::test]
async fn warnings_about_the_way_to_the_database_stand_in_meta() {
    let db = support::database(18).await;
    let endpoint = Setup::default().start(&db, &format!("{}?pgbouncer=true", db.url)).await;
    for tool in ["query", "list_schemas"] {
        let arguments = if tool == "query" { json!({"sql": "SELECT 1"}) } else { json!({}) };
        let answer = endpoint.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        let warnings = &answer["result"]["_meta"]["warnings"];
        assert_eq!(warnings[0], "options of the secret that do nothing here: `pgbouncer`", "{answer}");
        // Of the login from the first statement on.
        assert!(warnings[1].as_str().unwrap().contains("is a superuser"), "{answer}");
    }
}

#[tokio::test]
async fn where_the_waiting_connection_has_just_ended_the_call_is_answered_on_a_new_one() {
    let db = support::database(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    let memories = mcp::Memories::keeping(Duration::from_mins(1));
    let setup = Setup { memories, ..Setup::default() };
    let endpoint = setup.start(&db, &proxy.through(&db.url, db.server.port())).await;
    endpoint.query("SELECT 1").await;
    assert_eq!(proxy.connections(), 1);
    proxy.set(Fault::CutOnce);
    assert_eq!(endpoint.query("SELECT 2").await["rows"], json!([[2]]));
    assert_eq!(proxy.connections(), 2);
}
