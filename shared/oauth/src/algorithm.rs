//! The algorithms that a token may be signed with: asymmetric ones alone, so that nobody who knows the issuer's public keys
//! can sign.

use std::fmt;
use std::str::FromStr;

use jsonwebtoken::Algorithm as Known;
use thiserror::Error;

/// An algorithm of a signature. There is no `none` and no `HS256` among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// RSA with PKCS #1 v1.5 and SHA-256: what most issuers use.
    Rs256,
    /// The same with SHA-384.
    Rs384,
    /// The same with SHA-512.
    Rs512,
    /// RSA-PSS with SHA-256.
    Ps256,
    /// The same with SHA-384.
    Ps384,
    /// The same with SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519.
    EdDsa,
}

/// A word that is no algorithm of the list.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, EdDSA")]
pub struct UnknownAlgorithm(String);

/// What kind of key an algorithm needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyKind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

impl Algorithm {
    /// Every algorithm of the list.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Rs384,
        Self::Rs512,
        Self::Ps256,
        Self::Ps384,
        Self::Ps512,
        Self::Es256,
        Self::Es384,
        Self::EdDsa,
    ];

    /// The name in a token's header (RFC 7518).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of a header, if it is one of the list.
    pub(crate) fn of(known: Known) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.known() == known)
    }

    pub(crate) fn known(self) -> Known {
        match self {
            Self::Rs256 => Known::RS256,
            Self::Rs384 => Known::RS384,
            Self::Rs512 => Known::RS512,
            Self::Ps256 => Known::PS256,
            Self::Ps384 => Known::PS384,
            Self::Ps512 => Known::PS512,
            Self::Es256 => Known::ES256,
            Self::Es384 => Known::ES384,
            Self::EdDsa => Known::EdDSA,
        }
    }

    pub(crate) fn key_kind(self) -> KeyKind {
        match self {
            Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512 => KeyKind::Rsa,
            Self::Es256 => KeyKind::P256,
            Self::Es384 => KeyKind::P384,
            Self::EdDsa => KeyKind::Ed25519,
        }
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(word: &str) -> Result<Self, UnknownAlgorithm> {
        Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.as_str() == word)
            .ok_or_else(|| UnknownAlgorithm(word.to_owned()))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_are_read_as_they_are_written() {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.as_str().parse(), Ok(algorithm));
            assert_eq!(algorithm.as_str().parse::<Known>().map(Algorithm::of), Ok(Some(algorithm)));
        }
    }

    #[test]
    fn a_shared_secret_or_none_is_no_algorithm() {
        for word in ["none", "None", "NONE", "HS256", "HS384", "HS512", "rs256", "ES512", "RS256 ", ""] {
            assert!(word.parse::<Algorithm>().is_err(), "{word:?}");
        }
        for known in [Known::HS256, Known::HS384, Known::HS512] {
            assert_eq!(Algorithm::of(known), None);
        }
    }
}
