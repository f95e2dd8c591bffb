//! The editor's API where callers show access tokens of a real OpenID provider.

use std::sync::Arc;

use flows::{App, Callers};
use serde_json::json;
use state::{Control, EventSink};

use super::{CONTROL, Editor, document, failure, pin};
use crate::{
    openid::{PUBLIC_URL, Provider},
    support,
};

/// The same control database behind an API that takes tokens.
fn with_tokens(editor: Editor, provider: &Provider, more: &[(&str, &str)]) -> Editor {
    let app = App {
        settings: editor.app.settings.clone(),
        secrets: Arc::clone(&editor.app.secrets),
        control: Control::new(Arc::clone(&editor.app.secrets), CONTROL.to_owned()),
        callers: Callers::Tokens(provider.server(more)),
        events: EventSink::InProcess(Arc::clone(&editor.auditor)),
    };
    Editor { app: Arc::new(app), ..editor }
}

#[tokio::test]
async fn a_token_reaches_as_far_as_its_scopes_and_the_audit_names_its_subject() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([{"id": "ada"}]));
    let editor = with_tokens(Editor::over(&db).await, &provider, &[]);
    let all = "chatflows:update%20flows:read%20audit:read%20keys:manage";
    let token = provider.token("ada", PUBLIC_URL, all).await;
    let draft = json!({"draft": document("sales", &[pin("p1", 1)])});
    let saved = editor.by(&token, "PUT", "/flows/sales/draft", Some(&draft)).await;
    assert_eq!(saved.status, 201, "{}", saved.json());
    assert_eq!(editor.by(&token, "POST", "/flows/sales/publish", None).await.status, 200);
    let rows = editor.by(&token, "GET", "/audit", None).await.json();
    assert_eq!(rows["events"][0]["actor"], "ada", "{rows}");

    let reads = provider.token("ada", PUBLIC_URL, "flows:read").await;
    assert_eq!(editor.by(&reads, "GET", "/flows", None).await.status, 200);
    let refused = editor.by(&reads, "PUT", "/flows/sales/draft", Some(&draft)).await;
    assert_eq!(failure(&refused), (403, "forbidden".to_owned()));
    assert!(refused.json()["error"].as_str().unwrap().contains("chatflows:update"), "{}", refused.json());

    let key = json!({"name": "a", "scopes": ["mcp:call"]});
    let refused = editor.by(&token, "POST", "/keys", Some(&key)).await;
    assert_eq!(failure(&refused), (409, "keys_off".to_owned()), "a key would open nothing");
}

#[tokio::test]
async fn who_shows_no_good_token_learns_where_to_get_one() {
    let db = support::database(18).await;
    let mut provider = Provider::start(&json!([{"id": "ada"}]));
    let editor = with_tokens(Editor::over(&db).await, &provider, &[]);
    let pointer = format!(
        "Bearer realm=\"pinguard\", resource_metadata=\"{PUBLIC_URL}/.well-known/oauth-protected-resource\""
    );
    let bare = editor.send("GET", "/api/v1/flows", &[], "").await;
    assert_eq!(failure(&bare), (401, "unauthorized".to_owned()));
    assert_eq!(bare.headers["www-authenticate"], pointer);
    for token in
        [editor.owner.clone(), provider.token("ada", "https://mcp.test/mcp/shop", "flows:read").await]
    {
        let refused = editor.by(&token, "GET", "/flows", None).await;
        assert_eq!(failure(&refused), (401, "unauthorized".to_owned()));
        let told = refused.headers["www-authenticate"].to_str().unwrap();
        assert!(told.starts_with(&pointer) && told.contains("error=\"invalid_token\""), "{told}");
    }
    let token = provider.token("ada", PUBLIC_URL, "flows:read").await;
    let cold = with_tokens(editor, &provider, &[]);
    provider.stop();
    let refused = cold.by(&token, "GET", "/flows", None).await;
    assert_eq!(failure(&refused), (503, "issuer_unavailable".to_owned()));
}

#[tokio::test]
async fn a_claim_keeps_workspaces_and_flows_apart() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([
        {"id": "ada", "claims": {"org": "w"}},
        {"id": "bob", "claims": {"org": "v"}},
        {"id": "cy", "claims": {}},
        {"id": "dee", "claims": {"org": "w", "flows": "other"}},
    ]));
    let editor = Editor::over(&db).await;
    editor.save(&document("sales", &[]), 0).await;
    let claim = ("PINGUARD_OAUTH_WORKSPACE_CLAIM", "org");
    let editor = with_tokens(editor, &provider, &[claim]);
    let status = async |editor: &Editor, client: &str| {
        let token = provider.token(client, PUBLIC_URL, "flows:read").await;
        editor.by(&token, "GET", "/flows/sales", None).await.status
    };
    assert_eq!(
        [status(&editor, "ada").await, status(&editor, "bob").await, status(&editor, "cy").await],
        [200, 404, 403]
    );
    let bound = with_tokens(editor, &provider, &[claim, ("PINGUARD_OAUTH_FLOWS_CLAIM", "flows")]);
    assert_eq!(
        [status(&bound, "ada").await, status(&bound, "dee").await],
        [404, 404],
        "flows that the claim does not list"
    );
}
