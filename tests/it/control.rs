//! The control database: its schema, who is let in to what, and what happens when it dies or was never there.

mod lab;

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use state::{Admission, ApiKey, Credential, CredentialId, FlowStage, KeyToken, NewKey, Scope};
use tokio::{net::TcpListener, task::JoinSet, time::Instant};

use crate::support::{
    self, TestDb,
    pooler::Pooler,
    proxy::{Fault, Proxy},
    restarting::Restarting,
};
use lab::{Lab, count_flights, flow, id, many, soon};

#[tokio::test]
async fn migrations_run_once_however_often_and_wherever_at_one_time() {
    support::each_major(async |server| {
        let db = server.database().await;
        let lab = Arc::new(Lab::new(&db.url));
        let mut at_once = JoinSet::new();
        for _ in 0..6 {
            let lab = Arc::clone(&lab);
            at_once.spawn(async move { lab.control.migrate().await.unwrap() });
        }
        at_once.join_all().await;
        lab.control.migrate().await.unwrap();
        let versions = "SELECT string_agg(version::text, ',' ORDER BY version) FROM pinguard.schema_version";
        assert_eq!(db.client().await.query_one(versions, &[]).await.unwrap().get::<_, &str>(0), "1,2,3,4,5");
    })
    .await;
}

#[tokio::test]
async fn a_schema_newer_than_this_build_is_left_alone() {
    let db = support::database(16).await;
    let lab = Lab::new(&db.url);
    lab.control.migrate().await.unwrap();
    db.run("INSERT INTO pinguard.schema_version (version) VALUES (99)").await;
    let error = lab.control.migrate().await.unwrap_err();
    assert_eq!(error.to_string(), "the control database's schema has version 99, this build knows 5");
    assert_eq!(error.code(), "control_schema_newer");
}

#[tokio::test]
async fn a_login_that_only_reads_admits_and_finds_the_schema_up_to_date() {
    let db = support::database(17).await;
    let (_owner, token) = Lab::ready(&db.url).await;
    let lab = Lab::new(&db.reader(&["pinguard"]).await.url);
    lab.live(&token, "sales").await;
    lab.control.migrate().await.unwrap();
    let refused = lab.control.put_flow("w", &flow("sales", 2), FlowStage::Live).await.unwrap_err();
    assert_eq!(refused.code(), "control_database_error");
}

#[tokio::test]
async fn a_key_is_admitted_to_the_live_flow_with_its_secrets() {
    support::each_major(async |server| {
        let db = server.database().await;
        let (lab, token) = Lab::ready(&db.url).await;
        for (workspace, credential, secret) in
            [("w", "cred-1", "s1"), ("w", "cred-3", "s3"), ("v", "cred-2", "theirs")]
        {
            let id = CredentialId::parse(credential).unwrap();
            let new = Credential { id: &id, name: "db", secret_id: secret };
            lab.control.put_credential(workspace, &new).await.unwrap();
        }
        let (caller, live) = lab.granted(&token, "sales").await;
        assert_eq!((caller.name.as_str(), caller.workspace.as_str()), ("laptop", "w"));
        assert_eq!(caller.key_id.len(), 36);
        assert!(caller.may(Scope::McpCall) && caller.may(Scope::AuditRead) && !caller.may(Scope::KeysManage));
        assert_eq!((live.version, &*live.flow), (1, &flow("sales", 1)));
        let secrets: Vec<_> =
            live.secrets.iter().map(|(id, secret)| (id.as_str(), secret.secret_id.as_str())).collect();
        assert_eq!(secrets, [("cred-1", "s1")], "only what the flow uses and the workspace has");
    })
    .await;
}

#[tokio::test]
async fn whoever_may_not_in_is_told_apart() {
    let db = support::database(18).await;
    let (lab, token) = Lab::ready(&db.url).await;
    lab.control.put_flow("v", &flow("theirs", 1), FlowStage::Live).await.unwrap();
    lab.control.put_flow("w", &flow("other", 1), FlowStage::Live).await.unwrap();
    lab.control.put_flow("w", &flow("unborn", 1), FlowStage::Draft).await.unwrap();
    let (bound, _) = lab.key("w", 2, Some(&[id("other")])).await;
    let (nowhere, _) = lab.key("w", 3, Some(&[])).await;
    let stranger: KeyToken = ApiKey::from_random([9; 32]).text().parse().unwrap();

    for (token, flow, there) in [
        (&token, "sales", true),
        (&token, "other", true),
        (&token, "theirs", false),
        (&token, "unborn", false),
        (&token, "absent", false),
        (&token, "", false),
        (&token, "SALES", false),
        (&token, "sales\0", false),
        (&bound, "other", true),
        (&bound, "sales", false),
        (&nowhere, "sales", false),
    ] {
        let admission = lab.admit(token, flow).await.unwrap();
        let found = matches!(admission, Admission::Granted(..));
        assert_eq!(found, there, "{flow:?}");
        assert!(found || matches!(admission, Admission::FlowNotFound), "{flow:?}: {admission:?}");
    }
    for flow in ["sales", "absent", "sales\0"] {
        assert!(matches!(lab.admit(&stranger, flow).await.unwrap(), Admission::UnknownKey), "{flow:?}");
    }
}

