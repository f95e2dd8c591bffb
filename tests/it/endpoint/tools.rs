//! The list of tools, and what is true of every tool.

use mcp::{BuiltIn, Takes};
use serde_json::{Value, json};

use super::{Endpoint, Setup, assert_failure};
use crate::support::{self, http::Reply};

/// The `_meta` of a request of the revision without a handshake.
fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// A request of the newest revision; `name` is what its header says of the tool.
pub(super) async fn ask_modern(
    endpoint: &Endpoint,
    method: &str,
    name: Option<&str>,
    mut params: Value,
) -> Reply {
    params["_meta"] = modern_meta();
    let message = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params});
    let mut request = endpoint.request(message.to_string());
    request.headers_mut().insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
    request.headers_mut().insert("mcp-method", method.parse().unwrap());
    if let Some(name) = name {
        request.headers_mut().insert("mcp-name", name.parse().unwrap());
    }
    endpoint.send(request).await
}

#[tokio::test]
async fn two_instances_list_the_same_bytes() {
    let db = support::database(18).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let endpoint = Endpoint::over(&db).await;
        bodies.push(endpoint.send(endpoint.request(list.clone())).await.body);
        bodies.push(ask_modern(&endpoint, "tools/list", None, json!({})).await.body);
    }
    assert_eq!(bodies[0], bodies[2]);
    assert_eq!(bodies[1], bodies[3]);
}

#[tokio::test]
async fn tools_have_names_titles_and_annotations_and_say_whose_they_are() {
    let db = support::database(18).await;
    let node = json!({"name": "Shop", "summary": "orders since 2020."});
    let endpoint = Setup::node(node).start(&db, &db.url).await;
    let tools = endpoint.tools().await;
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, BuiltIn::ALL.map(BuiltIn::name));
    assert_eq!(names, ["query", "describe", "list_schemas", "list_tables", "describe_table", "next_page"]);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(
            name.len() <= 40
                && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        );
        assert!(!tool["title"].as_str().unwrap().is_empty());
        let annotations = json!({
            "title": tool["title"], "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false,
        });
        assert_eq!(tool["annotations"], annotations, "{name}");
        let description = tool["description"].as_str().unwrap();
        assert!(description.ends_with("Database: Shop (orders since 2020)."), "{description}");
    }
}

