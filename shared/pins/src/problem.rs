//! What is wrong with a pin or with a call of it, and where.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong. Whoever checks something reports all problems at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: a path relative to the pin, such as `params[0].type`, or the name of an argument.
    pub path: String,
    /// What is wrong and what to do next: one line, lower case, no full stop.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.path, self.message)
        }
    }
}
