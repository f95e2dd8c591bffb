//! `pinguard serve` as a process: what it prints, answers, keeps, and leaves behind.

use std::{
    fs,
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::Command,
    time::Duration,
};

use serde_json::json;

use crate::support::{
    self,
    command::{Folder, Serving, alive, fails, until},
    http::{call, post, send},
};

const SALES: &str = "SELECT region, sum(amount) AS revenue FROM demo_sales GROUP BY region ORDER BY region";

#[tokio::test]
async fn the_demo_answers_and_ctrl_c_leaves_nothing_running() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    assert_eq!((ready.get("flow"), ready.get("node"), ready.get("workspace")), ("demo", "sales", "local"));
    assert!(ready.url().starts_with("http://127.0.0.1:") && ready.url().ends_with("/mcp/demo/sales"));
    assert!(ready.get("api_url").ends_with("/api/v1"));

    let result = call(ready.url(), ready.key(), "query", json!({"sql": SALES})).await;
    let rows = json!([["east", "94.00"], ["north", "165.50"], ["south", "290.00"]]);
    assert_eq!(result["structuredContent"]["rows"], rows, "{result}");
    // The printed URLs are good for the logins they name.
    support::connect(ready.get("database_url")).await.query("SELECT FROM demo_sales", &[]).await.unwrap();
    support::connect(ready.get("control_url")).await.query("SELECT FROM pinguard.flow", &[]).await.unwrap();

    let postgres = serving.postgres();
    assert!(alive(postgres));
    assert_eq!(serving.signal("INT"), Some(0), "{}", serving.stderr());
    assert!(!alive(postgres));
    let port = ready.url().split([':', '/']).nth(4).unwrap().parse().unwrap();
    assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
}

#[tokio::test]
async fn the_demos_pins_are_tested_at_the_start_and_what_editors_make_of_its_flow_stays() {
    let folder = Folder::new();
    let mut first = Serving::start(&folder.0, &["--json"]);
    let ready = first.ready();
    let month = json!({"month": "2026-01-01"});
    let revenue = call(ready.url(), ready.key(), "pq_revenue_by_region", month).await;
    let rows = json!([["east", "64.00"], ["north", "165.50"], ["south", "80.00"]]);
    assert_eq!(revenue["structuredContent"]["rows"], rows, "{revenue}");
    let two = json!({"month": "2026-01-01", "n": 2});
    let top = call(ready.url(), ready.key(), "pq_top_products", two.clone()).await;
    let rows = json!([["cedar tea", "200.00"], ["linen towel", "64.00"]]);
    assert_eq!(top["structuredContent"]["rows"], rows, "{top}");

    let flow = format!("{}/flows/demo", ready.get("api_url"));
    let bearer = format!("Bearer {}", ready.key().unwrap());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let stored = send("GET", &flow, &headers, "").await.json();
    let mut draft = stored["draft"].clone();
    draft["nodes"][0]["pins"].as_array_mut().unwrap().remove(0);
    let save = json!({"draft": draft, "version": stored["draftVersion"]}).to_string();
    assert_eq!(send("PUT", &format!("{flow}/draft"), &headers, &save).await.status, 200);
    assert_eq!(send("POST", &format!("{flow}/publish"), &headers, "{}").await.status, 200);
    first.signal("INT");

    let mut second = Serving::start(&folder.0, &["--json"]);
    let ready = second.ready();
    let top = call(ready.url(), ready.key(), "pq_top_products", two).await;
    assert_eq!(top["structuredContent"]["rows"], rows, "its stamp stands: {top}");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let list = post(ready.url(), ready.key(), &list).await.json().to_string();
    assert!(!list.contains("pq_revenue_by_region"), "what was published stays: {list}");
}

