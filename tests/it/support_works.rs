//! The support itself: tests that rest on it prove nothing if it does not do what it says.

use std::{
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_postgres::{Client, SimpleQueryMessage};
use tokio_rustls::TlsConnector;

use crate::support::{
    self, MAJORS,
    pooler::Pooler,
    proxy::{Fault, Proxy},
    tls::{Certificate, TlsServer},
};

#[tokio::test]
async fn every_major_gives_a_database_of_its_own() {
    support::each_major(async |server| {
        let (one, other) = (server.database().await, server.database().await);
        one.run("CREATE TABLE here (a int)").await;
        let version: String =
            one.client().await.query_one("SHOW server_version_num", &[]).await.unwrap().get(0);
        assert_eq!(version.parse::<u32>().unwrap() / 10_000, u32::from(server.major));
        let found = other.client().await.query_one("SELECT to_regclass('here') IS NULL", &[]).await.unwrap();
        assert!(found.get::<_, bool>(0));
    })
    .await;
}

#[tokio::test]
async fn a_database_and_its_logins_go_with_their_value() {
    let server = support::server(MAJORS[0]);
    let database = server.database().await;
    database.run("CREATE TABLE t (a int)").await;
    let login = database.reader(&["public"]).await;
    support::connect(&login.url).await.query("SELECT a FROM t", &[]).await.unwrap();
    let (name, role) = (database.name.clone(), login.role.clone());
    let count = "SELECT (SELECT count(*) FROM pg_database WHERE datname = $1) + (SELECT count(*) FROM pg_roles WHERE rolname = $2)";
    let admin = server.admin().await;
    assert_eq!(admin.query_one(count, &[&name, &role]).await.unwrap().get::<_, i64>(0), 2);
    drop(database);
    assert_eq!(admin.query_one(count, &[&name, &role]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_login_can_quieten_the_log_unless_it_was_made_plain() {
    support::each_major(async |server| {
        let database = server.database().await;
        let quieten = "SELECT CASE WHEN current_setting('log_min_messages') <> 'fatal' \
                              THEN set_config('log_min_messages', 'fatal', false) END";
        let login = database.login("quiet", "").await;
        support::connect(&login.url).await.execute(quieten, &[]).await.unwrap();
        let plain = database.plain_login("plain", "").await;
        let error = support::connect(&plain.url).await.execute(quieten, &[]).await.unwrap_err();
        assert_eq!(error.code().unwrap().code(), "42501");
    })
    .await;
}

#[tokio::test]
async fn the_proxy_cuts_ahead_of_the_first_row() {
    let database = support::database(18).await;
    let proxy = Proxy::start(database.server.port()).await;
    let url = proxy.through(&database.url, database.server.port());
    let client = support::connect(&url).await;
    client.query_one("SELECT 1", &[]).await.unwrap();
    proxy.set(Fault::CutAtMessage(b'D'));
    let error = client.query_one("SELECT 1", &[]).await.unwrap_err();
    assert!(error.is_closed(), "{error:?}");
    assert_eq!(proxy.connections(), 1);
}

#[tokio::test]
async fn a_silent_proxy_forwards_nothing_until_it_is_told_to() {
    let database = support::database(18).await;
    let proxy = Proxy::start(database.server.port()).await;
    let client = support::connect(&proxy.through(&database.url, database.server.port())).await;
    proxy.set(Fault::Silence);
    let mut asked = Box::pin(client.query_one("SELECT 1", &[]));
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut asked).await.is_err());
    proxy.set(Fault::None);
    asked.await.unwrap();
}

#[tokio::test]
async fn a_slow_proxy_is_slow_and_one_that_counts_bytes_cuts_there() {
    let database = support::database(18).await;
    let proxy = Proxy::start(database.server.port()).await;
    let client = support::connect(&proxy.through(&database.url, database.server.port())).await;
    proxy.set(Fault::Delay(Duration::from_millis(50)));
    let since = Instant::now();
    client.simple_query("SELECT 1").await.unwrap();
    assert!(since.elapsed() >= Duration::from_millis(100), "{:?}", since.elapsed());
    proxy.set(Fault::CutAfterBytes(2_000));
    let error = client.simple_query("SELECT repeat('x', 5000)").await.unwrap_err();
    assert!(error.is_closed(), "{error:?}");
}

#[tokio::test]
async fn what_pinguard_has_open_is_seen() {
    let database = support::database(17).await;
    assert!(database.activity().await.is_empty());
    let client = support::connect(&format!("{}?application_name=pinguard", database.url)).await;
    client.batch_execute("BEGIN").await.unwrap();
    let seen = database.activity().await;
    assert_eq!(seen.len(), 1);
    assert_eq!((seen[0].state.as_str(), seen[0].query.as_str()), ("idle in transaction", "BEGIN"));
}

#[tokio::test]
async fn the_pooler_shares_one_server_connection_among_clients() {
    let database = support::database(16).await;
    let pooler = Pooler::start(database.server, 1);
    let login = database.login("pooled", "").await;
    let url = pooler.through(&login.url, database.server.port());
    let (one, other) = (support::connect(&url).await, support::connect(&url).await);
    let backend = async |client: &Client| {
        let messages = client.simple_query("SELECT pg_backend_pid()").await.unwrap();
        messages
            .iter()
            .find_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap().to_owned()),
                _ => None,
            })
            .unwrap()
    };
    assert_eq!(backend(&one).await, backend(&other).await, "{}", pooler.log());
}

#[tokio::test]
async fn a_tls_server_shows_the_certificate_it_was_given() {
    for (certificate, host, matter) in [
        (Certificate::Good, "localhost", None),
        (Certificate::WrongHost, "localhost", Some("not valid for name")),
        (Certificate::Expired, "localhost", Some("expired")),
    ] {
        let server = TlsServer::start(certificate).await;
        let seen = handshake(&server, &server.ca, host).await;
        match matter {
            None => assert_eq!(seen, Ok(())),
            Some(matter) => assert!(seen.clone().unwrap_err().contains(matter), "{certificate:?}: {seen:?}"),
        }
        assert!(handshake(&server, &server.foreign_ca, host).await.is_err(), "{certificate:?}");
    }
}

/// Asks for TLS as libpq does and verifies with one CA.
async fn handshake(server: &TlsServer, ca: &str, host: &str) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.server.port())).await.unwrap();
    stream.write_all(&[0, 0, 0, 8, 4, 210, 22, 47]).await.unwrap();
    assert_eq!(stream.read_u8().await.unwrap(), b'S');
    let name = ServerName::try_from(host.to_owned()).unwrap();
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    connected.map(drop).map_err(|error| error.to_string())
}
