//! What is wrong with a document: a list of places and sentences.

use std::error::Error;
use std::fmt;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The place, such as `nodes[0].relations[2]`; empty for the whole document.
    pub path: String,
    /// What is wrong there and what is accepted.
    pub message: String,
}

/// Everything that is wrong with a document; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowProblems(Vec<Problem>);

impl FlowProblems {
    pub(super) fn new(problems: Vec<Problem>) -> Self {
        Self(problems)
    }

    /// The problems, in document order.
    pub fn problems(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

impl fmt::Display for FlowProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the flow document has problems: ")?;
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for FlowProblems {}
