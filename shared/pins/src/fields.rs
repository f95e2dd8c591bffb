//! Reading a JSON object field by field, with every problem kept and every unknown key refused.

use serde_json::{Map, Value as Json};

use crate::problem::Problem;

/// Texts that a message lists, and characters of one that it shows.
const MOST_LISTED: usize = 20;
const MOST_SHOWN: usize = 64;

/// One object of a document, its path, and where its problems go.
pub(crate) struct Fields<'a> {
    map: &'a Map<String, Json>,
    path: String,
    problems: &'a mut Vec<Problem>,
}

impl<'a> Fields<'a> {
    /// `known` are the keys that the object may have; any other is a problem.
    pub(crate) fn open(
        json: &'a Json,
        path: &str,
        known: &[&str],
        problems: &'a mut Vec<Problem>,
    ) -> Option<Self> {
        let Json::Object(map) = json else {
            problems.push(Problem::new(path, format!("expected an object, got {}", kind_of(json))));
            return None;
        };
        let fields = Self { map, path: path.to_owned(), problems };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let message = format!("unknown key; the known ones are {}", list(known.iter().copied()));
            fields.problems.push(Problem::new(fields.path_of(&shown(key)), message));
        }
        Some(fields)
    }

    /// The path of a field, relative to the pin.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    pub(crate) fn problem(&mut self, key: &str, message: impl Into<String>) {
        let path = self.path_of(key);
        self.problems.push(Problem::new(path, message));
    }

    pub(crate) fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }

    /// A field that is there and not null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Json> {
        self.map.get(key).filter(|json| !json.is_null())
    }

    /// Reads a field that may be absent. A value that `read` refuses is a problem and reads as absent.
    pub(crate) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a Json) -> Result<T, String>,
    ) -> Option<T> {
        match read(self.get(key)?) {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(key, message);
                None
            }
        }
    }

    /// Reads a field that must be there.
    pub(crate) fn required<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&'a Json) -> Result<T, String>,
    ) -> Option<T> {
        if self.get(key).is_none() {
            self.problem(key, "missing");
        }
        self.optional(key, read)
    }
}

/// A string.
pub(crate) fn text(json: &Json) -> Result<&str, String> {
    json.as_str().ok_or_else(|| format!("expected text, got {}", kind_of(json)))
}

/// Text on one line that shows something, with the blanks around it dropped.
pub(crate) fn line(json: &Json, most_chars: usize) -> Result<String, String> {
    let line = text(json)?.trim();
    if line.is_empty() {
        return Err("is blank; write one line".to_owned());
    }
    if line.chars().any(char::is_control) {
        return Err("holds a line break or another control character; write one line".to_owned());
    }
    let length = line.chars().count();
    if length > most_chars {
        return Err(format!("has {length} characters; at most {most_chars} are allowed"));
    }
    Ok(line.to_owned())
}

pub(crate) fn boolean(json: &Json) -> Result<bool, String> {
    json.as_bool().ok_or_else(|| format!("expected true or false, got {}", kind_of(json)))
}

pub(crate) fn array(json: &Json) -> Result<&Vec<Json>, String> {
    json.as_array().ok_or_else(|| format!("expected a list, got {}", kind_of(json)))
}

/// How messages name what was sent. The value itself stays out of them: it may be secret.
pub(crate) fn kind_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(text) if text.is_empty() => "empty text",
        Json::String(_) => "text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// Texts in backticks, with commas; the first twenty, and how many more there are.
pub(crate) fn list(texts: impl ExactSizeIterator<Item: AsRef<str>>) -> String {
    let more = texts.len().saturating_sub(MOST_LISTED);
    let listed: Vec<String> =
        texts.take(MOST_LISTED).map(|text| format!("`{}`", shown(text.as_ref()))).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    listed.join(", ") + &rest
}

/// A text on one line of a message: control characters escaped, cut where it is long.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MOST_SHOWN));
    for c in text.chars().take(MOST_SHOWN) {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    if text.chars().nth(MOST_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
