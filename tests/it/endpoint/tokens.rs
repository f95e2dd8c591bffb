//! Callers with access tokens of a real OpenID provider.

use std::time::{Duration, SystemTime};

use ::http::{Method, Request};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http_body_util::Full;
use hyper::body::Bytes;
use mcp::Callers;
use serde_json::{Value, json};

use super::{Endpoint, NODE, Setup};
use crate::{
    openid::{PUBLIC_URL, Provider},
    support::{self, TestDb, http::Reply},
};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
/// The node as a client names it when it asks for a token.
const RESOURCE: &str = "https://mcp.test/mcp/shop/db";

/// An endpoint whose callers show tokens of a provider.
pub(super) async fn endpoint(db: &TestDb, provider: &Provider, more: &[(&str, &str)]) -> Endpoint {
    Setup { callers: Callers::Tokens(provider.server(more)), ..Setup::default() }.start(db, &db.url).await
}

impl Endpoint {
    async fn ask_with(&self, path: &str, token: Option<&str>) -> Reply {
        let mut request =
            Request::post(path).header("host", "127.0.0.1").header("content-type", "application/json");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.send(request.body(Full::new(Bytes::from_static(LIST.as_bytes()))).unwrap()).await
    }

    async fn get(&self, method: Method, path: &str) -> Reply {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1");
        self.send(request.body(Full::new(Bytes::new())).unwrap()).await
    }
}

fn challenge(reply: &Reply) -> &str {
    reply.headers["www-authenticate"].to_str().unwrap()
}

fn in_an_hour() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() + 3600
}

#[tokio::test]
async fn a_client_with_a_token_for_the_node_is_served() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([
        {"id": "rs", "alg": "RS256"}, {"id": "ps", "alg": "PS256"}, {"id": "es", "alg": "ES256"}, {"id": "ed", "alg": "EdDSA"},
    ]));
    let mut endpoint = endpoint(&db, &provider, &[]).await;
    for client in ["rs", "ps", "es", "ed"] {
        endpoint.key = provider.token(client, RESOURCE, "mcp:call").await;
        assert_eq!(endpoint.query("SELECT 1").await["rows"], json!([[1]]), "{client}");
        assert_eq!(endpoint.records()[0].caller.as_deref(), Some(client));
    }
}

#[tokio::test]
async fn without_a_token_a_caller_learns_where_to_get_one() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([{"id": "ada"}]));
    let endpoint = endpoint(&db, &provider, &[]).await;
    for (path, resource) in
        [(NODE, "/mcp/shop/db"), ("/mcp/shop/", "/mcp/shop"), ("/mcp/none/x", "/mcp/none/x")]
    {
        let reply = endpoint.ask_with(path, None).await;
        let expected = format!(
            "Bearer realm=\"pinguard\", resource_metadata=\"{PUBLIC_URL}{WELL_KNOWN}{resource}\", scope=\"mcp:call\""
        );
        assert_eq!(
            (reply.status, challenge(&reply)),
            (401, expected.as_str()),
            "no error where no token was sent"
        );
        let metadata = endpoint.get(Method::GET, &format!("{WELL_KNOWN}{resource}")).await;
        assert_eq!(metadata.status, 200);
        assert_eq!(
            metadata.json(),
            json!({"resource": format!("{PUBLIC_URL}{resource}"), "authorization_servers": [provider.issuer],
                "scopes_supported": ["mcp:call"], "bearer_methods_supported": ["header"], "resource_name": "pinguard"})
        );
    }
    let root = endpoint.get(Method::GET, WELL_KNOWN).await;
    assert_eq!(root.json()["resource"], PUBLIC_URL);
    assert_eq!(endpoint.get(Method::HEAD, WELL_KNOWN).await.status, 200);
    assert_eq!(endpoint.get(Method::POST, WELL_KNOWN).await.status, 405);
    for path in ["/mcp/Shop", "/api/v1/flows", "/mcp/a/b/c", "/mcp/a\"b"] {
        assert_eq!(endpoint.get(Method::GET, &format!("{WELL_KNOWN}{path}")).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn with_api_keys_nothing_points_to_an_issuer() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for path in [WELL_KNOWN.to_owned(), format!("{WELL_KNOWN}{NODE}")] {
        assert_eq!(endpoint.get(Method::GET, &path).await.status, 404, "{path}");
    }
    let reply = endpoint.ask_with(NODE, None).await;
    assert_eq!((reply.status, challenge(&reply)), (401, "Bearer realm=\"pinguard\""));
}

#[tokio::test]
async fn a_token_that_does_not_count_is_told_why() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([{"id": "ada"}]));
    let endpoint = endpoint(&db, &provider, &[]).await;
    let elsewhere = provider.token("ada", "https://mcp.test/mcp/shop/other", "mcp:call").await;
    let good = json!({"aud": RESOURCE, "sub": "ada", "scope": "mcp:call", "exp": in_an_hour()});
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    let rs256 = json!({"alg": "RS256"});
    assert_eq!(
        endpoint.ask_with(NODE, Some(&provider.sign(rs256.clone(), good.clone()).await)).await.status,
        200,
        "what is changed below is good before"
    );
    let unsigned = {
        let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
        format!("{}.{}.", part(&json!({"alg": "none"})), part(&with("iss", json!(provider.issuer))))
    };
    let cases = [
        (elsewhere, "another audience"),
        (provider.sign(rs256.clone(), with("exp", json!(in_an_hour() - 7200))).await, "has expired"),
        (provider.sign(rs256.clone(), with("nbf", json!(in_an_hour()))).await, "not valid yet"),
        (provider.sign(rs256.clone(), with("iss", json!("https://other.test"))).await, "another issuer"),
        (provider.sign(rs256.clone(), with("sub", json!(null))).await, "lacks `sub`"),
        (provider.sign(json!({"alg": "RS256", "kid": "x"}), good.clone()).await, "does not publish"),
        (provider.sign(json!({"alg": "HS256"}), good.clone()).await, "algorithm of this server's list"),
        (provider.sign(json!({"alg": "RS256", "typ": "logout+jwt"}), good.clone()).await, "no access token"),
        (unsigned, "algorithm of this server's list"),
        (endpoint.key.clone(), "algorithm of this server's list"),
    ];
    for (token, says) in cases {
        let reply = endpoint.ask_with(NODE, Some(&token)).await;
        assert_eq!(reply.status, 401, "{says}");
        let (told, json) = (challenge(&reply), reply.json());
        assert!(told.contains("error=\"invalid_token\"") && told.contains("resource_metadata=\""), "{told}");
        assert!(
            told.contains(says) && json["error"]["message"].as_str().unwrap().contains(says),
            "{told} {json}"
        );
    }
}

