//! What a pin takes, what it gives, and what its call leaves behind.

use serde_json::{Value, json};
use state::Effect;

use super::{DEMO_SALES, Setup, both, call, listed, revenue, stamped, top, with_pins};
use crate::endpoint::assert_failure;
use crate::support;

#[tokio::test]
async fn the_worked_example_gives_its_rows() {
    support::each_major(async |server| {
        let db = server.database().await;
        db.run(DEMO_SALES).await;
        let login = db.reader(&["public"]).await;
        let endpoint = with_pins(&both()).start(&db, &login.url).await;
        let answer = endpoint.good("pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
        assert_eq!(answer["rows"], json!([["east", "64.00"], ["north", "165.50"], ["south", "80.00"]]));
        assert_eq!(answer["columns"][1], json!({"name": "revenue", "type": "numeric"}));
        let hash = answer["pinned"]["statementHash"].as_str().unwrap();
        assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
        assert_eq!(
            answer["pinned"],
            json!({"id": "p1", "version": 3, "statementHash": hash, "tool": "pq_revenue_by_region"})
        );
        for absent in ["possiblyTruncated", "columnsChanged", "warning"] {
            assert!(answer[absent].is_null(), "{absent} in {answer}");
        }
        let answer = endpoint.good("pq_top_products", json!({"month": "2026-01-01", "n": 2})).await;
        assert_eq!(answer["rows"], json!([["cedar tea", "200.00"], ["linen towel", "64.00"]]));
    })
    .await;
}

#[tokio::test]
async fn a_listed_pin_says_what_it_is_and_takes_only_its_parameters() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let endpoint = with_pins(&both()).start(&db, &db.url).await;
    let tool = endpoint.tool("pq_top_products").await;
    assert!(
        tool["description"].as_str().unwrap().starts_with("Products by revenue. A pinned query:"),
        "{tool}"
    );
    let properties = tool["inputSchema"]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["month", "n"]);
    assert_eq!(tool["inputSchema"]["required"], json!(["month", "n"]));
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    let shown = tool.to_string();
    assert!(
        !shown.contains("demo_sales") && !shown.contains("SELECT"),
        "the statement is not shown: {shown}"
    );
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_answered_with_the_parameters() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let endpoint = with_pins(&both()).start(&db, &db.url).await;
    for (arguments, said) in [
        (json!({"month": "2026-01-01"}), "`n`: missing"),
        (json!({}), "`month`: missing"),
        (json!({"month": "2026-02-30", "n": 1}), "`month`"),
        (json!({"month": "January", "n": 1}), "`month`"),
        (json!({"month": null, "n": 1}), "got null"),
        (json!({"month": "2026-01-01", "n": 21}), "`n`"),
        (json!({"month": "2026-01-01", "n": 1.5}), "`n`"),
        (json!({"month": "2026-01-01", "n": "1; DROP TABLE demo_sales"}), "`n`"),
        (json!({"month": "2026-01-01", "n": [1]}), "`n`"),
        (json!({"month": "2026-01-01", "n": 1, "limit": 5}), "`limit`: no such parameter"),
        (json!({"month": "2026-01-01", "n": 1, "sql": "SELECT 1"}), "`sql`: no such parameter"),
        (json!({"month": "2026-01-01", "n": 1, "cursor": "x"}), "`cursor`: no such parameter"),
    ] {
        let failure = endpoint.bad("pq_top_products", arguments.clone()).await;
        assert_failure(
            &failure,
            "invalid_arguments",
            "expected",
            "`month` (date, required), `n` (int8, required)",
        );
        assert!(failure["error"].as_str().unwrap().contains(said), "{arguments}: {failure}");
    }
    assert!(
        endpoint.records().iter().all(|record| record.effect == Effect::Failed && record.sql_hash.is_some())
    );
}

#[tokio::test]
async fn values_arrive_as_they_were_sent() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let pin = json!({"id": "echo", "name": "pq_echo", "purpose": "Echo", "sql": "SELECT :a AS a, :b AS b, :c AS c LIMIT 1",
        "params": [{"name": "a", "type": "text"}, {"name": "b", "type": "numeric"}, {"name": "c", "type": "text", "required": false}]});
    let pin = stamped(&pin, &[("a", "text"), ("b", "numeric"), ("c", "text")]);
    let endpoint = with_pins(&[pin]).start(&db, &db.url).await;
    for text in [
        "",
        "'",
        "\\",
        "'; DROP TABLE demo_sales; --",
        "$1",
        ":a",
        "$$",
        "E'\\x00'",
        "ü\u{2028}😀",
        "--",
        "/*",
    ] {
        let answer = endpoint.good("pq_echo", json!({"a": text, "b": "1.50"})).await;
        assert_eq!(answer["rows"], json!([[text, "1.50", null]]));
    }
}

