//! Types: what runs whenever a value of one is read, written, compared or checked.

use std::sync::Arc;

use super::{Json, Judgement, Object, Origin, Reads, TypeUse, UsedBy};
use crate::builtin;
use crate::extension;
use crate::facts::{Oid, TypeKind};
use crate::verdict::Code;

impl Judgement<'_> {
    pub(super) fn type_(&mut self, oid: Oid, how: TypeUse, origin: &Arc<Origin>) {
        if builtin::names_objects(oid) && self.has_selection() {
            let message =
                "a type whose values name objects of the catalog (regclass, regtype, …) is used".to_owned();
            self.finding(Code::TypeNamesObjects, message, "write names as text", origin);
        }
        if oid.is_pinned() {
            return;
        }
        let Some(fact) = self.facts.types.get(&oid).cloned() else { return };
        let name = &fact.name;
        if let (Some(relation), true, UsedBy::Statement) = (fact.relation, self.has_selection(), how.by) {
            self.reach(Object::Named(relation), origin);
        }
        if how.json == Json::Yes {
            let within = Arc::new(Origin::Within(format!("the cast of type `{name}` to JSON")));
            fact.json_casts.iter().for_each(|cast| self.reach(Object::Function(*cast), &within));
        }
        for check in &fact.checks {
            let within = Arc::new(Origin::Within(check.owner.clone()));
            self.tree(&check.tree, &within, Reads::Nothing);
        }
        // What a listed extension's types run belongs to the extension, or was made for it by a superuser.
        let listed = fact.extension.as_deref().is_some_and(extension::is_listed);
        if !listed && !oid.is_initial() {
            let what = if fact.kind == TypeKind::Range { "range type" } else { "type" };
            let within = Arc::new(Origin::Within(format!("{what} `{name}`")));
            fact.functions.iter().for_each(|function| self.reach(Object::Support(*function), &within));
        }
        for part in &fact.parts {
            self.reach(Object::Type(*part, how), origin);
        }
    }
}
