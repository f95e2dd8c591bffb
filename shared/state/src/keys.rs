//! API keys: how one is made, what of it is stored, and how a caller shows it.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use thiserror::Error;

const PREFIX: &str = "pgk_";
/// 256 bits in base64url without padding.
const BODY_CHARS: usize = 43;

/// A freshly made key: shown to its owner once, never stored.
pub struct ApiKey(KeyToken);

/// A key as a caller sent it: of the right shape, not yet known to belong to anyone.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyToken(String);

/// The SHA-256 of a key's whole text, all that is stored of it.
///
/// Plain SHA-256 without salt is enough because a key is 256 random bits: there is no list of likely keys to try.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

/// What a key may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Call the tools of a flow.
    McpCall,
    /// Change and test flows of kind `chatflow`.
    ChatflowsUpdate,
    /// Change and test flows of kind `agentflow`.
    AgentflowsUpdate,
    /// Read flows.
    FlowsRead,
    /// Read audit rows.
    AuditRead,
    /// Make and revoke keys.
    KeysManage,
}

/// Why an `Authorization` header holds no key. No message repeats what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// Another scheme, or none.
    #[error("the `Authorization` header must read `Bearer pgk_…`")]
    NotBearer,
    /// Nothing after the scheme.
    #[error("the `Authorization` header holds no key after `Bearer`")]
    Empty,
    /// Text of another shape than a key's.
    #[error("the bearer token is no key of this server: a key is `pgk_` and 43 characters")]
    NotAKey,
}

/// A word that is no scope.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is no scope: use mcp:call, chatflows:update, agentflows:update, flows:read, audit:read or keys:manage"
)]
pub struct UnknownScope(String);

impl ApiKey {
    /// Makes a key of 32 bytes, which must come from the system's random source.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(KeyToken(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes))))
    }

    /// The whole text, to be shown to the owner.
    pub fn text(&self) -> &str {
        &self.0.0
    }

    /// What is stored.
    pub fn hash(&self) -> KeyHash {
        self.0.hash()
    }
}

impl KeyToken {
    /// Reads an `Authorization` value: the scheme in any case, blanks around and between, `Bearer` only.
    ///
    /// ```
    /// let value = format!("bearer   pgk_{}\n", "A".repeat(43));
    /// assert!(state::KeyToken::from_header(&value).is_ok());
    /// ```
    pub fn from_header(value: &str) -> Result<Self, HeaderError> {
        let value = value.trim_ascii();
        let (scheme, token) = value.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((value, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(HeaderError::NotBearer);
        }
        match token.trim_ascii() {
            "" => Err(HeaderError::Empty),
            token => token.parse(),
        }
    }

    /// The SHA-256 of the text.
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(&self.0).into())
    }
}

impl FromStr for KeyToken {
    type Err = HeaderError;

    fn from_str(text: &str) -> Result<Self, HeaderError> {
        let body = text.strip_prefix(PREFIX).ok_or(HeaderError::NotAKey)?;
        let base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if body.len() == BODY_CHARS && body.bytes().all(base64url) {
            Ok(Self(text.to_owned()))
        } else {
            Err(HeaderError::NotAKey)
        }
    }
}

impl KeyHash {
    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 6] = [
        Self::McpCall,
        Self::ChatflowsUpdate,
        Self::AgentflowsUpdate,
        Self::FlowsRead,
        Self::AuditRead,
        Self::KeysManage,
    ];

    /// The word that stands for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::McpCall => "mcp:call",
            Self::ChatflowsUpdate => "chatflows:update",
            Self::AgentflowsUpdate => "agentflows:update",
            Self::FlowsRead => "flows:read",
            Self::AuditRead => "audit:read",
            Self::KeysManage => "keys:manage",
        }
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == word)
            .ok_or_else(|| UnknownScope(word.to_owned()))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(pgk_********)")
    }
}

impl fmt::Debug for KeyToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyToken(pgk_********)")
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(********)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte 0 to 31, so every figure below can be worked out by hand.
    fn key() -> ApiKey {
        ApiKey::from_random(std::array::from_fn(|index| u8::try_from(index).unwrap()))
    }

    #[test]
    fn a_key_is_a_prefix_and_base64url_without_padding() {
        assert_eq!(key().text(), "pgk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8");
        assert!(ApiKey::from_random([0xff; 32]).text().ends_with("__8"), "url-safe letters");
    }

    #[test]
    fn a_header_may_have_any_case_and_any_blanks() {
        let text = key().text().to_owned();
        for (before, after) in
            [("Bearer ", ""), ("bearer ", ""), ("BEARER ", ""), ("Bearer  ", ""), ("  bEaReR\t", "\r\n")]
        {
            let token = KeyToken::from_header(&format!("{before}{text}{after}")).unwrap();
            assert_eq!(token.hash(), key().hash(), "{before:?}");
        }
    }

    #[test]
    fn a_header_without_a_key_is_told_apart() {
        let text = key().text().to_owned();
        let cases = [
            (String::new(), HeaderError::NotBearer),
            (text.clone(), HeaderError::NotBearer),
            (format!("Basic {text}"), HeaderError::NotBearer),
            (format!("Bearer{text}"), HeaderError::NotBearer),
            (format!("Bearer\u{a0}{text}"), HeaderError::NotBearer),
            ("Bearer".to_owned(), HeaderError::Empty),
            ("Bearer   ".to_owned(), HeaderError::Empty),
            ("Bearer eyJhbGciOi.x.y".to_owned(), HeaderError::NotAKey),
            (format!("Bearer {text}A"), HeaderError::NotAKey),
            (format!("Bearer {text} {text}"), HeaderError::NotAKey),
            (format!("Bearer {}", text.replace('A', "+")), HeaderError::NotAKey),
            (format!("Bearer {}", text.to_uppercase()), HeaderError::NotAKey),
        ];
        for (header, expected) in cases {
            assert_eq!(KeyToken::from_header(&header), Err(expected), "{header:?}");
        }
    }

    #[test]
    fn the_hash_is_sha_256_of_the_whole_text() {
        let expected: [u8; 32] = Sha256::digest(b"pgk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8").into();
        assert_eq!(key().hash().bytes(), &expected);
    }

    #[test]
    fn debug_shows_no_key() {
        let token = KeyToken::from_header(&format!("Bearer {}", key().text())).unwrap();
        let shown = format!("{:?} {token:?} {:?}", key(), token.hash());
        assert_eq!(shown, "ApiKey(pgk_********) KeyToken(pgk_********) KeyHash(********)");
    }

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
        let error = "mcp:*".parse::<Scope>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`mcp:*` is no scope: use mcp:call, chatflows:update, agentflows:update, flows:read, audit:read or keys:manage"
        );
    }
}
