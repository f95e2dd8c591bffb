//! Relations: whether they may be read, and what runs when they are.

use std::sync::Arc;

use super::simplified::Leaves;
use super::{Judgement, Object, Origin, Reads};
use crate::builtin;
use crate::facts::{ObjectName, Oid, RelationFact, RelationKind};
use crate::rules::Selection;
use crate::scope;
use crate::verdict::{Code, Finding};

impl Judgement<'_> {
    /// A relation that the statement itself names.
    pub(super) fn named_relation(&mut self, oid: Oid, origin: &Arc<Origin>) {
        let Some(fact) = self.facts.relation(oid) else { return };
        self.named.insert(fact.name.clone());
        if let Selection::Only(selected) = &self.rules.selection
            && !is_among(&fact.name, selected)
        {
            let Finding { code, message, help, .. } = scope::not_selected(&fact.name.to_string(), selected);
            return self.finding(code, message, &help, origin);
        }
        self.relation(oid, &fact, origin);
    }

    /// A relation that is read on behalf of another.
    pub(super) fn inner_relation(&mut self, oid: Oid, origin: &Arc<Origin>) {
        if let Some(fact) = self.facts.relation(oid) {
            self.relation(oid, &fact, origin);
        }
    }

    fn relation(&mut self, oid: Oid, fact: &RelationFact, origin: &Arc<Origin>) {
        if oid.is_initial() || matches!(fact.kind, RelationKind::Toast | RelationKind::Other) {
            return self.of_system(fact, origin);
        }
        let allowed = is_among(&fact.name, &self.rules.allowed_foreign_tables);
        let foreign = match fact.kind {
            RelationKind::PostgresForeignTable if allowed => None,
            RelationKind::PostgresForeignTable => Some("of another server, where other rights count"),
            RelationKind::OtherForeignTable => Some("of files, programs or another system"),
            RelationKind::Table
            | RelationKind::View
            | RelationKind::MaterializedView
            | RelationKind::Sequence
            | RelationKind::Toast
            | RelationKind::Other => None,
        };
        if let Some(what) = foreign {
            let message = format!("it reads {}, a foreign table {what}", shown(&fact.name));
            let help = "the owner of the node can allow a foreign table of postgres_fdw by name";
            return self.finding(Code::ForeignTable, message, help, origin);
        }
        for expression in &fact.runs {
            self.tree(&expression.tree, &Origin::relation(&expression.owner), Reads::InnerRelations);
        }
        for expression in &fact.folds {
            self.simplified_tree(&expression.tree, Leaves::Columns, &Origin::relation(&expression.owner));
        }
        let within = Origin::relation(&format!("the children of `{}`", fact.name));
        for child in &fact.children {
            self.reach(Object::Inner(*child), &within);
        }
    }

    /// PostgreSQL's own relations are judged by name: what is listed shows structure and statistics.
    fn of_system(&mut self, fact: &RelationFact, origin: &Origin) {
        if !builtin::relation(&fact.name.schema, &fact.name.name) {
            let message = format!(
                "it reads {}, which holds passwords, settings, raw values or other callers' work",
                shown(&fact.name)
            );
            self.finding(Code::SystemRelation, message, "the other catalogs can be read", origin);
        }
    }
}

/// Whether a name is on a list. One that does not show whole, in a database without an encoding, is on none.
pub(super) fn is_among(name: &ObjectName, list: &[ObjectName]) -> bool {
    list.contains(name) && !name.to_string().contains(char::REPLACEMENT_CHARACTER)
}

fn shown(name: &ObjectName) -> String {
    format!("`{name}`")
}
