//! A statement that may run. Only this crate builds one, and `pg` runs user SQL in no other form:
//!
//! ```compile_fail
//! let forged = guard::Admitted { text: String::new(), ours: 0, theirs: 0, parameters: 0, shape: guard::Shape::Show };
//! ```
//! ```compile_fail
//! let forged: guard::Admitted = String::from("DROP TABLE t").into();
//! ```

use std::collections::BTreeSet;

use crate::RowLimit;

const PREFIX: &str = "SELECT * FROM (";

/// The exact text to run, and how it stands to the caller's.
#[derive(Debug)]
pub struct Admitted {
    text: String,
    ours: usize,
    theirs: usize,
    parameters: usize,
    shape: Shape,
}

/// What kind of statement it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A read, inside a wrapper that carries the row limit.
    Rows,
    /// A plan, as text or in another of `EXPLAIN`'s formats.
    Explain,
    /// One setting.
    Show,
}

/// A part of the caller's text, and the characters that stand before it there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    pub(crate) sql: &'a str,
    pub(crate) skipped_chars: usize,
}

/// A statement that passed the local step. It may be parsed by the server, which then says what it resolves to; it may not run.
#[derive(Debug)]
pub struct Candidate {
    admitted: Admitted,
    /// What is parsed to be judged, where that is not the text that runs.
    judged: Option<String>,
    called: BTreeSet<String>,
}

impl Candidate {
    pub(crate) fn rows(part: Part<'_>, parameters: usize, limit: RowLimit) -> Self {
        Self {
            admitted: Admitted { parameters, ..Admitted::rows(part, limit) },
            judged: None,
            called: BTreeSet::new(),
        }
    }

    /// EXPLAIN shows on some majors nothing of the statement behind it, so that one is judged by itself.
    pub(crate) fn explain(options: &str, part: Part<'_>, parameters: usize, limit: RowLimit) -> Self {
        Self {
            admitted: Admitted { parameters, ..Admitted::explain(options, part) },
            judged: Some(Admitted::rows(part, limit).text),
            called: BTreeSet::new(),
        }
    }

    pub(crate) fn show(admitted: Admitted) -> Self {
        Self { admitted, judged: None, called: BTreeSet::new() }
    }

    pub(crate) fn naming(self, called: BTreeSet<String>) -> Self {
        Self { called, ..self }
    }

    /// The functions and types that its text names, without their schemas.
    pub(crate) fn called(&self) -> impl Iterator<Item = &String> {
        self.called.iter()
    }

    /// The text whose tree is judged.
    pub fn judged_text(&self) -> &str {
        self.judged.as_deref().unwrap_or(&self.admitted.text)
    }

    /// The highest number of a `$n` in it.
    pub fn parameters(&self) -> usize {
        self.admitted.parameters
    }

    pub(crate) fn into_admitted(self) -> Admitted {
        self.admitted
    }
}

impl Admitted {
    // A line break ends a comment that the caller's text may end in.
    fn rows(part: Part<'_>, limit: RowLimit) -> Self {
        Self::build(PREFIX, part, &format!("\n) pinguard_q LIMIT {}", limit.rows()), Shape::Rows)
    }

    fn explain(options: &str, part: Part<'_>) -> Self {
        let prefix = if options.is_empty() { "EXPLAIN ".to_owned() } else { format!("EXPLAIN ({options}) ") };
        Self::build(&prefix, part, "", Shape::Explain)
    }

    pub(crate) fn show(setting: &str) -> Self {
        Self::build("SHOW ", Part { sql: setting, skipped_chars: 0 }, "", Shape::Show)
    }

    fn build(prefix: &str, part: Part<'_>, suffix: &str, shape: Shape) -> Self {
        Self {
            text: [prefix, part.sql, suffix].concat(),
            ours: prefix.chars().count(),
            theirs: part.skipped_chars,
            parameters: 0,
            shape,
        }
    }

    /// What is sent to the server.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where in the caller's text, in characters from 1, a position lies that the server gave for [`Self::text`];
    /// none where it lies in words of ours.
    pub fn caller_position(&self, server: usize) -> Option<usize> {
        let within = server.checked_sub(self.ours).filter(|position| *position > 0)?;
        Some(within + self.theirs)
    }

    /// The highest number of a `$n` in it: so many values it takes.
    pub fn parameters(&self) -> usize {
        self.parameters
    }

    /// The kind of statement.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}
