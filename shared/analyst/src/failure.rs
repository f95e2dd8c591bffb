//! What a caller is told when a call gives no result.

use std::borrow::Cow;

use serde::Serialize;

use crate::line::one_line;

/// Characters of a message or a hint: they may quote a name or a value of any length.
const MESSAGE_CHARS: usize = 1_000;

/// A call without a result, in the words that the caller sees.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct Failure {
    /// Whose matter it is.
    pub kind: Kind,
    /// A SQLSTATE where the database answered, else a word of ours.
    pub code: Cow<'static, str>,
    /// What happened; one line.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Where in the caller's statement, in characters from 1.
    pub position: Option<usize>,
    /// All findings of the guard; empty for other kinds.
    pub findings: Vec<FindingView>,
    /// The beginning of the plan that was too costly, as JSON.
    pub plan: Option<String>,
    /// For the log alone: what the caller must not see.
    pub log: Option<String>,
}

/// Whose matter a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The arguments of the call do not fit.
    Argument,
    /// The guard said no.
    Refusal,
    /// The database answered about the statement.
    Statement,
    /// The database, its secret or the way to it.
    Plumbing,
    /// Ours.
    Internal,
}

impl Kind {
    /// `expected` for what a caller can mend, `unexpected` for the plumbing and for what is ours.
    pub fn outcome(self) -> &'static str {
        match self {
            Self::Argument | Self::Refusal | Self::Statement => "expected",
            Self::Plumbing | Self::Internal => "unexpected",
        }
    }
}

/// One finding as callers see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingView {
    /// The rule's word.
    pub code: &'static str,
    /// What the statement did.
    pub message: String,
    /// What is allowed instead.
    pub help: String,
    /// Where, in characters from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
}

impl Failure {
    /// A failure with nothing but a code and a message.
    pub fn new(kind: Kind, code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            kind,
            code: code.into(),
            message: one_line(&message.into(), MESSAGE_CHARS),
            hint: None,
            position: None,
            findings: Vec::new(),
            plan: None,
            log: None,
        }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hinting(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(one_line(&hint.into(), MESSAGE_CHARS)), ..self }
    }

    /// Adds sentences to the end of the message; they are not cut.
    #[must_use]
    pub fn saying_also(self, sentences: &str) -> Self {
        Self { message: format!("{}. {sentences}", self.message), ..self }
    }

    /// Adds what only the log may hold.
    #[must_use]
    pub fn logging(self, log: impl Into<String>) -> Self {
        Self { log: Some(log.into()), ..self }
    }

    /// The arguments of a call do not fit.
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Kind::Argument, "invalid_arguments", message)
    }
}

impl From<guard::Refusal> for Failure {
    fn from(refusal: guard::Refusal) -> Self {
        let findings: Vec<FindingView> = refusal
            .findings()
            .map(|finding| FindingView {
                code: finding.code.as_str(),
                message: one_line(&finding.message, MESSAGE_CHARS),
                help: one_line(&finding.help, MESSAGE_CHARS),
                position: finding.position,
            })
            .collect();
        let first = refusal.first();
        Self {
            position: first.position,
            findings,
            ..Self::new(Kind::Refusal, first.code.as_str(), format!("this statement is refused: {refusal}"))
                .hinting(first.help.clone())
        }
    }
}
