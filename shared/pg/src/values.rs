//! PostgreSQL's text of a value → JSON, by the form of its type and with every digit.
//!
//! Nothing here fails: a text that does not read as its type promises stays text, so one odd column never costs a
//! row. A value that is longer than the caller's [`Cut`] becomes its first characters and a mark that states the
//! whole length, whatever its type.

mod array;
mod json;
mod keys;
mod page;
mod table;

use std::borrow::Cow;

use serde_json::{Number, Value};

pub use page::{Column, Fit, Page, PageBuilder, PageLimits, RowFormat};

use crate::types::Form;

/// The largest integer that every JSON reader keeps exactly: 2^53 − 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// How deep a value may nest. Strict readers stop at 128, and the answer around the rows takes some of that.
const MAX_NESTING: usize = 100;

/// No text of a bool, an integer or a float is longer, so these are never cut.
const MAX_FIXED_LENGTH: usize = 32;

/// A value as the wire handed it over: its first bytes, and how long it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawValue {
    /// The bytes that were kept: all of them, or a prefix.
    pub bytes: Vec<u8>,
    /// The length of the whole value in characters (bytes that do not continue a UTF-8 sequence).
    pub full_chars: u64,
    /// The length of the whole value in bytes.
    pub full_bytes: u64,
}

impl RawValue {
    /// A value that was kept whole.
    pub fn whole(bytes: Vec<u8>) -> Self {
        let full_chars = bytes.iter().filter(|byte| !is_continuation(**byte)).count() as u64;
        let full_bytes = bytes.len() as u64;
        Self { bytes, full_chars, full_bytes }
    }

    fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.full_bytes
    }

    /// The kept text, and whether it had to be repaired. A sequence that the prefix ends within is left out.
    fn text(&self) -> (Cow<'_, str>, bool) {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => (Cow::Borrowed(text), false),
            Err(error) if error.error_len().is_none() && !self.is_whole() => {
                let valid = self.bytes.get(..error.valid_up_to()).unwrap_or_default();
                (String::from_utf8_lossy(valid), false)
            }
            Err(_) => (String::from_utf8_lossy(&self.bytes), true),
        }
    }
}

/// Whether a byte continues a UTF-8 sequence, and so starts no character.
fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The number of characters after which a value is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut(pub usize);

impl Default for Cut {
    fn default() -> Self {
        Self(4_000)
    }
}

/// A value as JSON, and what was done to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// The value.
    pub value: Value,
    /// Whether it is only the beginning of what the database holds.
    pub cut: bool,
    /// Whether bytes that are no UTF-8 were replaced (databases in encoding SQL_ASCII hold such).
    pub repaired: bool,
}

/// Turns a value that is not NULL into JSON.
///
/// Integers within ±(2^53 − 1) and finite floats become numbers with PostgreSQL's digits, bool true or false, json
/// and jsonb nested JSON, arrays nested lists by their element's rule; everything else, and what does not fit its
/// rule exactly, is PostgreSQL's text.
pub fn to_json(raw: &RawValue, form: &Form, cut: Cut) -> Converted {
    let (text, repaired) = raw.text();
    let fixed = matches!(form, Form::Bool | Form::Integer | Form::Float) && text.len() <= MAX_FIXED_LENGTH;
    let end = match text.len() > cut.0 && !fixed {
        true => text.char_indices().nth(cut.0).map(|(at, _)| at),
        false => None,
    };
    if end.is_none() && raw.is_whole() {
        return Converted { value: value(&text, form, MAX_NESTING), cut: false, repaired };
    }
    let kept = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let shown = kept.chars().count() as u64;
    let full = raw.full_chars.max(shown);
    let value = match form {
        Form::Bytea => {
            // Two digits a byte after the two characters `\x`: a byte is shown whole or not at all.
            let bytes = shown.saturating_sub(2) / 2;
            let kept = kept.get(..usize::try_from(2 + 2 * bytes).unwrap_or(0)).unwrap_or_default();
            format!("{kept}… [cut: {bytes} of {} bytes]", full.saturating_sub(2) / 2)
        }
        _ => format!("{kept}… [cut: {shown} of {full} characters]"),
    };
    Converted { value: Value::String(value), cut: true, repaired }
}

/// Converts a whole text that may nest `depth` levels deep.
fn value(text: &str, form: &Form, depth: usize) -> Value {
    let converted = match form {
        Form::Bool => match text {
            "t" => Some(Value::Bool(true)),
            "f" => Some(Value::Bool(false)),
            _ => None,
        },
        Form::Integer => integer(text),
        Form::Float => text.parse::<Number>().ok().map(Value::Number),
        Form::Json => json::parse(text, depth),
        Form::Array { element, delimiter } => array::parse(text, element, *delimiter, depth),
        Form::Bytea | Form::Text => None,
    };
    converted.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn integer(text: &str) -> Option<Value> {
    let number = text.parse::<i64>().ok()?;
    (number.unsigned_abs() <= MAX_SAFE_INTEGER).then(|| Value::Number(number.into()))
}
