//! What a function keeps while it is frozen: one connection, nothing of a call, and neither for longer than it may.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    Deployed, PATH, SQL, TIME, content, control, deploy, deploy_with,
    events::{FrontDoor, HOST, event, query},
    go_live,
    tokens::deploy_for_tokens,
};
use crate::{
    openid::Provider,
    support::{self, restarting::Restarting},
};

impl Deployed {
    /// The answer to a call of the statement that all these tests use.
    fn rows(&mut self) -> Value {
        content(&self.ask(FrontDoor::FunctionUrl, &query(SQL)))
    }
}

#[tokio::test]
async fn what_waits_is_used_again_and_knows_nothing_of_the_caller_before() {
    let provider = Provider::start(&json!([
        {"id": "ada", "claims": {"tenant": "a"}},
        {"id": "bob", "claims": {"tenant": "b"}},
        {"id": "eve"},
    ]));
    let mut deployed = deploy_for_tokens(&provider).await;
    deployed
        .database
        .run(
            "CREATE TABLE orders (tenant text, item text); INSERT INTO orders VALUES ('a', 'anvil'), ('b', 'bucket');
             ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
             CREATE POLICY own ON orders USING (tenant = current_setting('pinguard.claim_tenant', true))",
        )
        .await;
    deployed.database.let_read(&deployed.login, &["public"]).await;
    let node = |claims: Value| json!({"id": "sales", "credential": "stock", "actions": ["query"], "callerClaims": claims});
    let control = control(&deployed.database);
    let mut first = None;
    for (client, claims, items) in [
        ("ada", json!(["tenant"]), json!([["anvil"]])),
        ("bob", json!(["tenant"]), json!([["bucket"]])),
        // A node that asks for no claim sets none: what it sees is what nobody sees.
        ("ada", json!([]), json!([])),
        ("eve", json!([]), json!([])),
        ("ada", json!(["tenant"]), json!([["anvil"]])),
    ] {
        go_live(&control, node(claims)).await;
        let token = provider.token(client, &format!("https://{HOST}{PATH}"), "mcp:call").await;
        let call = query("SELECT item FROM orders");
        let call = event(FrontDoor::FunctionUrl, "POST", PATH, Some(&token), &call);
        assert_eq!(content(&deployed.function.invoke(&call, TIME))["rows"], items, "{client}");
        deployed.function.freeze();
        let by = deployed.served_by().await;
        assert_eq!(by.len(), 1, "{client}");
        assert_eq!(*first.get_or_insert(by.clone()), by, "{client}");
        deployed.function.thaw();
    }
}

#[tokio::test]
async fn a_secret_that_is_rotated_meanwhile_is_the_one_that_counts() {
    let mut deployed = deploy().await;
    assert_eq!(deployed.rows()["rowCount"], 2);
    deployed.function.freeze();
    let before = deployed.served_by().await;
    let role = deployed.login.role.clone();
    deployed.database.run(&format!("ALTER ROLE {role} PASSWORD 'other'")).await;
    let url = deployed.login.url.replacen(&deployed.login.password, "other", 1);
    deployed.secrets.put("pinguard/stock", &url, "AWSCURRENT");
    deployed.function.thaw();
    assert_eq!(deployed.rows()["rowCount"], 2);
    deployed.function.freeze();
    let after = deployed.served_by().await;
    assert!(before.len() == 1 && after.len() == 1 && before != after, "{before:?} {after:?}");
    // A value that opens nothing: the connection of the one before would still have served.
    deployed.secrets.put("pinguard/stock", &deployed.login.url, "AWSCURRENT");
    deployed.function.thaw();
    assert_eq!(deployed.rows()["code"], "login_failed");
    deployed.has_left().await;
}

#[tokio::test]
async fn a_secret_that_is_taken_away_meanwhile_takes_its_connection_along() {
    let mut deployed = deploy().await;
    assert_eq!(deployed.rows()["rowCount"], 2);
    deployed.function.freeze();
    assert_eq!(deployed.served_by().await.len(), 1);
    deployed.secrets.delete("pinguard/stock");
    deployed.function.thaw();
    assert_eq!(deployed.rows()["code"], "secret_missing");
    deployed.has_left().await;
}

#[tokio::test]
async fn a_key_that_is_revoked_meanwhile_opens_nothing() {
    let mut deployed = deploy().await;
    assert_eq!(deployed.rows()["rowCount"], 2);
    deployed.function.freeze();
    let sql = "UPDATE pinguard.api_key SET revoked_at = now()";
    deployed.database.run(sql).await;
    deployed.function.thaw();
    let answer = deployed.ask(FrontDoor::FunctionUrl, &query(SQL));
    assert_eq!(answer["statusCode"], 401, "{answer}");
}

#[tokio::test]
async fn after_a_longer_time_than_is_set_the_connection_is_another() {
    let mut deployed = deploy_with(&[("PINGUARD_IDLE_SECONDS", "1")]).await;
    deployed.rows();
    deployed.function.freeze();
    let before = deployed.served_by().await;
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    deployed.function.thaw();
    assert_eq!(deployed.rows()["rowCount"], 2);
    deployed.function.freeze();
    let after = deployed.served_by().await;
    assert!(before.len() == 1 && after.len() == 1 && before != after, "{before:?} {after:?}");
}

#[tokio::test]
async fn servers_that_restart_meanwhile_are_found_again() {
    let mut restarting = Restarting::start();
    let admin = support::connect(&restarting.server().superuser_url("postgres")).await;
    let made = "CREATE ROLE reader LOGIN PASSWORD 'x'; CREATE TABLE fruit (name text); INSERT INTO fruit VALUES ('fig');
         GRANT SELECT ON fruit TO reader";
    admin.batch_execute(made).await.unwrap();
    drop(admin);
    let mut deployed = deploy().await;
    deployed.secrets.put("pinguard/stock", &restarting.server().url("reader", "x", "postgres"), "AWSCURRENT");
    let fruit = query("SELECT name FROM fruit");
    assert_eq!(content(&deployed.ask(FrontDoor::FunctionUrl, &fruit))["rows"], json!([["fig"]]));
    deployed.function.freeze();
    restarting.stop();
    restarting.come_back();
    // The control database's server is everybody's: it ends what the function has with it.
    let control = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE application_name = 'pinguard-control' AND datname = current_database()";
    let ended = deployed.database.client().await.query_one(control, &[]).await.unwrap();
    assert!(ended.get::<_, i64>(0) > 0);
    deployed.function.thaw();
    assert_eq!(content(&deployed.ask(FrontDoor::FunctionUrl, &fruit))["rows"], json!([["fig"]]));
    // Its connection goes ahead of the server.
    drop(deployed);
}
