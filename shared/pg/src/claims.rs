//! What a caller's access token says, as settings of a transaction that policies and views can read.

use std::fmt;

use serde_json::{Map, Value};

/// The longest name of a claim, in characters.
const MOST_CHARS: usize = 100;

/// The name of a claim, and of the setting that holds its value.
#[derive(Clone, PartialEq, Eq)]
pub struct ClaimName {
    claim: String,
    setting: String,
}

/// Values of claims, each under its setting's name.
#[derive(Clone, PartialEq, Eq)]
pub struct Claims {
    settings: Vec<String>,
    /// An object of texts.
    json: String,
}

/// A value that no setting can have: it holds a NUL character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a claim holds a NUL character, which PostgreSQL cannot take")]
pub struct NulInClaim;

impl ClaimName {
    /// Takes a claim's name as tokens write it: not blank, at most 100 characters, none of them a control character.
    ///
    /// Names of settings have letters, digits and `_` alone, and their case does not matter: everything else in the claim's
    /// name becomes `_`. So `cognito:groups` is read as `current_setting('pinguard.claim_cognito_groups')`.
    pub fn parse(claim: &str) -> Option<Self> {
        let fits = !claim.trim().is_empty()
            && claim.chars().count() <= MOST_CHARS
            && !claim.contains(char::is_control);
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        fits.then(|| Self {
            claim: claim.to_owned(),
            setting: format!("pinguard.claim_{}", claim.chars().map(plain).collect::<String>()),
        })
    }

    /// As tokens write it.
    pub fn claim(&self) -> &str {
        &self.claim
    }

    /// The setting: `pinguard.claim_` and the name in small letters, digits and `_`.
    pub fn setting(&self) -> &str {
        &self.setting
    }
}

impl Claims {
    /// Takes values with their names.
    pub fn new(values: &[(&ClaimName, String)]) -> Result<Self, NulInClaim> {
        let mut object = Map::new();
        for (name, value) in values {
            if value.contains('\0') {
                return Err(NulInClaim);
            }
            object.insert(name.setting.clone(), Value::String(value.clone()));
        }
        let settings = object.keys().cloned().collect();
        Ok(Self { settings, json: Value::Object(object).to_string() })
    }

    /// The names of the settings.
    pub fn settings(&self) -> &[String] {
        &self.settings
    }

    /// Settings and values as one object, for what is kept of a call to be bound to them. Not for logs.
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl fmt::Debug for ClaimName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClaimName({:?})", self.claim)
    }
}

/// Values are the caller's own matter and stay out of logs.
impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Claims").field(&self.settings).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_the_claims_name_in_plain_letters() {
        for (claim, setting) in [
            ("tenant_id", "pinguard.claim_tenant_id"),
            ("tenantId", "pinguard.claim_tenantid"),
            ("cognito:groups", "pinguard.claim_cognito_groups"),
            ("https://example.com/tenant", "pinguard.claim_https___example_com_tenant"),
            ("a'); DROP TABLE x --", "pinguard.claim_a____drop_table_x___"),
            ("größe", "pinguard.claim_gr__e"),
            ("2", "pinguard.claim_2"),
        ] {
            assert_eq!(ClaimName::parse(claim).unwrap().setting(), setting);
        }
        for claim in ["", " ", "a\nb", "a\0", &"x".repeat(101)] {
            assert_eq!(ClaimName::parse(claim), None, "{claim:?}");
        }
    }

    #[test]
    fn values_are_texts_of_one_object() {
        let (a, b) = (ClaimName::parse("a").unwrap(), ClaimName::parse("b").unwrap());
        let claims = Claims::new(&[(&a, "x'\"\n".to_owned()), (&b, String::new())]).unwrap();
        assert_eq!(claims.json(), r#"{"pinguard.claim_a":"x'\"\n","pinguard.claim_b":""}"#);
        assert_eq!(claims.settings(), ["pinguard.claim_a", "pinguard.claim_b"]);
        assert_eq!(Claims::new(&[(&a, "x\0".to_owned())]), Err(NulInClaim));
        assert_eq!(format!("{claims:?}"), r#"Claims(["pinguard.claim_a", "pinguard.claim_b"])"#);
    }
}
