//! Pinned queries: a call of one, and the test that earns its stamp. Both take the road of free SQL.

mod inference;

use std::collections::BTreeMap;

use pg::Parameter;
use pg::values::RowFormat;
use pins::{BadArguments, BadCall, Column, Compiled, ParamType, Pin, Problem};
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::claims;
use crate::failure::{Failure, Kind};
use crate::memories::Reached;
use crate::pages::Ahead;
use crate::query::{self, Answer, Ask, ColumnView};
use crate::scope::Scope;

/// What an agent is told when the saved statement fails: it cannot mend it.
const FIXED: &str = "the statement is fixed and only its parameters are yours: other values may help, else its owner has to \
                     test the pin again";

/// A call of a pin whose stamp was verified.
#[derive(Debug)]
pub struct Call<'a> {
    /// The pin.
    pub pin: &'a Pin,
    /// Its statement, compiled.
    pub compiled: &'a Compiled,
    /// What the caller sends.
    pub arguments: &'a Map<String, Value>,
    /// What the caller's access token says, if it shows one.
    pub token: Option<&'a Map<String, Value>>,
    /// How rows are written.
    pub format: RowFormat,
}

/// What a pin gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PinnedAnswer {
    /// As for free SQL.
    #[serde(flatten)]
    pub answer: Answer,
    /// Which pin it was.
    pub pinned: Pinned,
    /// The result has as many rows as the statement's own LIMIT; that does not prove that there are more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub possibly_truncated: bool,
    /// The columns of the test and those of now, where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns_changed: Option<Value>,
    /// That the pin needs a re-test, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warning: Option<&'static str>,
}

/// A pin as an answer names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pinned {
    /// The pin's id.
    pub id: String,
    /// The pin's version.
    pub version: u64,
    /// Of the compiled statement and its parameters: 64 hexadecimal digits.
    pub statement_hash: String,
    /// The tool's name.
    pub tool: String,
}

/// A test that passed.
#[derive(Debug)]
pub struct Tested {
    /// The rows, for the editor to show.
    pub answer: Answer,
    /// The columns, for the stamp.
    pub columns: Vec<Column>,
}

/// Types for the parameters that have none, by name; none where the server infers nothing that one of ours stands for.
pub type SuggestedTypes = BTreeMap<String, Option<ParamType>>;

/// Why a test did not pass.
#[derive(Debug)]
pub enum TestFailure {
    /// The pin breaks rules of its own.
    Pin(Vec<Problem>),
    /// Somebody has to pick types first.
    Untyped {
        /// The parameters without one.
        problems: Vec<Problem>,
        /// What may be offered for each.
        suggested: SuggestedTypes,
    },
    /// The sample values do not fit.
    Values(BadArguments),
    /// The statement was refused or failed.
    Failed(Failure),
}

impl From<Failure> for TestFailure {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl<'a> Call<'a> {
    /// The saved statement with the arguments bound, for [`run`].
    pub fn ask(&self, scope: &Scope) -> Result<Ask<'a>, Failure> {
        Ok(ask(self.pin, self.compiled, self.values()?, scope, self.format, Ahead::Kept))
    }

    /// The values of the statement's parameters, in their order; none is NULL.
    pub fn values(&self) -> Result<Vec<Option<String>>, Failure> {
        self.compiled.bind_call(self.arguments, self.token).map_err(bad_call)
    }

    /// A page of the pin's result behind so many rows.
    pub fn pinned(&self, answer: Answer, before: u32) -> PinnedAnswer {
        let drift = self.pin.stamp().and_then(|stamp| stamp.test().drift(&columns(&answer.columns)));
        let rows = u64::from(before) + answer.row_count as u64;
        PinnedAnswer {
            pinned: Pinned {
                id: self.pin.id().to_owned(),
                version: self.pin.version(),
                statement_hash: self.compiled.statement_hash().to_owned(),
                tool: self.pin.name().as_str().to_owned(),
            },
            possibly_truncated: self.compiled.possibly_truncated(rows),
            columns_changed: drift.as_ref().map(pins::Drift::to_json),
            warning: drift.as_ref().map(pins::Drift::warning),
            answer,
        }
    }
}

