//! The support itself: tests that rest on it prove nothing if it does not do what it says.

use crate::support::{
    self, MAJORS,
    proxy::{Fault, Proxy},
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
