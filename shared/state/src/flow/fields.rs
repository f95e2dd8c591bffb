//! Reading a JSON object key by key, with every problem kept and every unknown key refused.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Problem;

/// Entries of one list: as many relations as the editor lists.
const MAX_ENTRIES: usize = 2_000;

/// One object of the document, its path, and where its problems go.
pub(super) struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: String,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    /// `known` are the keys that the object may have; any other is a problem.
    pub(super) fn open(
        json: &'a Value,
        path: &str,
        known: &[&str],
        problems: &'a mut Vec<Problem>,
    ) -> Option<Self> {
        let Value::Object(map) = json else {
            problems.push(Problem { path: path.to_owned(), message: expected("an object", json) });
            return None;
        };
        let mut fields = Self { map, path: path.to_owned(), problems };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            fields.problem(key, format!("unknown key; the known ones are {}", quoted(known)));
        }
        Some(fields)
    }

    /// Where problems of parts that read themselves go.
    pub(super) fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }

    /// A key that is there and not null.
    pub(super) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|json| !json.is_null())
    }

    /// Reads a key that may be absent. A value that `read` refuses is a problem and reads as absent.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a Value) -> Result<T, String>,
    ) -> Option<T> {
        read(self.get(key)?).map_err(|message| self.problem(key, message)).ok()
    }

    /// Reads a key that must be there.
    pub(super) fn required<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a Value) -> Result<T, String>,
    ) -> Option<T> {
        if self.get(key).is_none() {
            self.problem(key, "missing".to_owned());
        }
        self.optional(key, read)
    }

    /// Reads a list that may be absent, each entry once.
    pub(super) fn each<T: PartialEq>(
        &mut self,
        key: &str,
        entries: impl FnOnce(&'a Value) -> Result<Cow<'a, [Value]>, String>,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Vec<T> {
        let entries = self.optional(key, entries).unwrap_or_default();
        if entries.len() > MAX_ENTRIES {
            self.problem(key, format!("has {} entries; at most {MAX_ENTRIES} are allowed", entries.len()));
            return Vec::new();
        }
        let mut values = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            match read(entry) {
                Ok(value) if values.contains(&value) => {}
                Ok(value) => values.push(value),
                Err(message) => self.problem(&format!("{key}[{index}]"), message),
            }
        }
        values
    }

    pub(super) fn problem(&mut self, key: &str, message: String) {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        self.problems.push(Problem { path, message });
    }
}

/// A string.
pub(super) fn text(json: &Value) -> Result<&str, String> {
    json.as_str().ok_or_else(|| expected("text", json))
}

/// Text on one line that shows something, with the blanks around it dropped.
pub(super) fn line(json: &Value, most_chars: usize) -> Result<String, String> {
    let line = text(json)?.trim();
    if line.is_empty() {
        return Err("is blank; write one line, or leave the key out".to_owned());
    }
    if line.chars().any(char::is_control) {
        return Err("holds a line break or another control character; write one line".to_owned());
    }
    short(line, most_chars).map(str::to_owned)
}

/// Text of at most so many characters.
pub(super) fn short(text: &str, most_chars: usize) -> Result<&str, String> {
    let length = text.chars().count();
    if length > most_chars {
        return Err(format!("has {length} characters; at most {most_chars} are allowed"));
    }
    Ok(text)
}

/// A list.
pub(super) fn list(json: &Value) -> Result<Cow<'_, [Value]>, String> {
    json.as_array().map(|entries| Cow::Borrowed(entries.as_slice())).ok_or_else(|| expected("a list", json))
}

/// One of the words of a table.
pub(super) fn word<T: Copy>(json: &Value, words: &[(&str, T)]) -> Result<T, String> {
    let accepted = || {
        let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        format!("one of {}", quoted(&words))
    };
    let Some(given) = json.as_str() else { return Err(expected(&accepted(), json)) };
    let found = words.iter().find(|(word, _)| *word == given);
    found.map(|(_, value)| *value).ok_or_else(|| format!("expected {}", accepted()))
}

/// The sentence for a value of a wrong type. The value itself stays out of it: it may be a secret in the wrong place.
pub(super) fn expected(accepted: &str, json: &Value) -> String {
    let kind = match json {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    format!("expected {accepted}, got {kind}")
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
