//! A token: its form, its signature, and whether it is for this server and for now.

use std::time::{Duration, SystemTime};

use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{DecodingKey, Validation, decode, decode_header};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::algorithm::Algorithm;
use crate::keys::KeySet;

/// The longest token that is read, in bytes; front doors take headers of about this length.
const MOST_BYTES: usize = 16 * 1024;

/// How far the issuer's clock and ours may be apart.
const LEEWAY: Duration = Duration::from_secs(30);

/// Keys that a token without a key's id is tried with.
const MOST_TRIED: usize = 4;

/// What a token may call itself in `typ` (RFC 9068, RFC 7519); leaving it out is fine too.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "jwt"];

/// Why a token does not count. No message repeats what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Invalid {
    /// Another form, or another algorithm.
    #[error("the access token is no JWT that is signed with an algorithm of this server's list")]
    Form,
    /// A JWT for another purpose.
    #[error("the JWT is no access token: its `typ` says what else it is")]
    Type,
    /// The issuer publishes no such key.
    #[error("the access token is signed with a key that the issuer does not publish")]
    UnknownKey,
    /// The key did not make the signature.
    #[error("the signature of the access token is wrong")]
    Signature,
    /// Another issuer.
    #[error("the access token is of another issuer")]
    Issuer,
    /// For another server.
    #[error(
        "the access token is for another audience: ask for one with this server's URL as `resource`, or with its audience"
    )]
    Audience,
    /// No `exp`, or one that is no number.
    #[error("the access token does not say when it expires")]
    Expiry,
    /// Its time is over.
    #[error("the access token has expired")]
    Expired,
    /// Its time has not begun.
    #[error("the access token is not valid yet")]
    Early,
    /// No `sub`.
    #[error("the access token does not say whose it is: it lacks `sub`")]
    Subject,
}

/// What a token says of its signature.
pub(crate) struct Head {
    algorithm: Algorithm,
    key_id: Option<String>,
}

/// The claims of a token whose signature is right.
pub(crate) type Claims = Map<String, Value>;

/// Reads a token's header; nothing of it is proven.
pub(crate) fn head(token: &str, allowed: &[Algorithm]) -> Result<Head, Invalid> {
    if token.len() > MOST_BYTES {
        return Err(Invalid::Form);
    }
    let header = decode_header(token).map_err(|_| Invalid::Form)?;
    let algorithm = Algorithm::of(header.alg).filter(|algorithm| allowed.contains(algorithm));
    if header.typ.is_some_and(|typ| !TYPES.contains(&typ.to_ascii_lowercase().as_str())) {
        return Err(Invalid::Type);
    }
    Ok(Head { algorithm: algorithm.ok_or(Invalid::Form)?, key_id: header.kid })
}

/// The claims, if a key of the set made the signature.
pub(crate) fn signed(token: &str, head: &Head, keys: &KeySet) -> Result<Claims, Invalid> {
    let mut found = Err(Invalid::UnknownKey);
    for key in keys.fitting(head.key_id.as_deref(), head.algorithm).take(MOST_TRIED) {
        found = signed_with(token, head.algorithm, key);
        if found != Err(Invalid::Signature) {
            return found;
        }
    }
    found
}

fn signed_with(token: &str, algorithm: Algorithm, key: &DecodingKey) -> Result<Claims, Invalid> {
    // Form, critical headers and signature alone: the crate reads no number where serde_json keeps their digits, and takes
    // the time from a clock of its own.
    let mut signature = Validation::new(algorithm.known());
    signature.required_spec_claims.clear();
    signature.validate_exp = false;
    signature.validate_aud = false;
    let decoded = decode::<Claims>(token, key, &signature).map_err(|error| match error.kind() {
        ErrorKind::InvalidSignature => Invalid::Signature,
        _ => Invalid::Form,
    })?;
    Ok(decoded.claims)
}

/// Whether proven claims are of the issuer, for one of the audiences, and for now.
pub(crate) fn counts(
    claims: &Claims,
    issuer: &str,
    audiences: &[&str],
    now: SystemTime,
) -> Result<(), Invalid> {
    if claims.get("iss").and_then(Value::as_str) != Some(issuer) {
        return Err(Invalid::Issuer);
    }
    let is_ours = |value: &Value| value.as_str().is_some_and(|audience| audiences.contains(&audience));
    let ours = match claims.get("aud") {
        Some(Value::Array(audiences)) => audiences.iter().any(is_ours),
        Some(audience) => is_ours(audience),
        None => false,
    };
    if !ours {
        return Err(Invalid::Audience);
    }
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let leeway = LEEWAY.as_secs_f64();
    let expiry = claims.get("exp").and_then(moment).ok_or(Invalid::Expiry)?;
    if expiry + leeway <= now {
        return Err(Invalid::Expired);
    }
    match claims.get("nbf").map(moment) {
        Some(Some(begin)) if begin <= now + leeway => Ok(()),
        None => Ok(()),
        Some(_) => Err(Invalid::Early),
    }
}

