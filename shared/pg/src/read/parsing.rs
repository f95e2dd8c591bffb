//! What PostgreSQL may run while it only parses a literal: the checks of domains, the code of ranges.

use std::sync::Arc;

use guard::facts::{Needs, ObjectName, Oid};
use guard::{Judgement, RowLimit, Rules};

use super::Reading;
use super::judging::Verdict;
use crate::memory::{PARSING, Parsing};
use crate::own::Ask;
use crate::read_error::ReadError;

impl Reading<'_> {
    /// Judges every such type, and remembers which are not safe.
    pub(super) async fn look_at_parsing(&mut self) -> Result<Arc<Parsing>, ReadError> {
        let ask = Ask { sql: PARSING, parameters: Vec::new() };
        let tables = self.connection.ask(&[ask], None, self.question.plan.deadline).await?;
        let row = tables.into_iter().next().and_then(|table| table.into_iter().next());
        let [version, types] = row
            .and_then(|row| <[Option<String>; 2]>::try_from(row).ok())
            .and_then(|[version, types]| Some([version?, types?]))
            .ok_or_else(ReadError::out_of_turn)?;
        let types: Vec<u32> = serde_json::from_str(&types).map_err(|_| ReadError::out_of_turn())?;
        let types: Vec<Oid> = types.into_iter().map(Oid).collect();
        // A server that was started anew may be another one.
        let server = version.split('/').next().unwrap_or_default().to_owned();
        self.memory.meet(&server);
        let rules = Rules::open(RowLimit::new(0));
        let (unsafe_types, relied_on) = match self.judge_types(&types, &rules).await? {
            Verdict::Refused(_) => (self.name_unsafe(&types, &rules).await?, Needs::default()),
            Verdict::Harmless(relied_on) => (Vec::new(), relied_on),
            Verdict::Clear(_) | Verdict::Learned => return Err(ReadError::out_of_turn()),
        };
        let gate = self.memory.known().versions.gate(&relied_on);
        Ok(self.memory.know_parsing(Parsing { version, relied_on, gate, unsafe_types }))
    }

    async fn judge_types(&mut self, types: &[Oid], rules: &Rules) -> Result<Verdict, ReadError> {
        let facts = Arc::clone(&self.memory.known().facts);
        let judgement = Judgement::of_types(types.iter().copied(), self.major()?, rules, facts);
        self.follow(judgement).await
    }

    /// One by one: a refusal does not say which of them it is about.
    async fn name_unsafe(&mut self, types: &[Oid], rules: &Rules) -> Result<Vec<ObjectName>, ReadError> {
        let mut names = Vec::new();
        for oid in types {
            if let Verdict::Refused(_) = self.judge_types(&[*oid], rules).await? {
                let facts = self.memory.known().facts;
                let name = facts.types.get(oid).map(|fact| fact.name.clone());
                let unnamed = || ObjectName { schema: "?".to_owned(), name: oid.0.to_string() };
                names.push(name.unwrap_or_else(unnamed));
            }
        }
        Ok(names)
    }
}
