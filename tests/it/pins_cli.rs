//! `pinguard pins test|push` as a repository's CI types them, against `pinguard serve`.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{
    self,
    command::{Folder, Ready, Serving},
    http::{self, call, post},
};

/// The worked example as a repository keeps it.
const SHOP: &str = r"
id: shop
name: Shop
kind: chatflow
nodes:
  - id: sales
    relations: public.demo_sales, shop.orders
    actions: []
    pins:
      - id: p1
        name: pq_revenue_by_region
        purpose: Revenue of a month by region
        sql: |
          SELECT region, sum(amount) AS revenue
          FROM demo_sales
          WHERE month = :month
          GROUP BY region
          ORDER BY region
          LIMIT 100
        params:
          - {name: month, type: date}
        samples: {month: 2026-01-01}
      - id: p2
        name: pq_top_products
        purpose: Products by revenue
        sql: |
          SELECT product, revenue
          FROM (
              SELECT product, sum(amount) AS revenue, rank() OVER (ORDER BY sum(amount) DESC) AS rnk
              FROM demo_sales
              WHERE month = :month
              GROUP BY product
          ) ranked
          WHERE rnk <= :n
          ORDER BY rnk
          LIMIT 20
        params:
          - {name: month, type: date}
          - {name: n, type: int8, max: 20}
        samples: {month: 2026-01-01, n: 2}
";

/// What a command did: exit code, standard output, standard error.
type Done = (i32, String, String);

/// A running server and a folder for documents.
struct Shop {
    serving: Serving,
    ready: Ready,
    folder: Folder,
}

