//! What a pin says when its tables have changed since its test.

use serde_json::json;

use super::{KEY, Setup, place, stamped_at};
use crate::endpoint::assert_failure;
use crate::support;

#[tokio::test]
async fn a_changed_column_warns_and_a_dropped_one_fails() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'x'); CREATE VIEW v AS SELECT a, b FROM t").await;
        let login = db.reader(&["public"]).await;
        let scope = pins::Scope { selection: ["public.v".to_owned()].into(), ..place() };
        let all = json!({"id": "a", "name": "pq_all", "purpose": "All", "sql": "SELECT * FROM v LIMIT 10"});
        let named = json!({"id": "n", "name": "pq_named", "purpose": "Named", "sql": "SELECT b FROM v LIMIT 10"});
        let pins = [
            stamped_at(&scope, KEY, &all, &[("a", "integer"), ("b", "text")]),
            stamped_at(&scope, KEY, &named, &[("b", "text")]),
        ];
        let node = json!({"relations": ["public.v"], "pins": pins});
        let setup = Setup { stamp_key: Some(KEY.to_owned()), ..Setup::node(node) };
        let endpoint = setup.start(&db, &login.url).await;
        assert!(endpoint.good("pq_all", json!({})).await["warning"].is_null());

        db.run("ALTER VIEW v RENAME COLUMN a TO number").await;
        let answer = endpoint.good("pq_all", json!({})).await;
        assert_eq!(answer["rows"], json!([[1, "x"]]));
        assert!(answer["warning"].as_str().unwrap().contains("names differ"), "{answer}");
        assert_eq!(answer["columnsChanged"]["tested"][0]["name"], "a");
        assert_eq!(answer["columnsChanged"]["returned"][0]["name"], "number");

        db.run("DROP VIEW v; CREATE VIEW v AS SELECT a::int8 AS a, b FROM t").await;
        db.let_read(&login, &["public"]).await;
        let answer = endpoint.good("pq_all", json!({})).await;
        assert!(answer["warning"].as_str().unwrap().contains("types differ"), "{answer}");

        db.run("DROP VIEW v; CREATE VIEW v AS SELECT b, a FROM t").await;
        db.let_read(&login, &["public"]).await;
        let answer = endpoint.good("pq_all", json!({})).await;
        assert!(answer["warning"].as_str().unwrap().contains("another order"), "{answer}");
        assert!(endpoint.good("pq_named", json!({})).await["warning"].is_null());

        db.run("DROP VIEW v; CREATE VIEW v AS SELECT a FROM t").await;
        db.let_read(&login, &["public"]).await;
        assert_eq!(endpoint.bad("pq_named", json!({})).await["code"], "42703");
    })
    .await;
}

#[tokio::test]
async fn a_view_that_came_to_call_a_function_is_refused_though_the_stamp_holds() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE TABLE t (a int); INSERT INTO t VALUES (1); CREATE VIEW v AS SELECT a FROM t;
             CREATE FUNCTION loud(int) RETURNS int VOLATILE LANGUAGE plpgsql AS 'BEGIN RAISE NOTICE ''x''; RETURN $1; END'",
        )
        .await;
        let login = db.reader(&["public"]).await;
        let scope = pins::Scope { selection: ["public.v".to_owned()].into(), ..place() };
        let pin = json!({"id": "a", "name": "pq_all", "purpose": "All", "sql": "SELECT a FROM v LIMIT 10"});
        let node = json!({"relations": ["public.v"], "pins": [stamped_at(&scope, KEY, &pin, &[("a", "integer")])]});
        let setup = Setup { stamp_key: Some(KEY.to_owned()), ..Setup::node(node) };
        let endpoint = setup.start(&db, &login.url).await;
        assert_eq!(endpoint.good("pq_all", json!({})).await["rows"], json!([[1]]));
        db.run("CREATE OR REPLACE VIEW v AS SELECT loud(a) AS a FROM t").await;
        assert_eq!(super::listed(&endpoint).await, ["pq_all"]);
        let failure = endpoint.bad("pq_all", json!({})).await;
        assert_failure(&failure, "user_function", "expected", "test the pin again");
    })
    .await;
}
