//! YAML as JSON. Numbers keep their digits, which a reader by way of floats would not do.

use anyhow::{Result, anyhow};
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput};
use serde_json::{Map, Value};

/// How deep a document may nest; a flow needs 8.
const MAX_DEPTH: u32 = 64;

/// Reads the one document of a text by YAML 1.2's core schema.
///
/// # Errors
/// The text is no YAML, or uses what JSON has no match for, with line and column.
pub(super) fn read(text: &str) -> Result<Value> {
    let mut composer = Composer { parser: Parser::new_from_str(text) };
    loop {
        let (event, span) = composer.next()?;
        match event {
            Event::StreamEnd => return Ok(Value::Null),
            Event::Nothing | Event::StreamStart | Event::DocumentStart(_) => {}
            first => {
                let value = composer.node(first, span, 0)?;
                return composer.end().map(|()| value);
            }
        }
    }
}

struct Composer<'a> {
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Composer<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span)> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(at(error.marker(), error.info())),
            None => Err(anyhow!("the document ends in its midst")),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: u32) -> Result<Value> {
        if depth > MAX_DEPTH {
            return Err(at(&span.start, "it nests too deep"));
        }
        match event {
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, Some(_))
            | Event::MappingStart(_, Some(_)) => {
                Err(at(&span.start, "a tag (`!…`) is not taken here; leave it out"))
            }
            Event::Alias(_) => Err(at(&span.start, "an alias (`*…`) is not taken here; write the value out")),
            Event::Scalar(text, ScalarStyle::Plain, ..) => plain(&text).map_err(|why| at(&span.start, why)),
            Event::Scalar(text, ..) => Ok(Value::String(text.into_owned())),
            Event::SequenceStart(..) => self.sequence(depth),
            Event::MappingStart(..) => self.mapping(depth),
            _ => Err(at(&span.start, "expected a value")),
        }
    }

    fn sequence(&mut self, depth: u32) -> Result<Value> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items.into()),
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn mapping(&mut self, depth: u32) -> Result<Value> {
        let mut fields = Map::new();
        loop {
            let (event, span) = self.next()?;
            let name = match event {
                Event::MappingEnd => return Ok(fields.into()),
                Event::Scalar(name, _, _, None) => name.into_owned(),
                _ => return Err(at(&span.start, "a key has to be a text")),
            };
            if fields.contains_key(&name) {
                return Err(at(&span.start, &format!("`{name}` is there already")));
            }
            let (event, value_span) = self.next()?;
            let value = self.node(event, value_span, depth + 1)?;
            fields.insert(name, value);
        }
    }

    fn end(&mut self) -> Result<()> {
        loop {
            match self.next()? {
                (Event::StreamEnd, _) => return Ok(()),
                (Event::DocumentEnd | Event::Nothing, _) => {}
                (_, span) => return Err(at(&span.start, "a second document begins; a file holds one")),
            }
        }
    }
}

/// A scalar without quotes.
fn plain(text: &str) -> Result<Value, &'static str> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err("JSON has no such number; put it in quotes if it is a text");
    }
    let based = |prefix: &str, digits: fn(&u8) -> bool| {
        text.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.as_bytes().iter().all(digits))
    };
    if based("0x", u8::is_ascii_hexdigit) || based("0o", |digit| (b'0'..=b'7').contains(digit)) {
        return Err("write the number in decimal, or in quotes if it is a text");
    }
    Ok(number(text).unwrap_or_else(|| Value::String(text.to_owned())))
}

/// A number of the core schema, in the spelling of JSON.
fn number(text: &str) -> Option<Value> {
    let sign = if text.starts_with('-') { "-" } else { "" };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (unsigned.get(..at)?, Some(unsigned.get(at + 1..)?)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let mut json = format!("{sign}{}", whole.trim_start_matches('0'));
    if json.len() == sign.len() {
        json.push('0');
    }
    if !fraction.is_empty() {
        json = format!("{json}.{fraction}");
    }
    if let Some(exponent) = exponent {
        json = format!("{json}e{exponent}");
    }
    serde_json::from_str(&json).ok()
}

fn at(place: &Marker, what: &str) -> anyhow::Error {
    anyhow!("line {}, column {}: {what}", place.line(), place.col() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(yaml: &str, json: &str) {
        assert_eq!(read(yaml).unwrap().to_string(), json, "{yaml}");
    }

    #[test]
    fn scalars_are_those_of_the_core_schema() {
        check(
            "[~, null, true, False, yes, no, on, 2026-01-01, 12:30, 1_000, '1', \"2\", <<]",
            r#"[null,null,true,false,"yes","no","on","2026-01-01","12:30","1_000","1","2","<<"]"#,
        );
        check(
            "a: |\n  SELECT 1\n  LIMIT 1\nb: >-\n  one\n  two\nc:",
            r#"{"a":"SELECT 1\nLIMIT 1\n","b":"one two","c":null}"#,
        );
        check("", "null");
        check("# only a remark\n", "null");
        check("--- {a: {b: [1, {c: d}]}}\n...\n", r#"{"a":{"b":[1,{"c":"d"}]}}"#);
    }

    #[test]
    fn numbers_keep_their_digits() {
        check(
            "[1.10, 12345678901234567890123.450, -0, +7, 007, .5, 5., 1e400, -1.0E-3, 9007199254740993]",
            "[1.10,12345678901234567890123.450,-0,7,7,0.5,5,1e+400,-1.0e-3,9007199254740993]",
        );
        check("[1.2.3, 1e, e5, ., '-', +, 1-2]", r#"["1.2.3","1e","e5",".","-","+","1-2"]"#);
    }

    #[track_caller]
    fn refuse(yaml: &str, said: &str) {
        let error = read(yaml).unwrap_err().to_string();
        assert!(error.contains(said), "{yaml}: {error}");
    }

    #[test]
    fn what_json_has_no_match_for_is_refused_with_its_place() {
        refuse("a: 1\nb: 2\na: 3", "line 3, column 1: `a` is there already");
        refuse("a: &x 1\nb: *x", "line 2, column 4: an alias");
        refuse("a: !!str 1", "a tag");
        refuse("a: 0x1F", "decimal");
        refuse("a: .nan", "JSON has no such number");
        refuse("[a]: 1", "line 1, column 1: a key has to be a text");
        refuse("a: 1\n---\nb: 2", "a second document");
        refuse("a: [1", "line ");
        refuse(&"[".repeat(100), "too deep");
    }
}
