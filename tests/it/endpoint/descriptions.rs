//! What the `query` tool says of a node's selection, with its database there, gone, or silent.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Endpoint, Setup, shop};
use crate::support::{
    self,
    proxy::{Fault, Proxy},
};

const SELECTED: [&str; 6] =
    ["app.people", "\"Sales 2026\".daily", "app.gone", "app.totals", "app.\"a.b\"", "hr.salaries"];

/// The description's text ahead of the selection, and the lines of the selection.
async fn described(endpoint: &Endpoint) -> (String, Vec<String>) {
    let answer = endpoint.ask("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let text = tools.iter().find(|tool| tool["name"] == "query").unwrap()["description"].as_str().unwrap();
    let mut lines = text.lines().map(str::to_owned);
    (lines.next().unwrap(), lines.collect())
}

#[tokio::test]
async fn the_selection_is_listed_with_its_columns() {
    support::each_major(async |server| {
        let db = server.database().await;
        let login = shop::build(&db).await;
        db.run("COMMENT ON MATERIALIZED VIEW app.totals IS E'by\n  person'").await;
        let endpoint = Setup::node(json!({"relations": SELECTED})).start(&db, &login.url).await;
        let (head, lines) = described(&endpoint).await;
        assert!(head.ends_with(" Database: db. Only these relations can be queried."), "{head}");
        let expected = [
            "- app.people (table): id, name, ssn, born, mood, home, mail, tags, initial — customers",
            "- \"Sales 2026\".daily (table): \"Day\", \"say \"\"hi\"\"\"",
            "- app.totals (materialized view): person, total — by person",
            "- app.\"a.b\" (table): x",
        ];
        // What is gone and what may not be read are left out.
        assert_eq!(lines, expected);
    })
    .await;
}

#[tokio::test]
async fn a_node_without_a_selection_needs_no_database_for_its_list() {
    let db = support::database(18).await;
    let proxy = Proxy::start(db.server.port()).await;
    let secret = proxy.through(&db.url, db.server.port());
    let endpoint = Setup::default().start(&db, &secret).await;
    let (head, lines) = described(&endpoint).await;
    assert!(head.ends_with(" Database: db.") && lines.is_empty(), "{head}");
    assert_eq!(proxy.connections(), 0);
    let pins_alone =
        Setup::node(json!({"relations": SELECTED, "actions": ["catalog"]})).start(&db, &secret).await;
    assert_eq!(pins_alone.ask("tools/list", json!({})).await["result"]["tools"].as_array().unwrap().len(), 3);
    assert_eq!(proxy.connections(), 0);
}

#[tokio::test]
async fn names_stand_alone_where_the_database_does_not_answer() {
    let db = support::database(18).await;
    shop::build(&db).await;
    let proxy = Proxy::start(db.server.port()).await;
    let through = proxy.through(&db.url, db.server.port());
    let endpoint = Setup::node(json!({"relations": SELECTED})).start(&db, &through).await;
    let names: Vec<String> = SELECTED.iter().map(|name| format!("- {name}")).collect();

    proxy.set(Fault::Silence);
    let since = Instant::now();
    assert_eq!(described(&endpoint).await.1, names);
    assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
    proxy.set(Fault::None);
    assert_eq!(described(&endpoint).await.1.len(), 5);

    for secret in ["postgresql://nobody:none@127.0.0.1:1/none", "no secret at all"] {
        endpoint.point_to(secret);
        assert_eq!(described(&endpoint).await.1, names, "{secret}");
    }
}

#[tokio::test]
async fn a_selection_of_which_nothing_is_left_says_so() {
    let db = support::database(18).await;
    let endpoint = Setup::node(json!({"relations": ["app.gone", "app.lost"]})).start(&db, &db.url).await;
    let (head, lines) = described(&endpoint).await;
    assert!(
        head.ends_with("None of the selected tables and views exists any more, so nothing can be queried."),
        "{head}"
    );
    assert!(lines.is_empty());
}
