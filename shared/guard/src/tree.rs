//! PostgreSQL's text of an analysed tree, read strictly.
//!
//! A tree lies in three vectors and points into its text, so that reading, walking and dropping it need no recursion:
//! however deep a statement is, the stack does not grow.

mod kind;
mod read;
mod spec;

use std::ops::Range;

pub(crate) use kind::NodeKind;
pub(crate) use read::read;
pub(crate) use spec::Role;

/// A whole tree.
#[derive(Debug)]
pub(crate) struct Tree<'t> {
    nodes: Vec<NodeRecord>,
    fields: Vec<FieldRecord<'t>>,
    items: Vec<Value<'t>>,
}

#[derive(Debug)]
struct NodeRecord {
    kind: NodeKind,
    fields: Range<usize>,
}

#[derive(Debug, Clone, Copy)]
struct FieldRecord<'t> {
    name: &'static str,
    role: Role,
    value: Value<'t>,
}

/// What stands behind a label or in a list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'t> {
    /// `<>`
    Null,
    /// A word: a number, a name, or a string with its quotes; escapes are as printed.
    Token(&'t str),
    /// A node.
    Node(NodeId),
    /// A list; of numbers where it began with `i`, `o`, `b` or `x`.
    List(ListId),
    /// A constant's length and bytes, as printed between the brackets.
    Bytes(&'t str),
}

/// A node of one tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(usize);

/// A list of one tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListId {
    start: usize,
    end: usize,
}

/// A node together with its tree.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a, 't> {
    tree: &'a Tree<'t>,
    id: NodeId,
}

impl<'t> Tree<'t> {
    /// Every node, in the order in which they end: children before their parents, the root last.
    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node<'_, 't>> {
        (0..self.nodes.len()).map(|id| Node { tree: self, id: NodeId(id) })
    }

    /// One of them.
    pub(crate) fn node(&self, id: NodeId) -> Node<'_, 't> {
        Node { tree: self, id }
    }
}

impl NodeId {
    /// Its place among [`Tree::nodes`].
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

impl<'a, 't> Node<'a, 't> {
    /// Which of its tree's.
    pub(crate) fn id(self) -> NodeId {
        self.id
    }

    /// What it is.
    pub(crate) fn kind(self) -> Option<NodeKind> {
        self.record().map(|record| record.kind)
    }

    /// Its fields that are printed: name, role, value.
    pub(crate) fn fields(self) -> impl Iterator<Item = (&'static str, Role, Value<'t>)> + use<'a, 't> {
        let range = self.record().map_or(0..0, |record| record.fields.clone());
        self.tree
            .fields
            .get(range)
            .unwrap_or_default()
            .iter()
            .map(|field| (field.name, field.role, field.value))
    }

    /// A field's value; null where it is not printed.
    pub(crate) fn value(self, name: &str) -> Value<'t> {
        self.fields().find(|(known, _, _)| *known == name).map_or(Value::Null, |(_, _, value)| value)
    }

    /// A field that is a number.
    pub(crate) fn number(self, name: &str) -> Option<u32> {
        match self.value(name) {
            Value::Token(token) => token.parse().ok(),
            Value::Null | Value::Node(_) | Value::List(_) | Value::Bytes(_) => None,
        }
    }

    /// A field that is a word.
    pub(crate) fn token(self, name: &str) -> Option<&'t str> {
        match self.value(name) {
            Value::Token(token) => Some(token),
            Value::Null | Value::Node(_) | Value::List(_) | Value::Bytes(_) => None,
        }
    }

    /// A field that is a list of nodes; others give none.
    pub(crate) fn list(self, name: &str) -> impl Iterator<Item = Self> + use<'a, 't> {
        self.nodes_of(self.value(name))
    }

    /// The nodes of a value that is a list of them.
    pub(crate) fn nodes_of(self, value: Value<'t>) -> impl Iterator<Item = Self> + use<'a, 't> {
        self.items(value).filter_map(move |item| match item {
            Value::Node(id) => Some(Self { tree: self.tree, id }),
            Value::Null | Value::Token(_) | Value::List(_) | Value::Bytes(_) => None,
        })
    }

    /// Every node in its fields and their lists, and in the lists of these.
    pub(crate) fn children(self) -> impl Iterator<Item = Self> + use<'a, 't> {
        let values = self.fields().map(|(_, _, value)| value);
        values.flat_map(move |value| self.items(value)).flat_map(move |item| self.nodes_of(item))
    }

    /// The items of a value that is a list, else the value itself.
    pub(crate) fn items(self, value: Value<'t>) -> impl Iterator<Item = Value<'t>> + use<'a, 't> {
        let (alone, list) = match value {
            Value::List(list) => (None, self.tree.items.get(list.start..list.end)),
            Value::Null => (None, None),
            Value::Token(_) | Value::Node(_) | Value::Bytes(_) => (Some(value), None),
        };
        alone.into_iter().chain(list.unwrap_or_default().iter().copied())
    }

    fn record(self) -> Option<&'a NodeRecord> {
        self.tree.nodes.get(self.id.0)
    }
}
