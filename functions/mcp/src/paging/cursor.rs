//! The handle of a page: which result it is of, and where in it the page begins.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Who has a cursor can read on, if the result is theirs: 128 random bits name the result. The rest only says where, and is no
/// secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(super) result: [u8; 16],
    /// The row at which the kept rows begin that hold the page, or that end before it; the first of a result is 0.
    pub(super) first: u32,
    /// The row at which the page begins.
    pub(super) at: u32,
    /// Which page that is, from 1.
    pub(super) page: u32,
}

/// Bytes of a cursor.
const LENGTH: usize = 28;

impl Cursor {
    /// 38 characters of `[A-Za-z0-9_-]`.
    pub(super) fn text(&self) -> String {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(&self.result);
        for number in [self.first, self.at, self.page] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads one; none for a text that can be none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let bytes: [u8; LENGTH] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (result, rest) = bytes.split_first_chunk::<16>()?;
        let [first, at, page] = rest.as_chunks::<4>().0 else { return None };
        let [first, at, page] = [first, at, page].map(|number| u32::from_be_bytes(*number));
        Some(Self { result: *result, first, at, page })
    }

    /// What the cache calls the kept rows that begin at `first`.
    pub(super) fn entry(result: [u8; 16], first: u32) -> String {
        format!("{}@{first}", URL_SAFE_NO_PAD.encode(result))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back() {
        let cursor = Cursor { result: [7; 16], first: 1, at: u32::MAX, page: 300 };
        let text = cursor.text();
        assert_eq!(text.len(), 38);
        assert_eq!(Cursor::read(&text), Some(cursor));
        let (shorter, longer) = (&text[1..], format!("{text}A"));
        for other in ["", "1", shorter, &longer, &text.replace('B', "="), &" ".repeat(38), "ü"] {
            assert_eq!(Cursor::read(other), None, "{other}");
        }
    }
}
