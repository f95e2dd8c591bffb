//! The guard's corpora: what must be refused is, what people ask is not, on every major, with and without a selection, for a
//! login of least privilege and for a superuser.

mod mutations;

use std::collections::BTreeSet;

use guard::facts::ObjectName;
use guard::{RowLimit, Rules, Selection};
use pg::{Connection, Judged, Memory};
use serde_json::Value;

use crate::client::{judge, open};
use crate::support::{TestDb, TestServer, each_major, postgis_server};

pub(crate) const HOSTILE: &str = include_str!("../corpus/guard/hostile.jsonl");
const BENIGN: &str = include_str!("../corpus/guard/benign.jsonl");
pub(crate) const FOUND: &str = include_str!("../corpus/guard/found.jsonl");
const FOUND_BENIGN: &str = include_str!("../corpus/guard/found_benign.jsonl");
const FOUND_POSTGIS: &str = include_str!("../corpus/guard/found_postgis.jsonl");

pub(crate) const BASE: &str = include_str!("../corpus/guard/setup.sql");
/// What is laid out on top of the base, each in a database of its own.
pub(crate) const SETUPS: &[(&str, &str)] = &[
    ("base", ""),
    ("traps", include_str!("../corpus/guard/setup_traps.sql")),
    ("found", include_str!("../corpus/guard/setup_found.sql")),
    ("found_casts", include_str!("../corpus/guard/setup_found_casts.sql")),
    ("found_extensions", include_str!("../corpus/guard/setup_found_extensions.sql")),
    ("found_benign", include_str!("../corpus/guard/setup_found_benign.sql")),
    ("found_folds", include_str!("../corpus/guard/setup_found_folds.sql")),
    ("postgis", include_str!("../corpus/guard/setup_found_postgis.sql")),
    (
        "postgis_captured",
        concat!(
            include_str!("../corpus/guard/setup_found_postgis.sql"),
            include_str!("../corpus/guard/setup_found_postgis_captured.sql")
        ),
    ),
];

/// The relations that the corpora take for selected.
pub(crate) const SELECTED: &[&str] =
    &["customers", "orders", "order_items", "products", "v_order_totals", "mv_daily", "measurements", "docs"];
pub(crate) const SELECTED_TRAPS: &[&str] = &[
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
pub(crate) const SELECTED_FOUND: &[&str] = &[
    "below",
    "lowest",
    "deals",
    "tenants",
    "tenants_by_function",
    "v_tenant",
    "v_sizes",
    "v_kinds",
    "v_barrier",
    "places",
];
pub(crate) const SELECTED_FOLDS: &[&str] = &[
    "kept_index",
    "kept_constants",
    "kept_bodies",
    "kept_checks",
    "kept_key",
    "kept_key_1",
    "folds_constant",
    "folds_case",
    "folds_coalesce",
    "folds_null",
    "folds_boolean",
    "folds_row",
    "folds_dropped",
    "folds_body",
    "folds_body_argument",
    "folds_body_default",
    "folds_body_dropped",
    "folds_body_deeper",
    "folds_body_atomic",
    "folds_default",
    "folds_statistics",
    "folds_check",
    "folds_predicate",
    "folds_operator",
    "folds_key",
    "folds_key_1",
    "folds_virtual",
];

/// Harmless by itself, and refused in a database in which a literal like its own may run code while it is parsed.
const REFUSED_FOR_WHAT_IS_BESIDE: &[&str] = &["H326"];

/// One statement of a corpus.
struct Case {
    id: String,
    sql: String,
    values: usize,
    setup: String,
    without_selection: String,
    with_selection: String,
    /// What the refusal says, where another could be taken for it.
    says: String,
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
            setup: text(&case["setup"]),
            without_selection: text(&case["expect_no_selection"]),
            with_selection: text(&case["expect_selection"]),
            says: case["says"].as_str().unwrap_or_default().to_owned(),
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
async fn verdict(
    connection: &mut Connection,
    memory: &Memory,
    sql: &str,
    values: usize,
    rules: &Rules,
) -> String {
    let candidate = match guard::candidate(sql, rules) {
        Ok(candidate) => candidate,
        Err(refusal) => return format!("refuse: {refusal}"),
    };
    // Cases give no values, so that a parameter is one that nobody declared, unless they say so.
    if candidate.parameters() != values {
        return "refuse: parameters without values".to_owned();
    }
    if candidate.as_it_is().is_some() {
        return "allow".to_owned();
    }
    match judge(connection, memory, &candidate, rules).await {
        Ok(Judged::Clear { .. }) => "allow".to_owned(),
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

/// A database like the one for which a case was written.
async fn laid_out(server: &'static TestServer, setup: &str) -> TestDb {
    let db = server.database().await;
    let (_, more) = SETUPS.iter().find(|(name, _)| *name == setup).unwrap();
    // Roles are the whole server's, so each database has its own.
    let text = format!("{BASE}\n{more}")
        .replace("guard_agent", &format!("{}_agent", db.name))
        .replace("guard_app", &format!("{}_app", db.name));
    db.run(&text.replace(":'port'", &format!("'{}'", server.port()))).await;
    db
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

fn selected_found() -> Vec<&'static str> {
    [SELECTED, SELECTED_FOUND, SELECTED_FOLDS].concat()
}

async fn check(server: &'static TestServer, corpus: &str, selected: &[&str]) {
    let cases = cases(corpus, server.major);
    let setups: BTreeSet<&str> = cases.iter().map(|case| case.setup.as_str()).collect();
    let mut wrong = Vec::new();
    let mut count = 0;
    for setup in setups {
        let db = laid_out(server, setup).await;
        for (login, url) in [("a reader", agent(&db).await), ("a superuser", db.url.clone())] {
            let mut connection = open(&url).await;
            let memory = Memory::default();
            for case in cases.iter().filter(|case| case.setup == setup) {
                for (with, selection, expected) in [
                    ("without", None, &case.without_selection),
                    ("with", Some(selected), &case.with_selection),
                ] {
                    let got =
                        verdict(&mut connection, &memory, &case.sql, case.values, &rules(selection)).await;
                    count += 1;
                    let beside = REFUSED_FOR_WHAT_IS_BESIDE.contains(&case.id.as_str());
                    let expected = if beside { "refuse" } else { expected.as_str() };
                    if !fits(&got, expected) || !got.contains(&case.says) {
                        wrong.push(format!(
                            "{} {with} a selection for {login}: expected {expected}, got {got}\n  {}",
                            case.id, case.sql
                        ));
                    }
                }
            }
            connection.close().await;
        }
    }
    println!("PostgreSQL {}: {count} verdicts, {} wrong", server.major, wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 40, "the corpus was not read");
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

#[tokio::test]
async fn what_was_found_by_attacking_is_refused_on_every_major() {
    each_major(async |server| check(server, FOUND, &selected_found()).await).await;
}

#[tokio::test]
async fn what_was_refused_for_no_reason_is_not_on_any_major() {
    each_major(async |server| check(server, FOUND_BENIGN, &selected_found()).await).await;
}

#[tokio::test]
async fn what_postgis_computes_runs_and_what_was_made_ahead_of_its_names_does_not() {
    check(postgis_server(), FOUND_POSTGIS, &selected_found()).await;
}
