//! Ids that stand in URLs and documents.

use std::fmt;

/// The most characters an id may have.
const MAX_CHARS: usize = 20;

/// What an id must look like, as a message says it.
pub(super) const ACCEPTED: &str = "1 to 20 characters of a-z, 0-9 and `-`";

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The id of this text, if it is 1 to 20 characters of `a-z`, `0-9` and `-`.
            pub fn parse(text: &str) -> Option<Self> {
                is_id(text).then(|| Self(text.to_owned()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A flow's id, unique in its workspace.
    FlowId
);
id!(
    /// A node's id, unique in its flow.
    NodeId
);
id!(
    /// A credential's id, unique in its workspace.
    CredentialId
);

fn is_id(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_CHARS).contains(&text.len()) && text.bytes().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_and_plain() {
        for good in ["a", "0", "-", "cred-1", "abcdefghijklmnopqrst"] {
            assert_eq!(FlowId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "A", "a_b", "a b", "ä", "a/b", "a\n", "abcdefghijklmnopqrstu"] {
            assert_eq!(FlowId::parse(bad), None, "{bad:?}");
        }
    }
}
