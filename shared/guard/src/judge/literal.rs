//! What literals of a statement hold, as far as it is printed plainly.

use crate::tree::{Node, NodeKind, Value};

/// Bytes of a value that has no fixed length, ahead of it: they tell it.
const HEADER: usize = 4;

/// The bytes of a literal as the server keeps it; none for NULL.
pub(super) fn bytes(literal: Node<'_, '_>) -> Vec<u8> {
    match literal.value("constvalue") {
        Value::Bytes(printed) => printed.split_ascii_whitespace().filter_map(byte).collect(),
        Value::Null | Value::Token(_) | Value::Node(_) | Value::List(_) => Vec::new(),
    }
}

/// The value of a literal without what tells its length.
pub(super) fn value(literal: Node<'_, '_>) -> Vec<u8> {
    let mut bytes = bytes(literal);
    if literal.token("constlen") == Some("-1") {
        bytes.drain(..HEADER.min(bytes.len()));
    }
    bytes
}

/// The text of a literal of type text that is not NULL.
pub(super) fn text(node: Node<'_, '_>) -> Option<String> {
    let is_text = node.kind() == Some(NodeKind::Const)
        && node.number("consttype") == Some(25)
        && node.token("constisnull") == Some("false");
    if is_text { String::from_utf8(value(node)).ok() } else { None }
}

/// A byte as printed: signed on some processors, unsigned on others.
fn byte(text: &str) -> Option<u8> {
    let number: i16 = text.parse().ok()?;
    u8::try_from(number.rem_euclid(256)).ok().filter(|_| (-128..=255).contains(&number))
}
