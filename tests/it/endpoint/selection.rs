//! A node with ticked tables and views: its tools know these alone.

use serde_json::json;

use super::{Endpoint, Setup, assert_failure, shop};
use crate::support::{self, TestDb};

/// The shop, read by a superuser, with a selection.
async fn selecting(db: &TestDb, relations: &[&str]) -> Endpoint {
    shop::build(db).await;
    Setup::node(json!({"relations": relations})).start(db, &db.url).await
}

const SELECTED: [&str; 4] = ["app.paid", "app.orders", "\"Sales 2026\".people", "app.gone"];

#[tokio::test]
async fn lists_and_descriptions_name_nothing_that_is_not_selected() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = selecting(&db, &SELECTED).await;
        let schemas =
            json!({"schemas": [{"name": "\"Sales 2026\"", "relations": 1}, {"name": "app", "relations": 2}]});
        assert_eq!(endpoint.good("list_schemas", json!({})).await, schemas);
        let tables = endpoint.good("list_tables", json!({})).await;
        let names: Vec<_> = tables["tables"].as_array().unwrap().iter().map(|table| &table["name"]).collect();
        assert_eq!(
            (json!(names), &tables["total"]),
            (json!(["\"Sales 2026\".people", "app.orders", "app.paid"]), &json!(3))
        );
        for schema in ["hr", "pg_catalog", "public"] {
            assert_eq!(
                endpoint.good("list_tables", json!({"schema": schema})).await["tables"],
                json!([]),
                "{schema}"
            );
        }
        let all = Setup::default().start(&db, &db.url).await;
        let paid = all.good("describe", json!({"name": "app.paid"})).await.to_string();
        assert!(paid.contains("salaries") && paid.contains("app.people"), "without a selection: {paid}");
        let endpoint = Setup::node(json!({"relations": SELECTED})).start(&db, &db.url).await;
        for (tool, argument) in [("describe", "name"), ("describe_table", "table")] {
            let paid = endpoint.good(tool, json!({argument: "app.paid"})).await.to_string();
            assert!(!paid.contains("salaries") && !paid.contains("app.people"), "{paid}");
            let orders = endpoint.good(tool, json!({argument: "orders"})).await.to_string();
            assert!(!orders.contains("app.people") && !orders.contains("totals"), "{orders}");
            assert_eq!(
                endpoint.good(tool, json!({argument: "people"})).await["name"],
                "\"Sales 2026\".people"
            );
        }
    })
    .await;
}

#[tokio::test]
async fn what_is_not_selected_gets_the_answer_of_what_does_not_exist() {
    let db = support::database(18).await;
    let endpoint = selecting(&db, &SELECTED).await;
    for name in ["app.people", "hr.salaries", "pg_class", "nosuch", "app.gone", "app.ev"] {
        let failure = endpoint.bad("describe", json!({"name": name})).await;
        assert_failure(
            &failure,
            "unknown_relation",
            "expected",
            "app.paid, app.orders, \"Sales 2026\".people",
        );
        assert_eq!(failure["error"], format!("`{name}` is not one of the selected tables and views"));
    }
}

#[tokio::test]
async fn errors_tell_no_columns_of_a_namesake_that_is_not_selected() {
    support::each_major(async |server| {
        let db = server.database().await;
        shop::build(&db).await;
        let node = json!({"relations": ["\"Sales 2026\".people"], "searchPath": ["app"]});
        let endpoint = Setup::node(node).start(&db, &db.url).await;
        for sql in [
            "SELECT name FROM people",
            "SELECT naem FROM people",
            "SELECT p.sn FROM people AS p",
            "SELECT name + 1 FROM people",
            "WITH p AS (SELECT nosuch FROM people) SELECT 1 FROM p",
        ] {
            let failure = endpoint.bad("query", json!({"sql": sql})).await;
            assert_failure(&failure, "relation_not_selected", "expected", "people");
            assert!(failure["error"].as_str().unwrap().contains("it reads `app.people`"), "{sql}: {failure}");
            assert!(!failure.to_string().contains("ssn"), "{sql}: {failure}");
        }
        let failure = endpoint.refuses("SELECT nosuch FROM \"Sales 2026\".people").await;
        assert_eq!(failure["code"], "42703", "{failure}");
    })
    .await;
}

#[tokio::test]
async fn a_bare_name_of_two_selected_relations_is_ambiguous() {
    let db = support::database(18).await;
    let endpoint = selecting(&db, &["app.people", "\"Sales 2026\".people"]).await;
    let failure = endpoint.bad("describe", json!({"name": "people"})).await;
    assert_failure(&failure, "ambiguous_name", "expected", "schema");
    let people = endpoint.good("describe", json!({"name": "app.people"})).await;
    assert!(people["relationships"].is_null(), "{people}");
}

#[tokio::test]
async fn free_statements_read_what_is_selected_and_nothing_else() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = selecting(&db, &SELECTED).await;
        let orders =
            endpoint.query("SELECT count(*) FROM app.orders o JOIN \"Sales 2026\".people p USING (id)").await;
        assert_eq!(orders["rows"], json!([[0]]));
        // A selected view may read what is not.
        assert_eq!(endpoint.query("SELECT count(*) FROM app.paid").await["rows"], json!([[0]]));
        for (sql, code) in [
            ("SELECT * FROM hr.salaries", "relation_not_selected"),
            ("SELECT * FROM app.orders, pg_class", "relation_not_selected"),
            ("SELECT (SELECT max(pay) FROM hr.salaries) FROM app.orders", "relation_not_selected"),
            ("SELECT 'hr.salaries'::regclass", "type_names_objects"),
            ("EXPLAIN SELECT * FROM app.paid", "not_with_selection"),
            ("SHOW search_path", "not_with_selection"),
            ("DELETE FROM app.orders", "not_a_read"),
        ] {
            let failure = endpoint.refuses(sql).await;
            assert_failure(&failure, code, "expected", "");
        }
        assert!(db.activity().await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn an_unknown_column_is_answered_with_those_there_are() {
    support::each_major(async |server| {
        let db = server.database().await;
        let endpoint = selecting(&db, &["app.paid", "app.orders"]).await;
        let failure = endpoint.refuses("SELECT payment FROM app.paid").await;
        assert_eq!(failure["code"], "42703", "{failure}");
        let said = failure["error"].as_str().unwrap();
        assert!(said.ends_with("Columns of app.paid: name, pay."), "{said}");
        let both = endpoint.refuses("SELECT id FROM app.orders a, app.orders b").await;
        assert_eq!(both["code"], "42702", "{both}");
        assert!(
            both["error"].as_str().unwrap().contains("Columns of app.orders: id, person, amount"),
            "{both}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_comma_separated_text_selects_as_a_list_does() {
    let db = support::database(18).await;
    shop::build(&db).await;
    let node = json!({"relations": "app.orders, \"Sales 2026\".daily"});
    let endpoint = Setup::node(node).start(&db, &db.url).await;
    let tables = endpoint.good("list_tables", json!({})).await;
    let names: Vec<_> = tables["tables"].as_array().unwrap().iter().map(|table| &table["name"]).collect();
    assert_eq!(json!(names), json!(["\"Sales 2026\".daily", "app.orders"]));
}
