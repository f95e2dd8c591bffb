//! Schema-qualified names, read and written by PostgreSQL's quoting rules.

mod keywords;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Bytes of a name that PostgreSQL keeps; it silently cuts off what is longer.
const MAX_BYTES: usize = 63;

/// A name with its schema, as PostgreSQL stores them: folded or unquoted. `Display` quotes where PostgreSQL needs it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QualifiedName {
    schema: String,
    name: String,
}

/// The name of a table or view.
pub type RelationName = QualifiedName;

/// The name of a function, which stands for all functions of that name.
pub type FunctionName = QualifiedName;

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NameError {
    /// Nothing there, or nothing between two dots.
    #[error("a part of the name is empty: write `schema.name`")]
    Empty,
    /// No schema.
    #[error("`{0}` has no schema: write `schema.name`, such as `public.{0}`")]
    NoSchema(String),
    /// More than a schema and a name.
    #[error(
        "`{0}` has more than two parts: write `schema.name`, and put a name that holds a dot in double quotes"
    )]
    TooManyParts(String),
    /// A quote that is never closed.
    #[error("a double quote is not closed")]
    Unclosed,
    /// A character that a name without quotes cannot hold.
    #[error("`{0}` needs double quotes around it: only letters, digits, `_` and `$` stand without")]
    NeedsQuotes(String),
    /// Longer than PostgreSQL keeps.
    #[error("`{0}` is longer than the 63 bytes that PostgreSQL keeps of a name")]
    TooLong(String),
    /// A NUL character.
    #[error("a name cannot hold a NUL character")]
    Nul,
}

impl QualifiedName {
    /// The schema, without quotes.
    pub fn schema(&self) -> &str {
        &self.schema
    }

    /// The name, without quotes.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for QualifiedName {
    type Err = NameError;

    /// ```
    /// let name: pg::name::RelationName = "\"Sales 2026\".Daily".parse().unwrap();
    /// assert_eq!((name.schema(), name.name()), ("Sales 2026", "daily"));
    /// assert_eq!(name.to_string(), "\"Sales 2026\".daily");
    /// ```
    fn from_str(text: &str) -> Result<Self, NameError> {
        let mut parts = split(text, '.')?.into_iter().map(identifier);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(schema), Some(name), None) => Ok(Self { schema: schema?, name: name? }),
            (Some(only), None, None) => Err(NameError::NoSchema(quote_identifier(&only?).into_owned())),
            (_, _, Some(_)) => Err(NameError::TooManyParts(text.trim().to_owned())),
            (None, _, None) => Err(NameError::Empty),
        }
    }
}

impl fmt::Display for QualifiedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", quote_identifier(&self.schema), quote_identifier(&self.name))
    }
}

/// Quotes a name as PostgreSQL's `quote_identifier` does: unless it is plain lower case and no keyword.
pub fn quote_identifier(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let starts_plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if starts_plain && name.bytes().all(plain) && keywords::QUOTED.binary_search(&name).is_err() {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
    }
}

/// Splits at a separator that stands outside double quotes.
pub fn split(text: &str, separator: char) -> Result<Vec<&str>, NameError> {
    let mut quoted = false;
    let parts = text
        .split(|c: char| {
            quoted ^= c == '"';
            c == separator && !quoted
        })
        .collect();
    if quoted { Err(NameError::Unclosed) } else { Ok(parts) }
}

/// Reads one identifier, which may be quoted. Unquoted letters fold as PostgreSQL folds them: A to Z only.
pub fn identifier(text: &str) -> Result<String, NameError> {
    let text = text.trim_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    let name = match text.strip_prefix('"') {
        Some(rest) => {
            let inner = rest.strip_suffix('"').ok_or_else(|| NameError::NeedsQuotes(text.to_owned()))?;
            if inner.replace("\"\"", "").contains('"') {
                return Err(NameError::NeedsQuotes(text.to_owned()));
            }
            inner.replace("\"\"", "\"")
        }
        None if text.starts_with(starts) && text.chars().all(continues) => text.to_ascii_lowercase(),
        None if text.is_empty() => String::new(),
        None => return Err(NameError::NeedsQuotes(text.to_owned())),
    };
    if name.is_empty() {
        Err(NameError::Empty)
    } else if name.contains('\0') {
        Err(NameError::Nul)
    } else if name.len() > MAX_BYTES {
        Err(NameError::TooLong(name))
    } else {
        Ok(name)
    }
}

