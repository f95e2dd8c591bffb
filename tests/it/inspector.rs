//! The MCP project's Inspector, by its command line, as a client of `pinguard serve`.

use serde_json::{Value, json};

use crate::{
    mcp_tools::tool,
    support::command::{Folder, Ready, Serving},
};

/// How a client greets: by `initialize`, or with each request as from 2026-07-28 on.
const ERAS: [&str; 2] = ["legacy", "modern"];
const SALES: &str =
    "sql=SELECT region, sum(amount) AS revenue FROM demo_sales GROUP BY region ORDER BY region";

/// What the Inspector ended with.
struct Ended {
    code: Option<i32>,
    /// Its result, or what it says of the failure.
    json: Value,
    /// What it wrote to standard error.
    said: String,
}

fn inspect(ready: &Ready, era: &str, key: Option<&str>, arguments: &[&str]) -> Ended {
    let home = Folder::new();
    let mut inspector = tool("inspector/clients/launcher/build/index.js", &home);
    inspector.args(["--cli", ready.url(), "--transport", "http", "--protocol-era", era, "--format", "json"]);
    // A server that asks for a key must not send the Inspector looking for a login page.
    inspector.arg("--stored-auth-only").args(arguments);
    if let Some(key) = key {
        inspector.args(["--header", &format!("Authorization: Bearer {key}")]);
    }
    let output = inspector.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let failure = said.lines().find(|line| line.starts_with(r#"{"error""#)).unwrap_or_default();
    let json = if output.stdout.is_empty() { failure.as_bytes() } else { &output.stdout };
    let json = serde_json::from_slice(json).unwrap_or_else(|error| panic!("{error}: {said}"));
    Ended { code: output.status.code(), json, said }
}

fn call(ready: &Ready, era: &str, name: &str, argument: &str) -> Ended {
    let arguments = ["--method", "tools/call", "--tool-name", name, "--tool-arg", argument, "-q"];
    inspect(ready, era, ready.key(), &arguments)
}

#[test]
fn the_inspector_lists_and_calls_in_both_eras_with_a_key() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    for era in ERAS {
        let listed = inspect(&ready, era, ready.key(), &["--method", "tools/list", "--strict"]);
        assert_eq!(listed.code, Some(0), "{era}: {}", listed.said);
        let tools = listed.json["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let built_in = ["query", "describe", "list_schemas", "list_tables", "describe_table", "next_page"];
        assert_eq!(names, [&built_in[..], &["pq_revenue_by_region", "pq_top_products"]].concat(), "{era}");
        // A schema without a type is warned of; rows are lists, objects or one text, so theirs has none.
        let warned: Vec<&str> =
            listed.said.lines().filter_map(|line| line.trim().strip_prefix("Path: ")).collect();
        let rows = "outputSchema.properties.rows";
        assert_eq!(warned, [rows; 4], "{era}: {}", listed.said);
        assert!(listed.said.contains("0 errors, 4 warnings "), "{era}: {}", listed.said);

        let answered = call(&ready, era, "query", SALES);
        assert_eq!(answered.code, Some(0), "{era}: {}", answered.said);
        let rows = json!([["east", "94.00"], ["north", "165.50"], ["south", "290.00"]]);
        assert_eq!(answered.json["result"]["structuredContent"]["rows"], rows, "{era}");

        // A refusal is shown to whoever called, and is a failure to a script.
        let refused = call(&ready, era, "query", "sql=DELETE FROM demo_sales");
        assert_eq!(refused.code, Some(5), "{era}: {}", refused.said);
        assert_eq!(refused.json["result"]["isError"], true, "{era}");
        assert!(refused.json["result"]["structuredContent"]["hint"].is_string(), "{era}: {}", refused.json);
        assert!(refused.said.contains("tool_is_error"), "{era}: {}", refused.said);

        let unknown = call(&ready, era, "execute", "sql=SELECT 1");
        let code = unknown.json["error"]["code"].as_str();
        assert_eq!((unknown.code, code), (Some(5), Some("tool_not_found")), "{era}: {}", unknown.said);
    }
}

#[test]
fn the_inspector_is_told_that_a_key_is_asked_for() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    for era in ERAS {
        for key in [None, Some("pgk_wrong")] {
            let turned_away = inspect(&ready, era, key, &["--method", "tools/list", "-q"]);
            let code = turned_away.json["error"]["code"].as_str();
            assert_eq!((turned_away.code, code), (Some(3), Some("auth_required")), "{}", turned_away.said);
        }
    }
}
