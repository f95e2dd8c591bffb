//! The trees with which the guard's own tests do without a server: held against what servers print today, or recorded anew by
//! `PINGUARD_RECORD=1 cargo test --package tests --test it recording`.

#[path = "../../shared/guard/tests/it/trees/recorded.rs"]
mod recorded;
#[path = "../../shared/guard/tests/it/trees/statements.rs"]
mod statements;
#[path = "../../shared/guard/tests/it/trees/written.rs"]
mod written;

mod printer;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use guard::facts::{Facts, Major};
use guard::{Judgement, Step};
use pg::Connection;
use tokio_postgres::Client;

use self::printer::Printer;
use self::recorded::Recording;
use self::written::written;
use crate::client::{open, soon};
use crate::support::{TestServer, each_major};

const SETUP: &str = include_str!("../../shared/guard/tests/trees/setup.sql");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/guard/tests/trees");

/// Numbers of what was made after the cluster, made anew from what the thing is: the same in whatever order things are made.
const NUMBERS: &str = "
SELECT o.oid::text,
       20000 + ('x' || substr(md5(replace(pg_describe_object(o.class, o.oid, 0), current_database(), '')), 1, 6))::bit(24)::int
  FROM (SELECT 'pg_class'::regclass AS class, oid FROM pg_class
        UNION ALL SELECT 'pg_proc'::regclass, oid FROM pg_proc
        UNION ALL SELECT 'pg_type'::regclass, oid FROM pg_type
        UNION ALL SELECT 'pg_operator'::regclass, oid FROM pg_operator
        UNION ALL SELECT 'pg_authid'::regclass, oid FROM pg_authid WHERE rolname LIKE current_database() || '%') AS o
 WHERE o.oid >= 16384";

#[tokio::test]
async fn the_recorded_trees_are_what_servers_print() {
    each_major(async |server| {
        let text = record(server).await;
        let path = Path::new(FOLDER).join(format!("{}.jsonl", server.major));
        if is_wanted() {
            std::fs::write(&path, &text).unwrap();
        }
        let recorded = std::fs::read_to_string(&path).unwrap();
        for (now, then) in text.lines().zip(recorded.lines()) {
            assert_eq!(now, then, "{} tells otherwise; PINGUARD_RECORD=1 records anew", path.display());
        }
        assert_eq!(text.len(), recorded.len());
    })
    .await;
}

#[expect(clippy::disallowed_methods, reason = "whoever records says so by hand")]
fn is_wanted() -> bool {
    std::env::var_os("PINGUARD_RECORD").is_some()
}

async fn record(server: &'static TestServer) -> String {
    let db = server.database().await;
    let owner = db.plain_login("owner", "").await;
    db.run(&SETUP.replace("trees_owner", &owner.role)).await;
    let mut printer = Printer::start(&db.url).await;
    let mut catalog = open(&db.url).await;
    let mut recording = Recording::default();
    for statement in statements::all(server.major.into()) {
        let candidate = guard::candidate(&statement.sql, &statements::open()).unwrap();
        let tree = printer.print(candidate.judged_text()).await;
        for rules in [statements::open(), statements::limited()] {
            let major = Major::new(server.major.into()).unwrap();
            let judgement = Judgement::begin(&candidate, &tree, major, &rules, Arc::default());
            recording.facts.extend(learned(judgement, &mut catalog).await);
        }
        recording.trees.insert(statement.sql, tree);
    }
    catalog.close().await;
    numbered(&without_names(&written(&recording)), &numbers(&printer.client).await)
}

/// All that a judgement asks for.
async fn learned(mut judgement: Judgement<'_>, catalog: &mut Connection) -> Facts {
    let mut all = Facts::default();
    while let Step::Need(needs) = judgement.step() {
        let facts = catalog.facts(&needs, soon(20)).await.unwrap();
        all.extend(facts.clone());
        judgement.learn(facts);
    }
    all
}

/// Constants of `regclass` (2205) hold numbers as bytes: they become zeros. How long such bytes are moves the breaks of lines,
/// so those become blanks.
fn without_names(text: &str) -> String {
    text.lines()
        .map(|line| if line.contains(":consttype 2205") { nameless(line) } else { line.to_owned() + "\n" })
        .collect()
}

fn nameless(line: &str) -> String {
    let line = line.replace("\\n", " ");
    let (mut told, mut rest) = (String::with_capacity(line.len()), line.as_str());
    while let Some((before, after)) = rest.split_once(":consttype 2205 ") {
        let (head, value) = after.split_once("[ ").unwrap();
        let (bytes, tail) = value.split_once(" ]").unwrap();
        let zeros = vec!["0"; bytes.split_whitespace().count()].join(" ");
        told.extend([before, ":consttype 2205 ", head, "[ ", &zeros, " ]"]);
        rest = tail;
    }
    told + rest + "\n"
}

/// Puts other numbers for some, wherever they stand alone, and the lines in order again.
fn numbered(text: &str, numbers: &HashMap<String, i32>) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        told.push_str(before);
        // A line break is written `\n`.
        let alone =
            before.ends_with("\\n") || !before.ends_with(|c: char| c.is_alphanumeric() || "_.-".contains(c));
        match numbers.get(digits).filter(|_| alone) {
            Some(number) => told.push_str(&number.to_string()),
            None => told.push_str(digits),
        }
        rest = after;
    }
    told.push_str(rest);
    written(&Recording::parse(&told))
}

async fn numbers(client: &Client) -> HashMap<String, i32> {
    let rows = client.query(NUMBERS, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}
