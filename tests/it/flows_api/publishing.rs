//! From draft to Live: who wins, what the audit says of it, and what outlives a crash.

use std::sync::Arc;

use serde_json::{Value, json};
use state::{EventSink, Lines};
use tokio::{sync::mpsc, task::JoinSet};

use super::{Editor, document, failure, pin};
use crate::support::{self, TestDb};

async fn count(db: &TestDb, table: &str) -> i64 {
    db.client().await.query_one(&format!("SELECT count(*) FROM pinguard.{table}"), &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn of_32_publishes_of_one_version_one_wins() {
    let db = support::database(18).await;
    let editor = Arc::new(Editor::over(&db).await);
    for version in 1..=3 {
        editor.save(&document("sales", &[pin("a", version)]), version - 1).await;
        let mut at_once = JoinSet::new();
        for turn in 0..32 {
            let editor = Arc::clone(&editor);
            at_once.spawn(async move {
                let body = (turn % 2 == 0).then(|| json!({"version": version}));
                let reply = editor.ask("POST", "/flows/sales/publish", body.as_ref()).await;
                (reply.status, reply.json())
            });
        }
        let answers = at_once.join_all().await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|(status, _)| *status == 200);
        assert_eq!(won.len(), 1, "{lost:?}");
        assert_eq!((&won[0].1["liveVersion"], &won[0].1["changes"]), (&json!(version), &json!(1)));
        assert!(
            lost.iter().all(|(status, body)| *status == 409 && body["code"] == "already_live"),
            "{lost:?}"
        );
        assert_eq!(count(&db, "audit").await, version, "one event for each version");
    }
    let stale = editor.ask("POST", "/flows/sales/publish", Some(&json!({"version": 2}))).await;
    assert_eq!(failure(&stale), (409, "draft_changed".to_owned()));
}

#[tokio::test]
async fn the_audit_tells_of_new_changed_and_removed_pins_and_of_nothing_else() {
    support::each_major(async |server| {
        let db = server.database().await;
        let editor = Editor::over(&db).await;
        editor.save(&document("sales", &[pin("a", 1), pin("b", 1)]), 0).await;
        assert_eq!(count(&db, "audit").await, 0, "a draft is no change of Live");
        editor.publish("sales").await;
        editor.save(&document("sales", &[pin("b", 2), pin("c", 1)]), 1).await;
        editor.publish("sales").await;
        assert_eq!(editor.ask("DELETE", "/flows/sales", None).await.status, 204);
        assert_eq!(failure(&editor.ask("GET", "/flows/sales", None).await).0, 404);

        let page = editor.get("/audit?limit=200").await;
        let events = page["events"].as_array().unwrap();
        let said: Vec<_> = events.iter().rev().map(|event| event["summary"].as_str().unwrap()).collect();
        assert_eq!(
            said,
            [
                "pq_a created",
                "pq_b created",
                "pq_b edited",
                "pq_c created",
                "pq_a deleted",
                "pq_b deleted",
                "pq_c deleted"
            ]
        );
        let edited = &events[4];
        let keys: Vec<_> = edited.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            ["number", "id", "at", "type", "change", "actor", "user", "flow", "node", "summary", "detail"]
        );
        assert_eq!(
            (&edited["flow"], &edited["node"], &edited["user"]),
            (&json!("sales"), &json!("db"), &json!("key 1"))
        );
        assert_eq!(edited["actor"].as_str().unwrap().len(), 36);
        let detail = edited["detail"].as_object().unwrap();
        assert_eq!(detail["statementHash"].as_str().unwrap().len(), 64);
        let mut detail = detail.clone();
        detail.shift_remove("statementHash");
        assert_eq!(Value::from(detail), json!({"pin": "pq_b", "version": 2, "params": ["month"]}));

        // Not the statement, not a default, nothing of the document.
        let whole: String = db
            .client()
            .await
            .query_one("SELECT coalesce(string_agg(a::text, ' '), '') FROM pinguard.audit a", &[])
            .await
            .unwrap()
            .get(0);
        for word in ["SELECT", "demo_sales", "2026-01-01", "purpose", "sales of a month"] {
            assert!(!whole.contains(word), "{word} in {whole}");
        }
    })
    .await;
}

