//! Names in bodies that PostgreSQL keeps as text. Which of the functions of a name runs is decided when the body does, by
//! types and search path; so all of them must pass.

use std::sync::Arc;

use super::{Judgement, Object, Origin};

impl Judgement<'_> {
    pub(super) fn function_name(&mut self, name: &str, origin: &Arc<Origin>) {
        for oid in self.facts.function_names.get(name).cloned().unwrap_or_default() {
            self.reach(Object::Function(oid), origin);
        }
    }

    pub(super) fn operator_name(&mut self, name: &str, origin: &Arc<Origin>) {
        for oid in self.facts.operator_names.get(name).cloned().unwrap_or_default() {
            self.reach(Object::Operator(oid), origin);
        }
    }

    pub(super) fn casts(&mut self, origin: &Arc<Origin>) {
        for oid in self.facts.casts.clone().unwrap_or_default() {
            self.reach(Object::Function(oid), origin);
        }
    }
}