#[tokio::test]
async fn a_token_without_the_scope_is_asked_to_come_back_with_it() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([{"id": "ada"}]));
    let endpoint = endpoint(&db, &provider, &[]).await;
    let token = provider.token("ada", RESOURCE, "flows:read").await;
    let reply = endpoint.ask_with(NODE, Some(&token)).await;
    assert_eq!(reply.status, 403);
    let told = challenge(&reply);
    assert!(told.contains("error=\"insufficient_scope\"") && told.contains("scope=\"mcp:call\""), "{told}");
}

#[tokio::test]
async fn a_token_opens_the_url_that_it_is_for_and_one_for_the_server_opens_all() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([{"id": "ada"}]));
    let endpoint = endpoint(&db, &provider, &[("PINGUARD_OAUTH_AUDIENCE", "https://api.test")]).await;
    let status = async |resource: &str, path: &str| {
        let token = provider.token("ada", resource, "mcp:call").await;
        endpoint.ask_with(path, Some(&token)).await.status
    };
    for (resource, node, flow) in [
        (RESOURCE, 200, 401),
        ("https://mcp.test/mcp/shop", 401, 200),
        ("https://api.test", 200, 200),
        (PUBLIC_URL, 401, 401),
    ] {
        assert_eq!(
            (status(resource, NODE).await, status(resource, "/mcp/shop").await),
            (node, flow),
            "{resource}"
        );
    }
}

#[tokio::test]
async fn a_claim_says_which_workspace_and_which_flows() {
    let db = support::database(18).await;
    let provider = Provider::start(&json!([
        {"id": "ada", "claims": {"org": "w", "flows": ["other", "shop"]}},
        {"id": "bob", "claims": {"org": "elsewhere", "flows": ["shop"]}},
        {"id": "cy", "claims": {"flows": ["shop"]}},
        {"id": "dee", "claims": {"org": "w", "flows": ["other"]}},
        {"id": "eve", "claims": {"org": "w"}},
    ]));
    let more = [("PINGUARD_OAUTH_WORKSPACE_CLAIM", "org"), ("PINGUARD_OAUTH_FLOWS_CLAIM", "flows")];
    let endpoint = endpoint(&db, &provider, &more).await;
    for (client, status, says) in [
        ("ada", 200, ""),
        ("bob", 404, "no node `db` in a flow `shop`"),
        ("cy", 403, "lacks the claim `org`"),
        ("dee", 404, "no node `db` in a flow `shop`"),
        ("eve", 404, "no node `db` in a flow `shop`"),
    ] {
        let token = provider.token(client, RESOURCE, "mcp:call").await;
        let reply = endpoint.ask_with(NODE, Some(&token)).await;
        let json = reply.json();
        assert_eq!(reply.status, status, "{client}: {json}");
        assert!(json["error"]["message"].as_str().unwrap_or_default().contains(says), "{client}: {json}");
    }
}

#[tokio::test]
async fn an_instance_without_the_issuers_keys_says_try_again() {
    let db = support::database(18).await;
    let mut provider = Provider::start(&json!([{"id": "ada"}]));
    let token = provider.token("ada", RESOURCE, "mcp:call").await;
    let endpoint = endpoint(&db, &provider, &[]).await;
    provider.stop();
    let began = std::time::Instant::now();
    let reply = endpoint.ask_with(NODE, Some(&token)).await;
    assert_eq!(reply.status, 503);
    assert!(reply.json()["error"]["message"].as_str().unwrap().contains("try again"), "{}", reply.json());
    assert!(began.elapsed() < Duration::from_secs(4));
}
