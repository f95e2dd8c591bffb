//! Reads a tool's arguments; whatever does not fit is answered with what is accepted.

use analyst::Failure;
use serde_json::{Map, Value};

/// The arguments of one call, all of whose names are known.
pub(crate) struct Arguments<'a> {
    given: &'a Map<String, Value>,
}

impl<'a> Arguments<'a> {
    /// Refuses names that the tool does not take.
    pub(crate) fn new(tool: &str, given: &'a Map<String, Value>, accepted: &[&str]) -> Result<Self, Failure> {
        let unknown: Vec<String> = given
            .keys()
            .filter(|name| !accepted.contains(&name.as_str()))
            .map(|name| format!("`{name}`"))
            .collect();
        if unknown.is_empty() {
            return Ok(Self { given });
        }
        let takes = if accepted.is_empty() {
            "no arguments".to_owned()
        } else {
            accepted.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let message = format!("`{tool}` does not take {}", unknown.join(", "));
        Err(Failure::argument(message).hinting(format!("it takes {takes}")))
    }

    /// A text under the first of these names, the others being its aliases.
    pub(crate) fn text(&self, names: &[&str]) -> Result<Option<&'a str>, Failure> {
        let mut found = names.iter().filter_map(|name| self.given.get(*name).map(|value| (*name, value)));
        let Some((name, value)) = found.next() else { return Ok(None) };
        if let Some((other, _)) = found.next() {
            return Err(Failure::argument(format!("`{name}` and `{other}` mean the same: send one of them")));
        }
        match value {
            Value::String(text) => Ok(Some(text)),
            other => Err(Failure::argument(format!("`{name}` must be a string, not {}", kind(other)))),
        }
    }

    /// A whole number within a range.
    pub(crate) fn whole(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, Failure> {
        let Some(value) = self.given.get(name) else { return Ok(None) };
        let number = value.as_number().and_then(whole_number).filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            let shown = if value.is_number() { value.to_string() } else { kind(value).to_owned() };
            Failure::argument(format!("`{name}` must be a whole number from {low} to {high}, not {shown}"))
                .hinting(format!("leave `{name}` out for the default"))
        })
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Failure> {
        let Some(value) = self.given.get(name) else { return Ok(None) };
        let found = value.as_str().and_then(|word| words.iter().find(|(known, _)| *known == word));
        found.map(|(_, choice)| Some(*choice)).ok_or_else(|| {
            let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
            let shown = value.as_str().map_or_else(|| kind(value).to_owned(), |word| format!("`{word}`"));
            Failure::argument(format!("`{name}` must be one of {}, not {shown}", known.join(", ")))
        })
    }

    /// A list.
    pub(crate) fn list(&self, name: &str) -> Result<&'a [Value], Failure> {
        match self.given.get(name) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(Failure::argument(format!("`{name}` must be a list, not {}", kind(other)))
                .hinting(format!("send the values of $1, $2, … in order, such as {name}: [7, \"north\"]"))),
        }
    }
}

/// A number's value if it is whole, however it is written: JSON Schema takes `3.0` for an integer.
fn whole_number(number: &serde_json::Number) -> Option<u64> {
    let text = number.as_str();
    let digits = text
        .split_once('.')
        .map_or(text, |(digits, zeros)| if zeros.bytes().all(|byte| byte == b'0') { digits } else { text });
    digits.parse().ok()
}

/// The word for a JSON value's kind.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(value: &Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn numbers_out_of_range_or_of_another_kind_name_the_range() {
        for (value, shown) in [
            (json!(0), "0"),
            (json!(-5), "-5"),
            (json!(30000), "30000"),
            (json!(1e9), "1000000000.0"),
            (json!("10"), "a string"),
            (json!(10.5), "10.5"),
            (json!(null), "null"),
        ] {
            let map = given(&json!({"max_rows": value}));
            let arguments = Arguments::new("query", &map, &["max_rows"]).unwrap();
            let failure = arguments.whole("max_rows", 1..=10_000).unwrap_err();
            assert_eq!(
                failure.message,
                format!("`max_rows` must be a whole number from 1 to 10000, not {shown}")
            );
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let map = given(&json!({"sql": "SELECT 1", "limit": 3}));
        let failure = Arguments::new("query", &map, &["sql", "max_rows"]).err().unwrap();
        assert_eq!(failure.message, "`query` does not take `limit`");
        assert_eq!(failure.hint.as_deref(), Some("it takes `sql`, `max_rows`"));
    }

    #[test]
    fn two_names_for_one_thing_are_refused() {
        let map = given(&json!({"sql": "SELECT 1", "query": "SELECT 2"}));
        let arguments = Arguments::new("query", &map, &["sql", "query"]).unwrap();
        assert!(arguments.text(&["sql", "query"]).is_err());
    }
}
