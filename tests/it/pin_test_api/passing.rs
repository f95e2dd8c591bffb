//! What a passing test gives, and what becomes of its stamp.

use serde_json::{Value, json};

use super::{Lab, body, flow, revenue};
use crate::support;

#[tokio::test]
async fn a_tested_pin_is_saved_published_and_called_with_the_rows_of_its_test() {
    support::each_major(async |server| {
        let db = server.database().await;
        let lab = Lab::over(&db).await;
        lab.editor.save(&flow("sales", &[revenue()]), 0).await;
        let tested = lab.pass("sales", &body()).await;
        let rows = json!([["east", "64.00"], ["north", "165.50"], ["south", "80.00"]]);
        assert_eq!(tested["rows"], rows);
        let columns = json!([{"name": "region", "type": "text"}, {"name": "revenue", "type": "numeric"}]);
        assert_eq!((&tested["columns"], &tested["testedColumns"]), (&columns, &columns));
        assert_eq!((&tested["testedBy"], &tested["truncated"]), (&json!("key 1"), &json!(false)));
        assert!(tested["testedAt"].as_str().unwrap().ends_with('Z'), "{tested}");
        assert_eq!(tested["suggestedTypes"], json!({}));
        assert!(!tested.to_string().contains("postgresql://"), "{tested}");

        // A test stores nothing: the pin of the draft has no stamp yet.
        let mut pin = revenue();
        assert!(lab.editor.get("/flows/sales").await["draft"]["nodes"][0]["pins"][0]["stamp"].is_null());
        pin["stamp"] = tested["stamp"].clone();
        lab.editor.save(&flow("sales", &[pin.clone()]), 1).await;
        lab.editor.publish("sales").await;
        assert_eq!(lab.offered("/mcp/sales/db").await, ["pq_revenue_by_region"]);
        let call = json!({"name": "pq_revenue_by_region", "arguments": {"month": "2026-01-01"}});
        let answer = lab.agent("/mcp/sales/db", "tools/call", call).await;
        assert_eq!(answer["result"]["structuredContent"]["rows"], rows, "{answer}");

        // A copy in the same workspace keeps the stamp.
        lab.editor.save(&flow("copy", &[pin]), 0).await;
        lab.editor.publish("copy").await;
        assert_eq!(lab.offered("/mcp/copy/db").await, ["pq_revenue_by_region"]);
    })
    .await;
}

#[tokio::test]
async fn what_the_canvas_says_counts_and_the_rest_comes_from_the_draft_or_from_live() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    lab.editor.publish("sales").await;
    let with = |canvas: Value| {
        let mut body = body();
        body["canvas"] = canvas;
        body
    };
    assert_eq!(lab.pass("sales", &with(json!({}))).await["rowCount"], 3);
    // One text with commas, and a row cap with a fraction, are read as a save reads them.
    let canvas = json!({"relations": "public.demo_sales, public.other", "rowCap": 2.9, "timeoutSeconds": 5,
        "searchPath": ["public"], "allowedFunctions": [], "credential": "shop", "pins": [revenue()]});
    let tested = lab.pass("sales", &with(canvas)).await;
    assert_eq!((&tested["rowCount"], &tested["truncated"]), (&json!(2), &json!(true)));
    let refused = lab.test("sales", &with(json!({"relations": ["public.other"]}))).await.json();
    assert_eq!(refused["code"], "relation_not_selected", "{refused}");
    // A draft that is there wins over Live.
    let mut draft = flow("sales", &[]);
    draft["nodes"][0]["rowCap"] = json!(1);
    lab.editor.save(&draft, 1).await;
    assert_eq!(lab.pass("sales", &body()).await["rowCount"], 1);
}

#[tokio::test]
async fn types_are_suggested_where_the_server_infers_them_and_text_is_never_taken_for_granted() {
    support::each_major(async |server| {
        let db = server.database().await;
        let lab = Lab::over(&db).await;
        lab.editor.save(&flow("sales", &[]), 0).await;
        let suggested = async |sql: &str, names: &[&str]| {
            let params: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
            let pin = json!({"id": "p", "name": "pq_p", "purpose": "P", "sql": sql, "params": params});
            let reply = lab.test("sales", &json!({"nodeId": "db", "pin": pin, "values": {}})).await;
            assert_eq!((reply.status, &reply.json()["code"]), (422, &json!("invalid_pin")), "{}", reply.json());
            reply.json()["suggestedTypes"].clone()
        };
        let sql = "SELECT region FROM demo_sales WHERE month = :month AND units > :n AND amount < :a AND region = :r \
                   AND (:flag OR region LIKE :like) LIMIT 10";
        assert_eq!(
            suggested(sql, &["month", "n", "a", "r", "flag", "like"]).await,
            json!({"month": "date", "n": "int8", "a": "numeric", "r": "text", "flag": "bool", "like": "text"})
        );
        // Anything would do, nothing is inferred, or none of the types stands for it.
        assert_eq!(suggested("SELECT :x AS x LIMIT 1", &["x"]).await, json!({"x": null}));
        assert_eq!(suggested("SELECT concat(:x, 'b') AS x LIMIT 1", &["x"]).await, json!({"x": null}));
        assert_eq!(
            suggested("SELECT id FROM demo_sales WHERE :x IS NULL OR month = :m LIMIT 1", &["x", "m"]).await,
            json!({"x": null, "m": "date"})
        );
        assert_eq!(
            suggested("SELECT id FROM demo_sales WHERE id = ANY (ARRAY[:a, :b]) LIMIT 1", &["a", "b"]).await,
            json!({"a": null, "b": null}),
            "PostgreSQL takes such elements for text, which does not fit"
        );
        assert_eq!(
            suggested("SELECT '10.0.0.1'::inet <<= :net AS x LIMIT 1", &["net"]).await,
            json!({"net": null}),
            "inet is none of the types"
        );
    })
    .await;
}

#[tokio::test]
async fn a_result_with_as_many_rows_as_its_limit_says_so() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    let mut body = body();
    body["pin"]["sql"] = json!(revenue()["sql"].as_str().unwrap().replace("100", "3"));
    assert_eq!(lab.pass("sales", &body).await["possiblyTruncated"], true);
}