#[tokio::test]
async fn one_of_two_keys_is_revoked_and_stays_so() {
    let db = support::database(14).await;
    let (lab, first) = Lab::ready(&db.url).await;
    let (second, second_id) = lab.key("w", 2, None).await;
    assert_eq!(lab.control.revoke_key("v", &second_id).await.unwrap_err().code(), "key_not_found");
    lab.live(&second, "sales").await;
    lab.control.revoke_key("w", &second_id).await.unwrap();
    assert!(matches!(lab.admit(&second, "sales").await.unwrap(), Admission::Revoked));
    lab.live(&first, "sales").await;

    assert_eq!(lab.key("w", 2, None).await.1, second_id, "the same key is the same row");
    assert!(
        matches!(lab.admit(&second, "sales").await.unwrap(), Admission::Revoked),
        "and is not brought back"
    );
    lab.control.revoke_key("w", &second_id).await.unwrap();

    let hash = ApiKey::from_random([1; 32]).hash();
    let stolen = NewKey { name: "x", hash, scopes: &[], flows: None };
    assert_eq!(lab.control.put_key("v", &stolen).await.unwrap_err().code(), "key_taken");
    assert_eq!(lab.granted(&first, "sales").await.0.workspace, "w");
}

#[tokio::test]
async fn a_flow_is_parsed_once_and_a_change_is_seen_by_the_next_call() {
    let db = support::database(15).await;
    let (lab, token) = Lab::ready(&db.url).await;
    let first = lab.live(&token, "sales").await;
    let again = lab.live(&token, "sales").await;
    assert!(Arc::ptr_eq(&first.flow, &again.flow));
    let open = lab.control.open_flow("w", "sales", soon()).await.unwrap().unwrap();
    assert!(Arc::ptr_eq(&first.flow, &open.flow));
    assert!(lab.control.open_flow("v", "sales", soon()).await.unwrap().is_none());

    assert_eq!(lab.control.put_flow("w", &flow("sales", 7), FlowStage::Draft).await.unwrap(), 1);
    assert!(
        Arc::ptr_eq(&first.flow, &lab.live(&token, "sales").await.flow),
        "a draft changes nothing for agents"
    );
    assert_eq!(lab.control.put_flow("w", &flow("sales", 7), FlowStage::Live).await.unwrap(), 2);
    let live = lab.live(&token, "sales").await;
    assert_eq!((live.version, live.flow.nodes[0].row_cap), (2, Some(7)));

    // As after a restore: the same version once more, with other contents.
    db.run("DELETE FROM pinguard.flow").await;
    lab.control.put_flow("w", &flow("sales", 8), FlowStage::Live).await.unwrap();
    lab.control.put_flow("w", &flow("sales", 9), FlowStage::Live).await.unwrap();
    let live = lab.live(&token, "sales").await;
    assert_eq!((live.version, live.flow.nodes[0].row_cap), (2, Some(9)));
}

#[tokio::test]
async fn a_stored_flow_that_is_none_is_an_error_and_not_an_absent_flow() {
    let db = support::database(18).await;
    let (lab, token) = Lab::ready(&db.url).await;
    db.run("UPDATE pinguard.flow SET live = '{\"id\": \"sales\"}', revision = DEFAULT").await;
    assert_eq!(lab.code(&token).await, "control_flow_malformed");
}

#[tokio::test]
async fn admission_takes_one_round_trip_on_a_warm_connection() {
    let db = support::database(18).await;
    let (_lab, token) = Lab::ready(&db.url).await;
    let (url, flights) = count_flights(&db.url, db.server.port()).await;
    let lab = Lab::new(&format!("{url}?sslmode=disable"));
    lab.live(&token, "sales").await;
    // Startup, two of SCRAM, the question.
    assert_eq!(flights.load(Ordering::SeqCst), 4);
    for calls in 1..=3 {
        lab.live(&token, "sales").await;
        assert_eq!(flights.load(Ordering::SeqCst), 4 + calls);
    }
}

#[tokio::test]
async fn a_connection_is_renewed_with_the_secret_as_it_reads_by_then() {
    let db = support::database(18).await;
    let (_lab, token) = Lab::ready(&db.url).await;
    let most_age = Duration::from_secs(1);
    let lab = Lab::renewed_after(&db.url, most_age);
    lab.live(&token, "sales").await;
    lab.lose_secret();
    lab.live(&token, "sales").await;
    tokio::time::sleep(most_age).await;
    assert_eq!(lab.code(&token).await, "secret_missing");
    lab.point_to(&db.url);
    lab.live(&token, "sales").await;
}

