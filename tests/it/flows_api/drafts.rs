//! Drafts: what is stored, what is refused, and who wins when two save.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{Editor, document, failure, pin};
use crate::support;

#[tokio::test]
async fn a_draft_is_saved_read_listed_and_not_served_before_it_is_published() {
    support::each_major(async |server| {
        let db = server.database().await;
        let editor = Editor::over(&db).await;
        assert_eq!(editor.get("/flows").await, json!({"flows": []}));
        let made = editor.ask("PUT", "/flows/sales/draft", Some(&document("sales", &[pin("a", 1)]))).await;
        assert_eq!((made.status, made.json()), (201, json!({"id": "sales", "draftVersion": 1})));
        assert_eq!(made.headers["etag"], "\"1\"");

        let reply = editor.ask("GET", "/flows/sales", None).await;
        assert_eq!((reply.status, reply.headers["etag"].to_str().unwrap()), (200, "\"1\""));
        let flow = reply.json();
        assert_eq!(flow["draft"]["nodes"][0]["pins"][0]["name"], "pq_a");
        assert_eq!(flow["draft"]["nodes"][0]["rules"], "months are the first of a month");
        assert_eq!((&flow["live"], &flow["liveVersion"], &flow["publishedDraft"]), (&Value::Null, &json!(0), &Value::Null));

        assert_eq!(editor.save(&document("sales", &[]), 1).await, 2);
        assert_eq!(
            editor.publish("sales").await,
            json!({"id": "sales", "liveVersion": 1, "draftVersion": 2, "changes": 0})
        );
        let list = editor.get("/flows").await;
        let mut listed = list["flows"][0].clone();
        assert!(listed["updatedAt"].as_str().unwrap().ends_with('Z'));
        listed.as_object_mut().unwrap().shift_remove("updatedAt");
        assert_eq!(
            listed,
            json!({"id": "sales", "name": "Flow sales", "kind": "chatflow", "draftVersion": 2, "liveVersion": 1,
                "publishedDraft": 2})
        );
        let flow = editor.get("/flows/sales").await;
        assert_eq!(flow["live"], flow["draft"]);
    })
    .await;
}

