//! Documents and what they read as, or what is said of them.

use pins::Pin;
use serde_json::{Value, json};

use super::*;

/// The document of a flow with one node of these keys beside its id.
fn with_node(keys: &Value) -> String {
    let mut node = json!({"id": "n"});
    node.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
    json!({"id": "f", "name": "F", "kind": "chatflow", "nodes": [node]}).to_string()
}

#[track_caller]
fn node(keys: &Value) -> Node {
    Flow::from_json(&with_node(keys)).unwrap().nodes.remove(0)
}

/// Every problem of a document, in order.
#[track_caller]
fn problems(document: &str, expected: &[&str]) {
    let found = Flow::from_json(document).unwrap_err();
    let found: Vec<String> = found.problems().iter().map(ToString::to_string).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn refused(keys: &Value, expected: &[&str]) {
    problems(&with_node(keys), expected);
}

fn pin(id: &str, name: &str) -> Value {
    json!({"id": id, "name": name, "purpose": "p", "sql": "SELECT 1 LIMIT 1"})
}

fn whole() -> Value {
    json!({
        "id": "sales", "name": "Sales", "kind": "agentflow",
        "nodes": [{
            "id": "orders", "name": "Orders", "summary": "one line for agents", "credential": "cred-1",
            "actions": ["query", "catalog"], "relations": ["public.orders", "\"Sales 2026\".daily"],
            "rules": "count\nin euros", "rowCap": 100, "timeoutSeconds": 10,
            "searchPath": ["public", "\"Sales 2026\""], "allowedFunctions": ["public.net_price"],
            "allowedForeignTables": ["public.rates"],
            "pins": [Pin::from_json(&pin("p1", "pq_one")).unwrap().to_json()],
            "limits": {
                "maxRows": 1000, "maxBytes": 2000, "timeoutSeconds": 3, "callsPerMinute": 60, "concurrentCalls": 2,
                "maxEstimatedRows": 9_007_199_254_740_992_u64, "maxPlanCost": 1234.5,
            },
            "callerClaims": ["tenant", "https://example.com/org"], "rowFormat": "objects",
        }],
    })
}

#[test]
fn a_whole_document_is_read_and_written_back_the_same() {
    let flow = Flow::from_json(&whole().to_string()).unwrap();
    assert_eq!(flow.to_json(), whole());
    assert_eq!(Flow::from_json(&flow.to_json().to_string()), Ok(flow.clone()));
    assert_eq!(flow.kind, FlowKind::Agentflow);
    let node = flow.node("orders").unwrap();
    assert_eq!(node.relations[1].schema(), "Sales 2026");
    assert_eq!(node.search_path, ["public", "Sales 2026"]);
    assert_eq!(node.pins[0].name().as_str(), "pq_one");
    assert_eq!(node.limits.max_plan_cost, Some(1234.5));
    assert!(node.actions.query() && node.actions.catalog());
    assert_eq!(flow.node("Orders"), None);
}

#[test]
fn what_is_left_out_has_the_careful_value() {
    let node = node(&json!({}));
    assert_eq!(node.name, "n");
    assert_eq!(node.actions, Actions::default());
    assert!(!node.actions.query() && !node.actions.catalog());
    assert_eq!(node.row_format, RowFormat::Arrays);
    assert_eq!(node.limits, Limits::default());
    assert!(node.relations.is_empty() && node.pins.is_empty() && node.credential.is_none());
}

#[test]
fn null_is_as_good_as_left_out() {
    let keys = json!({
        "name": null, "summary": null, "credential": null, "actions": null, "relations": null, "rules": null,
        "rowCap": null, "timeoutSeconds": null, "searchPath": null, "allowedFunctions": null,
        "allowedForeignTables": null, "pins": null, "limits": null, "callerClaims": null, "rowFormat": null,
    });
    assert_eq!(node(&keys), node(&json!({})));
    assert_eq!(node(&json!({"limits": {"maxRows": null}})), node(&json!({})));
}

#[test]
fn names_come_as_a_list_or_with_commas() {
    let names = |relations: Value| {
        let node = node(&json!({ "relations": relations }));
        node.relations.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        names(json!("public.orders, \"a,b\".\"c\"\"d,\" ,Shop.X")),
        ["public.orders", "\"a,b\".\"c\"\"d,\"", "shop.x"]
    );
    assert_eq!(names(json!(["public.a", "PUBLIC.A", "\"public\".a"])), ["public.a"]);
    assert!(names(json!("  ")).is_empty());
    assert!(names(json!([])).is_empty());
    let node = node(&json!({"searchPath": "\"$user\", App, $user", "allowedFunctions": "f.x,f.y"}));
    assert_eq!(node.search_path, ["$user", "app"]);
    assert_eq!(node.allowed_functions.len(), 2);
}

#[test]
fn numbers_are_rounded_down_to_at_least_one() {
    let cap = |number: Value| node(&json!({ "rowCap": number })).row_cap;
    assert_eq!(cap(json!(50.9)), Some(50));
    assert_eq!(cap(json!(0.2)), Some(1));
    assert_eq!(cap(json!(1e3)), Some(1000));
    assert_eq!(cap(json!(u32::MAX)), Some(u32::MAX));
    assert_eq!(node(&json!({"timeoutSeconds": 2.5})).timeout_seconds, Some(2));
}

#[test]
fn numbers_out_of_range_are_refused() {
    for number in ["0", "-1", "1e999", "-0.0"] {
        let document = with_node(&json!({"rowCap": "@"})).replace("\"@\"", number);
        problems(&document, &["nodes[0].rowCap: expected a number above 0"]);
    }
    let most = "nodes[0].rowCap: expected a number above 0 and at most 4294967295";
    refused(&json!({"rowCap": 4_294_967_296_u64}), &[most]);
    refused(&json!({"rowCap": "100"}), &["nodes[0].rowCap: expected a number above 0, got text"]);
    refused(
        &json!({"limits": {"maxRows": 0, "maxPlanCost": -1, "maxEstimatedRows": true}}),
        &[
            "nodes[0].limits.maxRows: expected a number above 0",
            "nodes[0].limits.maxEstimatedRows: expected a number above 0, got true or false",
            "nodes[0].limits.maxPlanCost: expected a number above 0",
        ],
    );
}

#[test]
fn what_is_no_document_is_said_in_one_sentence() {
    problems("", &["the document is no valid JSON: look at line 1, column 0"]);
    problems("{\n\"id\": }", &["the document is no valid JSON: look at line 2, column 7"]);
    problems("[]", &["expected an object, got a list"]);
    problems("null", &["expected an object, got null"]);
    problems(&"[".repeat(500), &["the document is no valid JSON: look at line 1, column 128"]);
    problems(&" ".repeat(2_500_001), &["the document has 2500001 bytes; at most 2500000 are allowed"]);
}

#[test]
fn all_problems_are_reported_at_once_each_with_its_path() {
    let document = json!({
        "id": "Sales", "kind": "flow", "colour": "red",
        "nodes": [
            {"id": "a b", "relations": ["public.ok", "orders", 7, "a.b.c"], "actions": ["query", "write"], "x y": 1},
            7,
            {"credential": "postgres://u:secret@h/d", "rules": "x".repeat(2_001), "rowFormat": "csv", "pins": {}},
        ],
    });
    let id = "expected 1 to 20 characters of a-z, 0-9 and `-`";
    let node_keys = "unknown key; the known ones are `id`, `name`, `summary`, `credential`, `actions`, `relations`, `rules`, `rowCap`, `timeoutSeconds`, `searchPath`, `allowedFunctions`, `allowedForeignTables`, `pins`, `limits`, `callerClaims`, `rowFormat`";
    problems(
        &document.to_string(),
        &[
            "colour: unknown key; the known ones are `id`, `name`, `kind`, `nodes`",
            &format!("id: {id}"),
            "kind: expected one of `chatflow`, `agentflow`",
            &format!("nodes[0].x y: {node_keys}"),
            &format!("nodes[0].id: {id}"),
            "nodes[0].actions[1]: expected one of `query`, `catalog`",
            "nodes[0].relations[1]: `orders` has no schema: write `schema.name`, such as `public.orders`",
            "nodes[0].relations[2]: expected text, got a number",
            "nodes[0].relations[3]: `a.b.c` has more than two parts: write `schema.name`, and put a name that holds a dot in double quotes",
            "nodes[1]: expected an object, got a number",
            "nodes[2].id: missing",
            &format!("nodes[2].credential: {id}"),
            "nodes[2].rules: has 2001 characters; at most 2000 are allowed",
            "nodes[2].pins: expected a list, got an object",
            "nodes[2].rowFormat: expected one of `arrays`, `objects`, `table`",
        ],
    );
}

#[test]
fn a_wrong_type_is_named_with_what_is_accepted() {
    let document = json!({"id": 1, "name": [], "kind": 2, "nodes": {}}).to_string();
    problems(
        &document,
        &[
            "id: expected 1 to 20 characters of a-z, 0-9 and `-`, got a number",
            "name: expected text, got a list",
            "kind: expected one of `chatflow`, `agentflow`, got a number",
            "nodes: expected a list, got an object",
        ],
    );
    problems("{}", &["id: missing", "kind: missing", "nodes: missing"]);
    refused(
        &json!({"actions": "query", "relations": 1, "searchPath": ["a b"], "limits": [], "callerClaims": [""]}),
        &[
            "nodes[0].actions: expected a list, got text",
            "nodes[0].relations: expected a list of names, or text with commas between them, got a number",
            "nodes[0].searchPath[0]: `a b` needs double quotes around it: only letters, digits, `_` and `$` stand without",
            "nodes[0].limits: expected an object, got a list",
            "nodes[0].callerClaims[0]: is blank; write one line, or leave the key out",
        ],
    );
    refused(
        &json!({"summary": "two\nlines", "name": " ", "rules": "a\0"}),
        &[
            "nodes[0].name: is blank; write one line, or leave the key out",
            "nodes[0].summary: holds a line break or another control character; write one line",
            "nodes[0].rules: holds a NUL character; leave it out",
        ],
    );
    refused(
        &json!({"relations": "a.b,"}),
        &["nodes[0].relations[1]: a part of the name is empty: write `schema.name`"],
    );
    refused(&json!({"relations": "a.\"b, c.d"}), &["nodes[0].relations: a double quote is not closed"]);
    let many = vec!["a.b"; 2_001];
    refused(
        &json!({ "relations": many }),
        &["nodes[0].relations: has 2001 entries; at most 2000 are allowed"],
    );
}

#[test]
fn two_claims_of_one_setting_are_refused() {
    assert_eq!(node(&json!({"callerClaims": ["a", "a"]})).caller_claims.len(), 1);
    refused(
        &json!({"callerClaims": ["tenant:id", "tenant_ID"]}),
        &[
            "nodes[0].callerClaims: `tenant:id` and `tenant_ID` would both be `pinguard.claim_tenant_id`; keep one",
        ],
    );
}

#[test]
fn the_problems_of_a_pin_stand_under_its_path() {
    let mut bad = pin("p", "pq_x");
    bad["rowCap"] = json!("many");
    bad["colour"] = json!(1);
    let found = Flow::from_json(&with_node(&json!({"pins": [bad, 3]}))).unwrap_err();
    let paths: Vec<&str> = found.problems().iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["nodes[0].pins[0].colour", "nodes[0].pins[0].rowCap", "nodes[0].pins[1]"]);
}

