//! Expressions of a table that the planner simplifies and never computes: those of indexes, checks, statistics and partition
//! keys.
//!
//! Planning any read of a table simplifies them, to compare them with the statement: a call on constants is made, a call on a
//! column is not, and in place of a call of an SQL function stands its body, simplified in turn. So a call counts as made unless
//! each argument keeps a column, or is a constant besides such. Operators always count: two constants are compared to prove a
//! check or a partition impossible. Predicates of partial indexes are computed on rows, and do not belong here.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Given, Judgement, Object, Origin, Reads};
use crate::builtin;
use crate::facts::Oid;
use crate::tree::{Node, NodeId, NodeKind, Tree};

/// What stands for a column in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    Columns,
    /// A function's arguments, which are columns where it is called.
    Arguments,
}

impl Judgement<'_> {
    pub(super) fn simplified_tree(&mut self, text: &str, leaves: Leaves, origin: &Arc<Origin>) {
        if let Some(tree) = self.read(text, origin) {
            let calls = calls_on_columns(&tree, leaves);
            self.scan(&tree, origin, Reads::Nothing, &calls);
        }
    }

    /// A function that is called on columns: what of it runs all the same are the defaults of arguments that are not given, and
    /// what of an SQL function's body does.
    pub(super) fn simplified(&mut self, oid: Oid, given: Given, origin: &Arc<Origin>) {
        let Some(fact) = self.facts.function(oid) else { return };
        let within = origin.inside(format!("function `{}`", fact.name));
        if let Some(defaults) = &fact.defaults {
            self.tree(defaults, &within, Reads::Nothing);
        }
        if fact.language != "sql" {
            return;
        }
        if given == Given::ConstantsToo || fact.defaults.is_some() {
            return self.reach(Object::Function(oid), origin);
        }
        self.signature(&fact, &within);
        match &fact.sql_body {
            Some(body) => {
                self.simplified_tree(body, Leaves::Arguments, &within);
                self.reach(Object::Casts, &within);
            }
            None => self.simplified_source(&fact, &within),
        }
    }
}

/// The calls of functions that somebody made which stay calls.
fn calls_on_columns(tree: &Tree<'_>, leaves: Leaves) -> HashMap<NodeId, Given> {
    let mut calls = HashMap::new();
    let mut varying = HashSet::new();
    for node in tree.nodes() {
        let varies = match node.kind() {
            Some(NodeKind::Var) => node.token("varattno").is_some_and(|number| !number.starts_with('-')),
            Some(NodeKind::Param) => leaves == Leaves::Arguments,
            Some(
                NodeKind::RelabelType
                | NodeKind::CollateExpr
                | NodeKind::CoerceViaIO
                | NodeKind::CoerceToDomain,
            ) => first(node, "arg").is_some_and(|argument| varying.contains(&argument.id())),
            Some(NodeKind::FieldSelect) => {
                first(node, "arg").is_some_and(|row| row.kind() == Some(NodeKind::Var))
            }
            Some(NodeKind::SubscriptingRef) => {
                first(node, "refexpr").is_some_and(|array| varying.contains(&array.id()))
            }
            Some(NodeKind::CoalesceExpr) => {
                first(node, "args").is_some_and(|argument| varying.contains(&argument.id()))
            }
            Some(NodeKind::OpExpr) => {
                given(node, &varying).is_some()
                    && is_plain(node.number("opno"), builtin::operator_writes_text)
            }
            Some(NodeKind::FuncExpr) => match (given(node, &varying), node.number("funcid").map(Oid)) {
                (Some(given), Some(function)) if !function.is_initial() => {
                    calls.insert(node.id(), given);
                    false
                }
                (given, function) => {
                    given.is_some() && is_plain(function.map(|oid| oid.0), builtin::writes_text)
                }
            },
            _ => false,
        };
        if varies {
            varying.insert(node.id());
        }
    }
    calls
}

/// On what a call stands; none where it may come to stand on constants alone, or be dropped for a NULL.
fn given(call: Node<'_, '_>, varying: &HashSet<NodeId>) -> Option<Given> {
    let (columns, others): (Vec<_>, Vec<_>) =
        call.list("args").partition(|argument| varying.contains(&argument.id()));
    let constant = |argument: &Node<'_, '_>| {
        argument.kind() == Some(NodeKind::Const) && argument.token("constisnull") == Some("false")
    };
    match (columns.is_empty(), others.is_empty()) {
        (true, _) => None,
        (false, true) => Some(Given::Columns),
        (false, false) => others.iter().all(constant).then_some(Given::ConstantsToo),
    }
}

/// Whether it is PostgreSQL's own and computes on its arguments as they are.
fn is_plain(oid: Option<u32>, casts: impl Fn(Oid) -> bool) -> bool {
    oid.map(Oid).is_some_and(|oid| oid.is_pinned() && !casts(oid))
}

fn first<'a, 't>(node: Node<'a, 't>, field: &str) -> Option<Node<'a, 't>> {
    node.list(field).next()
}
