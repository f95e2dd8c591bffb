//! The settings of this function, read once at start; every one that is missing is reported, by name.

use std::fmt;

/// Everything that is set from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `PINGUARD_CONTROL_SECRET`: the id of the secret that holds the control database's URL.
    pub control_secret: String,
    /// `PINGUARD_AUDIT_SECRET`: the id of the secret that holds the key of the audit's HMACs.
    pub audit_secret: String,
}

/// Settings that are missing, one line each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the settings cannot be used: {}", self.0.len(), self.0.join("; "))
    }
}

impl std::error::Error for Problems {}

impl Settings {
    /// Reads the settings through `get`.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        let mut problems = Vec::new();
        let mut required = |name: &str, meaning: &str| {
            let value = get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
            if value.is_none() {
                problems.push(format!("{name} is missing: {meaning}"));
            }
            value
        };
        let control = required("PINGUARD_CONTROL_SECRET", "the id of the secret of the control database");
        let audit = required("PINGUARD_AUDIT_SECRET", "the id of the secret with the key of the audit");
        match (control, audit) {
            (Some(control_secret), Some(audit_secret)) => Ok(Self { control_secret, audit_secret }),
            _ => Err(Problems(problems)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_missing_is_named_at_once() {
        assert_eq!(
            Settings::read(|_| Some(" ".to_owned())).unwrap_err().to_string(),
            "2 of the settings cannot be used: PINGUARD_CONTROL_SECRET is missing: the id of the secret of the control \
             database; PINGUARD_AUDIT_SECRET is missing: the id of the secret with the key of the audit"
        );
        let settings = Settings::read(|name| Some(name.to_lowercase())).unwrap();
        assert_eq!(settings.audit_secret, "pinguard_audit_secret");
    }
}
