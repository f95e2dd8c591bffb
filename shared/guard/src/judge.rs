//! The judgement: everything that a statement's tree reaches, followed to its end.
//!
//! It does no I/O. It says which objects it must know more of, is told, and goes on, until all that runs is known: the
//! functions behind operators, casts, types and aggregates, the views' rules, the policies, the bodies of functions.

mod columns;
mod cross_check;
mod function;
mod known;
mod literal;
mod names;
mod planning;
mod plpgsql;
mod relation;
mod scan;
mod simplified;
mod sql;
mod types;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use self::known::Known;
use crate::facts::{Facts, Major, Needs, ObjectName, Oid};
use crate::rules::{Rules, Selection};
use crate::tree::{self, Tree};
use crate::verdict::{Code, Finding, Refusal};
use crate::{Admitted, Candidate};

/// Something that runs or is read, and has to be judged once for each way in which it is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Object {
    /// A function that is called by name, or stands behind an operator or cast.
    Function(Oid),
    /// A function that runs inside a type or an aggregate.
    Support(Oid),
    /// A function that runs inside an aggregate of this listed extension.
    Part(Oid, String),
    /// A function that a body of a listed extension finds by the name that it calls.
    Found(Oid),
    /// A function in an expression that the planner simplifies and does not compute.
    Simplified(Oid, Given),
    Operator(Oid),
    Type(Oid, Json),
    /// A relation that the statement itself names.
    Named(Oid),
    /// A relation that is read on behalf of another: a view's, or a child.
    Inner(Oid),
    /// Every function of a name, since a body does not say which.
    FunctionName(String, Overloads),
    OperatorName(String),
    TypeName(String),
    /// Every cast that somebody made, since a body does not say which it uses.
    Casts,
    /// The function of one of these.
    Cast(Oid),
    /// Every cast to JSON that somebody made, since a record does not say what it holds.
    JsonCasts,
    /// Every cast to text that somebody made, since what writes text looks for one.
    TextCasts,
    /// The function of one of these.
    TextCast(Oid),
}

/// Whether values of a type are turned into JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Json {
    No,
    Yes,
}

/// Which functions of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Overloads {
    All,
    /// All but PostgreSQL's own, whose call was looked at already.
    Others,
    /// Those that somebody made, as the body of a listed extension finds them.
    Found,
    /// All, called in an expression that the planner simplifies.
    Simplified(Given),
}

/// On what a call stands that the planner sees and does not make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Given {
    Columns,
    /// On a column or more, and constants besides.
    ConstantsToo,
}

/// On whose behalf an object is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum UsedBy {
    /// The statement's, or that of a function or type that it uses: the caller decides what it is used on.
    Statement,
    /// A relation's: a view's rule, a policy, a check, an index. Whoever owns the relation decided.
    Relation,
}

/// Through what an object was reached.
#[derive(Debug)]
struct Origin {
    by: UsedBy,
    within: Option<String>,
}

impl Origin {
    fn statement() -> Arc<Self> {
        Arc::new(Self { by: UsedBy::Statement, within: None })
    }

    fn relation(owner: &str) -> Arc<Self> {
        Arc::new(Self { by: UsedBy::Relation, within: Some(owner.to_owned()) })
    }

    /// Inside something else, on behalf of the same.
    fn inside(&self, owner: String) -> Arc<Self> {
        Arc::new(Self { by: self.by, within: Some(owner) })
    }

    /// For a message: empty, or through what.
    fn suffix(&self) -> String {
        self.within.as_ref().map_or_else(String::new, |owner| format!(" (through {owner})"))
    }
}

/// Where a judgement stands.
#[derive(Debug)]
pub enum Step {
    /// It needs to know these.
    Need(Needs),
    /// It is done, and the statement may run.
    Clear(Clear),
    /// It is done, and nothing speaks against what was judged, which was no statement.
    Harmless(Needs),
    /// It is done, and the statement may not run.
    Refused(Refusal),
}

/// A statement that may run, and what is known of it.
#[derive(Debug)]
pub struct Clear {
    /// The statement.
    pub statement: Admitted,
    /// The relations that it names itself.
    pub relations: Vec<ObjectName>,
    /// Types of the columns that it returns; empty where the tree is that of another statement, as for EXPLAIN.
    pub columns: Vec<ColumnType>,
    /// Everything besides PostgreSQL's own that the judgement looked at: as long as this stays what it was, so does the verdict.
    pub relied_on: Needs,
}

/// A result column's type, a domain as itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnType {
    /// In `pg_type`.
    pub oid: Oid,
    /// The type's modifier, -1 where there is none.
    pub modifier: i32,
}

/// A judgement under way.
pub struct Judgement<'r> {
    rules: &'r Rules,
    major: Major,
    facts: Known,
    /// The statement, and the types of its columns.
    statement: Option<(&'r Candidate, Vec<ColumnType>)>,
    open: Vec<(Object, Arc<Origin>)>,
    waiting: Vec<(Object, Arc<Origin>)>,
    /// Functions of casts that run only where there is a value of this type.
    dormant: Vec<(Oid, Oid, Arc<Origin>)>,
    needs: Needs,
    relied_on: Needs,
    seen: HashSet<(Object, UsedBy)>,
    named: BTreeSet<ObjectName>,
    findings: Vec<Finding>,
}

