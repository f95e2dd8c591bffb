//! Which nodes and fields each major prints: `nodes.txt`, read once.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use super::kind::NodeKind;
use crate::facts::Major;

const TABLE: &str = include_str!("nodes.txt");

/// What the OIDs of a field stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nothing that runs: data, nodes, collations.
    Plain,
    Function,
    Operator,
    Type,
    Relation,
}

/// One field of a kind of node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldSpec {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
}

/// One kind of node, as one major prints it.
#[derive(Debug)]
pub(crate) struct NodeSpec {
    pub(crate) kind: NodeKind,
    fields: Vec<FieldSpec>,
}

impl NodeSpec {
    /// A field by the label that is printed, and its place.
    pub(crate) fn field(&self, label: &str) -> Option<(usize, &FieldSpec)> {
        self.fields.iter().enumerate().find(|(_, field)| field.name == label)
    }

    /// A field by its place: they are printed in an order.
    pub(crate) fn at(&self, place: usize) -> Option<&FieldSpec> {
        self.fields.get(place)
    }
}

/// The nodes that may stand in a tree of a major, by their tags.
pub(crate) fn nodes(major: Major) -> Option<&'static Nodes> {
    static MAJORS: LazyLock<HashMap<u32, Nodes>> = LazyLock::new(read);
    MAJORS.get(&major.number())
}

/// By tag.
pub(crate) type Nodes = HashMap<&'static str, NodeSpec>;

fn read() -> HashMap<u32, Nodes> {
    let mut nodes: HashMap<u32, Nodes> = HashMap::new();
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#')).peekable();
    while let Some(head) = lines.next() {
        let mut fields = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            fields.extend(line.split_whitespace().map(field));
        }
        let mut words = head.split_whitespace();
        let (Some(kind), Some(tag), Some(majors)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Some(kind) = NodeKind::ALL.iter().find(|known| known.name() == kind) else { continue };
        let (newer, older) = tag.split_once('|').unwrap_or((tag, tag));
        for major in range(majors) {
            let printed = fields.iter().filter(|(_, majors)| majors.contains(&major));
            let fields = printed.map(|(field, _)| *field).collect();
            let tag = if major == 14 { older } else { newer };
            nodes.entry(major).or_default().insert(tag, NodeSpec { kind: *kind, fields });
        }
    }
    nodes
}

/// A field and the majors that print it.
fn field(text: &'static str) -> (FieldSpec, RangeInclusive<u32>) {
    let (text, role) = text.split_once('!').unwrap_or((text, ""));
    let (name, majors) = text.split_once('@').unwrap_or((text, "14-18"));
    let role = match role {
        "func" => Role::Function,
        "oper" => Role::Operator,
        "type" => Role::Type,
        "rel" => Role::Relation,
        _ => Role::Plain,
    };
    (FieldSpec { name, role }, range(majors))
}

/// `14-18`; what is no range is empty, so that nothing is admitted by it.
#[expect(clippy::reversed_empty_ranges, reason = "empty on purpose")]
fn range(text: &str) -> RangeInclusive<u32> {
    let numbers = text.split_once('-').and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    numbers.map_or(1..=0, |(from, to): (u32, u32)| from..=to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_in_the_table() {
        for kind in NodeKind::ALL {
            assert!(TABLE.lines().any(|line| line.split(' ').next() == Some(kind.name())), "{kind:?}");
        }
        let kinds = TABLE.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase())).count();
        assert_eq!(kinds, NodeKind::ALL.len());
    }

    #[test]
    fn tags_and_fields_differ_by_major() {
        let node = |tag, number| nodes(Major::new(number).unwrap()).unwrap().get(tag);
        assert!(node("RTE", 14).is_some() && node("RTE", 15).is_none());
        assert!(node("JSONEXPR", 16).is_none() && node("JSONEXPR", 17).is_some());
        let var = |number| node("VAR", number).unwrap();
        assert!(var(18).field("varreturningtype").is_some() && var(17).field("varreturningtype").is_none());
        let (place, vartype) = var(14).field("vartype").unwrap();
        assert_eq!((place, vartype.role), (2, Role::Type));
        assert_eq!(var(14).at(3).unwrap().name, "vartypmod");
        assert!(node("INSERTSTMT", 18).is_none() && node("NEXTVALUEEXPR", 18).is_none());
    }
}
