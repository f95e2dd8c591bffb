#![doc = include_str!("../README.md")]

mod admitted;
mod explain;
mod local;
mod parse;
mod rules;
mod show;
mod sieve;
mod text;
mod verdict;

pub use admitted::{Admitted, Shape};
pub use rules::{RowLimit, Rules, Selection};
pub use text::MAX_TEXT_BYTES;
pub use verdict::{Code, Finding, Refusal, Verdict};

/// Judges one statement as a caller sent it.
///
/// ```
/// use guard::{RowLimit, Rules, Selection, Verdict};
/// let rules = Rules { selection: Selection::Everything, row_limit: RowLimit::new(100) };
/// assert!(matches!(guard::check("SELECT 1", &rules), Verdict::Admitted(_)));
/// assert!(matches!(guard::check("DELETE FROM t", &rules), Verdict::Refused(_)));
/// ```
pub fn check(sql: &str, rules: &Rules) -> Verdict {
    match local::judge(sql, rules) {
        Ok(admitted) => Verdict::Admitted(admitted),
        Err(refusal) => Verdict::Refused(refusal),
    }
}
