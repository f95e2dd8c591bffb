//! A statement without parameters on the product's road, as the tests of the guard ask it.

use guard::{Refusal, Rules};
use pg::{Connection, Judged, Memory, Question, Read, ReadPlan};

use crate::client;

/// What came of a statement.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It ran, or it might.
    Admitted,
    Refused(Refusal),
    /// The server's word, or a limit.
    Failed(String),
}

/// Judges a statement and does not run it.
pub(crate) async fn judge(connection: &mut Connection, memory: &Memory, sql: &str, rules: &Rules) -> Outcome {
    let candidate = match guard::candidate(sql, rules) {
        Ok(candidate) => candidate,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    // The values would be missing.
    if candidate.parameters() > 0 {
        return Outcome::Failed("it has parameters".to_owned());
    }
    let plan = client::plan();
    let question = Question { candidate: &candidate, rules, parameters: &[], plan: &plan };
    match pg::judge(connection, memory, question).await {
        Ok(Judged::Clear { .. }) => Outcome::Admitted,
        Ok(Judged::Refused(refusal)) => Outcome::Refused(refusal),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// Judges a statement and runs it if it may run.
pub(crate) async fn run(
    connection: &mut Connection,
    memory: &Memory,
    sql: &str,
    rules: &Rules,
    plan: &ReadPlan,
) -> Outcome {
    let candidate = match guard::candidate(sql, rules) {
        Ok(candidate) => candidate,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    let question = Question { candidate: &candidate, rules, parameters: &[], plan };
    match pg::read(connection, memory, question).await {
        Ok(Read::Ran(_)) => Outcome::Admitted,
        Ok(Read::Refused(refusal)) => Outcome::Refused(refusal),
        Ok(Read::TooCostly(estimate)) => Outcome::Failed(format!("{estimate:?}")),
        Err(error) => Outcome::Failed(error.to_string()),
    }
}