/// Seconds since 1970, which may have a fraction (RFC 7519).
fn moment(value: &Value) -> Option<f64> {
    value.as_f64().filter(|seconds| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://id.example.com";
    const NOW: u64 = 1_800_000_000;

    fn checked(change: impl FnOnce(&mut Claims)) -> Result<(), Invalid> {
        let claims = json!({"iss": ISSUER, "aud": "https://mcp.example.com", "exp": NOW + 60});
        let Value::Object(mut claims) = claims else { unreachable!() };
        change(&mut claims);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW);
        counts(&claims, ISSUER, &["https://mcp.example.com", "https://mcp.example.com/mcp/f"], now)
    }

    fn with(name: &str, value: Value) -> Result<(), Invalid> {
        checked(|claims| {
            claims.insert(name.to_owned(), value);
        })
    }

    fn without(name: &str) -> Result<(), Invalid> {
        checked(|claims| {
            claims.remove(name);
        })
    }

    #[test]
    fn a_token_of_the_issuer_for_this_server_counts() {
        assert_eq!(checked(|_| ()), Ok(()));
        assert_eq!(with("aud", json!("https://mcp.example.com/mcp/f")), Ok(()));
        assert_eq!(with("aud", json!(["https://other.example.com", "https://mcp.example.com"])), Ok(()));
    }

    #[test]
    fn another_issuer_is_told() {
        assert_eq!(without("iss"), Err(Invalid::Issuer));
        for issuer in [
            json!("https://id.example.com/"),
            json!("https://id.example.com.evil.com"),
            json!("HTTPS://id.example.com"),
            json!(["https://id.example.com"]),
            json!(null),
            json!(7),
        ] {
            assert_eq!(with("iss", issuer.clone()), Err(Invalid::Issuer), "{issuer}");
        }
    }

    #[test]
    fn another_audience_is_told() {
        assert_eq!(without("aud"), Err(Invalid::Audience));
        for audience in [
            json!("https://mcp.example.com/"),
            json!("https://mcp.example.com/mcp/g"),
            json!("https://mcp.example.com/mcp"),
            json!([]),
            json!(["https://other.example.com"]),
            json!([["https://mcp.example.com"]]),
            json!({"https://mcp.example.com": true}),
            json!(""),
            json!(null),
        ] {
            assert_eq!(with("aud", audience.clone()), Err(Invalid::Audience), "{audience}");
        }
    }

    #[test]
    fn a_token_counts_within_its_time_and_thirty_seconds_about_it() {
        assert_eq!(with("exp", json!(NOW - 29)), Ok(()));
        assert_eq!(with("exp", json!(NOW - 30)), Err(Invalid::Expired));
        assert_eq!(with("exp", json!(1_799_999_970.5)), Ok(()));
        assert_eq!(with("exp", json!(-1)), Err(Invalid::Expired));
        assert_eq!(with("exp", json!(0)), Err(Invalid::Expired));
        assert_eq!(with("nbf", json!(NOW + 30)), Ok(()));
        assert_eq!(with("nbf", json!(NOW + 31)), Err(Invalid::Early));
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        assert_eq!(without("exp"), Err(Invalid::Expiry));
        let endless: Value = serde_json::from_str("1e999").unwrap();
        for time in [json!(null), json!("1900000000"), json!([1_900_000_000]), endless] {
            assert_eq!(with("exp", time.clone()), Err(Invalid::Expiry), "{time}");
            assert_eq!(with("nbf", time.clone()), Err(Invalid::Early), "{time}");
        }
    }

    /// A token's part: any bytes, or JSON that is nearly a header.
    fn part() -> impl Strategy<Value = String> {
        let value = prop::sample::select(vec![
            json!("RS256"),
            json!("HS256"),
            json!("none"),
            json!(["b64"]),
            json!(1e300),
            json!({"kty": "oct"}),
            json!(null),
        ]);
        let name = prop::sample::select(vec!["alg", "kid", "typ", "crit", "b64", "jwk", "x5c", "exp"]);
        let header = prop::collection::vec((name, value), 0..4)
            .prop_map(|pairs| {
                Value::Object(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            })
            .prop_map(|header| URL_SAFE_NO_PAD.encode(header.to_string()));
        prop_oneof![header, any::<Vec<u8>>().prop_map(|bytes| URL_SAFE_NO_PAD.encode(bytes)), ".{0,20}"]
    }

    proptest! {
        #[test]
        fn any_text_is_answered(token in prop_oneof![(part(), part(), part()).prop_map(|(a, b, c)| format!("{a}.{b}.{c}")), ".*"]) {
            crate::signature::install();
            let keys = KeySet::parse(br#"{"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB"}, {"kty": "OKP", "crv": "Ed25519", "x": "AQAB"},
                {"kty": "EC", "crv": "P-256", "x": "AQAB", "y": ""}]}"#).unwrap();
            if let Ok(head) = head(&token, &Algorithm::ALL) {
                prop_assert!(signed(&token, &head, &keys).is_err(), "keys like these sign nothing");
            }
        }
    }
}