#[tokio::test]
async fn the_lower_of_the_caps_counts() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let pin = |limit: u32, cap: Value| {
        let sql = format!("SELECT id FROM demo_sales ORDER BY id LIMIT {limit}");
        let pin = json!({"id": "p", "name": "pq_ids", "purpose": "Ids", "sql": sql, "rowCap": cap});
        stamped(&pin, &[("id", "bigint")])
    };
    for (limit, pin_cap, node_cap, rows, truncated, possibly) in [
        (100, json!(null), json!(null), 6, false, json!(null)),
        (6, json!(null), json!(null), 6, false, json!(true)),
        (3, json!(null), json!(null), 3, false, json!(true)),
        (100, json!(2), json!(null), 2, true, json!(null)),
        (100, json!(5), json!(4), 4, true, json!(null)),
        (100, json!(2), json!(4), 2, true, json!(null)),
        (2, json!(5), json!(4), 2, false, json!(true)),
    ] {
        let node =
            json!({"relations": ["public.demo_sales"], "pins": [pin(limit, pin_cap)], "rowCap": node_cap});
        let setup = Setup { node, ..with_pins(&[]) };
        let answer = setup.start(&db, &db.url).await.good("pq_ids", json!({})).await;
        assert_eq!(
            (&answer["rowCount"], &answer["truncated"], &answer["possiblyTruncated"]),
            (&json!(rows), &json!(truncated), &possibly),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn what_the_database_says_against_a_pin_tells_no_place_in_a_statement_that_nobody_sees() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let pin = json!({"id": "p", "name": "pq_ratio", "purpose": "Ratio", "sql": "SELECT 1 / :n AS x LIMIT 1",
                     "params": [{"name": "n", "type": "int8"}]});
    let gone = json!({"id": "q", "name": "pq_gone", "purpose": "Gone", "sql": "SELECT colour FROM demo_sales LIMIT 1"});
    let pins = [stamped(&pin, &[("x", "bigint")]), stamped(&gone, &[("colour", "text")])];
    let endpoint = with_pins(&pins).start(&db, &db.url).await;
    let failure = endpoint.bad("pq_ratio", json!({"n": 0})).await;
    assert_failure(&failure, "22012", "expected", "other values may help");
    let failure = endpoint.bad("pq_gone", json!({})).await;
    assert_eq!((&failure["code"], &failure["outcome"]), (&json!("42703"), &json!("expected")), "{failure}");
    assert!(failure["hint"].as_str().unwrap().contains("test the pin again"), "{failure}");
    assert!(failure["position"].is_null(), "{failure}");
}

#[tokio::test]
async fn records_name_the_pin_and_free_sql_the_pins_that_it_passed_by() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let untested =
        json!({"id": "p3", "name": "pq_untested", "purpose": "Untested", "sql": "SELECT 1 LIMIT 1"});
    let [one, two] = both();
    let endpoint = with_pins(&[one, two, untested]).start(&db, &db.url).await;
    endpoint.query("SELECT count(*) FROM demo_sales").await;
    endpoint.good("pq_revenue_by_region", json!({"month": "2026-01-01"})).await;
    endpoint.good("describe", json!({"name": "demo_sales"})).await;
    endpoint.refuses("DELETE FROM demo_sales").await;
    let records = endpoint.records();
    let offered = Some(vec!["pq_revenue_by_region".to_owned(), "pq_top_products".to_owned()]);
    assert_eq!(records[0].free_sql_with_pin, offered);
    assert_eq!((records[1].pin.as_deref(), records[1].pin_version), (Some("p1"), Some(3)));
    assert_eq!((&records[1].tool[..], &records[1].free_sql_with_pin), ("pq_revenue_by_region", &None));
    assert_eq!(records[1].tables_read.as_deref(), Some(&["public.demo_sales".to_owned()][..]));
    assert_eq!(records[2].free_sql_with_pin, None);
    assert_eq!((records[3].effect, &records[3].free_sql_with_pin), (Effect::Refused, &offered));
}

#[tokio::test]
async fn a_node_without_the_action_query_offers_its_pins_alone() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let node = json!({"relations": ["public.demo_sales"], "pins": both(), "actions": []});
    let endpoint = Setup { node, ..with_pins(&[]) }.start(&db, &db.url).await;
    let names: Vec<&Value> = endpoint.tools().await.iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["next_page", "pq_revenue_by_region", "pq_top_products"]);
    let answer = endpoint.ask("tools/call", json!({"name": "query", "arguments": {"sql": "SELECT 1"}})).await;
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(said.contains("there is no tool `query`") && said.contains("pq_top_products"), "{said}");
}

#[tokio::test]
async fn a_thousand_pins_are_listed_and_called() {
    let db = support::database(18).await;
    db.run(DEMO_SALES).await;
    let pins: Vec<Value> = (0..1_000)
        .map(|number| {
            let mut pin = if number % 2 == 0 { revenue() } else { top() };
            pin["id"] = json!(format!("p{number}"));
            pin["name"] = json!(format!("pq_number_{number}"));
            stamped(&pin, &[("region", "text"), ("revenue", "numeric")])
        })
        .collect();
    let endpoint = with_pins(&pins).start(&db, &db.url).await;
    let list = endpoint.ask("tools/list", json!({})).await;
    assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 1_006);
    // What a Lambda function can answer at most.
    let bytes = list.to_string().len();
    assert!(bytes < 6 * 1024 * 1024, "{bytes}");
    assert_eq!(listed(&endpoint).await.len(), 1_000);
    let answer = call(&endpoint, "pq_number_998", json!({"month": "2026-01-01"})).await;
    assert_eq!(answer["rowCount"], 3, "{answer}");
    endpoint.query("SELECT 1").await;
    assert_eq!(endpoint.records().pop().unwrap().free_sql_with_pin.unwrap().len(), 1_000);
}