impl<'r> Judgement<'r> {
    /// Begins with the tree of a candidate's judged text as PostgreSQL printed it, and what is already known.
    pub fn begin(
        candidate: &'r Candidate,
        tree: &str,
        major: Major,
        rules: &'r Rules,
        known: Arc<Facts>,
    ) -> Self {
        let mut judgement = Self::empty(major, rules, known);
        let columns = judgement.tree(tree, &Origin::statement(), Reads::Relations);
        let columns = if candidate.runs_as_judged() { columns } else { Vec::new() };
        judgement.statement = Some((candidate, columns));
        judgement
    }

    /// Begins with the names in a statement that PostgreSQL could not resolve; none where nothing is selected. What stands
    /// against them is to be told in place of PostgreSQL's error, which could say whether a relation is there that is not
    /// selected, and what its columns are called.
    pub fn of_unresolved(
        candidate: &Candidate,
        major: Major,
        rules: &'r Rules,
        known: Arc<Facts>,
    ) -> Option<Self> {
        let mut judgement = Self::empty(major, rules, known);
        for name in candidate.called() {
            judgement.reach(Object::FunctionName(name.clone(), Overloads::All), &Origin::statement());
            judgement.reach(Object::TypeName(name.clone()), &Origin::statement());
        }
        judgement.has_selection().then_some(judgement)
    }

    /// Begins with types whose values PostgreSQL may make, and check, while it parses.
    pub fn of_types(
        types: impl IntoIterator<Item = Oid>,
        major: Major,
        rules: &'r Rules,
        known: Arc<Facts>,
    ) -> Self {
        let mut judgement = Self::empty(major, rules, known);
        for oid in types {
            judgement.reach(Object::Type(oid, Json::No), &Origin::statement());
        }
        judgement
    }

    fn empty(major: Major, rules: &'r Rules, known: Arc<Facts>) -> Self {
        Self {
            rules,
            major,
            facts: Known::new(known),
            statement: None,
            open: Vec::new(),
            waiting: Vec::new(),
            dormant: Vec::new(),
            needs: Needs::default(),
            relied_on: Needs::default(),
            seen: HashSet::new(),
            named: BTreeSet::new(),
            findings: Vec::new(),
        }
    }

    /// Goes on as far as it can.
    pub fn step(&mut self) -> Step {
        loop {
            while let Some((object, origin)) = self.open.pop() {
                self.judge(object, &origin);
            }
            if !self.wake_casts() {
                break;
            }
        }
        if !self.needs.is_empty() {
            return Step::Need(self.needs.clone());
        }
        match (Refusal::all(std::mem::take(&mut self.findings)), &self.statement) {
            (Some(refusal), _) => Step::Refused(refusal),
            (None, None) => Step::Harmless(self.relied_on.clone()),
            (None, Some((candidate, columns))) => Step::Clear(Clear {
                statement: candidate.admitted(),
                relations: self.named.iter().cloned().collect(),
                columns: columns.clone(),
                relied_on: self.relied_on.clone(),
            }),
        }
    }

