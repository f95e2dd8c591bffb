//! A mutator that needs no special compiler: the same seed gives the same inputs.

use std::panic;
use std::time::{Duration, Instant};

use super::Target;

/// The longest that an input may take, unoptimised and on a busy machine.
const SLOWEST: Duration = Duration::from_secs(20);

/// The longest input that is made, in bytes.
const LONGEST: usize = 16 << 10;

/// Inputs for a target, made of its seeds.
pub struct Replay {
    run: fn(&[u8]),
    seeds: Vec<Vec<u8>>,
    state: u64,
}

impl Replay {
    /// From a number that is not 0.
    pub fn new(target: &Target, number: u64) -> Self {
        Self { run: target.run, seeds: (target.seeds)(), state: number }
    }

    /// Runs the seeds as they are.
    pub fn seeds(&self) {
        self.seeds.iter().for_each(|seed| check(self.run, seed));
    }

    /// Makes one input and runs it.
    pub fn round(&mut self) {
        let mut input = self.seed();
        for _ in 0..=self.below(4) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        check(self.run, &input);
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = at + self.below(input.len() - at + 1).min(1 + self.below(40));
        match self.below(7) {
            0 => input.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (self.state % 8)),
            1 => drop(input.drain(at..end)),
            2 => {
                let part = input[at..end].to_vec();
                let times = 1 + self.below(3);
                drop(input.splice(at..at, part.repeat(times)));
            }
            // Nesting.
            3 => {
                let part = input[at..end].to_vec();
                let times = self.below(LONGEST / (part.len() + 1));
                drop(input.splice(at..at, part.repeat(times)));
            }
            4 => {
                let other = self.seed();
                let from = self.below(other.len() + 1);
                let until = from + self.below(other.len() - from + 1);
                drop(input.splice(at..end, other[from..until].iter().copied()));
            }
            5 => {
                let piece = PIECES[self.below(PIECES.len())];
                drop(input.splice(at..at, piece.bytes()));
            }
            _ => {
                let byte = u8::try_from(self.below(256)).unwrap_or_default();
                input.insert(at, byte);
            }
        }
    }

    fn seed(&mut self) -> Vec<u8> {
        let index = self.below(self.seeds.len());
        self.seeds[index].clone()
    }

    /// A number below another that is not 0, by xorshift.
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % u64::try_from(bound).unwrap()).unwrap()
    }
}

/// Runs one input, and says which it was where that panics or takes too long.
pub fn check(run: fn(&[u8]), input: &[u8]) {
    let since = Instant::now();
    let ended = panic::catch_unwind(|| run(input));
    let shown = input.escape_ascii();
    assert!(ended.is_ok(), "the input was \"{shown}\"");
    assert!(since.elapsed() < SLOWEST, "it took {:?}; the input was \"{shown}\"", since.elapsed());
}

/// What means something in a statement, a body or a tree.
const PIECES: &[&str] = &[
    "(",
    ")",
    "'",
    "\"",
    "$$",
    "$a$",
    "--",
    "/*",
    "*/",
    ";",
    "\\",
    "\n",
    "::",
    "[",
    "]",
    "{",
    "}",
    "<>",
    " ",
    "\u{0}",
    "é",
    "\u{2060}",
    "\u{202e}",
    "SELECT ",
    "FROM ",
    "WITH a AS (",
    "UNION ALL ",
    "NOT ",
    "- ",
    "ARRAY[",
    "CASE WHEN ",
    "END",
    "BEGIN ",
    "END; ",
    "IF a THEN ",
    "END IF;",
    "LOOP ",
    "EXECUTE ",
    "DECLARE ",
    "EXCEPTION WHEN OTHERS THEN ",
    "RETURN ",
    "E'\\x",
    "U&'\\",
    "U&\"\\0041\" UESCAPE '!'",
    "$1",
    "$99999999999",
    "FOR UPDATE",
    "INTO ",
    "DELETE FROM t ",
    "{QUERY ",
    ":rtable ",
    "{FUNCEXPR :funcid 17000",
    ":constvalue 4 [ 1 0 0 0 ]",
    "(o 16400)",
    "1e999",
    "0x",
    "%TYPE",
    "%ROWTYPE",
];
