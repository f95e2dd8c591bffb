//! SHA-256 digests as hexadecimal text.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The hash by which call records know a statement: SHA-256, 64 hexadecimal digits, of the text with each run of
/// whitespace made one space, the semicolons at its end and the spaces around it dropped.
///
/// ```
/// assert_eq!(pins::sql_hash("SELECT\n  1 ;"), pins::sql_hash(" SELECT 1"));
/// assert_ne!(pins::sql_hash("SELECT 1"), pins::sql_hash("select 1"));
/// ```
pub fn sql_hash(sql: &str) -> String {
    let words: Vec<&str> = sql.split_whitespace().collect();
    let text = words.join(" ");
    sha256(text.trim_end_matches([';', ' ']).as_bytes())
}

/// SHA-256, 64 hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The 32 bytes of 64 lower-case hexadecimal digits.
pub(crate) fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let [high, low] = pair.map(|digit| match digit {
            b'0'..=b'9' => Some(digit - b'0'),
            b'a'..=b'f' => Some(digit - b'a' + 10),
            _ => None,
        });
        *byte = high? * 16 + low?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_statement_forgets_layout_and_nothing_else() {
        let expected = "e004ebd5b5532a4b85984a62f8ad48a81aa3460c1ca07701f386135d72cdecf5";
        for sql in ["SELECT 1", " SELECT\t1;", "SELECT\r\n 1 ; ;\n", "\u{a0}SELECT 1"] {
            assert_eq!(sql_hash(sql), expected, "{sql}");
        }
        for sql in ["SELECT 2", "select 1", "SELECT1", ";SELECT 1", "SELECT 1 -- ;x"] {
            assert_ne!(sql_hash(sql), expected, "{sql}");
        }
        assert_eq!(sql_hash(" ;; "), sha256(b""));
    }

    #[test]
    fn hexadecimal_reads_back() {
        let bytes: [u8; 32] = std::array::from_fn(|index| u8::try_from(index * 8 + 7).unwrap());
        assert_eq!(unhex(&hex(&bytes)), Some(bytes));
        for text in
            ["", "00", &"0".repeat(63), &"0".repeat(65), &"0".repeat(66), &"A".repeat(64), &"ä".repeat(32)]
        {
            assert_eq!(unhex(text), None, "{text}");
        }
    }
}
