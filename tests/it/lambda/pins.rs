//! A pin on its way through all four functions: saved, tested, published, audited, called.

use serde_json::{Value, json};

use super::{
    TIME, content,
    control_side::{Deployed, deploy},
    events::{FrontDoor, event},
};
use crate::pin_test_api::{DEMO_SALES, body, flow, revenue};

#[track_caller]
fn accepted(answer: &Value) -> Value {
    assert!([200, 201].contains(&answer["statusCode"].as_i64().unwrap()), "{answer}");
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_pin_that_was_tested_and_published_is_a_tool_with_the_rows_of_its_test() {
    let mut deployed = deploy().await;
    deployed.database.run(DEMO_SALES).await;
    let login = deployed.database.reader(&["public"]).await;
    deployed.aws.create("pinguard/db/acme/shop", &login.url);
    deployed.aws.create("pinguard/stamps", "a stamp key of thirty-two bytes!");
    let credential = json!({"id": "shop", "name": "Shop", "secretId": "pinguard/db/acme/shop"});
    accepted(&deployed.ask("POST", "/credentials", &credential.to_string()));
    let save = |deployed: &mut Deployed, pins: &[Value], version| {
        let draft = json!({"draft": flow("sales", pins), "version": version});
        accepted(&deployed.ask("PUT", "/flows/sales/draft", &draft.to_string()));
    };
    save(&mut deployed, &[], 0);

    let mut pin_test = deployed.start("pin-test", env!("CARGO_BIN_EXE_pin-test-under-test"));
    let path = "/api/v1/pinned-queries/sales/test";
    let test =
        |method: &str, body: &str| event(FrontDoor::HttpApi, method, path, Some(deployed.key.text()), body);
    let tested = accepted(&pin_test.invoke(&test("POST", &body().to_string()), TIME));
    let rows = json!([["east", "64.00"], ["north", "165.50"], ["south", "80.00"]]);
    assert_eq!(tested["rows"], rows);
    assert_eq!(pin_test.invoke(&test("GET", ""), TIME)["statusCode"], 405);
    // Warm, and of a statement that does not run.
    let mut broken = body();
    broken["pin"]["sql"] = json!("DELETE FROM demo_sales WHERE month = :month");
    assert_eq!(pin_test.invoke(&test("POST", &broken.to_string()), TIME)["statusCode"], 422);

    let mut pin = revenue();
    pin["stamp"] = tested["stamp"].clone();
    save(&mut deployed, &[pin], 1);
    accepted(&deployed.ask("POST", "/flows/sales/publish", ""));
    let mut mcp = deployed.start("mcp", env!("CARGO_BIN_EXE_mcp-under-test"));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "pq_revenue_by_region", "arguments": {"month": "2026-01-01"}}});
    let key = deployed.key.text();
    let call = event(FrontDoor::FunctionUrl, "POST", "/mcp/sales/db", Some(key), &call.to_string());
    assert_eq!(content(&mcp.invoke(&call, TIME))["rows"], rows);

    let batch = deployed.batch().await;
    assert_eq!(deployed.audit.invoke(&batch, TIME), json!({"batchItemFailures": []}));
    let mut summaries = deployed.summaries().await;
    summaries.sort();
    assert_eq!(summaries, ["pq_revenue_by_region created", "pq_revenue_by_region tested"]);
}
