//! What an editor offers for ticking: the relations of the login behind the node, as it is saved or as it is on the canvas.

use std::fs;

use serde_json::{Value, json};

use super::{Editor, document, failure};
use crate::support;

const PATH: &str = "/flows/sales/nodes/db/relations";

fn names(reply: &Value) -> Vec<String> {
    let options = reply["relations"].as_array().unwrap();
    options.iter().map(|option| option["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_list_follows_the_credential_on_the_canvas() {
    let db = support::database(18).await;
    let editor = Editor::over(&db).await;
    db.run("CREATE SCHEMA a; CREATE TABLE a.one (x int); CREATE SCHEMA b; CREATE TABLE b.two (x int)").await;
    let one = db.login("one", "").await;
    db.let_read(&one, &["a"]).await;
    let two = db.login("two", "").await;
    db.let_read(&two, &["b"]).await;
    for (id, login) in [("one", &one), ("two", &two)] {
        fs::write(editor.secrets.0.join(id), &login.url).unwrap();
        let new = json!({"id": id, "secretId": id});
        assert_eq!(editor.ask("POST", "/credentials", Some(&new)).await.status, 201);
    }
    let mut flow = document("sales", &[]);
    flow["nodes"][0]["credential"] = json!("one");
    editor.save(&flow, 0).await;

    assert_eq!(names(&editor.get(PATH).await), ["a.one"]);
    let on_canvas = async |canvas: Value| {
        let reply = editor.ask("POST", PATH, Some(&json!({"canvas": canvas}))).await;
        assert_eq!(reply.status, 200, "{}", reply.json());
        names(&reply.json())
    };
    assert_eq!(
        on_canvas(json!({"credential": "two", "relations": [], "pins": [], "rowCap": 5})).await,
        ["b.two"]
    );
    assert_eq!(on_canvas(json!({"relations": ["b.two"]})).await, ["a.one"], "what is not sent is as saved");
    assert_eq!(on_canvas(json!({"credential": null})).await, ["error"], "there is no default credential");
    assert_eq!(on_canvas(json!({"credential": "three"})).await, ["error"]);
    assert_eq!(names(&editor.ask("POST", PATH, None).await.json()), ["a.one"]);

    for body in [
        json!({"canvas": {"url": "postgres://u:p@h/d"}}),
        json!({"canvas": {"credential": {"url": "x"}}}),
        json!({"url": "postgres://u:p@h/d"}),
        json!([]),
    ] {
        assert_eq!(failure(&editor.ask("POST", PATH, Some(&body)).await).0, 400, "{body}");
    }
    assert_eq!(failure(&editor.ask("GET", "/flows/sales/nodes/none/relations", None).await).0, 404);
}

#[tokio::test]
async fn what_goes_wrong_is_one_option_named_error_without_a_password() {
    let db = support::database(17).await;
    let editor = Editor::over(&db).await;
    for (id, secret) in
        [("broken", "no url"), ("away", "postgres://u:hunter2@127.0.0.1:1/d"), ("denied", "?")]
    {
        let url = if secret == "?" { db.url.replacen("://", "://nobody_", 1) } else { secret.to_owned() };
        fs::write(editor.secrets.0.join(id), url).unwrap();
        editor.ask("POST", "/credentials", Some(&json!({"id": id, "secretId": id}))).await;
        let mut flow = document(id, &[]);
        flow["nodes"][0]["credential"] = json!(id);
        editor.save(&flow, 0).await;
        let list = editor.get(&format!("/flows/{id}/nodes/db/relations")).await;
        assert_eq!(names(&list), ["error"], "{list}");
        assert!(!list.to_string().contains("hunter2"), "{list}");
    }
}
