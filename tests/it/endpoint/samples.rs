//! The values that `describe` shows of columns that hold only a few.

use serde_json::json;

use super::Setup;
use crate::support::each_major;

#[tokio::test]
async fn columns_that_hold_a_few_short_values_show_them() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(
            "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN label AS text;
             CREATE TABLE t (id int, \"Region\" text, code char(4), kind varchar(9), feels mood, free text, long text, \
               none text, named label);
             INSERT INTO t SELECT i, CASE WHEN i % 2 = 0 THEN ' west' END, 'ab', 'k' || i % 3, 'ok', 'f' || i, repeat('x', 41), \
               NULL, 'n' FROM generate_series(1, 30) i;
             CREATE VIEW v AS SELECT \"Region\" FROM t;
             CREATE VIEW runs AS SELECT \"Region\", pg_sleep(0)::text AS s FROM t;
             CREATE TABLE wide (a text, b text, c text, d text, e text, f text, g text, h text, i text);
             INSERT INTO wide VALUES ('1', '2', '3', '4', '5', '6', '7', '8', '9')",
        )
        .await;
        let login = db.reader(&["public"]).await;
        for node in [json!({}), json!({"relations": ["public.t", "public.v", "public.runs", "public.wide"]})] {
            let endpoint = Setup::node(node).start(&db, &login.url).await;
            let values = async |name: &str| endpoint.good("describe", json!({"name": name})).await["values"].clone();
            let expected = json!({"\"Region\"": [" west"], "code": ["ab"], "kind": ["k0", "k1", "k2"], "feels": ["ok"]});
            assert_eq!(values("t").await, expected);
            assert_eq!(values("v").await, json!({"\"Region\"": [" west"]}));
            assert_eq!(values("runs").await, json!(null), "what the guard refuses is not read");
            assert_eq!(values("wide").await.as_object().unwrap().len(), 8);
        }
    })
    .await;
}

#[tokio::test]
async fn a_login_without_a_lane_gets_the_description_without_values() {
    each_major(async |server| {
        let db = server.database().await;
        db.run("CREATE TABLE t (a text); INSERT INTO t VALUES ('x')").await;
        db.run(&format!("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", db.name)).await;
        let login = db.plain_login("plain", "").await;
        db.let_read(&login, &["public"]).await;
        let endpoint = Setup::default().start(&db, &login.url).await;
        let described = endpoint.good("describe", json!({"name": "t"})).await;
        assert_eq!((&described["columns"], &described["values"]), (&json!(["a text"]), &json!(null)));
    })
    .await;
}
