//! Asking the catalog until a judgement is done.

use std::sync::Arc;

use guard::facts::{Major, Needs};
use guard::{Clear, Judgement, Refusal, Step};

use super::Reading;
use crate::memory::Known;
use crate::read_error::ReadError;

/// What a judgement came to.
pub(super) enum Verdict {
    Clear(Clear),
    Refused(Refusal),
    /// It is no statement, and nothing speaks against it.
    Harmless(Needs),
    /// It would be clear, but the catalog had to be asked, which ended the transaction.
    Learned,
}

impl Reading<'_> {
    pub(super) fn major(&self) -> Result<Major, ReadError> {
        let number = self.connection.server_major();
        Major::new(number).ok_or(ReadError::UnknownMajor(number))
    }

    pub(super) async fn judge_tree(&mut self, tree: &str, known: &Known) -> Result<Verdict, ReadError> {
        let question = self.question;
        let facts = Arc::clone(&known.facts);
        let judgement = Judgement::begin(question.candidate, tree, self.major()?, question.rules, facts);
        self.follow(judgement).await
    }

    /// What is to be said of a statement that the server cannot resolve, in place of its error.
    pub(super) async fn judge_names(&mut self, known: &Known) -> Result<Option<Refusal>, ReadError> {
        let question = self.question;
        let facts = Arc::clone(&known.facts);
        match Judgement::of_unresolved(question.candidate, self.major()?, question.rules, facts) {
            Some(judgement) => match self.follow(judgement).await? {
                Verdict::Refused(refusal) => Ok(Some(refusal)),
                Verdict::Clear(_) | Verdict::Harmless(_) | Verdict::Learned => Ok(None),
            },
            None => Ok(None),
        }
    }

    pub(super) async fn follow(&mut self, mut judgement: Judgement<'_>) -> Result<Verdict, ReadError> {
        let mut learned = false;
        for _ in 0..super::MOST_ROUNDS {
            match judgement.step() {
                Step::Need(needs) => {
                    self.connection.settle().await?;
                    let (facts, versions) =
                        self.connection.facts_within(&needs, self.question.plan.deadline).await?;
                    judgement.learn(facts.clone());
                    self.memory.learn(facts, versions);
                    learned = true;
                }
                Step::Clear(_) if learned => return Ok(Verdict::Learned),
                Step::Clear(clear) => return Ok(Verdict::Clear(clear)),
                Step::Harmless(relied_on) => return Ok(Verdict::Harmless(relied_on)),
                Step::Refused(refusal) => return Ok(Verdict::Refused(refusal)),
            }
        }
        Err(ReadError::TooManyRounds)
    }
}
