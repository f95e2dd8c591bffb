//! The judgement: everything that a statement's tree reaches, followed to its end.
//!
//! It does no I/O. It says which objects it must know more of, is told, and goes on, until all that runs is known: the
//! functions behind operators, casts, types and aggregates, the views' rules, the policies, the bodies of functions.

mod function;
mod names;
mod plpgsql;
mod relation;
mod scan;
mod sql;
mod types;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::facts::{Facts, Major, Needs, ObjectName, Oid};
use crate::rules::{Rules, Selection};
use crate::tree;
use crate::verdict::{Code, Finding, Refusal};

/// Something that runs or is read, and has to be judged once for each way in which it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Object {
    /// A function that is called by name, or stands behind an operator or cast.
    Function(Oid),
    /// A function that runs inside a type or an aggregate.
    Support(Oid),
    Operator(Oid),
    Type(Oid, TypeUse),
    /// A relation that the statement itself names.
    Named(Oid),
    /// A relation that is read on behalf of another: a view's, or a child.
    Inner(Oid),
    /// Every function of a name, since a body does not say which.
    FunctionName(String),
    OperatorName(String),
    /// Every cast that somebody made, since a body does not say which it uses.
    Casts,
}

/// In what way a type is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct TypeUse {
    /// Its values are turned into JSON.
    json: Json,
    /// The statement itself uses it, so the row type of a relation counts as naming the relation.
    by: UsedBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Json {
    No,
    Yes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum UsedBy {
    Statement,
    Other,
}

impl TypeUse {
    const PLAIN: Self = Self { json: Json::No, by: UsedBy::Other };
}

/// Through what an object was reached.
#[derive(Debug)]
enum Origin {
    Statement,
    Within(String),
}

impl Origin {
    /// For a message: empty, or through what.
    fn suffix(&self) -> String {
        match self {
            Self::Statement => String::new(),
            Self::Within(owner) => format!(" (through {owner})"),
        }
    }
}

/// Where a judgement stands.
pub enum Step {
    /// It needs to know these.
    Need(Needs),
    /// It is done, and the statement may run.
    Clear(Clear),
    /// It is done, and the statement may not.
    Refused(Refusal),
}

/// What is known of a statement that may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clear {
    /// The relations that the statement itself names.
    pub relations: Vec<ObjectName>,
}

/// A judgement under way.
pub struct Judgement<'r> {
    rules: &'r Rules,
    major: Major,
    facts: Facts,
    open: Vec<(Object, Arc<Origin>)>,
    waiting: Vec<(Object, Arc<Origin>)>,
    needs: Needs,
    seen: HashSet<Object>,
    named: BTreeSet<ObjectName>,
    findings: Vec<Finding>,
}

impl<'r> Judgement<'r> {
    /// Begins with a statement's tree as PostgreSQL printed it, and what is already known.
    pub fn begin(tree: &str, major: Major, rules: &'r Rules, facts: Facts) -> Self {
        let mut judgement = Self {
            rules,
            major,
            facts,
            open: Vec::new(),
            waiting: Vec::new(),
            needs: Needs::default(),
            seen: HashSet::new(),
            named: BTreeSet::new(),
            findings: Vec::new(),
        };
        judgement.tree(tree, &Arc::new(Origin::Statement), Reads::Relations);
        judgement
    }

    /// Goes on as far as it can.
    pub fn step(&mut self) -> Step {
        while let Some((object, origin)) = self.open.pop() {
            self.judge(object, &origin);
        }
        if !self.needs.is_empty() {
            return Step::Need(self.needs.clone());
        }
        match Refusal::all(std::mem::take(&mut self.findings)) {
            Some(refusal) => Step::Refused(refusal),
            None => Step::Clear(Clear { relations: self.named.iter().cloned().collect() }),
        }
    }

    /// Takes what was found of the needs of the last step.
    pub fn learn(&mut self, facts: Facts) {
        self.facts.extend(facts);
        let asked = std::mem::take(&mut self.needs);
        for (object, origin) in std::mem::take(&mut self.waiting) {
            if self.is_known(&object) {
                self.open.push((object, origin));
            } else {
                self.gone(&object, &origin, &asked);
            }
        }
    }

