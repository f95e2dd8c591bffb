//! Asking the catalog until a judgement is done.

use std::sync::Arc;

use guard::facts::{Major, Needs, ObjectName};
use guard::{Clear, Judgement, Refusal, Step};

use super::{Question, Reading};
use crate::memory::{self, Known};
use crate::own::Ask;
use crate::read_error::ReadError;

/// `$1` names: schema and name of the relations that they mean, under whatever `search_path` the statement has.
const MEANT: &str = "SELECT n.nspname, c.relname FROM pg_catalog.unnest($1::pg_catalog.text[]) AS w(name) \
     JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) \
          pg_catalog.to_regclass(pg_catalog.quote_ident(w.name))::pg_catalog.oid \
     JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace";

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
        if let Some(refusal) = self.judge_relations().await? {
            return Ok(Some(refusal));
        }
        let facts = Arc::clone(&known.facts);
        match Judgement::of_unresolved(question.candidate, self.major()?, question.rules, facts) {
            Some(judgement) => match self.follow(judgement).await? {
                Verdict::Refused(refusal) => Ok(Some(refusal)),
                Verdict::Clear(_) | Verdict::Harmless(_) | Verdict::Learned => Ok(None),
            },
            None => Ok(None),
        }
    }

    /// Whether a name without a schema means a relation that is not selected.
    async fn judge_relations(&mut self) -> Result<Option<Refusal>, ReadError> {
        let Question { candidate, rules, plan, .. } = self.question;
        let bare = candidate.bare_relations();
        if bare.is_empty() {
            return Ok(None);
        }
        let ask = Ask { sql: MEANT, parameters: vec![Some(memory::names(bare))] };
        let tables = self.connection.ask(&[ask], plan.search_path.as_ref(), plan.deadline).await?;
        let name = |row: Vec<Option<String>>| {
            let [schema, name] = <[Option<String>; 2]>::try_from(row).ok()?;
            Some(ObjectName { schema: schema?, name: name? })
        };
        let meant: Vec<ObjectName> = tables.into_iter().flatten().filter_map(name).collect();
        Ok(candidate.refused_for_relations(&meant, rules))
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