#[tokio::test]
async fn a_version_comes_with_the_header_or_the_body_and_must_be_the_newest() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[]), 0).await;
    let bearer = format!("Bearer {}", editor.owner);
    let put = async |version: Option<&str>, body: Value| {
        let mut headers = vec![("authorization", bearer.as_str()), ("content-type", "application/json")];
        headers.extend(version.map(|version| ("if-match", version)));
        editor.send("PUT", "/api/v1/flows/sales/draft", &headers, &body.to_string()).await
    };
    let bare = document("sales", &[]);
    let wrapped = |version: i64| json!({"draft": bare, "version": version});
    assert_eq!(put(Some("\"1\""), bare.clone()).await.status, 200);
    assert_eq!(put(Some("W/\"2\""), json!({"draft": bare})).await.status, 200);
    assert_eq!(put(None, wrapped(3)).await.status, 200);
    assert_eq!(put(Some("4"), wrapped(4)).await.json()["draftVersion"], 5);

    for (version, body, expected) in [
        (None, bare.clone(), (428, "version_required")),
        (Some("\"4\""), bare.clone(), (409, "draft_changed")),
        (None, wrapped(6), (409, "draft_changed")),
        (None, wrapped(0), (409, "draft_changed")),
        (Some("\"5\""), wrapped(4), (400, "invalid_request")),
        (Some("*"), bare.clone(), (400, "invalid_request")),
        (None, json!({"draft": bare, "version": "5"}), (400, "invalid_request")),
        (None, json!({"draft": bare, "version": 5, "more": 1}), (400, "invalid_request")),
    ] {
        let reply = put(version, body).await;
        let (status, code) = failure(&reply);
        assert_eq!((status, code.as_str()), expected, "{version:?} {}", reply.json());
        if [409, 428].contains(&status) {
            assert_eq!(reply.json()["draftVersion"], 5, "the version to go on from is told");
        }
    }
    let body = json!({"draft": document("none", &[]), "version": 1});
    let absent = editor.ask("PUT", "/flows/none/draft", Some(&body)).await;
    assert_eq!(failure(&absent), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_document_with_problems_is_refused_with_all_of_them_and_nothing_is_stored() {
    let db = support::database(17).await;
    let editor = Editor::over(&db).await;
    let mut bad = document("sales", &[pin("a", 1), pin("a", 2)]);
    bad["nodes"][0]["rules"] = json!("x".repeat(2_001));
    bad["nodes"][0]["databaseUrl"] = json!("postgres://u:hunter2@h/d");
    let reply = editor.ask("PUT", "/flows/sales/draft", Some(&bad)).await;
    assert_eq!(failure(&reply), (422, "invalid_flow".to_owned()));
    let problems = reply.json()["problems"].clone();
    let mut paths: Vec<_> =
        problems.as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        ["nodes[0].databaseUrl", "nodes[0].pins[1].id", "nodes[0].pins[1].name", "nodes[0].rules"]
    );
    assert!(!reply.json().to_string().contains("hunter2"));

    let mut longest = document("sales", &[]);
    longest["nodes"][0]["rules"] = json!("ü".repeat(2_000));
    for (body, status) in [
        ("", 422),
        ("{", 422),
        ("[]", 422),
        ("{\"draft\": {}}", 422),
        (r#"{"id":"sales","kind":"chatflow","nodes":[],"kind":"agentflow"}"#, 422),
        (r#"{"draft":{"id":"sales","kind":"chatflow","nodes":[],"nodes":[]}}"#, 422),
        (r#"{"id":"other","kind":"chatflow","nodes":[]}"#, 400),
        (&longest.to_string(), 201),
    ] {
        let headers =
            [("authorization", &*format!("Bearer {}", editor.owner)), ("content-type", "application/json")];
        let reply = editor.send("PUT", "/api/v1/flows/sales/draft", &headers, body).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.json());
    }
}

#[tokio::test]
async fn bodies_of_other_kinds_and_sizes_are_refused() {
    let db = support::database(16).await;
    let editor = Editor::over(&db).await;
    let bearer = format!("Bearer {}", editor.owner);
    let body = document("sales", &[]).to_string();
    let send = async |kind: &str, body: &str| {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        failure(&editor.send("PUT", "/api/v1/flows/sales/draft", &headers, body).await)
    };
    assert_eq!(send("text/plain", &body).await, (415, "unsupported_media_type".to_owned()));
    assert_eq!(send("", &body).await, (415, "unsupported_media_type".to_owned()));
    let long = " ".repeat(4 * 1024 * 1024 + 1);
    assert_eq!(send("application/json", &long).await, (413, "too_large".to_owned()));
}

#[tokio::test]
async fn a_flow_of_2_mb_and_1000_pins_is_saved_published_and_served() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    let filler = "x".repeat(1_880);
    let pins: Vec<Value> = (0..1_000)
        .map(|number| {
            let mut pin = pin(&format!("p{number}"), number + 1);
            pin["sql"] = json!(format!("{} -- {filler}", pin["sql"].as_str().unwrap()));
            pin
        })
        .collect();
    let document = document("large", &pins);
    assert!(document.to_string().len() > 2 * 1024 * 1024, "{}", document.to_string().len());
    editor.save(&document, 0).await;
    assert_eq!(editor.publish("large").await["changes"], 1_000);
    let live = editor.app.control.open_flow("w", "large", super::Instant::now() + super::LATEST).await;
    assert_eq!(live.unwrap().unwrap().flow.nodes[0].pins.len(), 1_000);
    let flow = editor.ask("GET", "/flows/large", None).await;
    assert!(flow.body.len() < 6_000_000, "an answer of Lambda holds it: {}", flow.body.len());
    let rows = db.client().await.query_one("SELECT count(*) FROM pinguard.audit", &[]).await.unwrap();
    assert_eq!(rows.get::<_, i64>(0), 1_000);
}

#[tokio::test]
async fn of_32_saves_over_one_version_one_wins() {
    let db = support::database(18).await;
    let editor = std::sync::Arc::new(Editor::over(&db).await);
    let mut version = 0;
    for _ in 0..3 {
        let mut at_once = JoinSet::new();
        for number in 0..32 {
            let editor = std::sync::Arc::clone(&editor);
            at_once.spawn(async move {
                let body = json!({"draft": document("sales", &[pin("a", number + 1)]), "version": version});
                editor.ask("PUT", "/flows/sales/draft", Some(&body)).await.status
            });
        }
        let mut statuses = at_once.join_all().await;
        statuses.sort_unstable();
        assert!(statuses[0] < 300 && statuses[1..].iter().all(|status| *status == 409), "{statuses:?}");
        version += 1;
        assert_eq!(editor.get("/flows/sales").await["draftVersion"], version);
    }
}