    /// Takes what was found of the needs of the last step.
    pub fn learn(&mut self, facts: Facts) {
        self.facts.learn(facts);
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
            need(&mut self.needs, &object);
            self.waiting.push((object, Arc::clone(origin)));
            return;
        }
        need(&mut self.relied_on, &object);
        match object {
            Object::Function(oid) => self.function(oid, origin),
            Object::Support(oid) => self.support(oid, origin),
            Object::Part(oid, extension) => self.part(oid, &extension, origin),
            Object::Found(oid) => self.found(oid, origin),
            Object::Simplified(oid, given) => self.simplified(oid, given, origin),
            Object::Operator(oid) => self.operator(oid, origin),
            Object::Type(oid, json) => self.type_(oid, json, origin),
            Object::Named(oid) => self.named_relation(oid, origin),
            Object::Inner(oid) => self.inner_relation(oid, origin),
            Object::FunctionName(name, which) => self.function_name(&name, which, origin),
            Object::OperatorName(name) => self.operator_name(&name, origin),
            Object::TypeName(name) => self.type_name(&name, origin),
            Object::Casts => self.casts(origin),
            Object::Cast(oid) => self.cast(oid, origin),
            Object::JsonCasts => self.json_casts(origin),
            Object::TextCasts => self.text_casts(origin),
            Object::TextCast(oid) => self.text_cast(oid, origin),
        }
    }

    /// Puts an object on the list, once for each way it can be reached.
    fn reach(&mut self, object: Object, origin: &Arc<Origin>) {
        if self.seen.insert((object.clone(), origin.by)) {
            self.open.push((object, Arc::clone(origin)));
        }
    }

    /// Reads a tree and puts everything that it reaches on the list.
    fn tree(&mut self, text: &str, origin: &Arc<Origin>, reads: Reads) -> Vec<ColumnType> {
        let Some(tree) = self.read(text, origin) else { return Vec::new() };
        self.scan(&tree, origin, reads, &HashMap::new());
        self.planning(&tree, origin);
        columns::of(&tree)
    }

    fn read<'t>(&mut self, text: &'t str, origin: &Origin) -> Option<Tree<'t>> {
        match tree::read(text, self.major) {
            Ok(tree) => Some(tree),
            Err(error) => {
                let message =
                    format!("the statement uses a part of PostgreSQL that is not known here: {error}");
                self.finding(Code::UnknownNode, message, "write it in another way", origin);
                None
            }
        }
    }

    /// With a selection nothing is said of what a relation uses: that would name what is not selected.
    fn finding(&mut self, code: Code, message: String, help: &str, origin: &Origin) {
        let finding = match (self.has_selection(), origin.by) {
            (true, UsedBy::Relation) => Finding::new(
                code,
                "a selected table or view uses what does not run here",
                "leave it out; its owner can see the reason by asking without a selection",
            ),
            _ => Finding::new(code, message + &origin.suffix(), help),
        };
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Whether judging an object can begin.
    fn is_known(&self, object: &Object) -> bool {
        match object {
            Object::Function(oid)
            | Object::Support(oid)
            | Object::Part(oid, _)
            | Object::Found(oid)
            | Object::Cast(oid)
            | Object::TextCast(oid)
            | Object::Simplified(oid, _) => oid.is_pinned() || self.facts.function(*oid).is_some(),
            Object::Operator(oid) => oid.is_pinned() || self.facts.operator(*oid).is_some(),
            Object::Type(oid, _) => oid.is_pinned() || self.facts.type_(*oid).is_some(),
            Object::Named(oid) | Object::Inner(oid) => self.facts.relation(*oid).is_some(),
            Object::FunctionName(name, _) => self.facts.functions_named(name).is_some(),
            Object::OperatorName(name) => self.facts.operators_named(name).is_some(),
            Object::TypeName(name) => self.facts.types_named(name).is_some(),
            Object::Casts | Object::JsonCasts | Object::TextCasts => self.facts.casts().is_some(),
        }
    }

    /// An object that was asked for and not found.
    fn gone(&mut self, object: &Object, origin: &Origin, asked: &Needs) {
        debug_assert!(!asked.is_empty());
        let what = match object {
            Object::Function(oid)
            | Object::Support(oid)
            | Object::Part(oid, _)
            | Object::Found(oid)
            | Object::Cast(oid)
            | Object::TextCast(oid)
            | Object::Simplified(oid, _) => format!("function {}", oid.0),
            Object::Operator(oid) => format!("operator {}", oid.0),
            Object::Type(oid, _) => format!("type {}", oid.0),
            Object::Named(oid) | Object::Inner(oid) => format!("relation {}", oid.0),
            Object::FunctionName(name, _) => format!("functions named `{name}`"),
            Object::OperatorName(name) => format!("operators named `{name}`"),
            Object::TypeName(name) => format!("types named `{name}`"),
            Object::Casts | Object::JsonCasts | Object::TextCasts => "casts".to_owned(),
        };
        self.finding(Code::ObjectGone, format!("{what} could not be looked up"), "try again", origin);
    }

    /// Whether only what is selected may be told: a relation's own definition may look at more.
    fn is_limited(&self, origin: &Origin) -> bool {
        self.has_selection() && origin.by == UsedBy::Statement
    }

    fn has_selection(&self) -> bool {
        match self.rules.selection {
            Selection::Everything => false,
            Selection::Only(_) => true,
        }
    }
}

/// Puts an object among those that must be known. PostgreSQL's own are.
fn need(needs: &mut Needs, object: &Object) {
    match object {
        Object::Function(oid)
        | Object::Support(oid)
        | Object::Part(oid, _)
        | Object::Found(oid)
        | Object::Cast(oid)
        | Object::TextCast(oid)
        | Object::Simplified(oid, _) => {
            if !oid.is_pinned() {
                needs.functions.insert(*oid);
            }
        }
        Object::Operator(oid) if !oid.is_pinned() => drop(needs.operators.insert(*oid)),
        Object::Type(oid, _) if !oid.is_pinned() => drop(needs.types.insert(*oid)),
        Object::Operator(_) | Object::Type(..) => {}
        Object::Named(oid) | Object::Inner(oid) => drop(needs.relations.insert(*oid)),
        Object::FunctionName(name, _) => drop(needs.function_names.insert(name.clone())),
        Object::OperatorName(name) => drop(needs.operator_names.insert(name.clone())),
        Object::TypeName(name) => drop(needs.type_names.insert(name.clone())),
        Object::Casts | Object::JsonCasts | Object::TextCasts => needs.casts = true,
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
