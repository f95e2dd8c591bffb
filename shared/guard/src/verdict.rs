//! The guard's answer where a statement may not run: everything that speaks against it.

use std::fmt;

/// Every reason why a statement may not run; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    first: Finding,
    others: Vec<Finding>,
}

impl Refusal {
    pub(crate) fn one(finding: Finding) -> Self {
        Self { first: finding, others: Vec::new() }
    }

    pub(crate) fn all(findings: Vec<Finding>) -> Option<Self> {
        let mut findings = findings.into_iter();
        let first = findings.next()?;
        Some(Self { first, others: findings.collect() })
    }

    /// The finding that names the refusal where only one fits.
    pub fn first(&self) -> &Finding {
        &self.first
    }

    /// All findings, in the order of the text as far as positions are known.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first.message)?;
        for other in &self.others {
            write!(f, "; {}", other.message)?;
        }
        Ok(())
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule, as a stable word.
    pub code: Code,
    /// What the statement did, with its names.
    pub message: String,
    /// What is allowed instead.
    pub help: String,
    /// Where in the caller's text, in characters from 1.
    pub position: Option<usize>,
}

impl Finding {
    pub(crate) fn new(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into(), position: None }
    }

    pub(crate) fn at(self, position: Option<usize>) -> Self {
        Self { position, ..self }
    }
}

/// The rules by name. A word is never used again for another rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// No statement in the text.
    EmptyStatement,
    /// The text is longer than [`crate::MAX_TEXT_BYTES`].
    TextTooLong,
    /// The text nests or chains deeper than any parser should follow.
    TooDeep,
    /// The text holds a NUL character.
    NulCharacter,
    /// A character that shows nothing stands where a name or a blank should.
    InvisibleCharacter,
    /// PostgreSQL's grammar does not accept the text.
    SyntaxError,
    /// More than one statement.
    SeveralStatements,
    /// Not a statement that reads.
    NotARead,
    /// `SELECT … INTO` makes a table.
    SelectInto,
    /// `FOR UPDATE` and its kin lock rows.
    LockingClause,
    /// A part of the statement inserts, updates, deletes or merges.
    WritesData,
    /// `$0`, or a parameter past what the protocol can carry.
    ParameterNumber,
    /// `EXPLAIN` of something that is not a plain read.
    ExplainTarget,
    /// An option of `EXPLAIN` that is not known to be harmless.
    ExplainOption,
    /// `EXPLAIN` or `SHOW` while a selection is set.
    NotWithSelection,
    /// `SHOW` of a setting that is not listed.
    ShowSetting,
    /// In this database a literal of the statement could run code while it is parsed.
    UnsafeType,
    /// A node or field of PostgreSQL's tree that is not known here.
    UnknownNode,
    /// An object that the statement uses was not found when it was looked up.
    ObjectGone,
    /// A relation that is not ticked.
    RelationNotSelected,
    /// A relation of PostgreSQL's own that is not listed.
    SystemRelation,
    /// A foreign table that is not allowed by name.
    ForeignTable,
    /// A built-in function that may reach outside the statement.
    BuiltinRefused,
    /// A user's function that does more than compute.
    UserFunction,
    /// A function or expression that reads a relation.
    FunctionReads,
    /// A function of an extension that is not listed.
    ExtensionFunction,
    /// A constant that grows too long while PostgreSQL plans.
    HugeConstant,
    /// Subqueries that grow too many while PostgreSQL plans.
    HugePlan,
    /// `regclass` and its kin while a selection is set.
    TypeNamesObjects,
}

impl Code {
    /// The stable word that callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EmptyStatement => "empty_statement",
            Self::TextTooLong => "text_too_long",
            Self::TooDeep => "too_deep",
            Self::NulCharacter => "nul_character",
            Self::InvisibleCharacter => "invisible_character",
            Self::SyntaxError => "syntax_error",
            Self::SeveralStatements => "several_statements",
            Self::NotARead => "not_a_read",
            Self::SelectInto => "select_into",
            Self::LockingClause => "locking_clause",
            Self::WritesData => "writes_data",
            Self::ParameterNumber => "parameter_number",
            Self::ExplainTarget => "explain_target",
            Self::ExplainOption => "explain_option",
            Self::NotWithSelection => "not_with_selection",
            Self::ShowSetting => "show_setting",
            Self::UnsafeType => "unsafe_type",
            Self::UnknownNode => "unknown_node",
            Self::ObjectGone => "object_gone",
            Self::RelationNotSelected => "relation_not_selected",
            Self::SystemRelation => "system_relation",
            Self::ForeignTable => "foreign_table",
            Self::BuiltinRefused => "builtin_refused",
            Self::UserFunction => "user_function",
            Self::FunctionReads => "function_reads",
            Self::ExtensionFunction => "extension_function",
            Self::HugeConstant => "huge_constant",
            Self::HugePlan => "huge_plan",
            Self::TypeNamesObjects => "type_names_objects",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
