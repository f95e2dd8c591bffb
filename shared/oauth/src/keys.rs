//! The keys that the issuer publishes (RFC 7517).

pub(crate) mod source;

use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::algorithm::{Algorithm, KeyKind};

/// Keys that are kept of one set; issuers publish two or three.
const MOST_KEYS: usize = 100;

/// The keys of an issuer that signatures can be checked with.
#[derive(Debug)]
pub(crate) struct KeySet(Vec<Key>);

#[derive(Debug)]
struct Key {
    id: Option<String>,
    kind: KeyKind,
    /// The one algorithm that the issuer uses it with, if it says so.
    algorithm: Option<String>,
    public: DecodingKey,
}

/// A document that is no set of keys.
#[derive(Debug, Error)]
#[error("what the issuer published is no set of keys")]
pub(crate) struct NoKeySet(#[source] serde_json::Error);

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// What a key says of itself, as far as it matters here.
#[derive(Deserialize)]
struct Written {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads a set. A key that is not for signatures, or of a kind that is not known, is left out: it does not spoil the
    /// others.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, NoKeySet> {
        let document: Document = serde_json::from_slice(document).map_err(NoKeySet)?;
        let keys = document.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        Ok(Self(keys.filter_map(Key::read).take(MOST_KEYS).collect()))
    }

    /// The keys that a signature can be of: those of the id, or all that fit where a token names none.
    pub(crate) fn fitting(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> impl Iterator<Item = &DecodingKey> {
        let fits = move |key: &&Key| {
            key.kind == algorithm.key_kind()
                && key.algorithm.as_deref().is_none_or(|only| only == algorithm.as_str())
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
        };
        self.0.iter().filter(fits).map(|key| &key.public)
    }
}

impl Key {
    fn read(written: Written) -> Option<Self> {
        if written.purpose.is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        if written.key_ops.is_some_and(|uses| !uses.iter().any(|operation| operation == "verify")) {
            return None;
        }
        let (kind, public) = match (written.kty.as_str(), written.crv.as_deref()) {
            ("RSA", _) => (KeyKind::Rsa, DecodingKey::from_rsa_components(&written.n?, &written.e?)),
            ("EC", Some("P-256")) => {
                (KeyKind::P256, DecodingKey::from_ec_components(&written.x?, &written.y?))
            }
            ("EC", Some("P-384")) => {
                (KeyKind::P384, DecodingKey::from_ec_components(&written.x?, &written.y?))
            }
            ("OKP", Some("Ed25519")) => (KeyKind::Ed25519, DecodingKey::from_ed_components(&written.x?)),
            _ => return None,
        };
        Some(Self { id: written.kid, kind, algorithm: written.alg, public: public.ok()? })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fitting(keys: &Value, id: Option<&str>, algorithm: Algorithm) -> usize {
        KeySet::parse(json!({"keys": keys}).to_string().as_bytes()).unwrap().fitting(id, algorithm).count()
    }

    #[test]
    fn a_key_serves_the_algorithms_of_its_kind() {
        let keys = json!([
            {"kty": "RSA", "kid": "r", "n": "AQAB", "e": "AQAB"},
            {"kty": "RSA", "kid": "p", "n": "AQAB", "e": "AQAB", "alg": "PS256", "use": "sig"},
            {"kty": "EC", "kid": "e", "crv": "P-256", "x": "AQAB", "y": "AQAB", "key_ops": ["verify"]},
            {"kty": "OKP", "kid": "d", "crv": "Ed25519", "x": "AQAB"},
        ]);
        let count = |id: &str, algorithm| fitting(&keys, Some(id), algorithm);
        assert_eq!([Algorithm::Rs256, Algorithm::Ps512, Algorithm::Es256].map(|a| count("r", a)), [1, 1, 0]);
        assert_eq!([Algorithm::Rs256, Algorithm::Ps256].map(|a| count("p", a)), [0, 1]);
        assert_eq!([Algorithm::Es256, Algorithm::Es384, Algorithm::EdDsa].map(|a| count("e", a)), [1, 0, 0]);
        assert_eq!([Algorithm::EdDsa, Algorithm::Rs256].map(|a| count("d", a)), [1, 0]);
        assert_eq!(fitting(&keys, None, Algorithm::Ps256), 2, "without an id, all that fit");
        assert_eq!(fitting(&keys, Some("x"), Algorithm::Rs256), 0, "an id that no key has");
    }

    #[test]
    fn a_key_that_is_not_for_signatures_does_not_spoil_the_others() {
        let keys = json!([
            {"kty": "RSA", "n": "AQAB", "e": "AQAB", "use": "enc"},
            {"kty": "RSA", "n": "AQAB", "e": "AQAB", "key_ops": ["encrypt"]},
            {"kty": "RSA", "n": "not base64!", "e": "AQAB"},
            {"kty": "RSA", "e": "AQAB"},
            {"kty": "oct", "k": "c2VjcmV0"},
            {"kty": "EC", "crv": "P-521", "x": "AQAB", "y": "AQAB"},
            {"kty": 7}, "key", null,
            {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        ]);
        assert_eq!(fitting(&keys, None, Algorithm::Rs256), 1);
    }

    #[test]
    fn what_is_no_set_of_keys_is_told() {
        for document in ["", "<html>", "[]", "{}", r#"{"keys": {}}"#, r#"{"error": "x"}"#] {
            assert!(KeySet::parse(document.as_bytes()).is_err(), "{document}");
        }
    }
}
