//! Who may what: keys, scopes, flows that a key is bound to, other workspaces, pages, and a control database that is away.

use serde_json::{Value, json};
use state::Scope;

use super::{Editor, document, failure, pin};
use crate::support;

const ROUTES: [(&str, &str, &[Scope]); 15] = [
    ("GET", "/flows", &[Scope::FlowsRead]),
    ("GET", "/flows/sales", &[Scope::FlowsRead]),
    ("PUT", "/flows/sales/draft", &[Scope::ChatflowsUpdate]),
    ("POST", "/flows/sales/publish", &[Scope::ChatflowsUpdate]),
    ("DELETE", "/flows/sales", &[Scope::ChatflowsUpdate]),
    ("GET", "/flows/sales/nodes/db/relations", &[Scope::FlowsRead]),
    ("POST", "/flows/sales/nodes/db/relations", &[Scope::ChatflowsUpdate]),
    ("GET", "/audit", &[Scope::AuditRead]),
    ("GET", "/credentials", &[Scope::FlowsRead, Scope::KeysManage]),
    ("POST", "/credentials", &[Scope::KeysManage]),
    ("PUT", "/credentials/none", &[Scope::KeysManage]),
    ("DELETE", "/credentials/none", &[Scope::KeysManage]),
    ("GET", "/keys", &[Scope::KeysManage]),
    ("POST", "/keys", &[Scope::KeysManage]),
    ("DELETE", "/keys/none", &[Scope::KeysManage]),
];

fn body(method: &str, path: &str) -> Option<Value> {
    match (method, path) {
        ("PUT", "/flows/sales/draft") => Some(json!({"draft": document("sales", &[]), "version": 99})),
        ("POST", "/flows/sales/publish") | ("DELETE", "/flows/sales") => Some(json!({"version": 99})),
        ("POST", "/credentials" | "/keys") => Some(json!({})),
        ("PUT", _) => Some(json!({"secretId": "s"})),
        _ => None,
    }
}

#[tokio::test]
async fn each_route_asks_for_its_scope_and_for_no_other() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[]), 0).await;
    for (byte, scope) in (10..).zip(Scope::ALL) {
        let key = editor.key("w", byte, &[scope], None).await;
        for (method, path, scopes) in ROUTES {
            let reply = editor.by(&key, method, path, body(method, path).as_ref()).await;
            assert_eq!(
                reply.status != 403,
                scopes.contains(&scope),
                "{scope} at {method} {path}: {}",
                reply.status
            );
            assert_ne!(reply.status, 401);
            if reply.status == 403 {
                assert_eq!(failure(&reply).1, "forbidden");
            }
        }
    }
}

#[tokio::test]
async fn without_a_good_key_every_route_answers_401_and_nothing_more() {
    let db = support::database(17).await;
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[]), 0).await;
    let revoked = editor.key("w", 40, &Scope::ALL, None).await;
    let keys = editor.get("/keys").await;
    let id =
        keys["keys"].as_array().unwrap().iter().find(|key| key["name"] == "key 40").unwrap()["id"].clone();
    assert_eq!(editor.ask("DELETE", &format!("/keys/{}", id.as_str().unwrap()), None).await.status, 204);
    let unknown = state::ApiKey::from_random([99; 32]).text().to_owned();
    for (method, path, _) in ROUTES {
        for header in [
            None,
            Some("Basic x"),
            Some("Bearer"),
            Some("Bearer x"),
            Some(&*format!("Bearer {unknown}")),
            Some(&*format!("Bearer {revoked}")),
        ] {
            let mut headers = vec![("content-type", "application/json")];
            headers.extend(header.map(|header| ("authorization", header)));
            let body = body(method, path).map(|body| body.to_string()).unwrap_or_default();
            let reply = editor.send(method, &format!("/api/v1{path}"), &headers, &body).await;
            assert_eq!(failure(&reply), (401, "unauthorized".to_owned()), "{method} {path} {header:?}");
            assert_eq!(reply.headers["www-authenticate"], "Bearer realm=\"pinguard\"");
        }
    }
}

