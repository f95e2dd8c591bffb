//! Reads what `array_out` prints into nested lists.

use std::borrow::Cow;

use serde_json::Value;

use super::value;
use crate::types::Form;

/// The nested lists of an array's text, each element by its own form; NULL is null, `"NULL"` is a text.
///
/// `None` where the text is none of an array whose lower bounds are all 1 (`[0:1]={5,6}` stays text, for a list
/// could not say so), or nests deeper than `depth`.
pub(super) fn parse(text: &str, element: &Form, delimiter: u8, depth: usize) -> Option<Value> {
    let mut reader = Reader { text, at: 0, element, delimiter };
    let list = reader.list(depth)?;
    (reader.at == text.len()).then_some(list)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    element: &'a Form,
    delimiter: u8,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        self.take(b'{')?;
        let mut items = Vec::new();
        if self.take(b'}').is_some() {
            return Some(Value::Array(items));
        }
        loop {
            items.push(match self.peek()? {
                b'{' => self.list(depth)?,
                b'"' => value(&self.quoted()?, self.element, depth),
                _ => match self.bare()? {
                    "NULL" => Value::Null,
                    text => value(text, self.element, depth),
                },
            });
            if self.take(b'}').is_some() {
                return Some(Value::Array(items));
            }
            self.take(self.delimiter)?;
        }
    }

    /// An element without quotes: never empty, and without a character that would have asked for quotes.
    fn bare(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| byte == self.delimiter || byte == b'}')?;
        self.at += length;
        rest.get(..length).filter(|text| !text.is_empty() && !text.contains(['"', '\\', '{']))
    }

    /// An element in quotes, where a backslash stands before each quote and backslash.
    fn quoted(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let mut text = Cow::Borrowed(self.plain());
        loop {
            if self.take(b'"').is_some() {
                return Some(text);
            }
            self.take(b'\\')?;
            let escaped = self.rest().chars().next()?;
            self.at += escaped.len_utf8();
            text.to_mut().push(escaped);
            text.to_mut().push_str(self.plain());
        }
    }

    /// The characters up to the next quote or backslash.
    fn plain(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::parse;
    use crate::types::Form;

    #[track_caller]
    fn list(text: &str, element: &Form, expected: Value) {
        assert_eq!(parse(text, element, b',', 100), Some(expected), "{text}");
    }

    #[test]
    fn lists_nest_and_elements_follow_their_own_rule() {
        list("{{1,2},{3,4}}", &Form::Integer, json!([[1, 2], [3, 4]]));
        list("{}", &Form::Text, json!([]));
        list("{1,NULL,9007199254740993}", &Form::Integer, json!([1, null, "9007199254740993"]));
        list("{t,f,NULL}", &Form::Bool, json!([true, false, null]));
        list("{NaN,-Infinity}", &Form::Float, json!(["NaN", "-Infinity"]));
        list(r#"{"{\"a\": 1}","\"b\"",null}"#, &Form::Json, json!([{"a": 1}, "b", null]));
        list(r#"{"\\x0102"}"#, &Form::Bytea, json!(["\\x0102"]));
    }

    #[test]
    fn null_and_the_text_null_differ() {
        list(
            r#"{"NULL",NULL,"a,b","\"","","null",x y}"#,
            &Form::Text,
            json!(["NULL", null, "a,b", "\"", "", "null", "x y"]),
        );
        list(r#"{"a\\b","{}"," é ","}"}"#, &Form::Text, json!(["a\\b", "{}", " é ", "}"]));
    }

    #[test]
    fn the_delimiter_is_the_element_types() {
        assert_eq!(
            parse("{(1,1),(0,0);(2,2),(1,1)}", &Form::Text, b';', 100),
            Some(json!(["(1,1),(0,0)", "(2,2),(1,1)"]))
        );
    }

    #[test]
    fn an_array_within_an_array_is_read_by_its_own_form() {
        let inner = Form::Array { element: Box::new(Form::Integer), delimiter: b',' };
        list(r#"{"{1,2}","{}",NULL,"[0:0]={7}"}"#, &inner, json!([[1, 2], [], null, "[0:0]={7}"]));
    }

    #[test]
    fn what_is_no_array_with_common_bounds_stays_text() {
        for text in [
            "",
            "{",
            "}",
            "{}}",
            "{1",
            "{1,}",
            "{,1}",
            "{1}x",
            "[0:1]={5,6}",
            "[2:2][1:1]={{5}}",
            r#"{"a}"#,
            r#"{"a\"#,
            r#"{"a"b}"#,
            r#"{a"b}"#,
            r"{a\b}",
            "{a{b}",
            "1",
            "{{1},2",
            "{1;2",
        ] {
            assert_eq!(parse(text, &Form::Text, b',', 100), None, "{text}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        assert_eq!(parse(&"{".repeat(100_000), &Form::Text, b',', 100), None);
        assert_eq!(parse("{{{1}}}", &Form::Integer, b',', 2), None);
        assert_eq!(parse(r#"{"[[]]"}"#, &Form::Json, b',', 2), Some(json!(["[[]]"])));
    }

    /// Prints as PostgreSQL's `array_out` does.
    fn print(value: &Value, delimiter: char) -> String {
        match value {
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| print(item, delimiter)).collect();
                format!("{{{}}}", items.join(&delimiter.to_string()))
            }
            Value::String(text) => {
                let special = |c: char| {
                    matches!(c, '"' | '\\' | '{' | '}') || c == delimiter || c.is_ascii_whitespace()
                };
                if text.is_empty() || text.eq_ignore_ascii_case("null") || text.contains(special) {
                    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
                } else {
                    text.clone()
                }
            }
            _ => "NULL".to_owned(),
        }
    }

    proptest! {
        #[test]
        fn what_array_out_prints_is_read_back(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of("[a-zNUL\"\\\\{},; é\\n]{0,6}"), 1..5), 0..5),
            delimiter in prop_oneof![Just(','), Just(';')],
        ) {
            let value = json!(rows);
            let text = print(&value, delimiter);
            prop_assert_eq!(parse(&text, &Form::Text, delimiter as u8, 100), Some(value));
        }
    }
}
