//! `replay <target> <rounds> [number]`: the target's seeds, the inputs in its folder, and so many made from the number.

use std::time::Instant;
use std::{env, fs};

use fuzz::{Replay, TARGETS, check};

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let usage = "replay <reader|walker|local|body> <rounds> [number from 1]";
    let [name, rounds, number @ ..] = words.as_slice() else { panic!("{usage}") };
    let target = TARGETS.iter().find(|target| target.name == name).expect(usage);
    let rounds: u64 = rounds.parse().expect(usage);
    let number = number.first().map_or(1, |number| number.parse().expect(usage));
    let since = Instant::now();
    let mut replay = Replay::new(target, number);
    replay.seeds();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    for entry in fs::read_dir(format!("{folder}/{name}")).into_iter().flatten() {
        check(target.run, &fs::read(entry.unwrap().path()).unwrap());
    }
    (0..rounds).for_each(|_| replay.round());
    println!("{name}: {rounds} inputs from {number} in {:.1} s", since.elapsed().as_secs_f64());
}