#[tokio::test]
async fn a_kind_of_flow_is_changed_with_its_own_scope_and_not_turned_into_the_other() {
    let db = support::database(16).await;
    let editor = Editor::over(&db).await;
    let mut agentflow = document("agents", &[]);
    agentflow["kind"] = json!("agentflow");
    editor.save(&agentflow, 0).await;
    editor.save(&document("chat", &[]), 0).await;
    let chat = editor.key("w", 20, &[Scope::ChatflowsUpdate], None).await;
    let agents = editor.key("w", 21, &[Scope::AgentflowsUpdate], None).await;
    let mut turned = document("agents", &[]);
    for (key, method, path, body, status) in [
        (&chat, "PUT", "/flows/chat/draft", json!({"draft": document("chat", &[]), "version": 1}), 200),
        (&agents, "PUT", "/flows/agents/draft", json!({"draft": agentflow, "version": 1}), 200),
        (&chat, "PUT", "/flows/agents/draft", json!({"draft": agentflow, "version": 2}), 403),
        (&chat, "PUT", "/flows/agents/draft", json!({"draft": turned, "version": 2}), 403),
        (&agents, "PUT", "/flows/agents/draft", json!({"draft": turned, "version": 2}), 403),
        (&chat, "POST", "/flows/agents/publish", json!({}), 403),
        (&chat, "DELETE", "/flows/agents", json!({}), 403),
        (&chat, "POST", "/flows/agents/nodes/db/relations", json!({}), 403),
        (&agents, "POST", "/flows/agents/nodes/db/relations", json!({}), 200),
        (&agents, "POST", "/flows/agents/publish", json!({}), 200),
    ] {
        let reply = editor.by(key, method, path, Some(&body)).await;
        assert_eq!(reply.status, status, "{method} {path} {}", String::from_utf8_lossy(&reply.body));
    }
    turned["kind"] = json!("chatflow");
    assert_eq!(editor.save(&turned, 2).await, 3, "with both scopes it may");
}

#[tokio::test]
async fn what_belongs_to_another_workspace_or_a_flow_the_key_is_not_bound_to_is_not_found() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[pin("a", 1)]), 0).await;
    editor.publish("sales").await;
    editor.save(&document("other", &[pin("b", 1)]), 0).await;
    editor.publish("other").await;
    let credential = json!({"id": "cred-1", "secretId": "s1"});
    assert_eq!(editor.ask("POST", "/credentials", Some(&credential)).await.status, 201);
    let key_id = editor.get("/keys").await["keys"][0]["id"].as_str().unwrap().to_owned();

    let stranger = editor.key("v", 30, &Scope::ALL, None).await;
    let bound = editor.key("w", 31, &Scope::ALL, Some(&["other"])).await;
    let mine = |version: i64| Some(json!({"draft": document("sales", &[]), "version": version}));
    for key in [&stranger, &bound] {
        for (method, path, body) in [
            ("GET", "/flows/sales".to_owned(), None),
            ("PUT", "/flows/sales/draft".to_owned(), mine(1)),
            ("POST", "/flows/sales/publish".to_owned(), None),
            ("DELETE", "/flows/sales".to_owned(), None),
            ("GET", "/flows/sales/nodes/db/relations".to_owned(), None),
            ("POST", "/flows/sales/nodes/db/relations".to_owned(), None),
            ("DELETE", format!("/keys/{key_id}"), None),
        ] {
            let reply = editor.by(key, method, &path, body.as_ref()).await;
            assert_eq!(failure(&reply), (404, "not_found".to_owned()), "{method} {path}");
        }
    }
    let as_absent = editor.ask("GET", "/flows/absent", None).await.json();
    let theirs = editor.by(&stranger, "GET", "/flows/sales", None).await.json();
    assert_eq!(
        theirs.to_string().replace("sales", "absent"),
        as_absent.to_string(),
        "the two cannot be told apart"
    );

    assert_eq!(editor.by(&stranger, "GET", "/flows", None).await.json(), json!({"flows": []}));
    assert_eq!(editor.by(&stranger, "GET", "/audit", None).await.json(), json!({"events": [], "next": null}));
    assert_eq!(editor.by(&stranger, "GET", "/credentials", None).await.json(), json!({"credentials": []}));
    let keys = editor.by(&stranger, "GET", "/keys", None).await.json();
    assert_eq!(keys["keys"].as_array().unwrap().len(), 1, "its own alone");
    assert_eq!(failure(&editor.by(&stranger, "DELETE", "/credentials/cred-1", None).await).0, 404);
    let change = json!({"secretId": "s2"});
    assert_eq!(failure(&editor.by(&stranger, "PUT", "/credentials/cred-1", Some(&change)).await).0, 404);
    // A flow of the same id in another workspace is another flow.
    let reply = editor.by(&stranger, "PUT", "/flows/sales/draft", Some(&document("sales", &[]))).await;
    assert_eq!(reply.status, 201);
    assert_eq!(editor.get("/flows/sales").await["draftVersion"], 1);

    let flows = editor.by(&bound, "GET", "/flows", None).await.json();
    assert_eq!((flows["flows"].as_array().unwrap().len(), &flows["flows"][0]["id"]), (1, &json!("other")));
    for query in ["", "?flow=sales", "?flow=other"] {
        let audit = editor.by(&bound, "GET", &format!("/audit{query}"), None).await.json();
        let found = audit["events"].as_array().unwrap().len();
        assert_eq!(found, usize::from(query != "?flow=sales"), "{query}");
    }
}

