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

use crate::raw::RawValue;
use crate::types::Form;

/// The largest integer that every JSON reader keeps exactly: 2^53 − 1.
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// How deep a value may nest. Strict readers stop at 128, and the answer around the rows takes some of that.
const MAX_NESTING: usize = 100;

/// No text of a bool, an integer or a float is longer, so these are never cut.
const MAX_FIXED_LENGTH: usize = 32;

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
    let (text, repaired) = kept_text(raw);
    let fixed = matches!(form, Form::Bool | Form::Integer | Form::Float) && text.len() <= MAX_FIXED_LENGTH;
    // A text is at least as long in bytes as in characters, so most need no counting.
    let end =
        if fixed || text.len() <= cut.0 { None } else { text.char_indices().nth(cut.0).map(|(at, _)| at) };
    if end.is_none() && !raw.is_cut() {
        return Converted { value: value(&text, form, MAX_NESTING), cut: false, repaired };
    }
    let kept = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    let shown = kept.chars().count();
    let full = raw.full_chars.max(shown);
    let value = match form {
        Form::Bytea => {
            // Two digits a byte after the two characters `\x`: a byte is shown whole or not at all.
            let bytes = shown.saturating_sub(2) / 2;
            let kept = kept.get(..2 + 2 * bytes).unwrap_or_default();
            format!("{kept}… [cut: {bytes} of {} bytes]", full.saturating_sub(2) / 2)
        }
        _ => format!("{kept}… [cut: {shown} of {full} characters]"),
    };
    Converted { value: Value::String(value), cut: true, repaired }
}

/// The kept text, and whether it had to be repaired. A character that the prefix ends within is left out.
fn kept_text(raw: &RawValue) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(&raw.bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(error) if raw.is_cut() && error.error_len().is_none() => {
            let valid = raw.bytes.get(..error.valid_up_to()).unwrap_or_default();
            (String::from_utf8_lossy(valid), false)
        }
        Err(_) => (String::from_utf8_lossy(&raw.bytes), true),
    }
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

