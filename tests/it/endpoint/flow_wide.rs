//! A flow's own URL: all its nodes behind one endpoint.

use serde_json::{Value, json};

use super::{Endpoint, Setup};
use crate::support;

const FLOW: &str = "/mcp/shop";

async fn tools(endpoint: &Endpoint) -> Vec<(String, String)> {
    let list = endpoint.ask_at(FLOW, "tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
    let text = |tool: &Value, field: &str| tool[field].as_str().unwrap().to_owned();
    tools.iter().map(|tool| (text(tool, "name"), text(tool, "description"))).collect()
}

async fn call(endpoint: &Endpoint, tool: &str, arguments: Value) -> Value {
    endpoint.ask_at(FLOW, "tools/call", json!({"name": tool, "arguments": arguments})).await
}

#[tokio::test]
async fn each_built_in_tool_carries_its_nodes_id_and_names_its_tables() {
    let db = support::database(18).await;
    db.run("CREATE TABLE a (x int); INSERT INTO a VALUES (1); CREATE TABLE b (y int); INSERT INTO b VALUES (2), (3)").await;
    let many: Vec<String> = (0..15).map(|number| format!("public.t{number}")).collect();
    let node = json!({"actions": ["query"], "relations": ["public.a"], "rules": "only the first quarter"});
    let beside = vec![
        json!({"id": "ware-house", "name": "Warehouse", "credential": "cred-1", "actions": ["query", "catalog"]}),
        json!({"id": "many", "credential": "cred-1", "actions": ["query"], "relations": many}),
        json!({"id": "lost", "credential": "cred-9", "actions": ["query"]}),
    ];
    let endpoint = Setup { beside, ..Setup::node(node) }.start(&db, &db.url).await;
    let tools = tools(&endpoint).await;
    let names: Vec<&str> = tools.iter().map(|(name, _)| &name[..]).collect();
    let expected = [
        "query_db",
        "describe_db",
        "next_page_db",
        "query_ware_house",
        "describe_ware_house",
        "list_schemas_ware_house",
        "list_tables_ware_house",
        "describe_table_ware_house",
        "next_page_ware_house",
        "query_many",
        "describe_many",
        "next_page_many",
    ];
    assert_eq!(names, expected, "a node without its credential offers nothing, and the others do");
    let described = |name: &str| &tools.iter().find(|(known, _)| known == name).unwrap().1;
    assert!(described("query_db").ends_with(" It reads only public.a."), "{}", described("query_db"));
    assert!(
        described("query_db").contains("PostgreSQL's dialect") && described("query_db").contains("ILIKE")
    );
    assert!(described("describe_many").ends_with("public.t11 and 3 more."), "{}", described("describe_many"));
    assert!(described("list_tables_ware_house").ends_with("every table and view that its login can."));

    let rows = async |tool: &str, sql: &str| {
        call(&endpoint, tool, json!({"sql": sql})).await["result"]["structuredContent"]["rows"].clone()
    };
    assert_eq!(rows("query_db", "SELECT x FROM a").await, json!([[1]]));
    assert_eq!(rows("query_ware_house", "SELECT y FROM b ORDER BY y").await, json!([[2], [3]]));
    let refused = call(&endpoint, "query_db", json!({"sql": "SELECT y FROM b"})).await;
    assert_eq!(refused["result"]["structuredContent"]["code"], "relation_not_selected", "{refused}");
    let lost = call(&endpoint, "query_lost", json!({"sql": "SELECT 1"})).await;
    assert_eq!(lost["result"]["structuredContent"]["code"], "no_credential", "{lost}");
    let records: Vec<(String, String)> =
        endpoint.records().into_iter().map(|record| (record.node.unwrap(), record.tool)).collect();
    assert_eq!(records[1], ("ware-house".to_owned(), "query_ware_house".to_owned()));

    let unknown = call(&endpoint, "query", json!({"sql": "SELECT 1"})).await;
    let said = unknown["error"]["message"].as_str().unwrap();
    assert!(said.contains("no tool `query`; the tools of this flow are query_db, "), "{said}");

    let client = json!({"name": "t", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let answer = endpoint.ask_at(FLOW, "initialize", hello).await;
    let told = answer["result"]["instructions"].as_str().unwrap();
    assert!(
        told.contains("Rules of the owner of db, which widen nothing: <rules>only the first quarter</rules>"),
        "{told}"
    );
}

#[tokio::test]
async fn two_tools_of_one_name_are_an_error_that_names_both_nodes() {
    let db = support::database(18).await;
    let beside = vec![
        json!({"id": "table-x", "credential": "cred-1", "actions": ["query"]}),
        json!({"id": "x", "credential": "cred-1", "actions": ["catalog"]}),
    ];
    let endpoint = Setup { beside, ..Setup::default() }.start(&db, &db.url).await;
    for (method, params) in
        [("tools/list", json!({})), ("tools/call", json!({"name": "describe_table_x", "arguments": {}}))]
    {
        let answer = endpoint.ask_at(FLOW, method, params).await;
        let said = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(said.contains("`table-x` and `x` both offer a tool `describe_table_x`"), "{said}");
    }
    let fine = call(&endpoint, "query_table_x", json!({"sql": "SELECT 1"})).await;
    assert_eq!(fine["result"]["structuredContent"]["rows"], json!([[1]]), "the others work: {fine}");
    assert!(endpoint.tools().await.len() > 3, "a node's own URL is not concerned");
}
