//! The JSON form of a secret, as RDS writes it. Nothing in it is percent-decoded.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::{Parts, TargetError};

/// What RDS adds for its own use.
const OF_RDS: &[&str] = &["engine", "dbInstanceIdentifier", "dbClusterIdentifier", "masterarn"];

pub(super) fn parse(secret: &str) -> Result<Parts, TargetError> {
    let Members(members) = serde_json::from_str(secret).map_err(|_| TargetError::Json)?;
    let mut parts = Parts::default();
    for (name, value) in members {
        if OF_RDS.contains(&name.as_str()) {
            continue;
        }
        let value = match value {
            Value::Null => continue,
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(value) => value.to_string(),
            Value::Array(_) | Value::Object(_) => return Err(TargetError::Json),
        };
        let name = match name.as_str() {
            "username" => "user",
            "database" => "dbname",
            other => other,
        };
        parts.set(name, value)?;
    }
    Ok(parts)
}

/// An object's members as they stand: a map would drop the first of two equal names in silence.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Password, Target, TargetError};

    #[test]
    fn a_secret_of_rds_is_understood_and_never_decoded() {
        let target = Target::parse(
            r#"{"engine":"postgres","host":"x.eu-west-1.rds.amazonaws.com","port":5433,"username":"a%40b",
                "password":"a%3Fb\"/@","dbname":"shop","dbInstanceIdentifier":"x","masterarn":null}"#,
        )
        .unwrap();
        assert_eq!(target.to_string(), "a%40b@x.eu-west-1.rds.amazonaws.com:5433/shop");
        assert_eq!(target.password().map(Password::reveal), Some(&b"a%3Fb\"/@"[..]));
        assert!(!format!("{target:?}").contains("3Fb"));
    }

    #[test]
    fn the_port_may_be_text_and_the_database_absent() {
        let target = Target::parse(r#"{"host":"::1","port":"6000","user":"u","password":"p"}"#).unwrap();
        assert_eq!(target.to_string(), "u@[::1]:6000/u");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let refused = |secret: &str| Target::parse(secret).unwrap_err();
        assert_eq!(refused("{"), TargetError::Json);
        assert_eq!(refused(r#"{"host":["a"]}"#), TargetError::Json);
        assert!(matches!(
            refused(r#"{"host":"h","username":"u","ssl":false}"#),
            TargetError::OptionRefused { .. }
        ));
        assert_eq!(refused(r#"{"username":"u","password":"p"}"#), TargetError::NoHost);
        assert_eq!(refused(r#"{"host":"h","port":1.5,"username":"u"}"#), TargetError::BadPort);
        assert_eq!(refused(r#"{"host":"h","host":"i","username":"u"}"#), TargetError::Twice("host".into()));
        assert_eq!(refused(r#"{"host":"h","user":"u","username":"v"}"#), TargetError::Twice("user".into()));
        assert_eq!(refused(r#"{"host":"h:5432","username":"u"}"#), TargetError::BadHost);
        assert!(matches!(
            refused(r#"{"host":"h","username":"u","sslmode":"no-verify"}"#),
            TargetError::OptionValue { name: "sslmode", .. }
        ));
    }
}
