//! What holds the rows of a workspace together: a key, and an HMAC in each row over the row and the one before it.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use hmac::{Hmac, KeyInit};
use serde::Serialize;
use sha2::Sha256;

/// As long as the output of the hash; a shorter key would be the weakest part.
const MIN_KEY_BYTES: usize = 32;

/// The HMAC of a row.
pub(super) type Link = [u8; 32];

/// What the first row follows.
pub(super) const NOTHING: Link = [0; 32];

/// The key that the rows are signed with.
#[derive(Clone)]
pub struct AuditKey(Hmac<Sha256>);

/// Where a chain ends: how many rows there are, and the HMAC of the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    /// The workspace.
    pub workspace: String,
    /// The number of the last row.
    pub count: i64,
    /// Its HMAC, 64 hexadecimal digits.
    pub hmac: String,
}

impl AuditKey {
    /// A key of at least 32 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() < MIN_KEY_BYTES {
            return Err(format!(
                "the audit key has {} bytes; at least {MIN_KEY_BYTES} random ones are needed",
                bytes.len()
            ));
        }
        Hmac::new_from_slice(bytes).map(Self).map_err(|error| error.to_string())
    }

    pub(super) fn mac(&self) -> Hmac<Sha256> {
        self.0.clone()
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditKey(…)")
    }
}

impl AuditHead {
    /// The head of a workspace, from `COUNT:HMAC` as the log tells it.
    pub fn parse(workspace: &str, text: &str) -> Result<Self, String> {
        let accepted =
            || format!("`{text}` is no head: write COUNT:HMAC, as the log line `auditHead` tells them");
        let (count, hmac) = text.split_once(':').ok_or_else(accepted)?;
        let count = i64::from_str(count).ok().filter(|count| *count > 0).ok_or_else(accepted)?;
        let hex = hmac.len() == 64 && hmac.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !hex {
            return Err(accepted());
        }
        Ok(Self { workspace: workspace.to_owned(), count, hmac: hmac.to_owned() })
    }
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.count, self.hmac)
    }
}

/// Lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_key_is_refused_and_none_is_shown() {
        assert_eq!(
            AuditKey::new(&[1; 31]).unwrap_err(),
            "the audit key has 31 bytes; at least 32 random ones are needed"
        );
        assert_eq!(format!("{:?}", AuditKey::new(&[1; 32]).unwrap()), "AuditKey(…)");
    }

    #[test]
    fn a_head_reads_as_it_is_shown() {
        let hmac = "0f".repeat(32);
        let head = AuditHead::parse("w", &format!("12:{hmac}")).unwrap();
        assert_eq!((head.count, head.to_string()), (12, format!("12:{hmac}")));
        for text in [
            "",
            "12",
            ":",
            "0:00",
            "x:00",
            &format!("0:{hmac}"),
            &format!("12:{hmac}0"),
            &format!("1:{}", hmac.to_uppercase()),
        ] {
            assert!(AuditHead::parse("w", text).unwrap_err().contains("write COUNT:HMAC"), "{text}");
        }
    }
}
