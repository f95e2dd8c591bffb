//! One pass over a tree: what of it runs, and what may not stand in it.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Given, Json, Judgement, Object, Origin, Reads, UsedBy, literal};
use crate::builtin;
use crate::facts::{Major, Oid};
use crate::tree::{Node, NodeId, NodeKind, Role, Tree, Value};
use crate::verdict::Code;

impl Judgement<'_> {
    /// Calls that are only simplified are those of `simplified`.
    pub(super) fn scan(
        &mut self,
        tree: &Tree<'_>,
        origin: &Arc<Origin>,
        reads: Reads,
        simplified: &HashMap<NodeId, Given>,
    ) {
        let json = if tree.nodes().any(writes_json) { Json::Yes } else { Json::No };
        let exempt = text_search_names(tree);
        for node in tree.nodes() {
            for (name, role, value) in node.fields() {
                match role {
                    Role::Plain => {}
                    Role::Function if name == "funcid" && is_setting(node, self.major) => {
                        self.setting(node, origin);
                    }
                    Role::Function
                        if name == "funcid"
                            && let Some(given) = simplified.get(&node.id()) =>
                    {
                        self.each(node, value, origin, |oid| Object::Simplified(oid, *given));
                    }
                    // The handlers that PostgreSQL brings take internal arguments.
                    Role::Function if name == "tsmhandler" => self.each(node, value, origin, Object::Support),
                    Role::Function => self.each(node, value, origin, Object::Function),
                    Role::Operator => self.each(node, value, origin, Object::Operator),
                    Role::Type if exempt.contains(&value_number(value)) && name == "consttype" => {}
                    Role::Type if only_passes_on(node, name, value) => {}
                    Role::Type => self.each(node, value, origin, |oid| Object::Type(oid, json)),
                    Role::Relation => self.relations(node, value, origin, reads),
                }
            }
            self.node(node, origin);
        }
        if json == Json::Yes && holds_records(tree) {
            self.reach(Object::JsonCasts, origin);
        }
    }

    fn each(
        &mut self,
        node: Node<'_, '_>,
        value: Value<'_>,
        origin: &Arc<Origin>,
        object: impl Fn(Oid) -> Object,
    ) {
        for item in node.items(value) {
            match oid(item) {
                Some(Oid(0)) => {}
                Some(oid) => self.reach(object(oid), origin),
                None => self.unreadable(node, origin),
            }
        }
    }

    fn relations(&mut self, node: Node<'_, '_>, value: Value<'_>, origin: &Arc<Origin>, reads: Reads) {
        for item in node.items(value) {
            match (oid(item), reads) {
                (Some(Oid(0)), _) => {}
                (Some(oid), Reads::Relations) => self.reach(Object::Named(oid), origin),
                (Some(oid), Reads::InnerRelations) => self.reach(Object::Inner(oid), origin),
                (Some(_), Reads::Nothing) => self.finding(
                    Code::FunctionReads,
                    "a function or expression reads a table or view".to_owned(),
                    "the owner of the node can allow the function by name",
                    origin,
                ),
                (None, _) => self.unreadable(node, origin),
            }
        }
    }

    fn unreadable(&mut self, node: Node<'_, '_>, origin: &Origin) {
        let kind = node.kind().map_or("?", NodeKind::name);
        let message = format!("a part of the statement could not be read: {kind}");
        self.finding(Code::UnknownNode, message, "write it in another way", origin);
    }

    /// What a kind of node must be besides its OIDs.
    fn node(&mut self, node: Node<'_, '_>, origin: &Arc<Origin>) {
        match node.kind() {
            Some(NodeKind::Query) if !only_selects(node) => {
                let message = "a part of the statement does not only read".to_owned();
                self.finding(Code::WritesData, message, "only reads run here", origin);
            }
            _ => {}
        }
    }

    /// `current_setting` tells one setting, named by a literal.
    fn setting(&mut self, call: Node<'_, '_>, origin: &Arc<Origin>) {
        match call.list("args").next().and_then(literal::text) {
            Some(name) if setting_is_told(&name, origin.by, &self.rules.told_settings) => {}
            Some(name) => self.setting_refused(&format!("the setting `{name}`"), origin),
            None => self.setting_refused("a setting that is not named by a literal", origin),
        }
    }
}

/// Whether a setting may be read: one that is listed or told to this caller, or, by the definition of a relation, one of those
/// that applications make up to say for whom they ask. Their names have a dot.
pub(super) fn setting_is_told(name: &str, by: UsedBy, told: &[String]) -> bool {
    crate::show::is_listed(name)
        || told.iter().any(|told| told.eq_ignore_ascii_case(name))
        || (by == UsedBy::Relation && name.contains('.'))
}