#[tokio::test]
async fn flows_of_editors_stay_live_until_another_database_is_asked_for() {
    let (one, other) = (support::database(18).await, support::database(18).await);
    let login = one.reader(&["public"]).await;
    let folder = Folder::new();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut first = Serving::start(&folder.0, &["--json", "--database-url", &login.url]);
    let ready = first.ready();
    let bearer = format!("Bearer {}", ready.key().unwrap());
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    for id in ["local", "mine"] {
        let node = json!({"id": "db", "actions": ["catalog"]});
        let draft = json!({"id": id, "kind": "chatflow", "nodes": [node]});
        let url = format!("{}/flows/{id}", ready.get("api_url"));
        let over = send("GET", &url, &headers, "").await.json()["draftVersion"].as_i64().unwrap_or_default();
        let save = json!({"draft": draft, "version": over}).to_string();
        let saved = send("PUT", &format!("{url}/draft"), &headers, &save).await;
        assert!(saved.status < 300, "{}", saved.json());
        assert_eq!(send("POST", &format!("{url}/publish"), &headers, "{}").await.status, 200);
    }
    first.signal("INT");
    one.run(&format!("ALTER ROLE {} PASSWORD 'another'", login.role)).await;
    let again = one.server.server.url(&login.role, "another", &one.name);
    for (url, kept) in [(&again, true), (&other.url, false)] {
        let mut next = Serving::start(&folder.0, &["--json", "--database-url", url]);
        let ready = next.ready();
        let tools = post(ready.url(), ready.key(), &list).await.json().to_string();
        assert_eq!(!tools.contains("\"query\""), kept, "{tools}");
        let mine = ready.url().replace("/local/db", "/mine/db");
        assert_eq!(post(&mine, ready.key(), &list).await.status, if kept { 200 } else { 404 });
        next.signal("INT");
    }
}

/// People start it in a terminal, where programs write otherwise than into a file.
#[test]
fn a_terminal_is_told_what_a_file_is() {
    let folder = Folder::new();
    let terminal = folder.0.join("terminal");
    let program = format!(
        "{} serve --port 0 --data {}",
        env!("CARGO_BIN_EXE_pinguard-under-test"),
        folder.0.join("data").display()
    );
    let mut child = Command::new("script")
        .args(["-qefc", &program])
        .arg(&terminal)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let shown = || fs::read_to_string(&terminal).unwrap_or_default();
    until("the terminal shows the URL, or an end", || {
        shown().contains("Ctrl-C ends it.") || child.try_wait().unwrap().is_some()
    });
    assert!(shown().contains("MCP URL   http://127.0.0.1:"), "{}", shown());
    assert!(!shown().contains('\u{1b}'), "no colours that a log would keep: {}", shown());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[tokio::test]
async fn a_call_without_the_key_is_not_served() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    let ready = serving.ready();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(post(ready.url(), None, &list).await.status, 401);
    assert_eq!(post(ready.url(), Some("pgk_wrong"), &list).await.status, 401);
    assert_eq!(post(ready.url(), ready.key(), &list).await.status, 200);
}

#[tokio::test]
async fn the_second_run_has_the_same_key_and_data() {
    let folder = Folder::new();
    let mut first = Serving::start(&folder.0, &["--json"]);
    let key = first.ready().key().unwrap().to_owned();
    first.signal("TERM");
    let mut second = Serving::start(&folder.0, &["--json"]);
    let ready = second.ready();
    assert_eq!(ready.key(), Some(key.as_str()));
    let result =
        call(ready.url(), Some(&key), "query", json!({"sql": "SELECT count(*) FROM demo_sales"})).await;
    assert_eq!(result["structuredContent"]["rows"], json!([[6]]));
    second.signal("INT");
}

#[test]
fn a_kill_leaves_no_server_behind_and_the_data_usable() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    serving.ready();
    let postgres = serving.postgres();
    assert!(alive(postgres));
    assert_eq!(serving.signal("KILL"), None);
    until("postgres is gone", || !alive(postgres));
    let mut again = Serving::start(&folder.0, &["--json"]);
    again.ready();
    assert_eq!(again.signal("INT"), Some(0));
}

#[test]
fn the_curl_line_for_people_works_as_it_stands() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &[]);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line: &String| line != "Ctrl-C ends it.\n") {
        lines.push(serving.line());
    }
    assert_eq!(lines[0], "pinguard serves its demo to agents, read only\n");
    let from = lines.iter().position(|line| line.starts_with("  curl ")).unwrap();
    let length = lines[from..].iter().position(|line| line == "\n").unwrap();
    let output = Command::new("sh").arg("-c").arg(lines[from..from + length].concat()).output().unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["rowCount"], 3, "{answer}");

    let from = lines.iter().position(|line| line == "  {\n").unwrap();
    let length = lines[from..].iter().position(|line| line == "\n").unwrap();
    let configuration: serde_json::Value =
        serde_json::from_str(&lines[from..from + length].concat()).unwrap();
    assert_eq!(configuration["mcpServers"]["demo"]["type"], "http");
    serving.signal("INT");
    assert!(serving.stderr().contains("sales query: 3 rows, "), "{}", serving.stderr());
}

