//! What breaks on the way to a database during a call: what the caller gets, and what is left behind, which is nothing.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use local::embedded::Binaries;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::Instant};

use super::{Endpoint, Setup};
use crate::support::{
    self, TestDb, TestServer,
    pooler::Pooler,
    proxy::{Fault, Proxy},
    standby::Standby,
};

const ROWS: &str = "SELECT i, md5(i::text) FROM generate_series(1, 200) AS i";

/// The longest that a call may take whose line is cut.
const SOON: Duration = Duration::from_secs(5);

/// A server that no other test uses. It ends with the process.
fn own_server(major: u16, max_connections: &str) -> &'static TestServer {
    let binaries = Binaries::unpacked(major).unwrap();
    Box::leak(Box::new(TestServer::start(binaries, &[("max_connections", max_connections)])))
}

/// What a statement came to: `ok`, or the failure's code.
async fn outcome(endpoint: &Endpoint, sql: &str) -> String {
    let (answer, _) = endpoint.call("query", json!({"sql": sql})).await;
    match &answer["code"] {
        Value::String(code) => code.clone(),
        _ => "ok".to_owned(),
    }
}

async fn nothing_is_left(db: &TestDb) {
    let until = Instant::now() + SOON;
    loop {
        let seen = db.activity().await;
        if seen.is_empty() {
            return;
        }
        assert!(Instant::now() < until, "left behind: {seen:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_line_that_is_cut_ahead_of_any_message_is_told_and_leaves_nothing() {
    let db = support::database(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    let endpoint = Endpoint::over(&db).await;
    endpoint.point_to(&proxy.through(&db.url, db.server.port()));
    // Facts are learned, so that the flights of each call are the same.
    assert_eq!(outcome(&endpoint, ROWS).await, "ok");
    // The messages of a login and of a statement, in the order in which each first comes.
    for kind in b"RSKZC1tTND2" {
        proxy.set(Fault::CutAtMessage(*kind));
        let began = Instant::now();
        let code = outcome(&endpoint, ROWS).await;
        assert!(began.elapsed() < SOON, "{}: {:?}", char::from(*kind), began.elapsed());
        assert!(code.starts_with("connection_") || code == "ok", "{}: {code}", char::from(*kind));
        proxy.set(Fault::None);
        nothing_is_left(&db).await;
        assert_eq!(outcome(&endpoint, ROWS).await, "ok", "after {}", char::from(*kind));
    }
}

#[tokio::test]
async fn a_line_that_is_cut_anywhere_gives_the_whole_answer_or_none() {
    let db = support::database(17).await;
    let proxy = Proxy::start(db.server.port()).await;
    let endpoint = Endpoint::over(&db).await;
    endpoint.point_to(&proxy.through(&db.url, db.server.port()));
    let whole = endpoint.query(ROWS).await["rows"].clone();
    let (mut cut, mut bytes) = (0, 0);
    loop {
        proxy.set(Fault::CutAfterBytes(bytes));
        let (answer, _) = endpoint.call("query", json!({"sql": ROWS})).await;
        if answer["code"].is_null() {
            assert_eq!(answer["rows"], whole, "{bytes}");
            break;
        }
        assert!(answer["rows"].is_null(), "{bytes}: {answer}");
        (cut, bytes) = (cut + 1, bytes + 331);
        assert!(bytes < 1_000_000, "it never came to its end");
    }
    assert!(cut > 20, "{cut}");
    proxy.set(Fault::None);
    nothing_is_left(&db).await;
}

#[tokio::test]
async fn a_server_that_is_killed_amid_rows_is_told() {
    let control = support::database(18).await;
    let server = own_server(16, "100");
    let endpoint = Arc::new(Endpoint::over(&control).await);
    // Never dropped: by then there is no server to drop it on.
    let db = std::mem::ManuallyDrop::new(server.database().await);
    endpoint.point_to(&db.url);
    let slow =
        "SELECT i, (SELECT count(*) FROM generate_series(1, 20000 + i)) FROM generate_series(1, 5000) AS i";
    let call = {
        let endpoint = Arc::clone(&endpoint);
        tokio::spawn(async move { outcome(&endpoint, slow).await })
    };
    tokio::time::sleep(Duration::from_millis(700)).await;
    server.quit();
    let code = call.await.unwrap();
    assert!(["57P01", "57P02", "connection_lost"].contains(&code.as_str()), "{code}");
    // Another server may listen there by now.
    assert_ne!(outcome(&endpoint, "SELECT 1").await, "ok");
}

#[tokio::test]
async fn a_standby_that_is_promoted_is_asked_as_before() {
    let db = support::database(18).await;
    let standby = Standby::of(18, "CREATE TABLE t AS SELECT 7 AS n").await;
    let memories = mcp::Memories::keeping(Duration::from_mins(1));
    let endpoint = Setup { memories, ..Setup::default() }.start(&db, &standby.superuser_url()).await;
    assert_eq!(endpoint.query("SELECT n FROM t").await["rows"], json!([[7]]));
    standby.promote().await;
    support::connect(&standby.superuser_url()).await.batch_execute("UPDATE t SET n = 8").await.unwrap();
    assert_eq!(endpoint.query("SELECT n FROM t").await["rows"], json!([[8]]));
}

/// So many instances on one control database.
async fn instances(control: &TestDb, count: usize) -> Vec<Arc<Endpoint>> {
    let mut made = Vec::new();
    for _ in 0..count {
        // Two hundred logins at one time take a debug build some seconds.
        let mut settings = mcp::Settings::default();
        settings.limits.connect_timeout_seconds = 20;
        made.push(Arc::new(Setup::settings(settings).start(control, &control.url).await));
    }
    made
}

/// One call of each at one time: how often each outcome came.
async fn storm(instances: &[Arc<Endpoint>], url: &str) -> BTreeMap<String, usize> {
    let mut storm = JoinSet::new();
    for instance in instances {
        instance.point_to(url);
        let instance = Arc::clone(instance);
        storm.spawn(async move {
            let began = Instant::now();
            let outcome = outcome(&instance, "SELECT count(*) FROM generate_series(1, 20000)").await;
            assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
            outcome
        });
    }
    let mut outcomes = BTreeMap::new();
    for outcome in storm.join_all().await {
        *outcomes.entry(outcome).or_default() += 1;
    }
    outcomes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_callers_meet_fifty_connections() {
    const CALLERS: usize = 200;
    let server = own_server(17, "50");
    let (control, db) = (own_server(18, "300").database().await, server.database().await);
    let instances = instances(&control, CALLERS).await;

    let outcomes = storm(&instances, &db.url).await;
    let [answered, turned_away] =
        ["ok", "too_many_connections"].map(|what| outcomes.get(what).copied().unwrap_or_default());
    assert_eq!(answered + turned_away, CALLERS, "{outcomes:?}");
    assert!(answered >= 40, "{outcomes:?}");
    nothing_is_left(&db).await;

    let pooler = Pooler::start(server, 20);
    let outcomes = storm(&instances, &pooler.through(&db.url, server.port())).await;
    assert_eq!(outcomes.get("ok"), Some(&CALLERS), "{outcomes:?}");
}
