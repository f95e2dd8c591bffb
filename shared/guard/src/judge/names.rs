//! Names in bodies that PostgreSQL keeps as text. Which of the functions of a name runs is decided when the body does, by
//! types and search path; so all of them must pass.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Json, Judgement, Object, Origin, Overloads, UsedBy};
use crate::extension::is_listed;
use crate::facts::{CastTarget, Oid};

impl Judgement<'_> {
    pub(super) fn function_name(&mut self, name: &str, which: Overloads, origin: &Arc<Origin>) {
        for oid in self.facts.functions_named(name).unwrap_or_default() {
            match which {
                Overloads::Others | Overloads::Found if oid.is_initial() => {}
                Overloads::Found => self.reach(Object::Found(oid), origin),
                Overloads::Simplified(given) if !oid.is_initial() => {
                    self.reach(Object::Simplified(oid, given), origin);
                }
                Overloads::All | Overloads::Others | Overloads::Simplified(_) => {
                    self.reach(Object::Function(oid), origin);
                }
            }
        }
    }

    pub(super) fn operator_name(&mut self, name: &str, origin: &Arc<Origin>) {
        for oid in self.facts.operators_named(name).unwrap_or_default() {
            self.reach(Object::Operator(oid), origin);
        }
    }

    pub(super) fn type_name(&mut self, name: &str, origin: &Arc<Origin>) {
        for oid in self.facts.types_named(name).unwrap_or_default() {
            self.reach(Object::Type(oid, Json::No), origin);
        }
    }

    pub(super) fn casts(&mut self, origin: &Arc<Origin>) {
        for cast in self.facts.casts().unwrap_or_default() {
            self.reach(Object::Cast(cast.function), origin);
        }
    }

    pub(super) fn json_casts(&mut self, origin: &Arc<Origin>) {
        let casts = self.facts.casts().unwrap_or_default().into_iter();
        for cast in casts.filter(|cast| cast.target == CastTarget::Json) {
            self.reach(Object::Function(cast.function), origin);
        }
    }

    pub(super) fn text_casts(&mut self, origin: &Arc<Origin>) {
        let casts = self.facts.casts().unwrap_or_default().into_iter();
        for cast in casts.filter(|cast| cast.target == CastTarget::Text) {
            self.reach(Object::TextCast(cast.function), origin);
        }
    }

    /// A cast that what writes text runs on a value of its type, which the tree then names.
    pub(super) fn text_cast(&mut self, oid: Oid, origin: &Arc<Origin>) {
        match self.facts.function(oid).and_then(|fact| fact.types.first().copied()) {
            Some(source) if !source.is_initial() => self.dormant.push((oid, source, Arc::clone(origin))),
            _ => self.function(oid, origin),
        }
    }

    /// A cast of an extension that is not listed stands in nobody's way who has no value of its type: wherever one comes from,
    /// the type is reached too.
    pub(super) fn cast(&mut self, oid: Oid, origin: &Arc<Origin>) {
        let fact = self.facts.function(oid);
        let unlisted = fact.filter(|fact| fact.extension.as_deref().is_some_and(|name| !is_listed(name)));
        match unlisted.and_then(|fact| fact.types.first().copied()) {
            Some(source) if !source.is_initial() => self.dormant.push((oid, source, Arc::clone(origin))),
            _ => self.function(oid, origin),
        }
    }

    /// Whether there now is a value for a cast that was passed over.
    pub(super) fn wake_casts(&mut self) -> bool {
        let is_reached = |seen: &HashSet<(Object, UsedBy)>, source| {
            let reached = |json, by| seen.contains(&(Object::Type(source, json), by));
            [Json::No, Json::Yes]
                .into_iter()
                .any(|json| reached(json, UsedBy::Statement) || reached(json, UsedBy::Relation))
        };
        let (awake, dormant): (Vec<_>, Vec<_>) = std::mem::take(&mut self.dormant)
            .into_iter()
            .partition(|(_, source, _)| is_reached(&self.seen, *source));
        self.dormant = dormant;
        for (function, _, origin) in awake {
            self.reach(Object::Function(function), &origin);
        }
        !self.open.is_empty()
    }
}
