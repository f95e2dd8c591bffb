//! A statement that may run. Only this crate builds one, and `pg` runs user SQL in no other form:
//!
//! ```compile_fail
//! let forged = guard::Admitted { text: String::new(), ours: 0, theirs: 0, parameters: 0, shape: guard::Shape::Show, runs: None };
//! ```
//! ```compile_fail
//! let forged: guard::Admitted = String::from("DROP TABLE t").into();
//! ```

use std::collections::BTreeSet;
use std::ops::Range;

use crate::facts::ObjectName;
use crate::rules::{RowLimit, Rules, Selection};
use crate::scope;
use crate::verdict::{Code, Finding, Refusal};

const PREFIX: &str = "SELECT * FROM (";
/// Plain: with VERBOSE it would show what constants come to.
const PLAN: &str = "EXPLAIN (FORMAT JSON) ";

/// The exact text to run, and how it stands to the caller's.
#[derive(Debug, Clone)]
pub struct Admitted {
    text: String,
    ours: usize,
    theirs: usize,
    parameters: usize,
    shape: Shape,
    /// Where in the text the statement lies that will run to its end; none where none does.
    runs: Option<Range<usize>>,
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
    judged: Option<Admitted>,
    called: BTreeSet<String>,
    bare: BTreeSet<String>,
    /// Where a literal stands of which PostgreSQL may make arrays, rows or ranges while it parses.
    opening: Option<Opening>,
}

/// The first literal that begins as arrays, rows and ranges do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) position: Option<usize>,
}

impl Candidate {
    pub(crate) fn rows(part: Part<'_>, parameters: usize, limit: RowLimit) -> Self {
        Self {
            admitted: Admitted { parameters, ..Admitted::rows(part, limit) },
            judged: None,
            called: BTreeSet::new(),
            bare: BTreeSet::new(),
            opening: None,
        }
    }

    /// EXPLAIN shows on some majors nothing of the statement behind it, so that one is judged by itself.
    pub(crate) fn explain(options: &[String], part: Part<'_>, parameters: usize, limit: RowLimit) -> Self {
        Self {
            admitted: Admitted { parameters, ..Admitted::explain(options, part) },
            judged: Some(Admitted::rows(part, limit)),
            called: BTreeSet::new(),
            bare: BTreeSet::new(),
            opening: None,
        }
    }

    pub(crate) fn show(admitted: Admitted) -> Self {
        Self { admitted, judged: None, called: BTreeSet::new(), bare: BTreeSet::new(), opening: None }
    }

    pub(crate) fn naming(self, called: BTreeSet<String>, bare: BTreeSet<String>) -> Self {
        Self { called, bare, ..self }
    }

    pub(crate) fn opening_with(self, opening: Option<Opening>) -> Self {
        Self { opening, ..self }
    }

    /// A candidate that no tree has to be judged for: it names one setting of a list.
    pub fn as_it_is(&self) -> Option<Admitted> {
        (self.admitted.shape == Shape::Show).then(|| self.admitted())
    }

    /// Why PostgreSQL must not even parse it in a database where parsing a literal may run what these types check: a literal
    /// begins as arrays, rows and ranges do.
    pub fn refused_for(&self, unsafe_types: &[ObjectName]) -> Option<Refusal> {
        let (opening, first) = (self.opening?, unsafe_types.first()?);
        let message = format!(
            "a literal begins with a bracket, and in this database reading such a literal may run what the type `{first}` checks"
        );
        let help = "write arrays as ARRAY[…] and rows as ROW(…), or send the value as a parameter";
        Some(Refusal::one(Finding::new(Code::UnsafeType, message, help).at(opening.position)))
    }

    /// With a selection, the tables and views that it names without a schema; else none.
    pub fn bare_relations(&self) -> &BTreeSet<String> {
        &self.bare
    }

    /// What to say in place of PostgreSQL's error about it, where the names without a schema mean these: the error would tell of
    /// columns of those that are not selected.
    pub fn refused_for_relations(&self, meant: &[ObjectName], rules: &Rules) -> Option<Refusal> {
        let Selection::Only(selected) = &rules.selection else { return None };
        let others = meant.iter().filter(|meant| !selected.contains(meant));
        Refusal::all(others.map(|other| scope::not_selected(&other.to_string(), selected)).collect())
    }

    /// What would be sent to the server if it may run.
    pub fn text(&self) -> &str {
        &self.admitted.text
    }

    /// Where in the caller's text, in characters from 1, a position lies that the server gave for [`Self::text`].
    pub fn caller_position(&self, server: usize) -> Option<usize> {
        self.admitted.caller_position(server)
    }

    /// The kind of statement.
    pub fn shape(&self) -> Shape {
        self.admitted.shape
    }

    /// Whether the judged text is the one that runs.
    pub fn runs_as_judged(&self) -> bool {
        self.judged.is_none()
    }

    pub(crate) fn admitted(&self) -> Admitted {
        self.admitted.clone()
    }

    /// The functions and types that its text names, without their schemas.
    pub(crate) fn called(&self) -> impl Iterator<Item = &String> {
        self.called.iter()
    }

    /// The text whose tree is judged.
    pub fn judged_text(&self) -> &str {
        &self.judged.as_ref().unwrap_or(&self.admitted).text
    }

    /// Where in the caller's text, in characters from 1, a position lies that the server gave for [`Self::judged_text`].
    pub fn judged_position(&self, server: usize) -> Option<usize> {
        self.judged.as_ref().unwrap_or(&self.admitted).caller_position(server)
    }

    /// The highest number of a `$n` in it.
    pub fn parameters(&self) -> usize {
        self.admitted.parameters
    }
}

impl Admitted {
    // A line break ends a comment that the caller's text may end in.
    fn rows(part: Part<'_>, limit: RowLimit) -> Self {
        let offset = match limit.skipped() {
            0 => String::new(),
            skipped => format!(" OFFSET {skipped}"),
        };
        let suffix = format!("\n) pinguard_q LIMIT {}{offset}", limit.rows());
        Self::build(PREFIX, part, &suffix, Shape::Rows)
    }

    fn explain(options: &[String], part: Part<'_>) -> Self {
        let prefix = match options {
            [] => "EXPLAIN ".to_owned(),
            options => format!("EXPLAIN ({}) ", options.join(", ")),
        };
        let explain = Self::build(&prefix, part, "", Shape::Explain);
        if options.iter().any(|option| option == "analyze on") { explain } else { explain.not_run() }
    }

    pub(crate) fn show(setting: &str) -> Self {
        Self::build("SHOW ", Part { sql: setting, skipped_chars: 0 }, "", Shape::Show).not_run()
    }

    /// What asks for the plan of the statement alone, as if it ran to its end; none where nothing will run.
    pub fn plan(&self) -> Option<Self> {
        let sql = self.text.get(self.runs.clone()?)?;
        let plan = Self::build(PLAN, Part { sql, skipped_chars: self.theirs }, "", Shape::Explain);
        Some(Self { parameters: self.parameters, ..plan.not_run() })
    }

    fn not_run(self) -> Self {
        Self { runs: None, ..self }
    }

    fn build(prefix: &str, part: Part<'_>, suffix: &str, shape: Shape) -> Self {
        Self {
            text: [prefix, part.sql, suffix].concat(),
            ours: prefix.chars().count(),
            theirs: part.skipped_chars,
            parameters: 0,
            shape,
            runs: Some(prefix.len()..prefix.len() + part.sql.len()),
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
        within.checked_add(self.theirs)
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
