//! The types of a statement's columns. A row description of the protocol tells a domain's base type; the tree tells the domain.

use super::ColumnType;
use crate::facts::Oid;
use crate::tree::{Node, NodeKind, Tree};

/// Of the outermost query's columns, which are all plain references into the wrapped statement; none if one is not.
pub(super) fn of(tree: &Tree<'_>) -> Vec<ColumnType> {
    let root = tree.nodes().last().filter(|root| root.kind() == Some(NodeKind::Query));
    let entries = root.into_iter().flat_map(|root| root.list("targetList"));
    let shown = entries.filter(|entry| entry.token("resjunk") == Some("false"));
    shown.map(column).collect::<Option<_>>().unwrap_or_default()
}

fn column(entry: Node<'_, '_>) -> Option<ColumnType> {
    let reference = entry.list("expr").next().filter(|node| node.kind() == Some(NodeKind::Var))?;
    Some(ColumnType {
        oid: Oid(reference.number("vartype")?),
        modifier: reference.token("vartypmod")?.parse().ok()?,
    })
}
