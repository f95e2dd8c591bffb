//! Types: what runs whenever a value of one is read, written, compared or checked.

use std::sync::Arc;

use super::{Json, Judgement, Object, Origin, Reads};
use crate::builtin;
use crate::extension;
use crate::facts::{Oid, TypeKind};
use crate::verdict::Code;

impl Judgement<'_> {
    pub(super) fn type_(&mut self, oid: Oid, json: Json, origin: &Arc<Origin>) {
        if builtin::names_objects(oid) && self.is_limited(origin) {
            let message =
                "a type whose values name objects of the catalog (regclass, regtype, …) is used".to_owned();
            self.finding(Code::TypeNamesObjects, message, "write names as text", origin);
        }
        if oid.is_pinned() {
            return;
        }
        let Some(fact) = self.facts.type_(oid) else { return };
        let name = &fact.name;
        // A row type shows the names of the relation's columns.
        if let (Some(relation), true) = (fact.relation, self.is_limited(origin)) {
            self.reach(Object::Named(relation), origin);
        }
        if json == Json::Yes {
            let within = origin.inside(format!("the cast of type `{name}` to JSON"));
            fact.json_casts.iter().for_each(|cast| self.reach(Object::Function(*cast), &within));
        }
        for check in &fact.checks {
            let within = origin.inside(check.owner.clone());
            self.tree(&check.tree, &within, Reads::Nothing);
        }
        // What a listed extension's types run belongs to the extension, or was made for it by a superuser.
        let listed = fact.extension.as_deref().is_some_and(extension::is_listed);
        if !listed && !oid.is_initial() {
            let what = if fact.kind == TypeKind::Range { "range type" } else { "type" };
            let within = origin.inside(format!("{what} `{name}`"));
            fact.functions.iter().for_each(|function| self.reach(Object::Support(*function), &within));
        }
        for part in &fact.parts {
            self.reach(Object::Type(*part, json), origin);
        }
    }
}
