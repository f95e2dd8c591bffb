//! The fuzz targets for a while, always from the same number.

#[path = "../../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "it is a library by itself, too")]
mod targets;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use self::targets::{Replay, TARGETS, check};

/// How long each target is tried. `fuzz/README.md` says how to try for longer.
const WHILE: Duration = Duration::from_secs(5);

#[track_caller]
fn holds(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let mut replay = Replay::new(target, 1);
    replay.seeds();
    let (since, mut rounds) = (Instant::now(), 0);
    while since.elapsed() < WHILE {
        replay.round();
        rounds += 1;
    }
    assert!(rounds > 20, "{rounds}");
}

#[test]
fn any_text_is_read_as_a_tree_or_refused() {
    holds("reader");
}

#[test]
fn any_change_to_a_tree_is_judged_to_an_end() {
    holds("walker");
}

#[test]
fn any_text_is_taken_or_refused_as_a_statement() {
    holds("local");
}

#[test]
fn any_text_is_judged_as_the_body_of_a_function() {
    holds("body");
}

#[test]
fn every_input_that_once_did_harm_does_none() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus"));
    for target in TARGETS {
        for entry in fs::read_dir(folder.join(target.name)).into_iter().flatten() {
            check(target.run, &fs::read(entry.unwrap().path()).unwrap());
        }
    }
}