#[tokio::test]
async fn the_audit_is_read_in_pages_and_by_flow_node_and_change() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    for (flow, pins) in [("one", 5), ("two", 4)] {
        let pins: Vec<_> = (0..pins).map(|number| pin(&format!("{flow}{number}"), 1)).collect();
        editor.save(&document(flow, &pins), 0).await;
        editor.publish(flow).await;
    }
    editor.save(&document("one", &[]), 1).await;
    editor.publish("one").await;
    let (mut numbers, mut next) = (Vec::new(), String::new());
    for _ in 0..4 {
        let page = editor.get(&format!("/audit?limit=4{next}")).await;
        numbers
            .extend(page["events"].as_array().unwrap().iter().map(|event| event["number"].as_i64().unwrap()));
        match page["next"].as_i64() {
            Some(before) => next = format!("&before={before}"),
            None => break,
        }
    }
    assert_eq!(numbers, (1..=14).rev().collect::<Vec<_>>());
    for (query, found) in [
        ("flow=one", 10),
        ("flow=two", 4),
        ("flow=three", 0),
        ("change=delete", 5),
        ("flow=one&change=create&node=db", 5),
        ("node=other", 0),
    ] {
        assert_eq!(
            editor.get(&format!("/audit?{query}")).await["events"].as_array().unwrap().len(),
            found,
            "{query}"
        );
    }
    for query in ["limit=0", "limit=201", "limit=x", "before=x", "change=drop", "flow=A", "sql=1"] {
        assert_eq!(failure(&editor.ask("GET", &format!("/audit?{query}"), None).await).0, 400, "{query}");
    }
}

#[tokio::test]
async fn what_a_crash_leaves_in_the_outbox_is_written_later_and_once() {
    let db = support::database(18).await;
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    // Events go nowhere: the trigger makes their removal fail, as a crash between commit and handing on would.
    let editor = Editor::with(&db, |_| EventSink::Log(Lines::Channel(sender))).await;
    drop(receiver);
    db.run(
        "CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'crash'; END $$;
         CREATE TRIGGER crash BEFORE DELETE ON pinguard.outbox EXECUTE FUNCTION crash()",
    )
    .await;
    editor.save(&document("sales", &[pin("a", 1), pin("b", 1)]), 0).await;
    assert_eq!(editor.publish("sales").await["changes"], 2, "publishing does not fail for it");
    assert_eq!((count(&db, "outbox").await, count(&db, "audit").await), (2, 0));

    // Another instance hands them on, dies before it removes them, and is followed by a third.
    let sink = EventSink::InProcess(Arc::clone(&editor.auditor));
    let latest = super::Instant::now() + super::LATEST;
    sink.drain(&editor.app.control, latest).await.unwrap_err();
    assert_eq!((count(&db, "outbox").await, count(&db, "audit").await), (2, 2));
    db.run("DROP TRIGGER crash ON pinguard.outbox").await;
    assert_eq!(sink.drain(&editor.app.control, latest).await.unwrap().handed_on, 2);
    assert_eq!((count(&db, "outbox").await, count(&db, "audit").await), (0, 2));
    assert_eq!(editor.heads().len(), 1, "what is written already moves no head");
}

#[tokio::test]
async fn an_event_that_cannot_be_read_stays_and_holds_up_no_other() {
    let db = support::database(17).await;
    let editor = Editor::over(&db).await;
    db.run("INSERT INTO pinguard.outbox (event) VALUES ('{\"type\": \"of tomorrow\"}')").await;
    editor.save(&document("sales", &[pin("a", 1)]), 0).await;
    editor.publish("sales").await;
    assert_eq!((count(&db, "outbox").await, count(&db, "audit").await), (1, 1));
    let sink = EventSink::InProcess(Arc::clone(&editor.auditor));
    let drained = sink.drain(&editor.app.control, super::Instant::now() + super::LATEST).await.unwrap();
    assert_eq!((drained.handed_on, drained.unreadable), (0, 1));
}

#[tokio::test]
async fn a_publish_goes_through_while_the_audit_is_away() {
    let db = support::database(16).await;
    let editor = Editor::over(&db).await;
    db.run("ALTER TABLE pinguard.audit RENAME TO gone").await;
    editor.save(&document("sales", &[pin("a", 1)]), 0).await;
    editor.publish("sales").await;
    assert_eq!(editor.get("/flows/sales").await["liveVersion"], 1);
    db.run("ALTER TABLE pinguard.gone RENAME TO audit").await;
    editor.save(&document("sales", &[pin("a", 2)]), 1).await;
    editor.publish("sales").await;
    let summaries = editor.get("/audit").await;
    let summaries: Vec<_> =
        summaries["events"].as_array().unwrap().iter().map(|event| event["summary"].clone()).collect();
    assert_eq!(summaries, ["pq_a edited", "pq_a created"], "nothing is lost, and in order");
}

#[tokio::test]
async fn a_live_that_does_not_read_is_mended_by_publishing_again() {
    let db = support::database(15).await;
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[pin("a", 1)]), 0).await;
    editor.publish("sales").await;
    db.run("UPDATE pinguard.flow SET live = '{\"id\": \"sales\"}', revision = DEFAULT").await;
    editor.save(&document("sales", &[pin("a", 1)]), 1).await;
    assert_eq!(editor.publish("sales").await["liveVersion"], 2);
    db.run("UPDATE pinguard.flow SET draft = '{\"id\": \"sales\"}', draft_version = 9").await;
    let refused = editor.ask("POST", "/flows/sales/publish", None).await;
    assert_eq!(failure(&refused), (409, "draft_malformed".to_owned()));
    assert_eq!(editor.get("/flows/sales").await["liveVersion"], 2);
}
