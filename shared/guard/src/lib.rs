#![doc = include_str!("../README.md")]

mod admitted;
mod builtin;
mod explain;
mod extension;
pub mod facts;
mod judge;
mod local;
mod named;
mod opening;
mod parse;
mod rules;
mod scope;
mod show;
mod sieve;
mod text;
mod tree;
mod verdict;

pub use admitted::{Admitted, Candidate, Shape};
pub use judge::{Clear, ColumnType, Judgement, Step};
pub use named::{NamedRelation, named_relations};
pub use rules::{RowLimit, Rules, Selection};
pub use text::MAX_TEXT_BYTES;
pub use verdict::{Code, Finding, Refusal};

/// The local step: whether PostgreSQL may be asked to resolve a text, so that a [`Judgement`] can be made of what it resolves to.
///
/// ```
/// use guard::{RowLimit, Rules, candidate};
/// let rules = Rules::open(RowLimit::new(100));
/// assert!(candidate("SELECT 1", &rules).is_ok());
/// assert!(candidate("DELETE FROM t", &rules).is_err());
/// ```
pub fn candidate(sql: &str, rules: &Rules) -> Result<Candidate, Refusal> {
    local::candidate(sql, rules)
}
