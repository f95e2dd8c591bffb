//! The settings of this function, read once at start; every one that is missing is reported, by name.

use service::{Problems, Reader};

/// Everything that is set from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// `PINGUARD_CONTROL_SECRET`: the id of the secret that holds the control database's URL.
    pub control_secret: String,
    /// `PINGUARD_AUDIT_SECRET`: the id of the secret that holds the key of the audit's HMACs.
    pub audit_secret: String,
}

impl Settings {
    /// Reads the settings through `get`.
    pub fn read(get: impl Fn(&str) -> Option<String>) -> Result<Self, Problems> {
        let mut reader = Reader::new(get);
        let control_secret = reader.control_secret();
        let audit_secret =
            reader.required("PINGUARD_AUDIT_SECRET", "the id of the secret with the key of the audit");
        reader.finish(|| Some(Self { control_secret: control_secret?, audit_secret: audit_secret? }))
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