#[tokio::test]
async fn pages_of_other_origins_and_other_hosts_may_not_call() {
    let db = support::database(18).await;
    let mut editor = Editor::over(&db).await;
    std::sync::Arc::get_mut(&mut editor.app).unwrap().settings.front.allowed_hosts =
        vec!["localhost".to_owned()];
    let bearer = format!("Bearer {}", editor.owner);
    for (host, origin, status) in [
        ("localhost", None, 200),
        ("LOCALHOST:8787", None, 200),
        ("localhost", Some("https://editor.example.com"), 200),
        ("localhost", Some("https://evil.example.com"), 403),
        ("localhost", Some("null"), 403),
        ("evil.example.com", None, 403),
        ("evil.example.com:8787", Some("https://editor.example.com"), 403),
    ] {
        let mut headers = vec![("authorization", bearer.as_str()), ("host", host)];
        headers.extend(origin.map(|origin| ("origin", origin)));
        let reply = editor.send("GET", "/api/v1/flows", &headers, "").await;
        assert_eq!(reply.status, status, "{host} {origin:?}");
    }
}

#[tokio::test]
async fn a_control_database_that_is_away_is_a_503_and_comes_back() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[]), 0).await;
    let secret = editor.secrets.0.join(super::CONTROL);
    db.run("ALTER SCHEMA pinguard RENAME TO away").await;
    for (method, path, _) in ROUTES {
        let reply = editor.ask(method, path, body(method, path).as_ref()).await;
        assert_eq!(failure(&reply), (503, "control_unavailable".to_owned()), "{method} {path}");
        assert!(!reply.json().to_string().contains("postgres"), "no address and no login is told");
    }
    db.run("ALTER SCHEMA away RENAME TO pinguard").await;
    assert_eq!(editor.get("/flows").await["flows"][0]["id"], "sales");

    std::fs::write(&secret, "postgres://u:hunter2@127.0.0.1:1/d").unwrap();
    let reply = editor.ask("POST", "/flows/sales/publish", None).await;
    assert_eq!(failure(&reply).0, 503);
    assert!(!reply.json().to_string().contains("hunter2"));
    std::fs::write(&secret, &db.url).unwrap();
    editor.publish("sales").await;
}
