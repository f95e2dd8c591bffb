//! What an operator agreed to for one credential.

use std::collections::BTreeSet;
use std::str::FromStr;

use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::error::ControlError;
use super::link::{Links, Parameter};
use crate::flow::CredentialId;

/// Something that is not done with a credential's database unless its operator agreed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// Event triggers on DDL may fire, with a caller's statement as the body of a function.
    EventTriggers,
    /// What statements resolve to may go to the server's log.
    Loud,
}

impl Agreement {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::EventTriggers, Self::Loud];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EventTriggers => "event-triggers",
            Self::Loud => "loud",
        }
    }
}

/// A word that is no agreement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is nothing that can be agreed to: event-triggers, loud")]
pub struct UnknownAgreement(String);

impl FromStr for Agreement {
    type Err = UnknownAgreement;

    fn from_str(word: &str) -> Result<Self, UnknownAgreement> {
        let found = Self::ALL.into_iter().find(|agreement| agreement.as_str() == word);
        found.ok_or_else(|| UnknownAgreement(word.to_owned()))
    }
}

const AGREE: &str =
    "UPDATE pinguard.credential SET agreed = $3 WHERE workspace = $1 AND id = $2 RETURNING id";

/// Replaces what was agreed to; false if the workspace has no such credential.
pub(super) async fn agree(
    links: &Links,
    workspace: &str,
    id: &CredentialId,
    agreed: &BTreeSet<Agreement>,
    deadline: Instant,
) -> Result<bool, ControlError> {
    let words: Vec<&str> = agreed.iter().map(|agreement| agreement.as_str()).collect();
    let parameters: [Parameter<'_>; 3] =
        [(&workspace, Type::TEXT), (&id.as_str(), Type::TEXT), (&words, Type::TEXT_ARRAY)];
    Ok(links.change(AGREE, &parameters, deadline).await?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for agreement in Agreement::ALL {
            assert_eq!(agreement.as_str().parse(), Ok(agreement));
        }
        assert!("quiet".parse::<Agreement>().is_err());
    }
}
