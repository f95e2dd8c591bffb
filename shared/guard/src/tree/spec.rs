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
#[derive(Debug)]
pub(crate) struct FieldSpec {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    majors: RangeInclusive<u32>,
}

/// One kind of node, as one major prints it.
#[derive(Debug)]
pub(crate) struct NodeSpec {
    pub(crate) kind: NodeKind,
    fields: Vec<FieldSpec>,
}

impl NodeSpec {
    /// A field by the label that is printed.
    pub(crate) fn field(&self, label: &str, major: Major) -> Option<&FieldSpec> {
        self.fields.iter().find(|field| field.name == label && field.majors.contains(&major.number()))
    }
}

/// The kind of node behind a tag of a major; none for what may not stand in a tree.
pub(crate) fn node(tag: &str, major: Major) -> Option<&'static NodeSpec> {
    static TAGS: LazyLock<HashMap<&str, Vec<(u32, NodeSpec)>>> = LazyLock::new(read);
    TAGS.get(tag)?.iter().find(|(printed_by, _)| *printed_by == major.number()).map(|(_, spec)| spec)
}

fn read() -> HashMap<&'static str, Vec<(u32, NodeSpec)>> {
    let mut tags: HashMap<&str, Vec<(u32, NodeSpec)>> = HashMap::new();
    let mut lines = TABLE.lines().filter(|line| !line.starts_with('#')).peekable();
    while let Some(head) = lines.next() {
        let mut fields = Vec::new();
        while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
            fields.extend(line.split_whitespace());
        }
        let mut words = head.split_whitespace();
        let (Some(kind), Some(tag), Some(majors)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Some(kind) = NodeKind::ALL.iter().find(|known| known.name() == kind) else { continue };
        let (newer, older) = tag.split_once('|').unwrap_or((tag, tag));
        for major in range(majors) {
            let tag = if major == 14 { older } else { newer };
            let fields = fields.iter().map(|text| field(text)).collect();
            tags.entry(tag).or_default().push((major, NodeSpec { kind: *kind, fields }));
        }
    }
    tags
}

fn field(text: &'static str) -> FieldSpec {
    let (text, role) = text.split_once('!').unwrap_or((text, ""));
    let (name, majors) = text.split_once('@').unwrap_or((text, "14-18"));
    let role = match role {
        "func" => Role::Function,
        "oper" => Role::Operator,
        "type" => Role::Type,
        "rel" => Role::Relation,
        _ => Role::Plain,
    };
    FieldSpec { name, role, majors: range(majors) }
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
        let major = |number| Major::new(number).unwrap();
        assert!(node("RTE", major(14)).is_some() && node("RTE", major(15)).is_none());
        assert!(node("JSONEXPR", major(16)).is_none() && node("JSONEXPR", major(17)).is_some());
        let var = node("VAR", major(18)).unwrap();
        assert!(
            var.field("varreturningtype", major(18)).is_some()
                && var.field("varreturningtype", major(17)).is_none()
        );
        assert_eq!(var.field("vartype", major(14)).unwrap().role, Role::Type);
        assert!(node("INSERTSTMT", major(18)).is_none() && node("NEXTVALUEEXPR", major(18)).is_none());
    }
}