#[tokio::test]
async fn a_database_of_ones_own_is_served_as_flow_local() {
    let database = support::database(17).await;
    database.run("CREATE TABLE stock (item text, pieces int); INSERT INTO stock VALUES ('nail', 7)").await;
    let login = database.reader(&["public"]).await;
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json", "--database-url", &login.url]);
    let ready = serving.ready();
    assert!(ready.url().ends_with("/mcp/local/db"), "{}", ready.url());
    assert_eq!(ready.get("database_url"), login.url);
    let result = call(ready.url(), ready.key(), "query", json!({"sql": "SELECT * FROM stock"})).await;
    assert_eq!(result["structuredContent"]["rows"], json!([["nail", 7]]), "{result}");
}

#[test]
fn a_database_that_does_not_let_us_in_is_told_at_once() {
    let database = support::server(15).server.url("nobody_here", "wrong", "postgres");
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json", "--database-url", &database]);
    serving.ready();
    let said = serving.stderr();
    assert!(said.contains("the database cannot be used yet: ") && !said.contains("wrong"), "{said}");
}

#[tokio::test]
async fn a_dropped_call_stops_its_statement() {
    let database = support::database(16).await;
    let login = database.reader(&["public"]).await;
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json", "--database-url", &login.url]);
    let ready = serving.ready();
    let endless = "SELECT count(*) FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b";
    let running = call(ready.url(), ready.key(), "query", json!({"sql": endless}));
    let mut running = Box::pin(running);
    let active = async || database.activity().await.iter().filter(|row| row.state == "active").count();
    let mut seen = false;
    for _ in 0..200 {
        let ended = tokio::time::timeout(Duration::from_millis(25), &mut running).await;
        assert!(ended.is_err(), "the statement is not endless: {ended:?}");
        seen = active().await > 0;
        if seen {
            break;
        }
    }
    assert!(seen, "the statement does not run");
    drop(running);
    for _ in 0..200 {
        if active().await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the statement still runs: {:?}", database.activity().await);
}

#[tokio::test]
async fn without_keys_everyone_may_call_and_that_is_said() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json", "--no-auth"]);
    let ready = serving.ready();
    assert_eq!(ready.0.get("key"), Some(&serde_json::Value::Null));
    let result = call(ready.url(), None, "query", json!({"sql": "SELECT 1 AS one"})).await;
    assert_eq!(result["structuredContent"]["rows"], json!([[1]]), "{result}");
    assert!(serving.stderr().contains("no key is asked for"), "{}", serving.stderr());
}

#[tokio::test]
async fn a_flow_document_decides_what_is_served() {
    let folder = Folder::new();
    let document = folder.0.join("flow.json");
    let flow = json!({"id": "team", "name": "Team", "kind": "agentflow", "nodes": [
        {"id": "money", "name": "Money", "actions": ["query"], "relations": ["public.demo_sales"]}]});
    fs::write(&document, flow.to_string()).unwrap();
    let mut serving = Serving::start(&folder.0, &["--json", "--flow", document.to_str().unwrap()]);
    let ready = serving.ready();
    assert!(ready.url().ends_with("/mcp/team/money"), "{}", ready.url());
    let list = post(ready.url(), ready.key(), &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
        .await
        .json();
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "query"), "{list}");
    assert!(!tools.iter().any(|tool| tool["name"] == "list_tables"), "{list}");
}

