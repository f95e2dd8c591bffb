//! Rows as one aligned text, in which a reader can tell every value from every other.

use serde_json::Value;

use super::page::Column;
use crate::types::Form;

const NUMERIC: u32 = 1700;
const SEPARATOR: &str = " | ";
const CROSSING: &str = "-+-";
/// A line break in a JSON string: `\n`.
const LINE_BREAK_BYTES: usize = 2;

/// What the length of a table's text follows from, kept up row by row.
#[derive(Debug, Clone)]
pub(super) struct Size {
    columns: Vec<Width>,
    lines: usize,
    /// The bytes of all cells within a JSON string.
    cells: usize,
}

#[derive(Debug, Clone, Copy)]
struct Width {
    padding: Padding,
    /// The characters of the widest cell.
    widest: usize,
    /// The characters of all cells.
    all: usize,
}

/// On which side a cell is filled up to the width of its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Padding {
    /// Numbers.
    Before,
    After,
    /// At the end of a line.
    None,
}

impl Size {
    /// The size of a table without rows.
    pub(super) fn new(columns: &[Column]) -> Self {
        let last = columns.len().saturating_sub(1);
        let width = |(at, column): (usize, &Column)| {
            let numbers =
                matches!(column.fact.form, Form::Integer | Form::Float) || column.fact.oid == NUMERIC;
            let padding = match at {
                _ if numbers => Padding::Before,
                _ if at < last => Padding::After,
                _ => Padding::None,
            };
            Width { padding, widest: 0, all: 0 }
        };
        let mut size = Self { columns: columns.iter().enumerate().map(width).collect(), lines: 0, cells: 0 };
        size.add(&header(columns));
        size
    }

    /// The size with one more row.
    pub(super) fn with(&self, row: &[Value]) -> Self {
        let mut size = self.clone();
        size.add(&row.iter().map(cell).collect::<Vec<_>>());
        size
    }

    /// The length of the text as a JSON string.
    pub(super) fn bytes(&self) -> usize {
        let gaps = self.columns.len().saturating_sub(1) * SEPARATOR.len();
        let rule: usize = self.columns.iter().map(|column| column.widest).sum();
        let padding: usize = (self.columns.iter())
            .filter(|column| column.padding != Padding::None)
            .map(|column| column.widest * self.lines - column.all)
            .sum();
        let quotes = 2;
        // The rule under the header is a line besides the lines of cells.
        quotes + self.cells + padding + rule + gaps * (self.lines + 1) + LINE_BREAK_BYTES * self.lines
    }

    fn add(&mut self, cells: &[String]) {
        self.lines += 1;
        for (cell, column) in cells.iter().zip(&mut self.columns) {
            let width = cell.chars().count();
            self.cells += escaped_bytes(cell);
            column.widest = width.max(column.widest);
            column.all += width;
        }
    }
}

/// The text: a header, a rule, and a line a row.
pub(super) fn render(columns: &[Column], rows: &[Vec<Value>]) -> String {
    let mut size = Size::new(columns);
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
    for row in &rows {
        size.add(row);
    }
    let rule = size.columns.iter().map(|column| "-".repeat(column.widest)).collect::<Vec<_>>().join(CROSSING);
    let mut lines = vec![line(&header(columns), &size.columns), rule];
    lines.extend(rows.iter().map(|row| line(row, &size.columns)));
    lines.join("\n")
}

fn line(cells: &[String], columns: &[Width]) -> String {
    let cells = cells.iter().zip(columns).map(|(cell, Width { padding, widest, .. })| match padding {
        Padding::Before => format!("{cell:>widest$}"),
        Padding::After => format!("{cell:<widest$}"),
        Padding::None => cell.clone(),
    });
    cells.collect::<Vec<_>>().join(SEPARATOR)
}

fn header(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|column| quoted(column.name.clone())).collect()
}

/// How a value reads: NULL bare, a text NULL as `'NULL'`, an empty text as `''`, and a text with line breaks or other
/// characters that cannot be seen as `E'…'` with escapes. A text that could be mistaken for one of these is quoted,
/// too. A JSON null reads as NULL: rows do not tell it from SQL's.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::String(text) => quoted(text.clone()),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => quoted(value.to_string()),
    }
}

/// The bytes of a text within a JSON string. A cell holds no control character.
fn escaped_bytes(text: &str) -> usize {
    text.len() + text.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// The text itself where it is plain, else as an SQL literal.
fn quoted(text: String) -> String {
    if text.contains(invisible) {
        return format!("E'{}'", text.chars().map(escaped).collect::<String>());
    }
    let plain = !text.is_empty()
        && text != "NULL"
        && !text.starts_with(['\'', ' '])
        && !text.starts_with("E'")
        && !text.ends_with(' ')
        && !text.contains(SEPARATOR);
    if plain { text } else { format!("'{}'", text.replace('\'', "''")) }
}

fn escaped(char: char) -> String {
    match char {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\'' => "''".to_owned(),
        char if invisible(char) => format!("\\u{:04x}", u32::from(char)),
        char => char.to_string(),
    }
}

/// Control characters, line ends, and marks that turn the direction of writing.
fn invisible(char: char) -> bool {
    char.is_control() || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::cell;

    #[track_caller]
    fn check(value: &Value, text: &str) {
        assert_eq!(cell(value), text);
    }

    #[test]
    fn null_the_text_null_and_the_empty_text_are_three_things() {
        check(&Value::Null, "NULL");
        check(&json!("NULL"), "'NULL'");
        check(&json!(""), "''");
        check(&json!("null"), "null");
    }

    #[test]
    fn a_text_that_looks_like_a_literal_is_quoted() {
        check(&json!("'NULL'"), "'''NULL'''");
        check(&json!("''"), "''''''");
        check(&json!("E'x'"), "'E''x'''");
        check(&json!("it's"), "it's");
        check(&json!("a | b"), "'a | b'");
        check(&json!(" a "), "' a '");
    }

    #[test]
    fn what_cannot_be_seen_is_escaped() {
        check(&json!("a\nb"), r"E'a\nb'");
        check(&json!("\t\r\\'"), r"E'\t\r\\'''");
        check(&json!("\u{1}\u{7f}\u{85}\u{202e}"), r"E'\u0001\u007f\u0085\u202e'");
        check(&json!(r"\xdeadbeef"), r"\xdeadbeef");
    }

    #[test]
    fn numbers_flags_and_lists_read_as_json() {
        check(&json!(1), "1");
        check(&json!(true), "true");
        check(&json!([1, null, "a\nb"]), r#"[1,null,"a\nb"]"#);
        check(&json!({"a": "x | y"}), r#"'{"a":"x | y"}'"#);
    }
}
