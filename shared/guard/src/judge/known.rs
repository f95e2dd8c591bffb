//! What a judgement knows: what was known before it began, and what it learned on the way.

use std::sync::Arc;

use crate::facts::{CastFact, Facts, FunctionFact, Oid, OperatorFact, RelationFact, TypeFact};

/// Facts in two layers, so that beginning a judgement copies none.
pub(super) struct Known {
    before: Arc<Facts>,
    learned: Facts,
}

impl Known {
    pub(super) fn new(before: Arc<Facts>) -> Self {
        Self { before, learned: Facts::default() }
    }

    pub(super) fn learn(&mut self, facts: Facts) {
        self.learned.extend(facts);
    }

    pub(super) fn function(&self, oid: Oid) -> Option<Arc<FunctionFact>> {
        self.find(|facts| facts.functions.get(&oid).cloned())
    }

    pub(super) fn operator(&self, oid: Oid) -> Option<Arc<OperatorFact>> {
        self.find(|facts| facts.operators.get(&oid).cloned())
    }

    pub(super) fn type_(&self, oid: Oid) -> Option<Arc<TypeFact>> {
        self.find(|facts| facts.types.get(&oid).cloned())
    }

    pub(super) fn relation(&self, oid: Oid) -> Option<Arc<RelationFact>> {
        self.find(|facts| facts.relations.get(&oid).cloned())
    }

    pub(super) fn functions_named(&self, name: &str) -> Option<Vec<Oid>> {
        self.find(|facts| facts.function_names.get(name).cloned())
    }

    pub(super) fn operators_named(&self, name: &str) -> Option<Vec<Oid>> {
        self.find(|facts| facts.operator_names.get(name).cloned())
    }

    pub(super) fn types_named(&self, name: &str) -> Option<Vec<Oid>> {
        self.find(|facts| facts.type_names.get(name).cloned())
    }

    pub(super) fn casts(&self) -> Option<Vec<CastFact>> {
        self.find(|facts| facts.casts.clone())
    }

    fn find<T>(&self, look: impl Fn(&Facts) -> Option<T>) -> Option<T> {
        look(&self.learned).or_else(|| look(&self.before))
    }
}
