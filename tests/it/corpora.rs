//! The guard's corpora: what must be refused is, what people ask is not, on every major, with and without a selection, for a
//! login of least privilege and for a superuser.

use guard::facts::ObjectName;
use guard::{RowLimit, Rules, Selection};
use pg::{Connection, Judged};
use serde_json::Value;

use crate::client::{open, soon};
use crate::support::{TestDb, TestServer, each_major};

const HOSTILE: &str = include_str!("../corpus/guard/hostile.jsonl");
const BENIGN: &str = include_str!("../corpus/guard/benign.jsonl");
const BASE: &str = include_str!("../corpus/guard/setup.sql");
const TRAPS: &str = include_str!("../corpus/guard/setup_traps.sql");

/// The relations that the corpora take for selected.
const SELECTED: &[&str] =
    &["customers", "orders", "order_items", "products", "v_order_totals", "mv_daily", "measurements", "docs"];
const SELECTED_TRAPS: &[&str] = &[
    "parent_t",
    "rls_t",
    "v_safe_secret_names",
    "v_volatile",
    "v_exec",
    "idx_trojan",
    "frt",
    "dom_t",
    "ft_passwd",
    "ft_program",
    "ft_secrets",
];

/// One statement of a corpus.
struct Case {
    id: String,
    sql: String,
    values: usize,
    traps: bool,
    without_selection: String,
    with_selection: String,
}

fn cases(corpus: &str, major: u16) -> Vec<Case> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    corpus
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|case| case["min_version"].as_u64().unwrap_or(0) <= u64::from(major))
        .map(|case| Case {
            id: text(&case["id"]),
            sql: text(&case["sql"]),
            values: case["params"].as_array().map_or(0, Vec::len),
            traps: case["setup"] != "base",
            without_selection: text(&case["expect_no_selection"]),
            with_selection: text(&case["expect_selection"]),
        })
        .collect()
}

fn rules(selection: Option<&[&str]>) -> Rules {
    let name = |name: &&str| ObjectName { schema: "public".to_owned(), name: (*name).to_owned() };
    let open = Rules::open(RowLimit::new(10));
    match selection {
        Some(names) => Rules { selection: Selection::Only(names.iter().map(name).collect()), ..open },
        None => open,
    }
}

/// `allow`, `refuse` with its findings, or `error` with the server's word.
async fn verdict(connection: &mut Connection, sql: &str, values: usize, rules: &Rules) -> String {
    let candidate = match guard::candidate(sql, rules) {
        Ok(candidate) => candidate,
        Err(refusal) => return format!("refuse: {refusal}"),
    };
    // Cases give no values, so that a parameter is one that nobody declared, unless they say so.
    if candidate.parameters() != values {
        return "refuse: parameters without values".to_owned();
    }
    if candidate.judged_text().starts_with("SHOW ") {
        return "allow".to_owned();
    }
    match connection.judge(&candidate, rules, None, soon(20)).await {
        Ok(Judged::Clear(_)) => "allow".to_owned(),
        Ok(Judged::Refused(refusal)) => format!("refuse: {refusal}"),
        Err(error) => format!("error: {error}"),
    }
}

/// Whether a verdict is what a case expects; the server's own refusal of a hostile statement is one, and a statement that is
/// to be bounded may be refused.
fn fits(verdict: &str, expected: &str) -> bool {
    match expected {
        "allow" => verdict == "allow",
        "refuse" => verdict != "allow",
        _ => true,
    }
}

/// Databases like those for which the corpora were written.
async fn laid_out(server: &'static TestServer) -> [TestDb; 2] {
    let (base, traps) = (server.database().await, server.database().await);
    for (db, text) in [(&base, BASE.to_owned()), (&traps, BASE.to_owned() + TRAPS)] {
        // Roles are the whole server's, so each database has its own.
        let text = text
            .replace("guard_agent", &format!("{}_agent", db.name))
            .replace("guard_app", &format!("{}_app", db.name));
        db.run(&text.replace(":'port'", &format!("'{}'", server.port()))).await;
    }
    [base, traps]
}

/// A login of least privilege to whom trees can be printed quietly.
async fn agent(db: &TestDb) -> String {
    let login = db.reader(&["public", "hr"]).await;
    let grant = match db.server.major {
        14 => format!("ALTER ROLE {} SET log_min_messages = fatal", login.role),
        _ => format!("GRANT SET ON PARAMETER log_min_messages TO {}", login.role),
    };
    db.run(&grant).await;
    login.url
}

async fn check(server: &'static TestServer, corpus: &str, selected: &[&str]) {
    let databases = laid_out(server).await;
    let mut wrong = Vec::new();
    let mut count = 0;
    for superuser in [false, true] {
        let mut connections = Vec::new();
        for db in &databases {
            let url = if superuser { db.url.clone() } else { agent(db).await };
            connections.push(open(&url).await);
        }
        for case in cases(corpus, server.major) {
            for (selection, expected) in
                [(None, &case.without_selection), (Some(selected), &case.with_selection)]
            {
                let got = verdict(
                    &mut connections[usize::from(case.traps)],
                    &case.sql,
                    case.values,
                    &rules(selection),
                )
                .await;
                count += 1;
                if !fits(&got, expected) {
                    let with = if selection.is_some() { "with" } else { "without" };
                    wrong.push(format!(
                        "{} {with} a selection, superuser {superuser}: expected {expected}, got {got}\n  {}",
                        case.id, case.sql
                    ));
                }
            }
        }
        for connection in connections {
            connection.close().await;
        }
    }
    println!("PostgreSQL {}: {count} verdicts, {} wrong", server.major, wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 400, "the corpus was not read");
}

#[tokio::test]
async fn what_must_be_refused_is_on_every_major() {
    let selected: Vec<&str> = SELECTED.iter().chain(SELECTED_TRAPS).copied().collect();
    each_major(async |server| check(server, HOSTILE, &selected).await).await;
}

#[tokio::test]
async fn what_people_ask_is_not_refused_on_any_major() {
    each_major(async |server| check(server, BENIGN, SELECTED).await).await;
}