/// Runs a pin's statement for a caller who does not see it.
pub async fn run<Open, Opening>(
    ask: &Ask<'_>,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<Answer, Failure>
where
    Open: Fn() -> Opening,
    Opening: Future<Output = Result<Reached, Failure>>,
{
    query::ask(ask, scope, deadline, open).await.map_err(without_statement)
}

/// Runs a pin as an agent's call would, with sample values. What it gives is for the person who wrote it: positions are
/// those of the saved statement.
pub async fn test<Open, Opening>(
    pin: &Pin,
    values: &Map<String, Value>,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<Tested, TestFailure>
where
    Open: Fn() -> Opening,
    Opening: Future<Output = Result<Reached, Failure>>,
{
    let compiled = match pin.compile() {
        Ok(compiled) => compiled,
        Err(problems) if pin.probe(&[]).is_ok() => {
            let suggested = inference::suggest(pin, scope, deadline, async || open().await).await?;
            return Err(TestFailure::Untyped { problems, suggested });
        }
        Err(problems) => return Err(TestFailure::Pin(problems)),
    };
    let values = compiled.bind(values).map_err(TestFailure::Values)?;
    let ask = ask(pin, &compiled, values, scope, RowFormat::Arrays, Ahead::Nothing);
    let answer = query::ask(&ask, scope, deadline, open)
        .await
        .map_err(|failure| placed(failure, |position| Some(compiled.saved_position(position))))?;
    Ok(Tested { columns: columns(&answer.columns), answer })
}

fn ask<'a>(
    pin: &Pin,
    compiled: &'a Compiled,
    values: Vec<Option<String>>,
    scope: &Scope,
    format: RowFormat,
    ahead: Ahead,
) -> Ask<'a> {
    let cap = pin.row_cap().map_or(u32::MAX, std::num::NonZeroU32::get);
    Ask {
        sql: compiled.sql(),
        parameters: parameters(values),
        rows: scope.ceilings.rows.min(cap),
        bytes: scope.ceilings.bytes,
        format,
        skipped: 0,
        ahead,
    }
}

/// A pin's values as a statement's parameters.
pub fn parameters(values: Vec<Option<String>>) -> Vec<Parameter> {
    values.into_iter().map(|value| value.map_or(Parameter::Null, Parameter::Text)).collect()
}

fn columns(views: &[ColumnView]) -> Vec<Column> {
    views.iter().map(|view| Column { name: view.name.clone(), ty: view.type_name.clone() }).collect()
}

fn bad_call(bad: BadCall) -> Failure {
    match bad {
        BadCall::Arguments(bad) => bad_arguments(&bad),
        BadCall::NoToken(claim) => claims::no_token(&claim),
        BadCall::MissingClaim(claim) => claims::missing(&claim),
        BadCall::UnfitClaim { claim, why } => claims::unfit(&claim, &why),
    }
}

fn bad_arguments(bad: &BadArguments) -> Failure {
    let problems: Vec<String> = bad.problems.iter().map(ToString::to_string).collect();
    Failure::argument(problems.join("; ")).hinting(bad.accepted.clone())
}

/// A failure for a caller who does not see the statement: no place in it, no advice to change it.
fn without_statement(failure: Failure) -> Failure {
    match failure.kind {
        Kind::Refusal | Kind::Statement => placed(failure, |_| None).hinting(FIXED),
        Kind::Argument | Kind::Plumbing | Kind::Internal => failure,
    }
}

/// The failure with its positions moved.
fn placed(mut failure: Failure, place: impl Fn(usize) -> Option<usize>) -> Failure {
    failure.position = failure.position.and_then(&place);
    for finding in &mut failure.findings {
        finding.position = finding.position.and_then(&place);
    }
    failure
}