/// A value that was kept whole.
#[cfg(test)]
fn whole(bytes: &[u8]) -> RawValue {
    // A character is a byte that does not continue another.
    let full_chars = bytes.iter().filter(|byte| *byte & 0xc0 != 0x80).count();
    RawValue { bytes: bytes.to_vec(), full_chars, full_bytes: bytes.len() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Converted, Cut, MAX_NESTING, RawValue, to_json, whole};
    use crate::types::Form;

    fn convert(text: &str, form: &Form, cut: usize) -> Converted {
        to_json(&whole(text.as_bytes()), form, Cut(cut))
    }

    #[track_caller]
    fn check(form: &Form, text: &str, printed: &str) {
        let converted = convert(text, form, 4_000);
        assert_eq!(converted.value.to_string(), printed);
        assert!(!converted.cut && !converted.repaired);
    }

    #[track_caller]
    fn check_cut(form: &Form, text: &str, cut: usize, shown: &str) {
        let converted = convert(text, form, cut);
        assert_eq!((converted.value, converted.cut), (json!(shown), true));
    }

    fn list_of(element: Form) -> Form {
        Form::Array { element: Box::new(element), delimiter: b',' }
    }

    #[test]
    fn bool_is_true_or_false() {
        check(&Form::Bool, "t", "true");
        check(&Form::Bool, "f", "false");
        check(&Form::Bool, "maybe", r#""maybe""#);
    }

    #[test]
    fn integers_are_numbers_as_long_as_every_reader_keeps_them() {
        for (text, printed) in [
            ("0", "0"),
            ("-1", "-1"),
            ("9007199254740991", "9007199254740991"),
            ("-9007199254740991", "-9007199254740991"),
            ("9007199254740992", r#""9007199254740992""#),
            ("-9007199254740992", r#""-9007199254740992""#),
            ("9223372036854775807", r#""9223372036854775807""#),
            ("-9223372036854775808", r#""-9223372036854775808""#),
            ("18446744073709551615", r#""18446744073709551615""#),
        ] {
            check(&Form::Integer, text, printed);
        }
    }

    #[test]
    fn floats_keep_their_digits_and_the_bare_words_are_strings() {
        for text in ["0", "-0", "0.1", "1e+16", "1.7976931348623157e+308", "5e-324", "1e-07", "123456.78"] {
            check(&Form::Float, text, text);
        }
        for text in ["NaN", "Infinity", "-Infinity"] {
            check(&Form::Float, text, &format!("\"{text}\""));
        }
    }

    #[test]
    fn text_is_kept_to_the_last_character() {
        for text in [
            "12345678901234567890123456789012345.678901234567890",
            "1.10",
            "NaN",
            "$1,234.50",
            "-infinity",
            "0044-03-15 BC",
            "1 year 2 mons 3 days 04:05:06.789",
            "ab   ",
            "(1,a,)",
            "[1,3)",
            "",
        ] {
            check(&Form::Text, text, &json!(text).to_string());
        }
    }

    #[test]
    fn json_is_nested_or_text() {
        check(&Form::Json, r#"{"id": 9007199254740993, "x": 1.10}"#, r#"{"id":9007199254740993,"x":1.10}"#);
        check(&Form::Json, r#"{"a":1,"a":2}"#, r#""{\"a\":1,\"a\":2}""#);
        check(&Form::Json, r#""\ud800""#, r#""\"\\ud800\"""#);
        check(&Form::Json, "null", "null");
    }

    #[test]
    fn arrays_are_lists_or_text() {
        check(&list_of(Form::Integer), "{{1,2},{3,NULL}}", "[[1,2],[3,null]]");
        check(&list_of(Form::Integer), "[0:1]={5,6}", r#""[0:1]={5,6}""#);
        check(&list_of(Form::Json), r#"{"{\"a\": 1.10}"}"#, r#"[{"a":1.10}]"#);
    }

    #[test]
    fn a_long_value_is_cut_by_characters_and_says_its_length() {
        check_cut(&Form::Text, "äöüß€", 3, "äöü… [cut: 3 of 5 characters]");
        check_cut(&list_of(Form::Integer), "{1,2,3,4}", 4, "{1,2… [cut: 4 of 9 characters]");
        check_cut(&Form::Json, r#"{"a": 1}"#, 2, "{\"… [cut: 2 of 8 characters]");
        check_cut(&Form::Text, "abc", 0, "… [cut: 0 of 3 characters]");
        check(&Form::Text, "äöüß€", "\"äöüß€\"");
        assert_eq!(convert("äöüß€", &Form::Text, 5).value, json!("äöüß€"));
    }

    #[test]
    fn a_long_bytea_is_cut_by_bytes() {
        check_cut(&Form::Bytea, r"\xdeadbeef", 6, r"\xdead… [cut: 2 of 4 bytes]");
        check_cut(&Form::Bytea, r"\xdeadbeef", 7, r"\xdead… [cut: 2 of 4 bytes]");
        check_cut(&Form::Bytea, r"\xdeadbeef", 1, "… [cut: 0 of 4 bytes]");
        check(&Form::Bytea, r"\xdeadbeef", r#""\\xdeadbeef""#);
        check(&Form::Bytea, r"\x", r#""\\x""#);
    }

    #[test]
    fn numbers_and_flags_are_never_cut() {
        assert_eq!(convert("-123456", &Form::Integer, 1).value, json!(-123_456));
        assert_eq!(convert("t", &Form::Bool, 0).value, json!(true));
        assert!(!convert("-2.2250738585072014e-308", &Form::Float, 3).cut);
    }

    #[test]
    fn a_value_whose_tail_was_never_kept_states_the_whole_length() {
        let raw =
            RawValue {
                bytes: "ab€".as_bytes()[..4].to_vec(), full_chars: 1_000_000, full_bytes: 1_000_002
            };
        let converted = to_json(&raw, &Form::Text, Cut(4_000));
        assert_eq!(converted.value, json!("ab… [cut: 2 of 1000000 characters]"));
        assert!(converted.cut && !converted.repaired);
        let raw = RawValue { bytes: b"[1,2".to_vec(), full_chars: 900, full_bytes: 900 };
        assert_eq!(to_json(&raw, &Form::Json, Cut(3)).value, json!("[1,… [cut: 3 of 900 characters]"));
        let raw = RawValue { bytes: br"\x0001020".to_vec(), full_chars: 2_000_002, full_bytes: 2_000_002 };
        assert_eq!(
            to_json(&raw, &Form::Bytea, Cut(4_000)).value,
            json!(r"\x000102… [cut: 3 of 1000000 bytes]")
        );
    }

    #[test]
    fn bytes_that_are_no_utf8_are_replaced_and_reported() {
        let converted = to_json(&whole(b"caf\xe9!"), &Form::Text, Cut(10));
        assert_eq!(converted, Converted { value: json!("caf\u{fffd}!"), cut: false, repaired: true });
        let raw = RawValue { bytes: b"a\xffb\xe2".to_vec(), full_chars: 90, full_bytes: 90 };
        let converted = to_json(&raw, &Form::Text, Cut(3));
        assert_eq!(converted.value, json!("a\u{fffd}b… [cut: 3 of 90 characters]"));
        assert!(converted.cut && converted.repaired);
        let converted = to_json(&whole(&[0x80; 50]), &Form::Text, Cut(10));
        assert!(converted.cut && converted.repaired);
        assert!(converted.value.as_str().unwrap().starts_with(&"\u{fffd}".repeat(10)));
    }

    fn form() -> impl Strategy<Value = Form> {
        let scalar = prop_oneof![
            Just(Form::Bool),
            Just(Form::Integer),
            Just(Form::Float),
            Just(Form::Json),
            Just(Form::Bytea),
            Just(Form::Text),
        ];
        scalar.prop_recursive(3, 3, 1, |element| {
            (element, prop_oneof![Just(b','), Just(b';')])
                .prop_map(|(element, delimiter)| Form::Array { element: Box::new(element), delimiter })
        })
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            "\\PC{0,40}".prop_map(String::into_bytes),
            r#"[\[\]{}",:;\\u0dN 1e.+tfUL-]{0,40}"#.prop_map(String::into_bytes),
        ]
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn any_bytes_of_any_type_become_strict_json(
            bytes in bytes(), form in form(), cut in 0_usize..80, missing in 0_usize..3,
        ) {
            let mut raw = whole(&bytes);
            raw.full_bytes += missing;
            raw.full_chars += missing;
            let converted = to_json(&raw, &form, Cut(cut));
            let printed = converted.value.to_string();
            prop_assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), converted.value);
            prop_assert!(missing == 0 || converted.cut);
        }

        #[test]
        fn every_text_is_kept(text in "\\PC*", cut in 0_usize..40) {
            let converted = convert(&text, &Form::Text, cut);
            let shown = converted.value.as_str().unwrap();
            if converted.cut {
                let prefix: String = text.chars().take(cut).collect();
                prop_assert_eq!(shown, format!("{prefix}… [cut: {cut} of {} characters]", text.chars().count()));
            } else {
                prop_assert_eq!(shown, text);
            }
        }

        #[test]
        fn every_integer_keeps_its_digits(number in any::<i64>()) {
            let value = convert(&number.to_string(), &Form::Integer, 4_000).value;
            let expected = if number.unsigned_abs() < 1 << 53 { json!(number) } else { json!(number.to_string()) };
            prop_assert_eq!(value, expected);
        }

        #[test]
        fn nesting_stays_within_what_readers_take(levels in 0_usize..70, documents in 0_usize..130) {
            // Each level of an array quotes the one below, as an array over a domain over an array does.
            let mut text = "[".repeat(documents) + &"]".repeat(documents);
            let mut form = Form::Json;
            for _ in 0..levels.min(8) {
                text = format!("{{\"{}\"}}", text.replace('\\', "\\\\").replace('"', "\\\""));
                form = list_of(form);
            }
            prop_assert!(depth(&convert(&text, &form, usize::MAX).value) <= MAX_NESTING);
        }
    }
}
