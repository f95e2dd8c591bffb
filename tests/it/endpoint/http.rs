//! HTTP as clients really speak it.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fs,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use ::http::{Method, Request, header::HeaderValue};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame};
use mcp::Settings;
use serde_json::{Value, json};
use state::{ApiKey, FlowId, NewKey, Scope};
use tokio::time::Instant;

use super::{CONTROL, Endpoint, NODE, Setup, tools::ask_modern};
use crate::support::{self, http::Reply};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A ping with headers changed or, where there is no value, taken away.
async fn ping(endpoint: &Endpoint, headers: &[(&'static str, Option<&str>)]) -> Reply {
    let mut request = endpoint.request(PING);
    for &(name, value) in headers {
        request.headers_mut().remove(name);
        if let Some(value) = value {
            request.headers_mut().insert(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
    }
    endpoint.send(request).await
}

/// A body that comes byte by byte.
struct Trickle(VecDeque<u8>);

impl Body for Trickle {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|byte| Ok(Frame::data(Bytes::from(vec![byte])))))
    }
}

/// Whatever goes wrong ahead of a call is told as JSON-RPC.
#[track_caller]
fn assert_error(reply: &Reply, status: u16, code: i64, says: &str) {
    let json = reply.json();
    assert_eq!((reply.status, &json["error"]["code"]), (status, &json!(code)), "{json}");
    assert_eq!(reply.headers["content-type"], "application/json");
    assert_eq!(json["jsonrpc"], "2.0");
    let message = json["error"]["message"].as_str().unwrap();
    assert!(message.contains(says), "`{says}` is not in `{message}`");
}

async fn body(endpoint: &Endpoint, body: impl Into<Bytes>) -> Reply {
    endpoint.send(endpoint.request(body)).await
}

#[tokio::test]
async fn any_accept_header_gets_json() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for accept in [
        None,
        Some("application/json"),
        Some("text/event-stream"),
        Some("application/json, text/event-stream"),
        Some("*/*"),
        Some("application/json;q=0.9"),
        Some("text/html"),
        Some(""),
        Some("\u{e4}"),
    ] {
        let reply = ping(&endpoint, &[("accept", accept)]).await;
        assert_eq!(
            (reply.status, &reply.headers["content-type"]),
            (200, &"application/json".parse().unwrap())
        );
        assert_eq!(reply.json(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}), "{accept:?}");
    }
}

#[tokio::test]
async fn content_types_other_than_json_are_told_apart() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for good in [None, Some("application/json; charset=utf-8"), Some("Application/JSON")] {
        assert_eq!(ping(&endpoint, &[("content-type", good)]).await.status, 200, "{good:?}");
    }
    for wrong in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        assert_error(
            &ping(&endpoint, &[("content-type", Some(wrong))]).await,
            415,
            -32600,
            "application/json",
        );
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for id in [json!(0), json!(-7), json!(9_007_199_254_740_993_i64), json!(""), json!("\u{fc} \"x\"")] {
        let reply = body(&endpoint, json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string()).await;
        assert_eq!((reply.status, &reply.json()["id"]), (200, &id));
    }
    for id in [json!(null), json!(1.5), json!([1]), json!(true)] {
        let reply = body(&endpoint, json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string()).await;
        assert_error(&reply, 400, -32600, "id");
    }
}

#[tokio::test]
async fn what_is_no_single_message_is_answered_as_json_rpc() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for (text, code) in [
        ("", -32700),
        ("{", -32700),
        ("nonsense", -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
    ] {
        assert_error(&body(&endpoint, text).await, 400, code, "");
    }
    assert_error(&body(&endpoint, &b"{\"a\": \"\xff\"}"[..]).await, 400, -32700, "");
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_error(&body(&endpoint, deep).await, 400, -32700, "");
    let broken = [json!(7), json!("x"), json!([]), json!(null)];
    for arguments in broken {
        let message = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "query", "arguments": arguments}});
        let reply = body(&endpoint, message.to_string()).await;
        let answer = reply.json();
        assert!(answer["error"]["code"] == -32602 || answer["result"]["isError"] == true, "{answer}");
    }
    let nameless = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {}});
    let answer = body(&endpoint, nameless.to_string()).await.json();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32602), &json!(5)), "{answer}");
}

