//! Which types the server would give the parameters that nobody has typed. It is asked under the guard, and nothing runs.

use guard::RowLimit;
use pg::{Judged, Parameter, Question, ReadError, ReadPlan};
use pins::{ParamType, Pin};
use tokio::time::Instant;

use super::{SuggestedTypes, TestFailure};
use crate::failure::Failure;
use crate::memories::Reached;
use crate::query;
use crate::scope::Scope;

/// The server infers nothing for a parameter; its message names it as `$n`.
const INDETERMINATE: &str = "42P18";

/// There is no operator or function for the types that it took, or they do not go together.
const UNFIT: [&str; 3] = ["42883", "42804", "42725"];

/// What the server says of a probe.
enum Answer {
    /// The types of `$1`, `$2`, …
    Types(Vec<u32>),
    /// Of this one, counted from 0, it cannot say any.
    Indeterminate(usize),
    /// The types that it takes for the bare parameters do not fit: somebody has to pick others.
    Unfit,
    /// Something else is wrong with the statement.
    Wrong(ReadError),
}

/// Suggests types. A type of text is suggested only where no other fits: PostgreSQL takes it also where anything would do.
pub(super) async fn suggest<Open>(
    pin: &Pin,
    scope: &Scope,
    deadline: Instant,
    open: Open,
) -> Result<SuggestedTypes, TestFailure>
where
    Open: AsyncFnOnce() -> Result<Reached, Failure>,
{
    let mut inference = Inference { pin, scope, deadline, reached: open().await? };
    let suggested = inference.run().await;
    inference.reached.connection.close().await;
    suggested
}

struct Inference<'a> {
    pin: &'a Pin,
    scope: &'a Scope,
    deadline: Instant,
    reached: Reached,
}

impl Inference<'_> {
    async fn run(&mut self) -> Result<SuggestedTypes, TestFailure> {
        // What cannot be inferred is assumed to be text, so that the others can be.
        let mut assumed: Vec<(String, ParamType)> = Vec::new();
        loop {
            let (parameters, answer) = self.ask(&assumed).await?;
            match answer {
                Answer::Types(types) => return self.suggested(parameters, &types, &assumed).await,
                Answer::Indeterminate(index) => match parameters.get(index) {
                    Some((name, None)) if !is_one_of(&assumed, name) => {
                        assumed.push((name.clone(), ParamType::Text));
                    }
                    _ => return Ok(none(&parameters)),
                },
                Answer::Unfit => return Ok(none(&parameters)),
                Answer::Wrong(error) => return Err(self.failed(error).into()),
            }
        }
    }

    async fn suggested(
        &mut self,
        parameters: Vec<(String, Option<ParamType>)>,
        types: &[u32],
        assumed: &[(String, ParamType)],
    ) -> Result<SuggestedTypes, TestFailure> {
        let mut suggested = SuggestedTypes::new();
        for ((name, picked), oid) in parameters.into_iter().zip(types) {
            if picked.is_some() {
                continue;
            }
            let inferred = ParamType::suggest(*oid).filter(|_| !is_one_of(assumed, &name));
            let ty = match inferred {
                Some(ParamType::Text) if !self.must_be_text(&name, assumed).await? => None,
                other => other,
            };
            suggested.insert(name, ty);
        }
        Ok(suggested)
    }

    /// Whether a number in its place would not do.
    async fn must_be_text(
        &mut self,
        name: &str,
        assumed: &[(String, ParamType)],
    ) -> Result<bool, TestFailure> {
        let mut tried = assumed.to_vec();
        tried.push((name.to_owned(), ParamType::Int8));
        Ok(matches!(self.ask(&tried).await?.1, Answer::Unfit | Answer::Wrong(_)))
    }

    async fn ask(
        &mut self,
        assumed: &[(String, ParamType)],
    ) -> Result<(Vec<(String, Option<ParamType>)>, Answer), TestFailure> {
        let probe = self.pin.probe(assumed).map_err(TestFailure::Pin)?;
        let rules = self.scope.rules(RowLimit::new(1));
        let candidate = guard::candidate(&probe.sql, &rules).map_err(Failure::from)?;
        let plan = ReadPlan {
            search_path: self.scope.search_path.clone(),
            claims: self.scope.claims.clone(),
            deadline: self.deadline,
            row_limit: 1,
            raw_byte_budget: 0,
            keep: 0,
            cost: None,
            page: None,
        };
        let parameters: Vec<Parameter> = probe.params.iter().map(|_| Parameter::Null).collect();
        let question =
            Question { candidate: &candidate, rules: &rules, parameters: &parameters, plan: &plan };
        let memory = &self.reached.database.memory;
        let answer = match pg::judge(&mut self.reached.connection, memory, question).await {
            Ok(Judged::Clear { parameter_types, .. }) => Answer::Types(parameter_types),
            Ok(Judged::Refused(refusal)) => return Err(Failure::from(refusal).into()),
            Err(ReadError::Server(error)) => match indeterminate(&error.sqlstate, &error.message) {
                Some(index) => Answer::Indeterminate(index),
                None if UNFIT.contains(&error.sqlstate.as_str()) => Answer::Unfit,
                None => Answer::Wrong(ReadError::Server(error)),
            },
            Err(error) => return Err(self.failed(error).into()),
        };
        Ok((probe.params, answer))
    }

    /// A position would be one of the probe.
    fn failed(&self, error: ReadError) -> Failure {
        Failure { position: None, ..query::failed_statement(error, self.pin.sql()) }
    }
}

/// No suggestion for any.
fn none(parameters: &[(String, Option<ParamType>)]) -> SuggestedTypes {
    let untyped = parameters.iter().filter(|(_, picked)| picked.is_none());
    untyped.map(|(name, _)| (name.clone(), None)).collect()
}

fn is_one_of(assumed: &[(String, ParamType)], name: &str) -> bool {
    assumed.iter().any(|(known, _)| known == name)
}

/// The parameter, counted from 0, that an error of indeterminate types names, in whatever language it does.
fn indeterminate(sqlstate: &str, message: &str) -> Option<usize> {
    let number = message.split('$').nth(1).filter(|_| sqlstate == INDETERMINATE)?;
    let digits: &str = number.split(|character: char| !character.is_ascii_digit()).next()?;
    digits.parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameter_is_found_in_any_language() {
        assert_eq!(indeterminate("42P18", "could not determine data type of parameter $12"), Some(11));
        assert_eq!(indeterminate("42P18", "konnte Datentyp von Parameter $1 nicht ermitteln"), Some(0));
        assert_eq!(indeterminate("42883", "operator does not exist: $1"), None);
        assert_eq!(indeterminate("42P18", "no number"), None);
    }
}
