//! `pinguard setup-sql`: what it prints is run on real servers, and the login that it makes does what it says.

use std::process::Command;

use pg::{Judged, Lane, Memory};
use serde_json::json;
use tokio_postgres::Client;

use crate::client::{encoded, everything, judge, open};
use crate::support::{
    self, TestDb,
    command::{Folder, Serving},
    http::call,
};

/// What the command prints.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_pinguard-under-test"))
        .arg("setup-sql")
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

const SCHEMAS: &str = r#"
CREATE SCHEMA app;
CREATE SCHEMA "a""; DROP SCHEMA app CASCADE; --";
CREATE TABLE app.orders (a int);
CREATE TABLE app.pay (a int);
CREATE VIEW "a""; DROP SCHEMA app CASCADE; --".odd AS SELECT 1 AS a;
"#;

/// A URL with which the role logs in.
async fn url_of(db: &TestDb, role: &str) -> String {
    db.run(&format!("ALTER ROLE \"{role}\" PASSWORD 'p'")).await;
    db.server.server.url(&encoded(role), "p", &db.name)
}

/// Has the server resolve a statement on the quiet lane.
async fn resolves_quietly(url: &str) {
    let mut connection = open(url).await;
    let (memory, rules) = (Memory::default(), everything());
    let candidate = guard::candidate("TABLE app.orders", &rules).unwrap();
    let judged = judge(&mut connection, &memory, &candidate, &rules).await.unwrap();
    assert!(matches!(judged, Judged::Clear { .. }), "{judged:?}");
    assert_eq!(memory.lane(), Some(Lane::Quiet));
    connection.close().await;
}

async fn code(client: &Client, sql: &str) -> String {
    let error = client.batch_execute(sql).await.unwrap_err();
    error.code().unwrap().code().to_owned()
}

#[tokio::test]
async fn the_login_reads_what_was_named_and_nothing_else() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(SCHEMAS).await;
        // The harness must have made its own grant of the same setting before: two at once are one too many for the catalog.
        db.login("first", "").await;
        let role = format!("{} it's", db.name);
        let quoted = format!("\"{role}\"");
        let major = server.major.to_string();
        let text = printed(&[
            "--role",
            &quoted,
            "--database",
            &db.name,
            "--relation",
            "app.orders",
            "--schema",
            "\"a\"\"; DROP SCHEMA app CASCADE; --\"",
            "--major",
            &major,
        ]);
        db.run(&text).await;
        let url = url_of(&db, &role).await;
        let client = support::connect(&url).await;

        client
            .batch_execute("TABLE app.orders; TABLE \"a\"\"; DROP SCHEMA app CASCADE; --\".odd")
            .await
            .unwrap();
        assert_eq!(code(&client, "TABLE app.pay").await, "42501");
        for write in ["INSERT INTO app.orders VALUES (1)", "CREATE TABLE app.mine (a int)"] {
            assert_eq!(code(&client, write).await, "25006", "{write}");
            assert_eq!(code(&client, &format!("BEGIN READ WRITE; {write}")).await, "42501", "{write}");
            client.batch_execute("ROLLBACK").await.unwrap();
        }
        for (setting, value) in
            [("statement_timeout", "5min"), ("idle_in_transaction_session_timeout", "1min")]
        {
            let found: String = client.query_one(&format!("SHOW {setting}"), &[]).await.unwrap().get(0);
            assert_eq!(found, value);
        }
        resolves_quietly(&url).await;
        db.run(&format!("DROP OWNED BY {quoted}; DROP ROLE {quoted}")).await;
    })
    .await;
}

#[tokio::test]
async fn the_demo_needs_no_other_lane() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    let answer = call(ready.url(), ready.key(), "query", json!({"sql": "TABLE demo_sales"})).await;
    assert_eq!(answer["_meta"]["lane"], "quiet", "{answer}");
    assert_eq!(serving.signal("INT"), Some(0), "{}", serving.stderr());
}
