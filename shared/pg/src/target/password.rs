//! A password, which shows itself to nobody but the login.

use std::fmt;

/// A password. `Debug` and `Display` print `********`.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The bytes that the login proves to know.
    pub fn reveal(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl fmt::Display for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}
