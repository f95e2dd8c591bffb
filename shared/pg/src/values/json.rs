//! Reads json and jsonb into nested JSON, or says that it is better left as text.
//!
//! serde_json's own reader would not do: it takes the last of two equal keys and every `\u0000`, and with arbitrary
//! precision it cannot tell a number from a caller's object with the key of [`RESERVED`].

use serde_json::{Map, Value};

/// serde_json's private names start so; an object with such a key would be read back as something else.
pub(super) const RESERVED: &str = "$serde_json::private::";

/// The document, with the digits of its numbers as they stand (an exponent reads `e+5` however it was written).
///
/// `None` where it is no JSON, or no JSON that every reader takes alike: a lone surrogate, `\u0000`, two equal keys,
/// nested deeper than `depth`.
pub(super) fn parse(text: &str, depth: usize) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value(depth)?;
    reader.space();
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes one byte if it is the expected one.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Takes bytes for as long as they satisfy `belongs`, which must hold for ASCII only.
    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.bytes().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn space(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.space();
        match self.peek()? {
            b'{' => self.object(depth.checked_sub(1)?).map(Value::Object),
            b'[' => self.array(depth.checked_sub(1)?).map(Value::Array),
            b'"' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => {
                let digits =
                    self.take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
                digits.parse().ok().map(Value::Number)
            }
            _ => match self.take_while(|byte| byte.is_ascii_lowercase()) {
                "true" => Some(Value::Bool(true)),
                "false" => Some(Value::Bool(false)),
                "null" => Some(Value::Null),
                _ => None,
            },
        }
    }

    fn array(&mut self, depth: usize) -> Option<Vec<Value>> {
        self.take(b'[')?;
        self.space();
        let mut items = Vec::new();
        if self.take(b']').is_some() {
            return Some(items);
        }
        loop {
            items.push(self.value(depth)?);
            self.space();
            if self.take(b']').is_some() {
                return Some(items);
            }
            self.take(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Option<Map<String, Value>> {
        self.take(b'{')?;
        self.space();
        let mut members = Map::new();
        if self.take(b'}').is_some() {
            return Some(members);
        }
        loop {
            self.space();
            let key = self.string()?;
            self.space();
            self.take(b':')?;
            let value = self.value(depth)?;
            if key.starts_with(RESERVED) || members.insert(key, value).is_some() {
                return None;
            }
            self.space();
            if self.take(b'}').is_some() {
                return Some(members);
            }
            self.take(b',')?;
        }
    }

    fn string(&mut self) -> Option<String> {
        self.take(b'"')?;
        let mut string = self.plain().to_owned();
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Some(string);
                }
                b'\\' => {
                    self.at += 1;
                    string.push(self.escape()?);
                    string.push_str(self.plain());
                }
                // A bare control character is no JSON.
                _ => return None,
            }
        }
    }

    /// The characters of a string up to its end, an escape or a control character.
    fn plain(&mut self) -> &'a str {
        self.take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f))
    }

    fn escape(&mut self) -> Option<char> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return None,
        })
    }

    fn unicode_escape(&mut self) -> Option<char> {
        let unit = self.hex_unit()?;
        let code = match unit {
            0 => return None,
            0xd800..=0xdbff => {
                self.take(b'\\')?;
                self.take(b'u')?;
                let low = self.hex_unit()?.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                0x10000 + ((unit - 0xd800) << 10) + low
            }
            _ => unit,
        };
        char::from_u32(code)
    }

    fn hex_unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::parse;

    #[track_caller]
    fn kept(text: &str, printed: &str) {
        let value = parse(text, 100).unwrap_or_else(|| panic!("{text} was left as text"));
        assert_eq!(serde_json::to_string(&value).unwrap(), printed);
    }

    #[track_caller]
    fn left_as_text(text: &str) {
        assert_eq!(parse(text, 100), None, "{text}");
    }

    #[test]
    fn digits_and_the_order_of_keys_stay() {
        kept(
            r#"{"id": 9007199254740993, "x": 1.10, "e": 1e400}"#,
            r#"{"id":9007199254740993,"x":1.10,"e":1e+400}"#,
        );
        kept("-0", "-0");
        kept("-0.0", "-0.0");
        kept("1E5", "1e+5");
        kept("34e-56789", "34e-56789");
        kept(&"9".repeat(3000), &"9".repeat(3000));
        kept(r#"{"z":1,"a":2,"m":{}}"#, r#"{"z":1,"a":2,"m":{}}"#);
    }

    #[test]
    fn scalars_and_space_are_read() {
        kept(" null ", "null");
        kept("\n[ true , false,\t[] ,{ } ]\r", "[true,false,[],{}]");
        kept(r#""a\"b\\c\/d\b\f\n\r\t""#, r#""a\"b\\c/d\b\f\n\r\t""#);
        kept(r#""\u00e9\ud83d\ude00 é😀 \uFFFF""#, "\"é😀 é😀 \u{ffff}\"");
    }

    #[test]
    fn what_readers_disagree_on_stays_text() {
        left_as_text(r#"{"a":1,"a":2}"#);
        left_as_text(r#"[{"b":{"a":1,"\u0061":2}}]"#);
        left_as_text(r#""\ud800""#);
        left_as_text(r#""\udc00""#);
        left_as_text(r#""\ud800\u0041""#);
        left_as_text(r#""\ud800\ue000""#);
        left_as_text(r#""a\u0000b""#);
        left_as_text(r#"{"\u0000":1}"#);
        left_as_text(r#"{"$serde_json::private::Number":"1"}"#);
        left_as_text(r#"{"\u0024serde_json::private::Number":"1"}"#);
    }

    #[test]
    fn what_is_no_json_stays_text() {
        for text in [
            "",
            " ",
            "{",
            "[1,",
            "[1,]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "nul",
            "NaN",
            "Infinity",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "--1",
            "1 2",
            "\"a",
            "\"\\x41\"",
            "\"\\u12\"",
            "\"\\u12é\"",
            "\"\\u+123\"",
            "\"a\nb\"",
            "\"\u{1f}\"",
            "'a'",
            "\u{feff}1",
        ] {
            left_as_text(text);
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        kept(&nested(100), &nested(100));
        left_as_text(&nested(101));
        left_as_text(&"[".repeat(100_000));
        left_as_text(&"{\"a\":".repeat(100_000));
    }

    fn document() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>()
                .prop_filter_map("finite", |float| serde_json::Number::from_f64(float).map(Value::Number)),
            "\\PC*".prop_map(Value::from),
            any::<String>().prop_filter("no NUL", |text| !text.contains('\0')).prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[a-z\\\\\"é]{0,6}", inner, 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_serde_json_prints_is_read_back(value in document()) {
            prop_assert_eq!(parse(&value.to_string(), 100), Some(value.clone()));
            prop_assert_eq!(parse(&serde_json::to_string_pretty(&value).unwrap(), 100), Some(value));
        }

        #[test]
        fn what_is_read_is_what_a_strict_reader_reads(text in r#"[\[\]{}",:\\u0dD89a-f 1e.+tnl-]{0,24}"#) {
            if let Some(value) = parse(&text, 100) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            }
        }

        #[test]
        fn a_damaged_document_never_panics(value in document(), at in any::<prop::sample::Index>(), put in any::<char>()) {
            let mut chars: Vec<char> = value.to_string().chars().collect();
            let at = at.index(chars.len());
            chars[at] = put;
            let text: String = chars.into_iter().collect();
            if let Some(value) = parse(&text, 100) {
                prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
            }
        }
    }
}