#[tokio::test]
async fn calls_at_one_time_share_one_connection() {
    let db = support::database(17).await;
    let (_lab, token) = Lab::ready(&db.url).await;
    let proxy = Proxy::start(db.server.port()).await;
    let lab = Lab::new(&proxy.through(&db.url, db.server.port()));
    many(lab, &token).await;
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn admission_passes_a_pooler_that_switches_connections() {
    let db = support::database(16).await;
    let (_lab, token) = Lab::ready(&db.url).await;
    Pooler::each(db.server, 2, async |pooler| {
        let lab = Lab::new(&pooler.through(&db.url, db.server.port()));
        lab.control.migrate().await.unwrap();
        many(lab, &token).await;
    })
    .await;
}

async fn end_connections(db: &TestDb) {
    let end = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name = 'pinguard-control' AND datname = current_database()";
    let ended: i64 = db.client().await.query_one(end, &[]).await.unwrap().get(0);
    assert!(ended > 0, "a connection was kept");
}

#[tokio::test]
async fn a_connection_that_died_is_replaced_and_nobody_notices() {
    support::each_major(async |server| {
        let db = server.database().await;
        let (lab, token) = Lab::ready(&db.url).await;
        lab.live(&token, "sales").await;
        for _ in 0..3 {
            end_connections(&db).await;
            lab.live(&token, "sales").await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_connection_that_fell_silent_is_given_up_after_two_seconds() {
    let db = support::database(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    let (lab, token) = Lab::ready(&proxy.through(&db.url, db.server.port())).await;
    lab.live(&token, "sales").await;
    let before = proxy.connections();
    proxy.set(Fault::Silence);
    let wait = async {
        tokio::time::sleep(Duration::from_millis(2_300)).await;
        proxy.set(Fault::None);
    };
    let began = Instant::now();
    let (_, ()) = tokio::join!(lab.live(&token, "sales"), wait);
    assert_eq!(proxy.connections(), before + 1);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());

    proxy.set(Fault::Silence);
    let began = Instant::now();
    let error =
        lab.control.admit(&token, "sales", Instant::now() + Duration::from_millis(500)).await.unwrap_err();
    assert!(["control_timeout", "connect_timeout"].contains(&error.code()), "{error}");
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_control_database_that_restarts_is_found_again() {
    let mut restarting = Restarting::start();
    let (lab, token) = Lab::ready(&restarting.server().superuser_url("postgres")).await;
    lab.live(&token, "sales").await;
    restarting.stop();
    assert_eq!(lab.code(&token).await, "unreachable");
    restarting.come_back();
    lab.live(&token, "sales").await;
}

#[tokio::test]
async fn what_keeps_the_control_database_away_is_told_apart() {
    let db = support::database(18).await;
    let (lab, token) = Lab::ready(&db.url).await;
    let (port, name) = (db.server.port(), &db.name);
    let login = db.login("nobody", "").await;
    let closed = TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap().port();
    for (secret, code) in [
        (format!("postgres://postgres:wrong@127.0.0.1:{port}/{name}"), "control_login_failed"),
        (format!("postgres://nobody_there:x@127.0.0.1:{port}/{name}"), "control_login_failed"),
        (db.server.server.superuser_url("no_such_database"), "control_startup_failed"),
        (db.server.server.superuser_url("postgres"), "control_not_migrated"),
        (login.url.clone(), "control_database_error"),
        (format!("postgres://u:p@127.0.0.1:{closed}/d"), "unreachable"),
        (format!("{}?sslmode=require", db.url), "tls_not_offered"),
        ("mysql://u:p@h/d".to_owned(), "control_secret_malformed"),
        (String::new(), "secret_empty"),
    ] {
        let lab = Lab::new(&secret);
        let error = lab.admit(&token, "sales").await.unwrap_err();
        assert_eq!(error.code(), code, "{error:?}");
        assert!(!format!("{error} {error:?} {}", error.hint()).contains("wrong@"));
    }
    lab.lose_secret();
    assert_eq!(lab.code(&token).await, "secret_missing");
}

#[tokio::test]
async fn a_new_password_is_taken_from_the_secret_at_the_next_connection() {
    let db = support::database(15).await;
    let (_owner, token) = Lab::ready(&db.url).await;
    let login = db.reader(&["pinguard"]).await;
    let lab = Lab::new(&login.url);
    lab.live(&token, "sales").await;
    db.run(&format!("ALTER ROLE {} PASSWORD 'fresh'", login.role)).await;
    lab.live(&token, "sales").await;
    end_connections(&db).await;
    assert_eq!(lab.code(&token).await, "control_login_failed");
    lab.point_to(&login.url.replace(&login.password, "fresh"));
    lab.live(&token, "sales").await;
}
