//! What the planner may expect of a statement.

use serde_json::{Value, json};

use super::{Setup, assert_failure};
use crate::support::{self, TestDb};

const BIG: &str =
    "CREATE TABLE big AS SELECT i AS n, i % 10 AS k FROM generate_series(1, 50000) AS i; ANALYZE big;
    CREATE VIEW seen AS SELECT k, count(*) AS many FROM big GROUP BY k";

async fn costly(db: &TestDb, limits: Value, relations: Value) -> super::Endpoint {
    Setup::node(json!({"limits": limits, "relations": relations})).start(db, &db.url).await
}

#[tokio::test]
async fn a_statement_of_too_many_expected_rows_does_not_run() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(BIG).await;
        let endpoint = costly(&db, json!({"maxEstimatedRows": 10_000}), json!([])).await;
        for sql in [
            "SELECT n FROM big",
            "TABLE big",
            "EXPLAIN ANALYZE SELECT n FROM big",
            "SELECT n FROM big WHERE n > $1",
        ] {
            let params = if sql.contains("$1") { json!(["3"]) } else { json!([]) };
            let failure = endpoint.bad("query", json!({"sql": sql, "params": params})).await;
            assert_failure(&failure, "plan_too_costly", "expected", "LIMIT");
            let message = failure["error"].as_str().unwrap();
            assert!(message.contains("over this node's limit of 10000"), "{message}");
            assert!(failure["plan"].as_str().unwrap().contains("Seq Scan"), "{failure}");
        }
        for sql in [
            "SELECT n FROM big LIMIT 7",
            "SELECT count(*) FROM big",
            "SELECT n FROM big WHERE n = 3",
            "SHOW timezone",
        ] {
            endpoint.query(sql).await;
        }
        endpoint.query("EXPLAIN SELECT n FROM big").await;
        assert!(db.activity().await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_plan_that_costs_too_much_is_not_run_either() {
    let db = support::database(18).await;
    db.run(BIG).await;
    let endpoint = costly(&db, json!({"maxPlanCost": 100}), json!([])).await;
    let failure = endpoint.refuses("SELECT count(*) FROM big a JOIN big b USING (k)").await;
    assert_failure(&failure, "plan_too_costly", "expected", "indexed columns");
    assert!(failure["error"].as_str().unwrap().contains("a cost of"), "{failure}");
    endpoint.query("SELECT 1").await;
    let both = costly(&db, json!({"maxPlanCost": 1, "maxEstimatedRows": 1}), json!([])).await;
    let message = both.refuses("SELECT n FROM big").await["error"].as_str().unwrap().to_owned();
    assert!(message.contains("rows") && message.contains(" and a cost of "), "{message}");
}

#[tokio::test]
async fn with_a_selection_no_plan_is_told() {
    let db = support::database(18).await;
    db.run(BIG).await;
    let endpoint = costly(&db, json!({"maxPlanCost": 10}), json!(["public.seen"])).await;
    let failure = endpoint.refuses("SELECT * FROM seen").await;
    assert_eq!(failure["code"], "plan_too_costly");
    assert!(failure["plan"].is_null() && !failure.to_string().contains("big"), "{failure}");
}

#[tokio::test]
async fn errors_of_planning_are_those_of_the_statement() {
    let db = support::database(18).await;
    db.run(BIG).await;
    let endpoint = costly(&db, json!({"maxEstimatedRows": 10}), json!([])).await;
    let failure = endpoint.refuses("SELECT 1 / 0").await;
    assert_failure(&failure, "22012", "expected", "");
    let failure = endpoint.refuses("SELECT 'x'::int").await;
    assert_eq!((&failure["code"], &failure["position"]), (&json!("22P02"), &json!(8)));
    let failure = endpoint.refuses("DROP TABLE big").await;
    assert_eq!(failure["code"], "not_a_read", "the guard comes first");
}

#[tokio::test]
async fn every_lane_asks_for_the_plan() {
    let db = support::database(18).await;
    db.run(BIG).await;
    let login = db.plain_login("plain", "").await;
    db.let_read(&login, &["public"]).await;
    db.run(&format!("GRANT TEMPORARY ON DATABASE {} TO {}", db.name, login.role)).await;
    let node = json!({"limits": {"maxEstimatedRows": 100}});
    let endpoint = Setup::node(node).start(&db, &login.url).await;
    let failure =
        endpoint.bad("query", json!({"sql": "SELECT n FROM big WHERE n > $1", "params": [1]})).await;
    assert_eq!(failure["code"], "plan_too_costly", "{failure}");
    let answer =
        endpoint.good("query", json!({"sql": "SELECT n FROM big WHERE n = $1", "params": [1]})).await;
    assert_eq!(answer["rows"], json!([[1]]));
    assert_eq!(endpoint.records()[1].lane.as_deref(), Some("function"));
}
