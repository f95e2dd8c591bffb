//! The conformance suite of the MCP project against `pinguard serve`, in both revisions that it knows.
//!
//! Every scenario of a revision is run. What does not succeed stands in `conformance/` with the reason, and the list is
//! held to both ways: a check that fails without standing there fails the test, and so does one that stands there and
//! does not fail any more. So does a change in the number of those that succeed, should a scenario fall silent.

use std::{collections::BTreeSet, fmt, fs, path::Path};

use serde_json::Value;

use crate::{
    mcp_tools::{tell, tool},
    support::command::{Folder, Serving},
};

#[test]
fn the_revision_of_2025_is_kept_but_for_what_is_listed() {
    check("2025-11-25", include_str!("conformance/2025-11-25.txt"));
}

#[test]
fn the_revision_of_2026_is_kept_but_for_what_is_listed() {
    check("2026-07-28", include_str!("conformance/2026-07-28.txt"));
}

/// A check that did not succeed, or need not.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shortfall {
    /// `failure`, `warning` or `skipped`.
    status: String,
    scenario: String,
    check: String,
}

/// What a run gave, or must give.
#[derive(Debug, Default)]
struct Outcome {
    succeeded: usize,
    shortfalls: BTreeSet<Shortfall>,
}

#[track_caller]
fn check(revision: &str, list: &str) {
    let (folder, out) = (Folder::new(), Folder::new());
    let mut serving = Serving::start(&folder.0, &["--json", "--no-auth"]);
    let ready = serving.ready();
    let mut suite = tool("conformance/dist/index.js", &out);
    suite.args(["server", "--url", ready.url(), "--requirements", revision, "--output-dir", "results"]);
    // Its exit code says that something failed, which something always does.
    let run = suite.output().unwrap();
    let results = out.0.join("results");
    assert!(
        results.is_dir(),
        "{}{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );

    let (found, expected) = (Outcome::read(&results), Outcome::parse(list));
    tell(&format!("MCP conformance, {revision}: {found}"));
    let new: Vec<&Shortfall> = found.shortfalls.difference(&expected.shortfalls).collect();
    let gone: Vec<&Shortfall> = expected.shortfalls.difference(&found.shortfalls).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "conformance/{revision}.txt is not what was found\nnot listed: {new:#?}\nlisted, but not so any more: {gone:#?}"
    );
    assert_eq!(found.succeeded, expected.succeeded, "checks that succeed");
}

impl Outcome {
    /// Reads what the suite left behind: a folder for each scenario, named `server-SCENARIO-TIME`.
    fn read(results: &Path) -> Self {
        let mut outcome = Self::default();
        for folder in fs::read_dir(results).unwrap() {
            let folder = folder.unwrap().path();
            let name = folder.file_name().unwrap().to_str().unwrap();
            let scenario = name.strip_prefix("server-").unwrap();
            let scenario = &scenario[..scenario.len() - "-2026-01-01T00-00-00-000Z".len()];
            let text = fs::read_to_string(folder.join("checks.json")).unwrap();
            let checks: Value = serde_json::from_str(&text).unwrap();
            for check in checks.as_array().unwrap() {
                let status = check["status"].as_str().unwrap();
                match status {
                    "SUCCESS" => outcome.succeeded += 1,
                    "INFO" => {}
                    _ => {
                        outcome.shortfalls.insert(Shortfall {
                            status: status.to_lowercase(),
                            scenario: scenario.to_owned(),
                            check: check["id"].as_str().unwrap().to_owned(),
                        });
                    }
                }
            }
        }
        outcome
    }

    /// Reads a list: `succeeded N`, and below each reason, indented, `STATUS SCENARIO CHECK`.
    fn parse(list: &str) -> Self {
        let mut outcome = Self::default();
        let mut reason = false;
        for line in list.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(count) = line.strip_prefix("succeeded ") {
                outcome.succeeded = count.parse().unwrap();
            } else if !line.starts_with(' ') {
                reason = true;
            } else {
                assert!(reason, "no reason above `{line}`");
                let words: Vec<&str> = line.split_whitespace().collect();
                let [status, scenario, check] = words[..].try_into().expect("three words");
                let new = outcome.shortfalls.insert(Shortfall {
                    status: status.to_owned(),
                    scenario: scenario.to_owned(),
                    check: check.to_owned(),
                });
                assert!(new, "listed twice: `{line}`");
            }
        }
        outcome
    }
}

/// As a line of the list.
impl fmt::Debug for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.status, self.scenario, self.check)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |status: &str| self.shortfalls.iter().filter(|one| one.status == status).count();
        write!(
            f,
            "{} checks succeed, {} fail, {} warn, {} are skipped",
            self.succeeded,
            count("failure"),
            count("warning"),
            count("skipped")
        )
    }
}