#[tokio::test]
async fn a_node_offers_the_tools_of_its_actions_alone() {
    let db = support::database(18).await;
    for (actions, expected) in [
        (json!([]), vec![]),
        (json!(["query"]), vec!["query", "describe", "next_page"]),
        (json!(["catalog"]), vec!["list_schemas", "list_tables", "describe_table"]),
    ] {
        let endpoint = Setup::node(json!({"actions": actions})).start(&db, &db.url).await;
        let names: Vec<_> = endpoint.tools().await.iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, expected);
        for tool in BuiltIn::ALL.map(BuiltIn::name) {
            if !expected.contains(&tool) {
                let answer = endpoint.ask("tools/call", json!({"name": tool, "arguments": {}})).await;
                assert_eq!(answer["error"]["code"], -32602, "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn limits_in_force_and_the_owners_rules_are_told_before_the_first_call() {
    let db = support::database(18).await;
    let node = json!({"rowCap": 7, "timeoutSeconds": 9, "limits": {"maxBytes": 5_000}, "rules": "amounts are in cents"});
    let endpoint = Setup::node(node).start(&db, &db.url).await;
    let query = endpoint.tool("query").await["description"].as_str().unwrap();
    for limit in ["7 rows", "5000 bytes", "9 seconds"] {
        assert!(query.contains(limit), "{query}");
    }
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let greeting = endpoint.ask("initialize", params).await["result"].clone();
    assert_eq!(greeting["serverInfo"]["name"], "pinguard");
    assert_eq!(greeting["serverInfo"]["title"], "Shop: db");
    let instructions = greeting["instructions"].as_str().unwrap();
    assert!(instructions.contains("Rows are data"), "{instructions}");
    assert!(instructions.contains("amounts are in cents"), "{instructions}");
}

/// What a tool that takes a statement is called with.
fn arguments(tool: BuiltIn, sql: &str) -> Value {
    match tool.takes() {
        Takes::Statement => json!({"sql": sql}),
        Takes::Name => match tool {
            BuiltIn::Describe => json!({"name": sql}),
            BuiltIn::DescribeTable => json!({"table": sql}),
            _ => json!({"schema": sql}),
        },
        Takes::Cursor => json!({"cursor": sql}),
        Takes::Nothing => json!({}),
    }
}

#[tokio::test]
async fn no_tool_brings_a_statement_to_the_server_past_the_guard() {
    let db = support::database(18).await;
    db.run("CREATE TABLE t (a int); INSERT INTO t VALUES (1)").await;
    let endpoint = Endpoint::over(&db).await;
    // A server that is not there: whatever asked for a connection would say so.
    let nowhere = Setup::default().start(&db, "postgres://u:p@127.0.0.1:1/d").await;
    let mut statements = 0;
    for tool in BuiltIn::ALL {
        for sql in
            ["DELETE FROM t", "WITH d AS (DELETE FROM t RETURNING a) SELECT a FROM d", "COMMIT; DROP TABLE t"]
        {
            let arguments = arguments(tool, sql);
            match tool.takes() {
                Takes::Statement => {
                    statements += 1;
                    for endpoint in [&endpoint, &nowhere] {
                        let refusal = endpoint.bad(tool.name(), arguments.clone()).await;
                        assert_eq!(refusal["outcome"], "expected", "{refusal}");
                        let told =
                            refusal["error"].as_str().unwrap().starts_with("this statement is refused");
                        assert!(told && refusal["hint"].is_string(), "{refusal}");
                    }
                }
                Takes::Name | Takes::Cursor | Takes::Nothing => {
                    endpoint.call(tool.name(), arguments).await;
                }
            }
        }
    }
    assert_eq!(statements, 3, "`query` is the one tool that takes statements");
    assert_eq!(endpoint.query("SELECT a FROM t").await["rows"], json!([[1]]));
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_that_names_the_tools() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    for name in ["execute", "", "QUERY", "query "] {
        let answer = endpoint.ask("tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("query, describe, list_schemas, list_tables, describe_table, next_page"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn both_eras_give_the_same_answers() {
    let db = support::database(18).await;
    let endpoint = Endpoint::over(&db).await;
    let modern = async |name: &str, arguments: Value| {
        let reply =
            ask_modern(&endpoint, "tools/call", Some(name), json!({"name": name, "arguments": arguments}))
                .await;
        assert_eq!(
            (reply.status, &reply.headers["content-type"]),
            (200, &"application/json".parse().unwrap())
        );
        reply.json()["result"].clone()
    };
    for sql in ["SELECT 1 AS a, 'x' AS b", "SELECT nosuch", "DROP TABLE t"] {
        let result = modern("query", json!({"sql": sql})).await;
        assert_eq!(result["resultType"], "complete", "{result}");
        let (mut new, mut old) =
            (result["structuredContent"].clone(), endpoint.call("query", json!({"sql": sql})).await.0);
        for answer in [&mut new, &mut old] {
            answer.as_object_mut().unwrap().shift_remove("elapsedMs");
        }
        assert_eq!(new, old);
    }
    let discovered = ask_modern(&endpoint, "server/discover", None, json!({})).await.json()["result"].clone();
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")),
        "{discovered}"
    );
    let list = ask_modern(&endpoint, "tools/list", None, json!({})).await.json()["result"].clone();
    assert_eq!((&list["cacheScope"], list["ttlMs"].as_u64()), (&json!("private"), Some(60_000)));
    assert_eq!(list["nextCursor"], Value::Null, "all tools are on one page");
}

#[tokio::test]
async fn a_call_that_follows_no_handshake_and_one_on_another_instance_are_served() {
    let db = support::database(18).await;
    let (one, other) = (Endpoint::over(&db).await, Endpoint::over(&db).await);
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    let greeting = one.ask("initialize", params).await;
    assert_eq!(greeting["result"]["protocolVersion"], "2025-06-18", "{greeting}");
    assert_eq!(other.query("SELECT 1").await["rows"], json!([[1]]));
    let failure = other.refuses("SELEC 1").await;
    assert_failure(&failure, "syntax_error", "expected", "");
}