/// Whether it is a call of `current_setting`.
fn is_setting(call: Node<'_, '_>, major: Major) -> bool {
    let function = call.number("funcid").and_then(|oid| builtin::function(Oid(oid), major));
    call.kind() == Some(NodeKind::FuncExpr)
        && function.is_some_and(|known| known.without_selection == builtin::Ruling::Setting)
}

/// Whether a type that names objects stands where no value of it is made: a column of something else, or `pg_typeof`, which
/// tells the type of a value that the caller has.
fn only_passes_on(node: Node<'_, '_>, field: &str, value: Value<'_>) -> bool {
    let passes = match field {
        "vartype" => true,
        "funcresulttype" => node.number("funcid") == Some(builtin::PG_TYPEOF),
        _ => false,
    };
    passes && oid(value).is_some_and(builtin::names_objects)
}

/// Whether rows of unknown columns are at hand.
fn holds_records(tree: &Tree<'_>) -> bool {
    tree.nodes().flat_map(Node::fields).any(|(_, role, value)| {
        role == Role::Type && value_number(value).is_some_and(|oid| matches!(oid, 2249 | 2287))
    })
}

/// A query that reads: `SELECT`, without rows locked, without a part that writes.
fn only_selects(query: Node<'_, '_>) -> bool {
    let empty = |name: &str| matches!(query.value(name), Value::Null);
    query.number("commandType") == Some(1)
        && query.number("resultRelation") == Some(0)
        && query.token("hasModifyingCTE") == Some("false")
        && query.token("hasForUpdate") == Some("false")
        && [
            "utilityStmt",
            "rowMarks",
            "onConflict",
            "returningList",
            "withCheckOptions",
            "mergeActionList",
            "mergeJoinCondition",
        ]
        .into_iter()
        .all(empty)
}

/// Whether values are turned into JSON here, by a cast that PostgreSQL looks up by their type.
fn writes_json(node: Node<'_, '_>) -> bool {
    let by_function = |field: &str| node.number(field).is_some_and(|oid| builtin::writes_json(Oid(oid)));
    match node.kind() {
        Some(NodeKind::FuncExpr) => by_function("funcid"),
        Some(NodeKind::Aggref) => by_function("aggfnoid"),
        Some(NodeKind::WindowFunc) => by_function("winfnoid"),
        Some(NodeKind::JsonConstructorExpr | NodeKind::JsonExpr | NodeKind::JsonValueExpr) => true,
        _ => false,
    }
}

/// Types of constants that are handed, as they are, to a text search function, and of no other: such a constant names a
/// configuration or dictionary by OID and is harmless.
fn text_search_names(tree: &Tree<'_>) -> Vec<Option<u32>> {
    let is_name = |node: &Node<'_, '_>| {
        node.kind() == Some(NodeKind::Const)
            && node.number("consttype").is_some_and(|oid| builtin::names_text_search(Oid(oid)))
    };
    let all = tree.nodes().filter(is_name).count();
    let handed = tree
        .nodes()
        .filter(|node| node.kind() == Some(NodeKind::FuncExpr))
        .filter(|node| node.number("funcid").is_some_and(|oid| builtin::takes_text_search_name(Oid(oid))))
        .flat_map(|node| node.list("args"))
        .filter(is_name)
        .count();
    if all > 0 && all == handed { vec![Some(3734), Some(3769)] } else { Vec::new() }
}

fn value_number(value: Value<'_>) -> Option<u32> {
    match value {
        Value::Token(token) => token.parse().ok(),
        Value::Null | Value::Node(_) | Value::List(_) | Value::Bytes(_) => None,
    }
}

fn oid(value: Value<'_>) -> Option<Oid> {
    value_number(value).map(Oid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_told_where_it_is_listed_or_of_the_caller() {
        let told = ["pinguard.claim_tenant".to_owned()];
        let by_statement = |name: &str| setting_is_told(name, UsedBy::Statement, &told);
        for name in ["TimeZone", "work_mem", "pinguard.claim_tenant", "Pinguard.CLAIM_tenant"] {
            assert!(by_statement(name), "{name}");
        }
        for name in [
            "pinguard.claim_email",
            "pinguard.claim_tenant2",
            "pinguard.claim_",
            "pinguard",
            "app.user",
            "data_directory",
            " pinguard.claim_tenant",
            "",
        ] {
            assert!(!by_statement(name), "{name}");
        }
        assert!(!setting_is_told("pinguard.claim_tenant", UsedBy::Statement, &[]));
        assert!(setting_is_told("pinguard.claim_email", UsedBy::Relation, &[]), "of a policy or a view");
    }
}