#[tokio::test]
async fn an_unknown_method_is_not_found_and_notifications_are_taken_without_an_answer() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for method in ["resources/list", "nosuch", "tools/lists", ""] {
        let answer = endpoint.ask(method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    let reply = ask_modern(&endpoint, "nosuch", None, json!({})).await;
    assert_error(&reply, 404, -32601, "");
    for method in ["notifications/initialized", "notifications/cancelled"] {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": {"requestId": 1}});
        let reply = body(&endpoint, message.to_string()).await;
        assert_eq!((reply.status, reply.body.len()), (202, 0), "{method}");
    }
}

#[tokio::test]
async fn other_methods_than_post_end_at_once_even_without_a_key_or_a_control_database() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    fs::write(endpoint.secrets.0.join(CONTROL), "postgres://u:p@127.0.0.1:1/d").unwrap();
    for method in [Method::GET, Method::HEAD, Method::DELETE, Method::PUT, Method::OPTIONS, Method::PATCH] {
        let request = Request::builder().method(&method).uri(NODE).body(Full::default()).unwrap();
        let began = Instant::now();
        let reply = endpoint.send(request).await;
        assert_eq!((reply.status, &reply.headers["allow"]), (405, &"POST".parse().unwrap()), "{method}");
        assert!(began.elapsed() < Duration::from_millis(100), "{method}");
    }
}

#[tokio::test]
async fn a_stale_session_id_and_a_trailing_slash_do_not_matter() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let reply = ping(&endpoint, &[("mcp-session-id", Some("gone"))]).await;
    assert_eq!(reply.status, 200);
    assert!(!reply.headers.contains_key("mcp-session-id"));
    let mut request = endpoint.request(PING);
    *request.uri_mut() = format!("{NODE}/").parse().unwrap();
    assert_eq!(endpoint.send(request).await.status, 200);
}

#[tokio::test]
async fn protocol_versions_are_served_or_refused_with_the_ones_that_are() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for version in [None, Some("2024-11-05"), Some("2025-03-26"), Some("2025-06-18"), Some("2025-11-25")] {
        assert_eq!(ping(&endpoint, &[("mcp-protocol-version", version)]).await.status, 200, "{version:?}");
    }
    for version in ["2099-01-01", "1", "", "\u{e4}"] {
        let reply = ping(&endpoint, &[("mcp-protocol-version", Some(version))]).await;
        assert_error(&reply, 400, -32022, "2026-07-28, 2025-11-25");
        assert!(
            reply.json()["error"]["data"]["supported"].as_array().unwrap().contains(&json!("2025-11-25"))
        );
    }
    let call = json!({"name": "query", "arguments": {"sql": "SELECT 1"}});
    assert_eq!(ask_modern(&endpoint, "tools/call", Some("query"), call.clone()).await.status, 200);
    assert_error(&ask_modern(&endpoint, "tools/call", Some("describe"), call.clone()).await, 400, -32020, "");
    assert_error(&ask_modern(&endpoint, "tools/call", None, call).await, 400, -32020, "");
}

#[tokio::test]
async fn hosts_and_origins_are_those_of_the_settings() {
    let db = support::database(18).await;
    let settings = Settings {
        front: mcp::Front {
            allowed_hosts: vec!["mcp.example.com".to_owned()],
            allowed_origins: vec!["https://app.example.com".to_owned()],
        },
        ..Settings::default()
    };
    let endpoint = Setup::settings(settings).start(&db, &db.url).await;
    let at = async |host: &'static str, origin: Option<&str>| {
        ping(&endpoint, &[("host", Some(host)), ("origin", origin)]).await
    };
    for origin in [None, Some("https://app.example.com")] {
        assert_eq!(at("mcp.example.com", origin).await.status, 200, "{origin:?}");
    }
    for origin in ["https://evil.example.com", "http://app.example.com", "null", "x"] {
        assert_error(&at("mcp.example.com", Some(origin)).await, 403, -32600, "Origin");
    }
    for host in ["evil.example.com", "127.0.0.1"] {
        assert_error(&at(host, None).await, 403, -32600, "Host");
    }
    // Where nothing is set the front door sees to the host, and pages of other origins are still kept out.
    let open = Endpoint::over(&db).await;
    assert_eq!(
        ping(&open, &[("host", Some("d-abc.execute-api.eu-central-1.amazonaws.com"))]).await.status,
        200
    );
    assert_error(&ping(&open, &[("origin", Some("https://evil.example.com"))]).await, 403, -32600, "Origin");
    assert_error(&ping(&open, &[("host", None)]).await, 400, -32600, "Host");
}

