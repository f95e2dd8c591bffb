//! What the cache calls things. Names are hashed, so nothing a caller wrote stands in a key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

/// Half a SHA-256: no two names that ever meet share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Digest([u8; 16]);

impl Digest {
    /// Every text goes in with its length, so that no two lists of texts read the same.
    fn of(kind: &str, texts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for text in std::iter::once(&kind).chain(texts) {
            hash.update(u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(text.as_bytes());
        }
        let [low, ..] = *hash.finalize().as_slice().as_chunks::<16>().0 else { return Self([0; 16]) };
        Self(low)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// 22 characters of `[A-Za-z0-9_-]`.
    pub(super) fn text(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

/// Names an entry: whose it is, and what its owner calls it. Who names another owner or workspace finds nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EntryKey {
    pub(super) workspace: Digest,
    pub(super) owner: Digest,
    pub(super) id: Digest,
}

impl EntryKey {
    /// An entry of a caller in a workspace. The id should be one that nobody guesses.
    pub fn new(workspace: &str, owner: &str, id: &str) -> Self {
        Self {
            workspace: Digest::of("workspace", &[workspace]),
            owner: Digest::of("owner", &[workspace, owner]),
            id: Digest::of("entry", &[workspace, owner, id]),
        }
    }
}

/// One call's place under a counter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Seat {
    pub(super) workspace: Digest,
    pub(super) counter: Digest,
    pub(super) id: Digest,
}

impl Seat {
    /// The place of a call under the counter of these names, such as `["calls per minute", caller, flow, node]`. A call
    /// that asks again for the place it has gets no second one.
    pub fn new(workspace: &str, counter: &[&str], call: &str) -> Self {
        let names: Vec<&str> = std::iter::once(workspace).chain(counter.iter().copied()).collect();
        Self {
            workspace: Digest::of("workspace", &[workspace]),
            counter: Digest::of("counter", &names),
            id: Digest::of("call", &[call]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_read_alike_when_joined_are_different() {
        assert_ne!(EntryKey::new("a", "bc", "d").id, EntryKey::new("ab", "c", "d").id);
        assert_ne!(EntryKey::new("a", "b", "cd").id, EntryKey::new("a", "bc", "d").id);
        assert_ne!(EntryKey::new("a", "b", "c").owner, EntryKey::new("x", "b", "c").owner);
        assert_ne!(Seat::new("w", &["a", "b"], "1").counter, Seat::new("w", &["ab"], "1").counter);
        assert_eq!(Seat::new("w", &["a"], "1").counter, Seat::new("w", &["a"], "2").counter);
        assert_eq!(Seat::new("w", &["a"], "1").workspace, EntryKey::new("w", "b", "c").workspace);
    }

    #[test]
    fn a_digest_is_short_and_plain() {
        let text = EntryKey::new("w", "o", "i").id.text();
        assert_eq!(text.len(), 22);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    }
}
