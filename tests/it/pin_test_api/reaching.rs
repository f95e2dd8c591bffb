//! The way of a test to its database: by the credential on the canvas, within the node's limits and the pin's.

use serde_json::json;
use state::{Credential, CredentialId};

use super::{Lab, SHOP, body, flow, revenue};
use crate::{
    flows_api::failure,
    support::{self, SLOW},
};

#[tokio::test]
async fn a_credential_of_another_workspace_is_as_absent() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    let id = CredentialId::parse("theirs").unwrap();
    let credential = Credential { id: &id, name: "Theirs", secret_id: SHOP };
    lab.app.control.put_credential("other", &credential).await.unwrap();
    let mut test = body();
    test["canvas"] = json!({"credential": "theirs"});
    let theirs = lab.test("sales", &test).await;
    assert_eq!(failure(&theirs), (409, "no_credential".to_owned()));
    test["canvas"] = json!({"credential": "absent"});
    let absent = lab.test("sales", &test).await;
    assert_eq!(theirs.json().to_string().replace("theirs", "absent"), absent.json().to_string());
}

#[tokio::test]
async fn a_pins_row_cap_lowers_the_nodes_and_raises_nothing() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    for (node_cap, pin_cap, rows) in [(2, 1, 1), (2, 50, 2), (100, 2, 2), (100, 50, 3)] {
        let mut test = body();
        test["canvas"] = json!({"rowCap": node_cap});
        test["pin"]["rowCap"] = json!(pin_cap);
        let answer = lab.pass("sales", &test).await;
        assert_eq!((&answer["rowCount"], &answer["truncated"]), (&json!(rows), &json!(rows < 3)), "{answer}");
    }
}

#[tokio::test]
async fn a_test_ends_at_the_nodes_timeout_and_leaves_nothing_running() {
    let db = support::database(18).await;
    let lab = Lab::over(&db).await;
    lab.editor.save(&flow("sales", &[]), 0).await;
    let mut pin = revenue();
    pin["sql"] = json!(format!("{SLOW} LIMIT 1"));
    pin["params"] = json!([]);
    let test = json!({"nodeId": "db", "pin": pin, "canvas": {"timeoutSeconds": 1}});
    let reply = lab.test("sales", &test).await;
    assert_eq!(failure(&reply), (422, "57014".to_owned()));
    assert!(db.activity().await.iter().all(|row| row.state != "active"), "{:?}", db.activity().await);
}
