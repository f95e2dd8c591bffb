//! Lanes as callers and operators see them: in `_meta`, in the call record, in the refusal that names the grant.

use std::collections::BTreeSet;

use serde_json::json;
use state::{Agreement, CredentialId};

use super::{Setup, assert_failure};
use crate::client::soon;
use crate::support::each_major;

#[tokio::test]
async fn a_login_without_any_lane_is_told_what_to_grant_and_what_its_operator_agrees_to_counts() {
    each_major(async |server| {
        let db = server.database().await;
        db.run(&format!("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC", db.name)).await;
        let login = db.plain_login("plain", "").await;
        let endpoint = Setup::default().start(&db, &login.url).await;
        let grant = if server.major == 14 { "ALTER ROLE" } else { "GRANT SET ON PARAMETER log_min_messages" };
        assert_failure(&endpoint.refuses("SELECT 1").await, "no_lane", "expected", grant);
        let record = serde_json::to_value(&endpoint.records()[0]).unwrap();
        assert_eq!((&record["effect"], &record["code"]), (&json!("refused"), &json!("no_lane")));

        let id = CredentialId::parse("cred-1").unwrap();
        let agreed = BTreeSet::from([Agreement::Loud]);
        assert!(endpoint.app.control.agree("w", &id, &agreed, soon(5)).await.unwrap());
        let answer =
            endpoint.ask("tools/call", json!({"name": "query", "arguments": {"sql": "SELECT 1"}})).await;
        assert_eq!(answer["result"]["_meta"]["lane"], "loud", "{answer}");

        assert!(endpoint.app.control.agree("w", &id, &BTreeSet::new(), soon(5)).await.unwrap());
        assert_failure(&endpoint.refuses("SELECT 1").await, "no_lane", "expected", grant);
        assert!(!endpoint.app.control.agree("other", &id, &agreed, soon(5)).await.unwrap());
    })
    .await;
}

#[tokio::test]
async fn the_lane_is_named_to_the_caller_and_in_the_record() {
    each_major(async |server| {
        let db = server.database().await;
        for (login, lane) in
            [(db.reader(&[]).await, "quiet"), (db.plain_login("plain", "").await, "function")]
        {
            let endpoint = Setup::default().start(&db, &login.url).await;
            let answer =
                endpoint.ask("tools/call", json!({"name": "query", "arguments": {"sql": "SELECT 1"}})).await;
            assert_eq!(answer["result"]["_meta"]["lane"], lane, "{answer}");
            assert_eq!(endpoint.records()[0].lane.as_deref(), Some(lane));
        }
    })
    .await;
}
