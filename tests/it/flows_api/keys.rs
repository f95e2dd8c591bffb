//! Keys and credentials over the API.

use serde_json::{Value, json};
use state::Scope;

use super::{Editor, document, failure};
use crate::support;

#[tokio::test]
async fn a_key_is_shown_once_works_and_is_revoked() {
    support::each_major(async |server| {
        let db = server.database().await;
        let editor = Editor::over(&db).await;
        let new = json!({"name": " agent ", "scopes": ["flows:read"], "flows": ["sales"]});
        let made = editor.ask("POST", "/keys", Some(&new)).await;
        assert_eq!(made.status, 201);
        let made = made.json();
        let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
        assert_eq!((key.len(), &made["name"], &made["flows"]), (47, &json!("agent"), &json!(["sales"])));
        let list = editor.get("/keys").await;
        assert!(!list.to_string().contains(key));
        let listed = &list["keys"][0];
        assert_eq!(
            (&listed["id"], &listed["scopes"], &listed["revokedAt"]),
            (&made["id"], &json!(["flows:read"]), &Value::Null)
        );
        let stored: String = db
            .client()
            .await
            .query_one("SELECT string_agg(k::text, ' ') FROM pinguard.api_key k", &[])
            .await
            .unwrap()
            .get(0);
        assert!(!stored.contains(key));

        assert_eq!(editor.by(key, "GET", "/flows", None).await.status, 200);
        assert_eq!(editor.by(key, "GET", "/keys", None).await.status, 403);
        assert_eq!(editor.ask("DELETE", &format!("/keys/{id}"), None).await.status, 204);
        assert_eq!(editor.by(key, "GET", "/flows", None).await.status, 401);
        assert_ne!(editor.get("/keys").await["keys"][0]["revokedAt"], Value::Null);
    })
    .await;
}

#[tokio::test]
async fn a_key_that_could_not_be_made_is_refused_with_what_is_accepted() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    for (body, word) in [
        (json!({}), "name"),
        (json!({"name": "a", "scopes": []}), "at least one scope"),
        (json!({"name": "a", "scopes": ["admin"]}), "mcp:call"),
        (json!({"name": " ", "scopes": ["mcp:call"]}), "1 to 100 characters"),
        (json!({"name": "a\nb", "scopes": ["mcp:call"]}), "one line"),
        (json!({"name": "x".repeat(101), "scopes": ["mcp:call"]}), "1 to 100 characters"),
        (json!({"name": "a", "scopes": ["mcp:call"], "flows": ["A"]}), "a-z"),
        (json!({"name": "a", "scopes": ["mcp:call"], "key": "pgk_x"}), "key"),
        (json!({"name": "a", "scopes": ["mcp:call"], "workspace": "v"}), "workspace"),
    ] {
        let reply = editor.ask("POST", "/keys", Some(&body)).await;
        assert_eq!(failure(&reply), (400, "invalid_request".to_owned()), "{body}");
        assert!(reply.json()["error"].as_str().unwrap().contains(word), "{}", reply.json());
    }
    for id in ["none", "0197f3a0-0000-7000-8000-000000000001", "%00"] {
        assert_eq!(failure(&editor.ask("DELETE", &format!("/keys/{id}"), None).await).0, 404, "{id}");
    }
    assert_eq!(editor.get("/keys").await["keys"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_bound_to_flows_makes_no_key_that_reaches_further() {
    let db = support::database(17).await;
    let editor = Editor::over(&db).await;
    let bound = editor.key("w", 50, &[Scope::KeysManage], Some(&["a", "b"])).await;
    for (flows, status) in [
        (json!(["a"]), 201),
        (json!(["a", "b"]), 201),
        (json!(["c"]), 403),
        (json!(["a", "c"]), 403),
        (Value::Null, 403),
    ] {
        let body = json!({"name": "n", "scopes": ["mcp:call"], "flows": flows});
        assert_eq!(editor.by(&bound, "POST", "/keys", Some(&body)).await.status, status, "{flows}");
    }
    let listed = editor.by(&bound, "GET", "/keys", None).await.json();
    assert_eq!(listed["keys"].as_array().unwrap().len(), 3, "its own and the two it made");
    let new = json!({"id": "cred-1", "secretId": "s"});
    assert_eq!(editor.by(&bound, "POST", "/credentials", Some(&new)).await.status, 403);
}

#[tokio::test]
async fn credentials_are_added_changed_listed_and_removed_when_nothing_uses_them() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    let new = json!({"id": "cred-1", "name": "Sales", "kind": "url", "secretId": "pinguard/sales"});
    let made = editor.ask("POST", "/credentials", Some(&new)).await;
    assert_eq!((made.status, made.json()), (201, new.clone()));
    assert_eq!(
        failure(&editor.ask("POST", "/credentials", Some(&new)).await),
        (409, "credential_taken".to_owned())
    );
    let changed =
        editor.ask("PUT", "/credentials/cred-1", Some(&json!({"secretId": "pinguard/other"}))).await;
    let expected = json!({"id": "cred-1", "name": "cred-1", "kind": "url", "secretId": "pinguard/other"});
    assert_eq!((changed.status, changed.json()), (200, expected.clone()));
    let mut listed = expected;
    listed["agreed"] = json!([]);
    assert_eq!(editor.get("/credentials").await, json!({"credentials": [listed]}));

    let mut used = document("sales", &[]);
    used["nodes"][0]["credential"] = json!("cred-1");
    editor.save(&used, 0).await;
    let refused = editor.ask("DELETE", "/credentials/cred-1", None).await;
    assert_eq!(
        (failure(&refused), &refused.json()["flows"]),
        ((409, "credential_in_use".to_owned()), &json!(["sales"]))
    );
    editor.publish("sales").await;
    editor.save(&document("sales", &[]), 1).await;
    assert_eq!(editor.ask("DELETE", "/credentials/cred-1", None).await.status, 409, "Live uses it still");
    editor.publish("sales").await;
    assert_eq!(editor.ask("DELETE", "/credentials/cred-1", None).await.status, 204);
    assert_eq!(failure(&editor.ask("DELETE", "/credentials/cred-1", None).await).0, 404);
}

#[tokio::test]
async fn a_workspace_names_neither_anothers_secret_nor_pinguards_own() {
    let db = support::database(16).await;
    let editor = Editor::over(&db).await;
    let stranger = editor.key("v", 60, &[Scope::KeysManage], None).await;
    let theirs = json!({"id": "c", "secretId": "theirs"});
    assert_eq!(editor.by(&stranger, "POST", "/credentials", Some(&theirs)).await.status, 201);
    for (secret, status, code) in [
        ("theirs", 403, "secret_not_allowed"),
        (super::CONTROL, 403, "secret_not_allowed"),
        ("postgres://u:hunter2@h/d", 400, "invalid_request"),
        ("", 400, "invalid_request"),
        ("a b", 400, "invalid_request"),
    ] {
        let new = json!({"id": "c", "secretId": secret});
        let reply = editor.ask("POST", "/credentials", Some(&new)).await;
        assert_eq!(failure(&reply), (status, code.to_owned()), "{secret}");
        assert!(!reply.json().to_string().contains("hunter2"));
    }
    for bad in [
        json!({"id": "C", "secretId": "s"}),
        json!({"id": "c", "secretId": "s", "url": "x"}),
        json!({"id": "c", "secretId": "s", "kind": "iam"}),
    ] {
        assert_eq!(failure(&editor.ask("POST", "/credentials", Some(&bad)).await).0, 400, "{bad}");
    }
}