#[tokio::test]
async fn a_flow_of_an_earlier_run_is_not_served_and_its_secrets_are_gone() {
    let folder = Folder::new();
    let mut demo = Serving::start(&folder.0, &["--json"]);
    demo.ready();
    let secrets = || fs::read_dir(folder.0.join("secrets")).unwrap();
    assert_eq!(secrets().count(), 4);
    demo.signal("INT");
    let mut left: Vec<_> = secrets().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(
        left,
        ["pinguard.audit", "pinguard.stamp"],
        "the audit and the pins of this run are verified with them"
    );

    let database = support::database(14).await;
    for arguments in [&["--json"][..], &["--json", "--no-auth"]] {
        let mut own = Serving::start(&folder.0, &[arguments, &["--database-url", &database.url]].concat());
        let ready = own.ready();
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        assert_eq!(post(ready.url(), ready.key(), &list).await.status, 200);
        let earlier = ready.url().replace("/local/db", "/demo/sales");
        assert_eq!(post(&earlier, ready.key(), &list).await.status, 404);
        own.signal("INT");
    }
}

#[test]
fn a_flow_document_with_problems_is_refused_with_all_of_them() {
    let folder = Folder::new();
    let document = folder.0.join("flow.json");
    fs::write(&document, r#"{"id": "Team!", "name": "Team", "kind": "agentflow", "colour": 1, "nodes": []}"#)
        .unwrap();
    let (code, said) = fails(&folder.0, &["--flow", document.to_str().unwrap()]);
    assert_eq!(code, Some(1));
    assert!(said.contains("flow.json") && said.contains("colour: ") && said.contains("; id: "), "{said}");
    let (_, said) = fails(&folder.0, &["--flow", "/nowhere/flow.json"]);
    assert!(said.starts_with("error: cannot read /nowhere/flow.json: "), "{said}");
}

#[test]
fn a_credential_without_its_secret_is_asked_for() {
    let folder = Folder::new();
    let document = folder.0.join("flow.json");
    let flow = json!({"id": "team", "name": "Team", "kind": "agentflow", "nodes": [
        {"id": "money", "name": "Money", "credential": "ledger", "actions": ["query"]}]});
    fs::write(&document, flow.to_string()).unwrap();
    let (_, said) = fails(&folder.0, &["--flow", document.to_str().unwrap()]);
    let file = folder.0.join("secrets/ledger");
    let expected = format!(
        "error: node `money` names the credential `ledger`: write its connection URL to {}\n",
        file.display()
    );
    assert_eq!(said, expected);
}

#[test]
fn a_taken_port_is_named() {
    let folder = Folder::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (code, said) = fails(&folder.0, &["--port", &port.to_string()]);
    let expected = format!(
        "error: port {port} on 127.0.0.1 is in use: end what listens there, or give another with --port\n"
    );
    assert_eq!((code, said), (Some(1), expected));
}

#[test]
fn a_data_folder_in_use_is_named() {
    let folder = Folder::new();
    let mut serving = Serving::start(&folder.0, &["--json"]);
    serving.ready();
    let (code, said) = fails(&folder.0, &[]);
    let expected = format!(
        "error: another server runs in {}: stop it, or give another data folder\n",
        folder.0.display()
    );
    assert_eq!((code, said), (Some(1), expected));
}

#[test]
fn wrong_words_on_the_command_line_are_told() {
    let folder = Folder::new();
    for (arguments, told) in
        [(&["--cash"][..], "--cash"), (&["--port", "99999"], "99999"), (&["more"], "more")]
    {
        let (code, said) = fails(&folder.0, arguments);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(told), "{said}");
    }
    let (code, said) = fails(&folder.0, &["--database-url", "mysql://u:hidden@h/d"]);
    assert_eq!(code, Some(1));
    assert!(said.starts_with("error: --database-url: ") && !said.contains("hidden"), "{said}");
}

#[tokio::test]
async fn the_demo_loads_on_every_major() {
    support::each_major(async |server| {
        let database = server.database().await;
        database.run("DROP ROLE IF EXISTS pinguard_reader; CREATE ROLE pinguard_reader").await;
        database.run(&format!("BEGIN; {}; COMMIT", local::DEMO)).await;
        let count = "SELECT count(*) FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relkind IN ('r','p','v','m')";
        assert_eq!(database.client().await.query_one(count, &[]).await.unwrap().get::<_, i64>(0), 9);
        database.run("DROP OWNED BY pinguard_reader; DROP ROLE pinguard_reader").await;
    })
    .await;
}
