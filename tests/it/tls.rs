//! TLS against real servers: each way of asking for it, each way in which it fails.

use std::time::{Duration, Instant};

use pg::ReadPlan;

use crate::client::{code, encoded, open, plan, read_with, try_open, value};
use crate::support::{
    self,
    tls::{Certificate, TlsServer},
};

const ENCRYPTED: &str = "SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_catalog.pg_backend_pid()";

#[tokio::test]
async fn a_good_certificate_is_accepted_in_every_mode() {
    let tls = TlsServer::start(Certificate::Good).await;
    let ca = encoded(&tls.ca);
    for parameters in [
        String::new(),
        "sslmode=require".to_owned(),
        "sslmode=prefer".to_owned(),
        format!("sslrootcert={ca}"),
        format!("sslmode=verify-full&sslrootcert={ca}"),
        format!("sslmode=verify-ca&sslrootcert={ca}"),
        format!("channel_binding=require&sslrootcert={ca}"),
        "channel_binding=disable".to_owned(),
    ] {
        let mut connection = open(&tls.url(&parameters)).await;
        assert!(connection.is_encrypted(), "{parameters}");
        assert_eq!(value(&mut connection, ENCRYPTED).await, "t", "{parameters}");
    }
    let mut plain = open(&tls.url("sslmode=disable")).await;
    assert!(!plain.is_encrypted());
    assert_eq!(value(&mut plain, ENCRYPTED).await, "f");
}

#[tokio::test]
async fn a_cancel_request_goes_the_same_protected_way() {
    let tls = TlsServer::start(Certificate::Good).await;
    tls.server
        .set_hba(&["hostssl all all 127.0.0.1/32 scram-sha-256", "hostssl all all ::1/128 scram-sha-256"])
        .await;
    let mut connection = open(&tls.url(&format!("sslrootcert={}", encoded(&tls.ca)))).await;
    let plan = ReadPlan { row_limit: 3, ..plan() };
    let began = Instant::now();
    let endless = "SELECT a FROM generate_series(1, 100000) a, generate_series(1, 100000) b";
    let raw = read_with(&mut connection, endless, &[], &plan).await.unwrap();
    assert_eq!(raw.rows.len(), 3);
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    let mut other = open(&tls.url(&format!("sslrootcert={}", encoded(&tls.ca)))).await;
    let running = "SELECT count(*) FROM pg_catalog.pg_stat_activity \
                   WHERE application_name = 'pinguard' AND state = 'active' AND pid <> pg_catalog.pg_backend_pid()";
    assert_eq!(value(&mut other, running).await, "0");
}

#[tokio::test]
async fn a_ca_from_a_file_is_read_anew() {
    let tls = TlsServer::start(Certificate::Good).await;
    let path = std::env::temp_dir().join(format!("pinguard-{}.pem", local::embedded::random_word().unwrap()));
    let url = tls.url(&format!("sslrootcert={}", path.display()));
    assert_eq!(code(&url).await, "tls_roots");
    std::fs::write(&path, &tls.foreign_ca).unwrap();
    assert_eq!(code(&url).await, "tls_unknown_ca");
    std::fs::write(&path, &tls.ca).unwrap();
    assert_eq!(code(&url).await, "connected");
    std::fs::remove_file(&path).unwrap();
}

#[tokio::test]
async fn an_unknown_ca_is_told_apart() {
    let tls = TlsServer::start(Certificate::Good).await;
    let foreign = encoded(&tls.foreign_ca);
    for parameters in [
        "sslmode=verify-full".to_owned(),
        "sslmode=verify-ca".to_owned(),
        format!("sslrootcert={foreign}"),
        format!("sslmode=require&sslrootcert={foreign}"),
    ] {
        let error = try_open(&tls.url(&parameters)).await.err().unwrap();
        assert_eq!(error.code(), "tls_unknown_ca", "{parameters}");
        assert!(error.hint().contains("sslrootcert"));
    }
}

#[tokio::test]
async fn a_certificate_for_another_host_is_told_apart() {
    let tls = TlsServer::start(Certificate::WrongHost).await;
    let ca = encoded(&tls.ca);
    assert_eq!(code(&tls.url(&format!("sslrootcert={ca}"))).await, "tls_wrong_host");
    assert_eq!(code(&tls.url(&format!("sslmode=verify-ca&sslrootcert={ca}"))).await, "connected");
    assert_eq!(code(&tls.url("sslmode=require")).await, "connected");
}

#[tokio::test]
async fn an_expired_certificate_is_told_apart() {
    let tls = TlsServer::start(Certificate::Expired).await;
    let ca = encoded(&tls.ca);
    assert_eq!(code(&tls.url(&format!("sslrootcert={ca}"))).await, "tls_expired");
    assert_eq!(code(&tls.url(&format!("sslmode=verify-ca&sslrootcert={ca}"))).await, "tls_expired");
}

#[tokio::test]
async fn a_server_without_tls_is_told_apart() {
    let db = support::database(18).await;
    for parameters in ["sslmode=require", "sslmode=verify-ca", "sslmode=verify-full"] {
        assert_eq!(code(&format!("{}?{parameters}", db.url)).await, "tls_not_offered", "{parameters}");
    }
    for parameters in ["", "sslmode=prefer", "sslmode=allow", "sslmode=disable"] {
        assert_eq!(code(&format!("{}?{parameters}", db.url)).await, "connected", "{parameters}");
    }
    // Without TLS there is nothing that a login could be bound to.
    assert_eq!(code(&format!("{}?channel_binding=require", db.url)).await, "channel_binding");
}

#[tokio::test]
async fn a_server_that_insists_on_tls_is_told_apart() {
    let tls = TlsServer::start(Certificate::Good).await;
    tls.server
        .set_hba(&["hostssl all all 127.0.0.1/32 scram-sha-256", "hostssl all all ::1/128 scram-sha-256"])
        .await;
    let url = tls.url("sslmode=disable");
    for _ in 0..200 {
        if code(&url).await == "tls_required" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(code(&url).await, "tls_required");
    assert_eq!(code(&tls.url("")).await, "connected");
}