#[test]
fn ids_and_pin_names_stand_once_in_a_flow() {
    let document = json!({
        "id": "f", "kind": "chatflow",
        "nodes": [
            {"id": "n", "pins": [pin("p1", "pq_a"), pin("p1", "pq_b")]},
            {"id": "m", "pins": [pin("p2", "pq_a")]},
            {"id": "n"},
        ],
    });
    problems(
        &document.to_string(),
        &[
            "nodes[0].pins[1].id: `p1` is taken by `nodes[0].pins[0]`; pin ids must differ within a flow",
            "nodes[1].pins[0].name: `pq_a` is taken by `nodes[0].pins[0]`; pin names must differ within a flow",
            "nodes[2].id: `n` is taken by `nodes[0]`; node ids must differ within a flow",
        ],
    );
}

#[test]
fn a_key_that_stands_twice_is_refused() {
    let document = r#"{"id": "f", "kind": "chatflow", "id": "f", "nodes": [{
        "id": "n", "rowCap": 1, "relations": ["public.a"], "limits": {"maxRows": 1, "maxRows": 2},
        "relations": [], "callerClaims": ["a", "a"]}]}"#;
    problems(
        document,
        &[
            "id: stands twice; keep one",
            "nodes[0].limits.maxRows: stands twice; keep one",
            "nodes[0].relations: stands twice; keep one",
        ],
    );
}

#[test]
fn problems_read_as_one_line() {
    let error = Flow::from_json("{\"id\":\"f\",\"nodes\":[]}").unwrap_err();
    assert_eq!(error.to_string(), "the flow document has problems: kind: missing");
    let error = Flow::from_json("{\"nodes\":[]}").unwrap_err();
    assert_eq!(error.to_string(), "the flow document has problems: id: missing; kind: missing");
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_flow_or_has_problems(text in "\\PC{0,200}") {
        if let Err(error) = Flow::from_json(&text) {
            proptest::prop_assert!(!error.problems().is_empty());
        }
    }

    #[test]
    fn any_two_names_are_printed_so_that_they_read_back(schema in "[^\0]{1,15}", name in "[^\0]{1,15}") {
        let printed = format!("{}.{}", quote_identifier(&schema), quote_identifier(&name));
        let read: QualifiedName = printed.parse().unwrap();
        proptest::prop_assert_eq!((read.schema(), read.name()), (schema.as_str(), name.as_str()));
        proptest::prop_assert_eq!(read.to_string(), printed);
    }
}
