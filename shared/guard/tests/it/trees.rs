//! Trees that servers of all five majors printed, judged without one. `tests/it/recording.rs` records them anew.

mod recorded;
mod statements;
mod written;

use std::collections::BTreeSet;
use std::sync::Arc;

use guard::facts::{Facts, Major};
use guard::{Judgement, Rules, Step};

use self::recorded::{Recording, answer};
use self::statements::{Statement, limited, open};
use self::written::written;

const RECORDINGS: [(u32, &str); 5] = [
    (14, include_str!("../trees/14.jsonl")),
    (15, include_str!("../trees/15.jsonl")),
    (16, include_str!("../trees/16.jsonl")),
    (17, include_str!("../trees/17.jsonl")),
    (18, include_str!("../trees/18.jsonl")),
];

/// Which nodes each major prints.
const NODES: &str = include_str!("../../src/tree/nodes.txt");

/// Each recorded statement of each major with its tree.
fn each(mut look: impl FnMut(Major, &Facts, &Statement, &str)) {
    let mut count = 0;
    for (number, text) in RECORDINGS {
        let recording = Recording::parse(text);
        for statement in statements::all(number) {
            let tree = recording.trees.get(&statement.sql);
            let tree = tree.unwrap_or_else(|| panic!("{number} has no tree of {}", statement.sql));
            look(Major::new(number).unwrap(), &recording.facts, &statement, tree);
            count += 1;
        }
    }
    assert!(count > 250, "the statements were not read");
}

/// `clear`, or the codes of what stands against it. The local step is that of the open rules, so that what it would refuse
/// by a name is judged by its tree as well.
fn verdict(sql: &str, tree: &str, major: Major, rules: &Rules, facts: &Facts) -> String {
    let Ok(candidate) = guard::candidate(sql, &open()) else { panic!("{sql} is no candidate") };
    let mut judgement = Judgement::begin(&candidate, tree, major, rules, Arc::default());
    for _ in 0..100 {
        match judgement.step() {
            Step::Need(needs) => judgement.learn(answer(facts, &needs)),
            Step::Clear(clear) => {
                assert_eq!(clear.statement.text(), candidate.text());
                return "clear".to_owned();
            }
            Step::Harmless(_) => panic!("{sql} is a statement"),
            Step::Refused(refusal) => {
                let mut codes: Vec<&str> = refusal.findings().map(|finding| finding.code.as_str()).collect();
                codes.sort_unstable();
                return codes.join(", ");
            }
        }
    }
    panic!("the judgement of {sql} has no end")
}

#[test]
fn every_tree_is_judged_as_its_statement_deserves() {
    let mut wrong = Vec::new();
    each(|major, facts, statement, tree| {
        for (rules, expected) in [(open(), &statement.without), (limited(), &statement.with)] {
            let got = verdict(&statement.sql, tree, major, &rules, facts);
            if got != *expected {
                wrong.push(format!(
                    "{}: {}\n  expected {expected}, got {got}",
                    major.number(),
                    statement.sql
                ));
            }
        }
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_looked_up_is_refused() {
    let mut gone = 0;
    each(|major, _, statement, tree| {
        let got = verdict(&statement.sql, tree, major, &open(), &Facts::default());
        gone += usize::from(got.contains("object_gone"));
        assert!(got != "clear" || statement.without == "clear", "{}", statement.sql);
    });
    assert!(gone > 150, "{gone}");
}

#[test]
fn a_tree_with_a_tag_or_field_that_nobody_knows_is_refused() {
    each(|major, facts, statement, tree| {
        for (known, unknown) in [("{QUERY", "{QUERYING"), (":jointree", ":jointrees"), (":resno", ":resna")] {
            let strange = tree.replacen(known, unknown, 1);
            assert_ne!(strange, tree);
            let got = verdict(&statement.sql, &strange, major, &open(), facts);
            assert!(got.contains("unknown_node"), "{got}: {}", statement.sql);
        }
    });
}

#[test]
fn every_kind_of_node_and_each_of_its_fields_is_recorded_on_every_major() {
    for (number, text) in RECORDINGS {
        // Trees stand in strings of JSON, where a line break is written `\n`.
        let text = text.replace("\\n", " ");
        let recorded: BTreeSet<&str> = text.split([' ', '(', ')', '}', '"']).collect();
        for word in printed(number) {
            assert!(recorded.contains(word.as_str()), "no recorded tree of {number} holds {word}");
        }
    }
}

/// The tags and labels that a major prints.
fn printed(major: u32) -> Vec<String> {
    let among = |majors: &str| {
        let (first, last) = majors.split_once('-').unwrap();
        (first.parse().unwrap()..=last.parse().unwrap()).contains(&major)
    };
    let mut words = Vec::new();
    let mut is_printed = false;
    for line in NODES.lines().filter(|line| !line.starts_with('#')) {
        if let Some(fields) = line.strip_prefix("    ") {
            let fields = fields.split(' ').map(|field| field.split('!').next().unwrap());
            let fields = fields.map(|field| field.split_once('@').unwrap_or((field, "14-18")));
            let fields = fields.filter(|(_, majors)| is_printed && among(majors));
            words.extend(fields.map(|(name, _)| format!(":{name}")));
        } else {
            let [_, tag, majors] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
            let (newer, older) = tag.split_once('|').unwrap_or((tag, tag));
            is_printed = among(majors);
            words.extend(is_printed.then(|| format!("{{{}", if major == 14 { older } else { newer })));
        }
    }
    words
}

#[test]
fn a_recording_is_written_as_it_was_read() {
    for (number, text) in RECORDINGS {
        assert!(written(&Recording::parse(text)) == text, "{number} was changed by hand, or is not sorted");
    }
}