fn starts(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || !c.is_ascii()
}

fn continues(c: char) -> bool {
    starts(c) || c.is_ascii_digit() || c == '$'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, schema: &str, name: &str, printed: &str) {
        let parsed: QualifiedName = text.parse().unwrap();
        assert_eq!((parsed.schema(), parsed.name(), parsed.to_string().as_str()), (schema, name, printed));
        assert_eq!(printed.parse(), Ok(parsed), "what is printed reads back");
    }

    #[test]
    fn names_are_read_and_printed_as_postgresql_does() {
        check("public.orders", "public", "orders", "public.orders");
        check("Public.ORDERS", "public", "orders", "public.orders");
        check(" public . orders ", "public", "orders", "public.orders");
        check("\"Sales 2026\".daily", "Sales 2026", "daily", "\"Sales 2026\".daily");
        check("\"a.b\".\"c\"\"d\"", "a.b", "c\"d", "\"a.b\".\"c\"\"d\"");
        check("\"public\".\"orders\"", "public", "orders", "public.orders");
        check("s.a$1", "s", "a$1", "s.\"a$1\"");
        check("s.Straße", "s", "straße", "s.\"straße\"");
        check("s.ÄB", "s", "Äb", "s.\"Äb\"");
        check("s.select", "s", "select", "s.\"select\"");
        check("s.\"user\"", "s", "user", "s.\"user\"");
        check("s.values", "s", "values", "s.\"values\"");
        check("s.left", "s", "left", "s.\"left\"");
        check("s.name", "s", "name", "s.name");
        check("s._x1", "s", "_x1", "s._x1");
        check("s.\"1x\"", "s", "1x", "s.\"1x\"");
        check("s.\" \"", "s", " ", "s.\" \"");
    }

    #[track_caller]
    fn refused(text: &str, message: &str) {
        assert_eq!(text.parse::<QualifiedName>().unwrap_err().to_string(), message);
    }

    #[test]
    fn what_is_no_qualified_name_is_told_why() {
        refused("orders", "`orders` has no schema: write `schema.name`, such as `public.orders`");
        refused(
            "\"Or ders\"",
            "`\"Or ders\"` has no schema: write `schema.name`, such as `public.\"Or ders\"`",
        );
        refused("", "a part of the name is empty: write `schema.name`");
        refused("public.", "a part of the name is empty: write `schema.name`");
        refused(".orders", "a part of the name is empty: write `schema.name`");
        refused("public.\"\"", "a part of the name is empty: write `schema.name`");
        refused(
            "shop.public.orders",
            "`shop.public.orders` has more than two parts: write `schema.name`, and put a name that holds a dot in double quotes",
        );
        refused("public.\"orders", "a double quote is not closed");
        for bad in ["my table", "a-b", "1x", "$a", "a*", "x;drop", "\"a\"b", "\"a\"b\"c\"", "a\"b\""] {
            let message = format!(
                "`{bad}` needs double quotes around it: only letters, digits, `_` and `$` stand without"
            );
            refused(&format!("public.{bad}"), &message);
        }
        let long = "x".repeat(64);
        refused(
            &format!("public.{long}"),
            &format!("`{long}` is longer than the 63 bytes that PostgreSQL keeps of a name"),
        );
        refused("public.\"a\0b\"", "a name cannot hold a NUL character");
    }

    #[test]
    fn the_keywords_can_be_searched() {
        assert!(keywords::QUOTED.is_sorted());
    }
}