#[tokio::test]
async fn the_key_is_taken_in_any_case_and_spacing_and_whoever_has_none_is_told() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let key = endpoint.key.clone();
    for value in [format!("bearer {key}"), format!("BEARER   {key}"), format!(" Bearer {key} ")] {
        assert_eq!(ping(&endpoint, &[("authorization", Some(&value))]).await.status, 200, "{value}");
    }
    let stranger = ApiKey::from_random([9; 32]);
    let unknown = format!("Bearer {}", stranger.text());
    for value in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Basic dTpw"),
        Some("Bearer pgk_short"),
        Some("\u{e4}"),
        Some(&*unknown),
    ] {
        let reply = ping(&endpoint, &[("authorization", value)]).await;
        assert_error(&reply, 401, -32600, "");
        assert_eq!(reply.headers["www-authenticate"], "Bearer realm=\"pinguard\"");
        assert!(!String::from_utf8_lossy(&reply.body).contains(stranger.text()));
    }
}

#[tokio::test]
async fn a_key_without_the_scope_gets_403_and_one_for_another_flow_404() {
    let db = support::database(18).await;
    let reads = Setup { scopes: vec![Scope::FlowsRead], ..Setup::default() }.start(&db, &db.url).await;
    assert_error(&ping(&reads, &[]).await, 403, -32600, "mcp:call");

    let endpoint = Endpoint::over(&db).await;
    let bound = ApiKey::from_random([8; 32]);
    let flows = [FlowId::parse("other").unwrap()];
    let new = NewKey { name: "bound", hash: bound.hash(), scopes: &[Scope::McpCall], flows: Some(&flows) };
    endpoint.app.control.put_key("w", &new).await.unwrap();
    let bearer = format!("Bearer {}", bound.text());
    assert_error(&ping(&endpoint, &[("authorization", Some(&bearer))]).await, 404, -32600, "shop");
    for path in
        ["/mcp/shop/other", "/mcp/absent/db", "/mcp/SHOP/db", "/mcp/absent", "/mcp", "/", "/mcp/shop/db/x"]
    {
        let mut request = endpoint.request(PING);
        *request.uri_mut() = path.parse().unwrap();
        assert_error(&endpoint.send(request).await, 404, -32600, "there is n");
    }
    let well_known = Request::get("/.well-known/oauth-protected-resource").body(Full::default()).unwrap();
    assert_eq!(endpoint.send(well_known).await.status, 404, "no hint at a login that does not exist");
}

#[tokio::test]
async fn a_revoked_key_is_out_from_the_next_call_on() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    assert_eq!(ping(&endpoint, &[]).await.status, 200);
    db.run("UPDATE pinguard.api_key SET revoked_at = now()").await;
    assert_error(&ping(&endpoint, &[]).await, 401, -32600, "revoked");
}

#[tokio::test]
async fn a_body_in_pieces_is_one_message_and_one_past_a_mebibyte_is_refused() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "query", "arguments": {"sql": "SELECT 'ü€'"}}});
    let (parts, _) = endpoint.request("").into_parts();
    let request = Request::from_parts(parts, Trickle(message.to_string().into_bytes().into()));
    let answer = mcp::handle(&endpoint.app, request, Instant::now() + Duration::from_secs(20)).await;
    let answer: Value =
        serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["rows"], json!([["ü€"]]), "{answer}");

    let sql = format!("SELECT 1 -- {}", "x".repeat(1 << 20));
    let large = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "query", "arguments": {"sql": sql}}});
    assert_error(&body(&endpoint, large.to_string()).await, 413, -32600, "1048576 bytes");
}

#[tokio::test]
async fn a_control_database_that_is_away_is_503_and_says_nothing_of_itself() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    fs::write(endpoint.secrets.0.join(CONTROL), "postgres://boss:hunter2@127.0.0.1:1/d").unwrap();
    db.run("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'pinguard-control' AND datname = current_database()").await;
    let reply = ping(&endpoint, &[]).await;
    assert_error(&reply, 503, -32603, "try again");
    let text = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(!text.contains("hunter2") && !text.contains("boss") && !text.contains("127.0.0.1"), "{text}");
}
