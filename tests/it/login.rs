//! Logging in: each way the server may ask for, each way in which it says no.

use std::time::Duration;

use local::embedded::Binaries;
use pg::{Ask, ConnectOptions, Connection, Target};

use crate::client::{code, encoded, open, soon, try_open};
use crate::support::{
    self, TestServer,
    pooler::Pooler,
    tls::{Certificate, TlsServer},
};

/// Waits until the server has read its new rules.
async fn until(url: &str, wanted: &str) {
    for _ in 0..200 {
        if code(url).await == wanted {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(code(url).await, wanted);
}

/// The URL with a database that does not exist.
fn elsewhere(url: &str, database: &str) -> String {
    format!("{}/nowhere", url.strip_suffix(&format!("/{database}")).unwrap())
}

#[tokio::test]
async fn a_wrong_password_a_wrong_user_and_a_wrong_database_are_told_apart() {
    let db = support::database(18).await;
    let login = db.login("in", "").await;
    assert_eq!(code(&login.url).await, "connected");
    assert_eq!(code(&login.url.replace(&login.password, "wrong")).await, "login_failed");
    assert_eq!(code(&login.url.replace(&login.role, "nobody")).await, "login_failed");
    assert_eq!(code(&elsewhere(&login.url, &db.name)).await, "unknown_database");
    let without = login.url.replace(&format!(":{}", login.password), "");
    assert_eq!(code(&without).await, "password_missing");

    let error = try_open(&login.url.replace(&login.password, "wrong")).await.err().unwrap();
    assert!(error.is_login_failure());
    assert!(!format!("{error} {error:?}").contains("wrong"));
}

#[tokio::test]
async fn passwords_of_any_letters_log_in() {
    let db = support::database(17).await;
    for (number, password) in ["p@ss:w/rd?#%&=+ ", "a%3Fb", "ünïcödé€", "\"'\\", "ⅸ"].iter().enumerate()
    {
        let role = format!("{}_{number}", db.name);
        db.run(&format!("CREATE ROLE {role} LOGIN PASSWORD '{}'", password.replace('\'', "''"))).await;
        let encoded = encoded(password);
        assert_eq!(
            code(&format!("postgres://{role}:{encoded}@127.0.0.1:{}/{}", db.server.port(), db.name)).await,
            "connected",
            "{password}"
        );
        let json = serde_json::json!({"host": "127.0.0.1", "port": db.server.port(), "username": role, "password": password, "dbname": db.name});
        assert_eq!(code(&json.to_string()).await, "connected", "{password}");
        db.run(&format!("DROP ROLE {role}")).await;
    }
}

#[tokio::test]
async fn an_md5_login_works() {
    let server = TestServer::start(Binaries::unpacked(14).unwrap(), &[("password_encryption", "md5")]);
    let url = server.server.superuser_url("postgres");
    server.admin().await.batch_execute("CREATE ROLE old LOGIN PASSWORD 'alt'").await.unwrap();
    server.set_hba(&["host all old 127.0.0.1/32 md5", "host all all 127.0.0.1/32 scram-sha-256"]).await;
    let old = format!("postgres://old:alt@127.0.0.1:{}/postgres", server.port());
    until(&old, "connected").await;
    assert_eq!(code(&old.replace(":alt@", ":neu@")).await, "login_failed");
    // A hash that anybody may have recorded binds to nothing.
    assert_eq!(code(&format!("{old}?channel_binding=require")).await, "channel_binding");
    assert_eq!(code(&url).await, "connected");
}

#[tokio::test]
async fn a_password_travels_in_clear_under_tls_only() {
    let tls = TlsServer::start(Certificate::Good).await;
    tls.server.set_hba(&["host all all 127.0.0.1/32 password", "host all all ::1/128 password"]).await;
    until(&tls.url("sslmode=disable"), "auth_in_clear").await;
    assert_eq!(code(&tls.url("sslmode=require")).await, "connected");
    assert_eq!(code(&tls.url("sslmode=require&channel_binding=require")).await, "channel_binding");
}

#[tokio::test]
async fn a_server_that_lets_anybody_in_lets_us_in_but_binds_nothing() {
    let tls = TlsServer::start(Certificate::Good).await;
    tls.server.set_hba(&["host all all 127.0.0.1/32 trust", "host all all ::1/128 trust"]).await;
    until(&tls.url("sslmode=require&channel_binding=require"), "channel_binding").await;
    assert_eq!(code(&tls.url("")).await, "connected");
}

#[tokio::test]
async fn rules_that_shut_us_out_are_a_failed_login() {
    let tls = TlsServer::start(Certificate::Good).await;
    tls.server.set_hba(&["host all nobody 127.0.0.1/32 trust", "host all nobody ::1/128 trust"]).await;
    until(&tls.url("sslmode=require"), "login_failed").await;
}

#[tokio::test]
async fn a_full_server_is_busy() {
    let server = TestServer::start(
        Binaries::unpacked(16).unwrap(),
        &[("max_connections", "4"), ("superuser_reserved_connections", "2")],
    );
    server.admin().await.batch_execute("CREATE ROLE r LOGIN PASSWORD 'r'").await.unwrap();
    let url = format!("postgres://r:r@127.0.0.1:{}/postgres", server.port());
    // The admin's connection above may still be going.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (_one, _two) = (open(&url).await, open(&url).await);
    assert_eq!(code(&url).await, "too_many_connections");
}

#[tokio::test]
async fn a_pooler_says_no_as_a_server_does() {
    let db = support::database(15).await;
    let login = db.login("in", "").await;
    let pooler = Pooler::start(db.server, 2);
    let url = pooler.through(&login.url, db.server.port());
    assert_eq!(code(&url).await, "connected");
    assert_eq!(code(&url.replace(&login.password, "wrong")).await, "login_failed");
    let error = try_open(&url.replace(&login.role, "nobody")).await.err().unwrap();
    assert_eq!(error.code(), "login_failed", "{error}");
    assert_eq!(code(&format!("{url}?sslmode=require")).await, "tls_not_offered");
}

#[tokio::test]
async fn only_four_startup_parameters_are_sent() {
    let db = support::database(18).await;
    let mut connection = open(&format!("{}?application_name=other&connect_timeout=3", db.url)).await;
    let from_client = "SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE source = 'client'";
    let asks = [Ask { sql: from_client, parameters: Vec::new() }];
    let tables = connection.catalog(&asks, None, soon(5)).await.unwrap();
    let sent = tables[0][0][0].as_deref();
    assert_eq!(sent, Some("application_name=pinguard client_encoding=UTF8"));
}

#[tokio::test]
async fn nobody_at_the_port_is_unreachable_and_an_unknown_name_has_no_address() {
    assert_eq!(code("postgres://u:p@127.0.0.1:1/d").await, "unreachable");
    assert_eq!(code("postgres://u:p@no-such-host.invalid/d").await, "unknown_host");
    let error = try_open("postgres://u:p@[2001:db8::1]/d").await.err().unwrap();
    assert!(["ipv6_only", "connect_timeout"].contains(&error.code()), "{}", error.code());
}

#[tokio::test]
async fn the_secrets_connect_timeout_lowers_ours() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let target = Target::parse(&format!("postgres://u:p@127.0.0.1:{port}/d?connect_timeout=1")).unwrap();
    let began = std::time::Instant::now();
    let options = ConnectOptions { connect_timeout: Duration::from_secs(9), deadline: soon(20) };
    let error = Connection::open(&target, options).await.err().unwrap();
    assert_eq!(error.code(), "connect_timeout");
    assert!(began.elapsed() < Duration::from_secs(2));
}
