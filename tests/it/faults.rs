//! What goes wrong on the way: silence, cut lines, callers that hang up, time that runs out, results without end.

use std::time::Duration;

use pg::{Ask, Lost, ReadError, ReadPlan, Stopped};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::client::{code, open, plan, read, read_with, soon, value};
use crate::support::{
    self, TestDb,
    proxy::{Fault, Proxy},
};

const CROSS_JOIN: &str = "SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 100000) b";

/// Whatever pinguard still runs on the database, once it had some time to end.
async fn left_running(db: &TestDb, patience: Duration) -> Vec<support::Activity> {
    let until = Instant::now() + patience;
    loop {
        let running: Vec<_> = db.activity().await.into_iter().filter(|one| one.state != "idle").collect();
        if running.is_empty() || Instant::now() > until {
            return running;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_statement_past_its_deadline_is_cancelled() {
    for major in [14, 18] {
        let db = support::database(major).await;
        let mut connection = open(&db.url).await;
        let plan = ReadPlan { deadline: Instant::now() + Duration::from_millis(400), ..plan() };
        let began = Instant::now();
        let error = read_with(&mut connection, support::SLOW, &[], &plan).await.unwrap_err();
        assert!(matches!(error, ReadError::Deadline { .. }), "{error}");
        assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
        assert!(left_running(&db, Duration::from_millis(500)).await.is_empty());
    }
}

#[tokio::test]
async fn a_catalog_query_past_its_deadline_is_stopped_too() {
    let db = support::database(18).await;
    let mut connection = open(&db.url).await;
    let asks = [Ask { sql: "SELECT pg_catalog.pg_sleep(60)", parameters: vec![] }];
    let began = Instant::now();
    let deadline = Instant::now() + Duration::from_millis(400);
    let error = connection.catalog(&asks, None, deadline).await.unwrap_err();
    assert!(matches!(error, ReadError::Deadline { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    assert!(left_running(&db, Duration::from_millis(500)).await.is_empty());
}

#[tokio::test]
async fn a_cancel_request_passes_a_pooler() {
    let db = support::database(16).await;
    let login = db.login("in", "").await;
    support::pooler::Pooler::each(db.server, 2, async |pooler| {
        let mut connection = open(&pooler.through(&login.url, db.server.port())).await;
        let plan = plan();
        let reading = read_with(&mut connection, support::SLOW, &[], &plan);
        let looking = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            left_running(&db, Duration::ZERO).await.len()
        };
        let (outcome, running) =
            tokio::join!(tokio::time::timeout(Duration::from_millis(600), reading), looking);
        assert!(outcome.is_err());
        assert_eq!(running, 1);
        // Our line to the pooler stays open, so it is the request that ends the statement.
        assert!(left_running(&db, Duration::from_secs(1)).await.is_empty());
        assert!(!connection.is_reusable());
    })
    .await;
}

#[tokio::test]
async fn a_deadline_holds_even_if_nothing_comes_back() {
    let db = support::database(17).await;
    let proxy = Proxy::start(db.server.port()).await;
    let mut connection = open(&proxy.through(&db.url, db.server.port())).await;
    proxy.set(Fault::Silence);
    let plan = ReadPlan { deadline: Instant::now() + Duration::from_millis(300), ..plan() };
    let began = Instant::now();
    let error = read_with(&mut connection, "SELECT 1", &[], &plan).await.unwrap_err();
    assert!(matches!(error, ReadError::Deadline { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert!(!connection.is_reusable());
    let error = read(&mut connection, "SELECT 1").await.unwrap_err();
    assert!(matches!(error, ReadError::Unusable), "{error}");
}

#[tokio::test]
async fn a_silent_server_is_a_connect_timeout() {
    let db = support::database(16).await;
    let proxy = Proxy::start(db.server.port()).await;
    proxy.set(Fault::Silence);
    let url = proxy.through(&db.url, db.server.port());
    assert_eq!(code(&format!("{url}?connect_timeout=1")).await, "connect_timeout");
}

#[tokio::test]
async fn a_line_cut_in_a_result_is_a_lost_connection_and_leaves_nothing_running() {
    let db = support::database(15).await;
    let proxy = Proxy::start(db.server.port()).await;
    let mut connection = open(&proxy.through(&db.url, db.server.port())).await;
    proxy.set(Fault::CutAfterBytes(200_000));
    let plan = ReadPlan { row_limit: usize::MAX, raw_byte_budget: usize::MAX, ..plan() };
    let error = read_with(&mut connection, CROSS_JOIN, &[], &plan).await.unwrap_err();
    assert!(matches!(error, ReadError::Lost { lost: Lost::Amid, .. }), "{error}");
    assert!(!connection.is_reusable());
    assert!(left_running(&db, Duration::from_secs(3)).await.is_empty());
}

#[tokio::test]
async fn a_line_cut_at_the_login_is_a_lost_connection() {
    let db = support::database(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    proxy.set(Fault::CutAtMessage(b'R'));
    let url = format!("{}?sslmode=disable", proxy.through(&db.url, db.server.port()));
    assert_eq!(code(&url).await, "connection_lost");
    assert_eq!(proxy.connections(), 2, "there is one second try");
}

#[tokio::test]
async fn a_caller_that_hangs_up_takes_the_statement_along() {
    for major in [14, 16, 18] {
        let db = support::database(major).await;
        let mut connection = open(&db.url).await;
        let plan = plan();
        let began = Instant::now();
        {
            let reading = read_with(&mut connection, support::SLOW, &[], &plan);
            assert!(tokio::time::timeout(Duration::from_millis(300), reading).await.is_err());
        }
        assert!(left_running(&db, Duration::from_secs(1)).await.is_empty(), "on {major}");
        assert!(began.elapsed() < Duration::from_millis(1300));
        assert!(!connection.is_reusable());
    }
}

#[tokio::test]
async fn a_client_that_dies_without_a_word_is_noticed_by_the_server() {
    let db = support::database(17).await;
    let url = db.url.clone();
    // A process of its own would do the same: with its runtime gone, nobody can send a cancel request.
    let process = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    process.spawn(async move { read(&mut open(&url).await, support::SLOW).await });
    for _ in 0..100 {
        if !left_running(&db, Duration::ZERO).await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(left_running(&db, Duration::ZERO).await.len(), 1);
    process.shutdown_background();
    assert!(left_running(&db, Duration::from_secs(3)).await.is_empty());
}

#[tokio::test]
async fn a_result_without_end_stops_at_once_and_is_stopped_on_the_server() {
    let db = support::database(18).await;
    for (plan, stopped) in [
        (plan(), Stopped::Rows),
        (ReadPlan { row_limit: usize::MAX, raw_byte_budget: 10_000, ..plan() }, Stopped::Bytes),
    ] {
        let mut connection = open(&db.url).await;
        let began = Instant::now();
        let raw = read_with(
            &mut connection,
            "SELECT a FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
            &[],
            &plan,
        )
        .await
        .unwrap();
        assert_eq!(raw.stopped, Some(stopped));
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert!(left_running(&db, Duration::from_secs(1)).await.is_empty());
        connection.close().await;
    }
    assert!(db.activity().await.iter().all(|one| one.state == "idle"));
}

#[tokio::test]
async fn types_are_known_of_a_result_that_was_stopped() {
    let db = support::database(16).await;
    db.run("CREATE TYPE mood AS ENUM ('ok')").await;
    let mut connection = open(&db.url).await;
    let plan = ReadPlan { row_limit: 5, ..plan() };
    let raw = read_with(&mut connection, "SELECT 'ok'::mood FROM generate_series(1, 10000000)", &[], &plan)
        .await
        .unwrap();
    assert_eq!(raw.stopped, Some(Stopped::Rows));
    assert_eq!(raw.type_facts.resolve(raw.columns[0].type_oid, -1).name, "mood");
}

#[tokio::test]
async fn a_value_of_a_hundred_megabytes_keeps_its_prefix_only() {
    let db = support::database(18).await;
    let mut connection = open(&db.url).await;
    let before = resident_kib();
    let raw = read(&mut connection, "SELECT repeat(a, 50000000), 7 FROM (SELECT 'ä' AS a OFFSET 0) t")
        .await
        .unwrap();
    let value = raw.rows[0][0].as_ref().unwrap();
    assert_eq!((value.full_chars, value.full_bytes), (50_000_000, 100_000_000));
    assert_eq!(value.bytes.len(), 16 << 10);
    assert_eq!(raw.rows[0][1].as_ref().unwrap().bytes, b"7");
    // Other tests of this process take memory meanwhile, so the bound is well above nothing.
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 60_000, "{grown} KiB for a value of 97,656 KiB");
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_backend_that_is_shot_tells_why() {
    let db = support::database(18).await;
    let mut connection = open(&db.url).await;
    let pid = value(&mut connection, "SELECT pg_backend_pid()").await;
    let admin = db.client().await;
    let shot = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        admin.batch_execute(&format!("SELECT pg_terminate_backend({pid})")).await.unwrap();
    };
    let plan = plan();
    let (outcome, ()) = tokio::join!(read_with(&mut connection, support::SLOW, &[], &plan), shot);
    assert_eq!(outcome.unwrap_err().code(), "57P01");
    assert!(!connection.is_reusable());
}

#[tokio::test]
async fn an_idle_connection_that_died_is_not_used_again() {
    let db = support::database(17).await;
    let mut connection = open(&db.url).await;
    let pid = value(&mut connection, "SELECT pg_backend_pid()").await;
    assert!(connection.is_reusable());
    db.run(&format!("SELECT pg_terminate_backend({pid})")).await;
    // Used at once, before anybody has looked whether it is still there, it says that a second try is harmless.
    let error = read(&mut connection, "SELECT 1").await.unwrap_err();
    assert!(matches!(error, ReadError::Lost { lost: Lost::Before, .. }), "{error}");

    let mut connection = open(&db.url).await;
    let pid = value(&mut connection, "SELECT pg_backend_pid()").await;
    db.run(&format!("SELECT pg_terminate_backend({pid})")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!connection.is_reusable());
}

#[tokio::test]
async fn what_is_no_postgresql_is_called_so() {
    for answer in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b"R\0\0\0\x03", b"E\x7f\xff\xff\xff"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = [0; 1024];
                let _ = stream.read(&mut bytes).await;
                let _ = stream.write_all(answer).await;
                let _ = stream.read(&mut bytes).await;
            }
        });
        assert_eq!(code(&format!("postgres://u:p@127.0.0.1:{port}/d?sslmode=disable")).await, "protocol");
    }
}

#[tokio::test]
async fn a_waking_server_gets_one_second_try() {
    let db = support::database(18).await;
    let (host, upstream) = ("127.0.0.1", db.server.port());
    let listener = TcpListener::bind((host, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let error = b"SFATAL\0VFATAL\0C57P03\0Mthe database system is starting up\0\0";
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 1024];
        let _ = stream.read(&mut bytes).await;
        let length = u32::try_from(error.len() + 4).unwrap().to_be_bytes();
        stream.write_all(&[b"E", &length[..], error].concat()).await.unwrap();
        drop(stream);
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = tokio::net::TcpStream::connect((host, upstream)).await.unwrap();
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
    });
    let url = db.url.replace(&format!(":{upstream}/"), &format!(":{port}/"));
    let mut connection = open(&format!("{url}?sslmode=disable")).await;
    assert_eq!(value(&mut connection, "SELECT 1").await, "1");
}

#[tokio::test]
async fn a_wait_for_a_lock_ends_before_the_deadline() {
    let db = support::database(18).await;
    db.run("CREATE TABLE t (a int)").await;
    let owner = db.client().await;
    owner.batch_execute("BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let mut connection = open(&db.url).await;
    let plan = ReadPlan { deadline: soon(12), ..plan() };
    let error = read_with(&mut connection, "SELECT * FROM t", &[], &plan).await.unwrap_err();
    assert_eq!(error.code(), "55P03");
    assert!(connection.is_reusable());
}
