//! Whether JSON says what PostgreSQL's text says, and in the form that the type promises. Written anew, so that it shares
//! no mistake with the conversion it checks.

use serde_json::Value;

use super::{endpoint::Rows, records::TextRow};

/// The largest integer that goes as a JSON number: 2^53 − 1.
const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// Whether rows came in the server's own order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Same,
    /// The statement leaves the order open.
    Other,
}

/// Compares all rows, cell by cell.
pub(super) fn rows(given: &Rows, texts: &[TextRow]) -> Result<Order, String> {
    if given.rows.len() != texts.len() {
        return Err(format!("{} rows instead of {}", given.rows.len(), texts.len()));
    }
    let fits = |values: &[Value], text: &TextRow| row(values, text, &given.columns);
    let mut first = None;
    for (values, text) in given.rows.iter().zip(texts) {
        if let Err(why) = fits(values, text) {
            first = Some(why);
            break;
        }
    }
    let Some(first) = first else { return Ok(Order::Same) };
    let mut left: Vec<&Vec<Value>> = given.rows.iter().collect();
    for text in texts {
        match left.iter().position(|values| fits(values, text).is_ok()) {
            Some(at) => drop(left.swap_remove(at)),
            None => return Err(first),
        }
    }
    Ok(Order::Other)
}

fn row(values: &[Value], texts: &TextRow, columns: &[(String, String)]) -> Result<(), String> {
    if values.len() != texts.len() {
        return Err(format!("{} values instead of {}", values.len(), texts.len()));
    }
    for ((value, text), (name, type_name)) in values.iter().zip(texts).zip(columns) {
        if !cell(value, text.as_deref(), type_name) {
            return Err(format!("`{name}` ({type_name}) is {value}, the server prints {text:?}"));
        }
    }
    Ok(())
}

fn cell(value: &Value, text: Option<&str>, type_name: &str) -> bool {
    let Some(text) = text else { return value.is_null() };
    let as_text = value.as_str() == Some(text);
    if let Some(element) = type_name.strip_suffix("[]") {
        return match value {
            Value::Array(values) => array(values, text, element),
            // Other lower bounds are part of the text alone.
            _ => as_text && text.starts_with('['),
        };
    }
    match type_name {
        "boolean" => value.as_bool() == Some(text == "t"),
        "smallint" | "integer" | "bigint" | "oid" | "xid" | "cid" | "xid8" => {
            let safe = text.trim_start_matches('-').parse::<u64>().unwrap() <= MAX_SAFE;
            if safe { is_number(value, text) } else { as_text }
        }
        "real" | "double precision" => match text {
            "NaN" | "Infinity" | "-Infinity" => as_text,
            _ => is_number(value, text),
        },
        "json" | "jsonb" => serde_json::from_str::<Value>(text).is_ok_and(|json| json == *value),
        _ => as_text,
    }
}

/// A number of exactly these digits.
fn is_number(value: &Value, text: &str) -> bool {
    value.as_number().is_some_and(|number| number.as_str() == text)
}

fn array(values: &[Value], text: &str, element: &str) -> bool {
    let delimiter = if element == "box" { ';' } else { ',' };
    let Some(items) = items(text, delimiter) else { return false };
    values.len() == items.len()
        && values.iter().zip(&items).all(|(value, item)| match (value, item) {
            (Value::Array(values), Item::Bare(inner)) if inner.starts_with('{') => {
                array(values, inner, element)
            }
            (_, Item::Bare(bare)) if bare == "NULL" => value.is_null(),
            (_, Item::Bare(text) | Item::Quoted(text)) => cell(value, Some(text), element),
        })
}

/// An element of an array's text: a nested array with its braces, a bare word, or what stood in quotes.
#[derive(Debug, PartialEq, Eq)]
enum Item {
    Bare(String),
    Quoted(String),
}

/// The elements of the outermost braces.
fn items(text: &str, delimiter: char) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    if rest.is_empty() {
        return Some(items);
    }
    loop {
        let item;
        (item, rest) = if let Some(quoted) = rest.strip_prefix('"') {
            let length = quoted_length(quoted)?;
            (Item::Quoted(unescaped(&quoted[..length])), &quoted[length + 1..])
        } else {
            let length = bare_length(rest, delimiter)?;
            (Item::Bare(rest[..length].to_owned()), &rest[length..])
        };
        items.push(item);
        match rest.strip_prefix(delimiter) {
            Some(more) => rest = more,
            None => return rest.is_empty().then_some(items),
        }
    }
}

/// Up to the closing quote.
fn quoted_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, char)| {
        let closes = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        closes.then_some(at)
    })
}

/// Up to the delimiter that is in no braces and no quotes within them.
fn bare_length(text: &str, delimiter: char) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => quoted = !quoted,
            '{' if !quoted => depth += 1,
            '}' if !quoted => depth = depth.checked_sub(1)?,
            _ if char == delimiter && depth == 0 && !quoted => return Some(at),
            _ => {}
        }
    }
    (depth == 0 && !quoted).then_some(text.len())
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::new();
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    plain
}

#[test]
fn the_comparison_notices_what_is_not_equal() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    for (value, text, type_name) in [
        ("1", Some("1"), "integer"),
        ("\"9007199254740992\"", Some("9007199254740992"), "bigint"),
        ("1e+16", Some("1e+16"), "double precision"),
        ("\"1.10\"", Some("1.10"), "numeric"),
        ("null", None, "text"),
        ("{\"a\": 1.10}", Some("{\"a\":1.10}"), "jsonb"),
        ("[[1, null], [2, 3]]", Some("{{1,NULL},{2,3}}"), "integer[]"),
        ("[\"a,b\", \"NULL\", \"\\\"\", null, \"\"]", Some(r#"{"a,b","NULL","\"",NULL,""}"#), "text[]"),
        ("[\"(1,1),(0,0)\"]", Some("{(1,1),(0,0)}"), "box[]"),
        ("\"[0:0]={1}\"", Some("[0:0]={1}"), "integer[]"),
        ("[]", Some("{}"), "text[]"),
    ] {
        assert!(cell(&json(value), text, type_name), "{value} is {text:?}");
    }
    for (value, text, type_name) in [
        ("\"1\"", Some("1"), "integer"),
        ("9007199254740992", Some("9007199254740992"), "bigint"),
        ("1.1", Some("1.10"), "numeric"),
        ("\"1.1\"", Some("1.10"), "numeric"),
        ("null", Some(""), "text"),
        ("\"\"", None, "text"),
        ("true", Some("f"), "boolean"),
        ("{\"a\": 1.1}", Some("{\"a\":1.10}"), "jsonb"),
        ("[1, 2]", Some("{1,2,3}"), "integer[]"),
        ("[\"NULL\"]", Some("{NULL}"), "text[]"),
        ("[null]", Some("{\"NULL\"}"), "text[]"),
        ("\"{1}\"", Some("{1}"), "integer[]"),
    ] {
        assert!(!cell(&json(value), text, type_name), "{value} is not {text:?}");
    }
}
