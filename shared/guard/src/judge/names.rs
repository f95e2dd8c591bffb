//! Names in bodies that PostgreSQL keeps as text. Which of the functions of a name runs is decided when the body does, by
//! types and search path; so all of them must pass.

use std::sync::Arc;

use super::{Json, Judgement, Object, Origin, Overloads};
use crate::facts::{CastFact, CastTarget};

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
        self.casts_that(|_| true, origin);
    }

    pub(super) fn json_casts(&mut self, origin: &Arc<Origin>) {
        self.casts_that(|cast| cast.target == CastTarget::Json, origin);
    }

    fn casts_that(&mut self, counts: impl Fn(&CastFact) -> bool, origin: &Arc<Origin>) {
        for cast in self.facts.casts().unwrap_or_default().iter().filter(|cast| counts(cast)) {
            self.reach(Object::Function(cast.function), origin);
        }
    }
}