impl Shop {
    fn open() -> Self {
        let folder = Folder::new();
        let mut serving = Serving::start(&folder.0, &["--json"]);
        let ready = serving.ready();
        Self { serving, ready, folder }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `pinguard pins` on a document.
    fn pins(&self, words: &[&str], document: &str) -> Done {
        let path = self.write("flow.yaml", document);
        run(
            self.ready.get("api_url"),
            self.ready.key().unwrap(),
            &[words, &[path.to_str().unwrap()]].concat(),
        )
    }

    async fn flow(&self, id: &str) -> http::Reply {
        let url = format!("{}/flows/{id}", self.ready.get("api_url"));
        http::send("GET", &url, &[("authorization", &format!("Bearer {}", self.ready.key().unwrap()))], "")
            .await
    }

    /// The pins that agents are offered at a node.
    async fn offered(&self, path: &str) -> Vec<String> {
        let url = self.ready.url().replace("/mcp/demo/sales", path);
        let list =
            post(&url, self.ready.key(), &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
        let list = list.json();
        let tools = list["result"]["tools"].as_array().unwrap_or_else(|| panic!("{list}"));
        let names = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("pq_")).collect()
    }
}

fn run(url: &str, key: &str, words: &[&str]) -> Done {
    let output = pinguard(url, key, words).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let done = (output.status.code().unwrap(), text(output.stdout), text(output.stderr));
    assert!(key.is_empty() || !format!("{}{}", done.1, done.2).contains(key), "it shows the key: {done:?}");
    done
}

/// A report without its figures of time.
fn timeless(report: &str) -> String {
    let words = report.split(' ').collect::<Vec<_>>();
    let is_time = |at: usize| words.get(at + 1).is_some_and(|word| *word == "ms:");
    let words = words.iter().enumerate().map(|(at, word)| if is_time(at) { "…" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn lines(report: &str) -> Vec<Value> {
    report.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn pinguard(url: &str, key: &str, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pinguard-under-test"));
    command.arg("pins").args(words).env_remove("RUST_LOG").stdin(Stdio::null());
    command.env("PINGUARD_URL", url).env("PINGUARD_KEY", key);
    command
}

#[tokio::test]
async fn a_pushed_flow_is_tested_stamped_published_and_called() {
    let shop = Shop::open();
    let (code, out, errors) = shop.pins(&["test"], SHOP);
    assert_eq!((code, out.as_str()), (2, ""), "the server does not know the flow yet: {errors}");
    assert!(
        errors.contains("`pinguard pins push`") && errors.contains("there is no flow `shop`"),
        "{errors}"
    );

    let report = "flow shop
  passed  sales pq_revenue_by_region  3 rows, … ms: region text, revenue numeric
  passed  sales pq_top_products       2 rows, … ms: product text, revenue numeric
2 of 2 pins passed
";
    let (code, out, errors) = shop.pins(&["push"], SHOP);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    assert_eq!(timeless(&out), format!("{report}saved as version 2 of the draft\n"));
    let stored = shop.flow("shop").await.json();
    assert_eq!((&stored["draftVersion"], &stored["live"]), (&json!(2), &Value::Null));
    assert!(!stored.to_string().contains("samples"), "{stored}");

    // What is saved stands; a test alone changes nothing.
    let (code, out, errors) = shop.pins(&["test"], SHOP);
    assert_eq!((code, timeless(&out).as_str(), errors.as_str()), (0, report, ""));
    assert_eq!(shop.flow("shop").await.json()["draftVersion"], 2);

    let (code, out, errors) = shop.pins(&["push", "--publish", "--json"], SHOP);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    let told = lines(&out);
    assert_eq!(
        told[2],
        json!({"flow": "shop", "passed": true, "pins": 2, "failed": 0, "draftVersion": 3, "liveVersion": 1, "changes": 2})
    );
    assert_eq!(
        (told.len(), &told[1]["pin"], &told[1]["rowCount"]),
        (3, &json!("pq_top_products"), &json!(2))
    );
    assert_eq!(shop.offered("/mcp/shop/sales").await, ["pq_revenue_by_region", "pq_top_products"]);
    let url = shop.ready.url().replace("/mcp/demo/sales", "/mcp/shop/sales");
    let arguments = json!({"month": "2026-01-01", "n": 2});
    let result = call(&url, shop.ready.key(), "pq_top_products", arguments).await;
    let rows = json!([["cedar tea", "200.00"], ["linen towel", "64.00"]]);
    assert_eq!(result["structuredContent"]["rows"], rows, "{result}");
}

#[tokio::test]
async fn one_pin_that_does_not_pass_keeps_all_from_being_saved() {
    let shop = Shop::open();
    shop.pins(&["push", "--publish"], SHOP);
    let before = shop.flow("shop").await.json();
    for (from, to, said) in [
        ("max: 20}\n        samples: {month: 2026-01-01, n: 2}", "max: 20}", "written as `samples`"),
        ("n: 2}", "n: 21}", "invalid_values"),
        ("rnk <= :n", "rnk <= :n AND colour = 1", "42703"),
        ("SELECT product, revenue", "SELECT product, revenue, pg_sleep(1)", "builtin_refused"),
        ("{name: n, type: int8, max: 20}", "{name: n}", "`n` may be of type int8"),
        ("relations: public.demo_sales, shop.orders", "relations: shop.orders", "relation_not_selected"),
    ] {
        let changed = SHOP.replace(from, to);
        assert_ne!(changed, SHOP);
        let (code, out, errors) = shop.pins(&["push", "--publish"], &changed);
        assert_eq!((code, errors.as_str()), (1, ""), "{out}");
        assert!(out.contains("FAILED  sales pq_top_products") && out.contains(said), "{said}: {out}");
        assert_eq!(shop.flow("shop").await.json(), before, "{to}");
    }
    let (code, out, _) =
        shop.pins(&["test", "--json"], &SHOP.replace("rnk <= :n", "rnk <= :n AND colour = 1"));
    let told = lines(&out);
    let failed = &told[1];
    assert_eq!((code, &told[0]["passed"], &told[2]["passed"]), (1, &json!(true), &json!(false)));
    assert_eq!((&failed["code"], &failed["passed"]), (&json!("42703"), &json!(false)));
    let sql = "SELECT product, revenue\nFROM (\n    SELECT product, sum(amount) AS revenue, rank() OVER (ORDER BY sum(amount) DESC) AS rnk\n";
    assert!(failed["position"].as_u64().unwrap() > sql.len() as u64, "it is a place in the file: {failed}");
}

#[tokio::test]
async fn what_an_editor_saves_during_a_push_is_not_overwritten() {
    let shop = Shop::open();
    shop.pins(&["push"], SHOP);
    let slow = SHOP.replace(
        "SELECT product, revenue\n",
        "SELECT product, revenue, (SELECT count(*) FROM generate_series(1, 30000000)) AS n\n",
    );
    let path = shop.write("slow.yaml", &slow);
    let (url, key) = (shop.ready.get("api_url"), shop.ready.key().unwrap());
    let pushing = pinguard(url, key, &["push", path.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let client = support::connect(shop.ready.get("database_url")).await;
    let running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pinguard' AND state = 'active' AND query LIKE '%generate_series%'";
    while client.query_one(running, &[]).await.unwrap().get::<_, i64>(0) == 0 {}
    let draft = json!({"draft": {"id": "shop", "kind": "chatflow", "nodes": []}, "version": 2});
    let headers = [("authorization", &*format!("Bearer {key}")), ("content-type", "application/json")];
    let saved = http::send("PUT", &format!("{url}/flows/shop/draft"), &headers, &draft.to_string()).await;
    assert_eq!(saved.status, 200, "{}", saved.json());
    let output = pushing.wait_with_output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("the draft was not saved: draft_changed"), "{errors}");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(report.contains("2 of 2 pins passed") && !report.contains("saved as"), "{report}");
    assert_eq!(shop.flow("shop").await.json()["draft"]["nodes"], json!([]));
}

#[test]
fn what_says_nothing_of_the_pins_ends_with_another_code() {
    let shop = Shop::open();
    let path = shop.write("flow.yaml", SHOP);
    let file = path.to_str().unwrap();
    let (url, key) = (shop.ready.get("api_url"), shop.ready.key().unwrap());
    let empty = shop.write("empty", "\n");
    let broken = shop.write("broken.yaml", "id: shop\nid: other");
    let unknown =
        shop.write("unknown.json", r#"{"id": "shop", "kind": "chatflow", "colour": 1, "nodes": []}"#);
    for (url, key, words, said) in [
        (url, "pgk_wrong", &["push", file][..], "unauthorized"),
        (url, "", &["test", file], "it is read from PINGUARD_KEY or --key-file"),
        (url, key, &["test", file, "--key-file", empty.to_str().unwrap()], "holds no key"),
        (url, key, &["test", file, "--key-file", "/nowhere/key"], "cannot read /nowhere/key"),
        ("http://127.0.0.1:1", key, &["push", file], "no answer from http://127.0.0.1:1/api/v1/flows/shop"),
        ("http://mcp.example.com", key, &["push", file], "must begin with https://"),
        (shop.ready.url(), key, &["push", file], "--url must name pinguard's own address"),
        (url, key, &["push", "/nowhere/flow.yaml"], "cannot read /nowhere/flow.yaml"),
        (url, key, &["push", broken.to_str().unwrap()], "line 2, column 1: `id` is there already"),
        (url, key, &["test", unknown.to_str().unwrap()], "colour"),
        (url, key, &["push"], "<FILE>"),
        (url, key, &["pull", file], "pull"),
    ] {
        let (code, out, errors) = run(url, key, words);
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(said), "{words:?}: {errors}");
    }
}
