//! A pooler in transaction mode between us and the server: calls land on any of its connections, and leave nothing there.

use serde_json::json;

use super::{Setup, assert_failure, shop};
use crate::support::{self, pooler::Pooler};

#[tokio::test]
async fn every_tool_works_through_a_pooler_on_changing_connections() {
    let db = support::database(17).await;
    let login = shop::build(&db).await;
    Pooler::each(db.server, 2, async |pooler| {
        let endpoint = Setup::default().start(&db, &pooler.through(&login.url, db.server.port())).await;
        for _ in 0..3 {
            let people =
                endpoint.query("SELECT mood, home, mail, tags FROM app.people ORDER BY id LIMIT 1").await;
            assert_eq!(people["rows"], json!([["ok", null, "a1@x.io", []]]), "{}", pooler.log());
            let types: Vec<_> =
                people["columns"].as_array().unwrap().iter().map(|column| &column["type"]).collect();
            assert_eq!(json!(types[..2]), json!(["app.mood", "app.addr"]));
            let bound = json!({"sql": "SELECT count(*) FROM app.people WHERE mood = $1", "params": ["ok"]});
            assert_eq!(endpoint.good("query", bound).await["rows"], json!([[30]]));
            assert_eq!(endpoint.good("describe", json!({"name": "app.people"})).await["kind"], "table");
            assert_eq!(endpoint.good("list_tables", json!({})).await["total"], 12);
            assert_failure(&endpoint.refuses("SELECT zzz").await, "42703", "expected", "");
            let slow = json!({"sql": support::SLOW, "timeout_seconds": 1});
            assert_failure(&endpoint.bad("query", slow).await, "57014", "expected", "unchanged");
        }
    })
    .await;
}

#[tokio::test]
async fn the_next_client_of_the_pooler_finds_no_setting_of_ours() {
    let db = support::database(16).await;
    db.run("CREATE TABLE t (a int)").await;
    let login = db.reader(&["public"]).await;
    db.run(&format!("GRANT INSERT ON t TO {}", login.role)).await;
    Pooler::each(db.server, 1, async |pooler| {
        let url = pooler.through(&login.url, db.server.port());
        let endpoint = Setup::default().start(&db, &url).await;
        let names =
            ["default_transaction_read_only", "statement_timeout", "search_path", "datestyle", "timezone"];
        let settings = async || {
            let client = support::connect(&url).await;
            let mut found = Vec::new();
            for name in names {
                let shown = client.simple_query(&format!("SHOW {name}")).await.unwrap();
                found.extend(shown.iter().filter_map(|message| match message {
                    tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                    _ => None,
                }));
            }
            found
        };
        let before = settings().await;
        assert_eq!(before.len(), names.len());
        for sql in
            ["SELECT a FROM t", "SELECT zzz", "SELECT generate_series(1, 100000)", "INSERT INTO t VALUES (1)"]
        {
            endpoint.call("query", json!({"sql": sql})).await;
            endpoint.call("list_schemas", json!({})).await;
            assert_eq!(settings().await, before, "{sql}");
            support::connect(&url).await.batch_execute("INSERT INTO t VALUES (1)").await.unwrap();
        }
        // A setting that did stay would be seen.
        support::connect(&url).await.batch_execute("SET statement_timeout = 1234").await.unwrap();
        assert_ne!(settings().await, before);
    })
    .await;
}