    fn judge(&mut self, object: Object, origin: &Arc<Origin>) {
        if !self.is_known(&object) {
            self.need(&object);
            self.waiting.push((object, Arc::clone(origin)));
            return;
        }
        match object {
            Object::Function(oid) => self.function(oid, origin),
            Object::Support(oid) => self.support(oid, origin),
            Object::Operator(oid) => self.operator(oid, origin),
            Object::Type(oid, how) => self.type_(oid, how, origin),
            Object::Named(oid) => self.named_relation(oid, origin),
            Object::Inner(oid) => self.inner_relation(oid, origin),
            Object::FunctionName(name) => self.function_name(&name, origin),
            Object::OperatorName(name) => self.operator_name(&name, origin),
            Object::Casts => self.casts(origin),
        }
    }

    /// Puts an object on the list, once for each way it can be reached.
    fn reach(&mut self, object: Object, origin: &Arc<Origin>) {
        if self.seen.insert(object.clone()) {
            self.open.push((object, Arc::clone(origin)));
        }
    }

    /// Reads a tree and puts everything that it reaches on the list.
    fn tree(&mut self, text: &str, origin: &Arc<Origin>, reads: Reads) {
        match tree::read(text, self.major) {
            Ok(tree) => self.scan(&tree, origin, reads),
            Err(error) => self.finding(
                Code::UnknownNode,
                format!("the statement uses a part of PostgreSQL that is not known here: {error}"),
                "write it in another way",
                origin,
            ),
        }
    }

    fn finding(&mut self, code: Code, message: String, help: &str, origin: &Origin) {
        let finding = Finding::new(code, message + &origin.suffix(), help);
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Whether judging an object can begin.
    fn is_known(&self, object: &Object) -> bool {
        match object {
            Object::Function(oid) | Object::Support(oid) => {
                oid.is_pinned() || self.facts.functions.contains_key(oid)
            }
            Object::Operator(oid) => oid.is_pinned() || self.facts.operators.contains_key(oid),
            Object::Type(oid, _) => oid.is_pinned() || self.facts.types.contains_key(oid),
            Object::Named(oid) | Object::Inner(oid) => self.facts.relations.contains_key(oid),
            Object::FunctionName(name) => self.facts.function_names.contains_key(name),
            Object::OperatorName(name) => self.facts.operator_names.contains_key(name),
            Object::Casts => self.facts.casts.is_some(),
        }
    }

    fn need(&mut self, object: &Object) {
        match object {
            Object::Function(oid) | Object::Support(oid) => drop(self.needs.functions.insert(*oid)),
            Object::Operator(oid) => drop(self.needs.operators.insert(*oid)),
            Object::Type(oid, _) => drop(self.needs.types.insert(*oid)),
            Object::Named(oid) | Object::Inner(oid) => drop(self.needs.relations.insert(*oid)),
            Object::FunctionName(name) => drop(self.needs.function_names.insert(name.clone())),
            Object::OperatorName(name) => drop(self.needs.operator_names.insert(name.clone())),
            Object::Casts => self.needs.casts = true,
        }
    }

    /// An object that was asked for and not found.
    fn gone(&mut self, object: &Object, origin: &Origin, asked: &Needs) {
        debug_assert!(!asked.is_empty());
        let what = match object {
            Object::Function(oid) | Object::Support(oid) => format!("function {}", oid.0),
            Object::Operator(oid) => format!("operator {}", oid.0),
            Object::Type(oid, _) => format!("type {}", oid.0),
            Object::Named(oid) | Object::Inner(oid) => format!("relation {}", oid.0),
            Object::FunctionName(name) => format!("functions named `{name}`"),
            Object::OperatorName(name) => format!("operators named `{name}`"),
            Object::Casts => "casts".to_owned(),
        };
        self.finding(Code::ObjectGone, format!("{what} could not be looked up"), "try again", origin);
    }

    fn has_selection(&self) -> bool {
        match self.rules.selection {
            Selection::Everything => false,
            Selection::Only(_) => true,
        }
    }
}

/// Whether a tree may name relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// It may, and those are the caller's own.
    Relations,
    /// It may, on behalf of a view or policy.
    InnerRelations,
    /// It is a function's body or an expression: it may not.
    Nothing,
}
