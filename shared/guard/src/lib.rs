#![doc = include_str!("../README.md")]

mod admitted;
mod builtin;
mod explain;
mod extension;
pub mod facts;
mod judge;
mod local;
mod parse;
mod rules;
mod scope;
mod show;
mod sieve;
mod text;
mod tree;
mod verdict;

pub use admitted::{Admitted, Candidate, Shape};
pub use judge::{Clear, Judgement, Step};
pub use rules::{RowLimit, Rules, Selection};
pub use text::MAX_TEXT_BYTES;
pub use verdict::{Code, Finding, Refusal, Verdict};

/// Judges one statement as a caller sent it.
///
/// ```
/// use guard::{RowLimit, Rules, Verdict};
/// let rules = Rules::open(RowLimit::new(100));
/// assert!(matches!(guard::check("SELECT 1", &rules), Verdict::Admitted(_)));
/// assert!(matches!(guard::check("DELETE FROM t", &rules), Verdict::Refused(_)));
/// ```
pub fn check(sql: &str, rules: &Rules) -> Verdict {
    match local::judge(sql, rules) {
        Ok(admitted) => Verdict::Admitted(admitted),
        Err(refusal) => Verdict::Refused(refusal),
    }
}

/// The local step alone: what PostgreSQL may be asked to resolve, so that a [`Judgement`] can be made of it.
pub fn candidate(sql: &str, rules: &Rules) -> Result<Candidate, Refusal> {
    local::candidate(sql, rules)
}
