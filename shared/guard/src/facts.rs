//! What the catalog says, as far as judging needs it. Whoever asks the catalog fills these in; an object that is asked for and
//! not given is taken for gone, and refused.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A major version of PostgreSQL whose trees can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Major(u32);

impl Major {
    /// 14 to 18; none for others, whose trees nobody here has seen.
    pub fn new(number: u32) -> Option<Self> {
        (14..=18).contains(&number).then_some(Self(number))
    }

    /// The number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// An object's identifier in its catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(pub u32);

impl Oid {
    /// Given by PostgreSQL's source: the same object in every installation.
    pub(crate) fn is_pinned(self) -> bool {
        self.0 < 10_000
    }

    /// Made together with the cluster.
    pub(crate) fn is_initial(self) -> bool {
        self.0 < 16_384
    }
}

/// The objects that a judgement still needs to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// In `pg_proc`.
    pub functions: BTreeSet<Oid>,
    /// In `pg_operator`.
    pub operators: BTreeSet<Oid>,
    /// In `pg_type`.
    pub types: BTreeSet<Oid>,
    /// In `pg_class`.
    pub relations: BTreeSet<Oid>,
    /// Every function of such a name, in any schema.
    pub function_names: BTreeSet<String>,
    /// Every operator of such a name, in any schema.
    pub operator_names: BTreeSet<String>,
    /// Every type of such a name, in any schema.
    pub type_names: BTreeSet<String>,
    /// All casts that were not made with the cluster.
    pub casts: bool,
}

impl Needs {
    /// Whether nothing is needed.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
            && self.operators.is_empty()
            && self.types.is_empty()
            && self.relations.is_empty()
            && self.function_names.is_empty()
            && self.operator_names.is_empty()
            && self.type_names.is_empty()
            && !self.casts
    }

    /// Adds what else is needed.
    pub fn extend(&mut self, more: Self) {
        self.functions.extend(more.functions);
        self.operators.extend(more.operators);
        self.types.extend(more.types);
        self.relations.extend(more.relations);
        self.function_names.extend(more.function_names);
        self.operator_names.extend(more.operator_names);
        self.type_names.extend(more.type_names);
        self.casts |= more.casts;
    }
}

/// What was found of [`Needs`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// By OID.
    pub functions: HashMap<Oid, Arc<FunctionFact>>,
    /// By OID.
    pub operators: HashMap<Oid, Arc<OperatorFact>>,
    /// By OID.
    pub types: HashMap<Oid, Arc<TypeFact>>,
    /// By OID.
    pub relations: HashMap<Oid, Arc<RelationFact>>,
    /// OIDs by name; none where there is no such function.
    pub function_names: HashMap<String, Vec<Oid>>,
    /// OIDs by name; none where there is no such operator.
    pub operator_names: HashMap<String, Vec<Oid>>,
    /// OIDs by name; none where there is no such type.
    pub type_names: HashMap<String, Vec<Oid>>,
    /// Casts that run a function; none where they were not asked for.
    pub casts: Option<Vec<CastFact>>,
}

impl Facts {
    /// Adds what was found later.
    pub fn extend(&mut self, more: Self) {
        self.functions.extend(more.functions);
        self.operators.extend(more.operators);
        self.types.extend(more.types);
        self.relations.extend(more.relations);
        self.function_names.extend(more.function_names);
        self.operator_names.extend(more.operator_names);
        self.type_names.extend(more.type_names);
        self.casts = more.casts.or_else(|| self.casts.take());
    }

    /// Leaves out what is no longer sure.
    pub fn forget(&mut self, stale: &Needs) {
        self.functions.retain(|oid, _| !stale.functions.contains(oid));
        self.operators.retain(|oid, _| !stale.operators.contains(oid));
        self.types.retain(|oid, _| !stale.types.contains(oid));
        self.relations.retain(|oid, _| !stale.relations.contains(oid));
        self.function_names.retain(|name, _| !stale.function_names.contains(name));
        self.operator_names.retain(|name, _| !stale.operator_names.contains(name));
        self.type_names.retain(|name, _| !stale.type_names.contains(name));
        self.casts = self.casts.take().filter(|_| !stale.casts);
    }
}

/// A schema and a name in it, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    /// The schema.
    pub schema: String,
    /// The name.
    pub name: String,
}

impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.schema, self.name)
    }
}

/// How often a function may give other results for the same arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Volatility {
    /// Never.
    Immutable,
    /// Not within a statement.
    Stable,
    /// At any call; it may also write.
    Volatile,
}

/// A function, aggregate or procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionFact {
    /// Its name.
    pub name: ObjectName,
    /// The extension it belongs to.
    pub extension: Option<String>,
    /// As it was declared.
    pub volatility: Volatility,
    /// Whether it runs with its owner's rights.
    pub security_definer: bool,
    /// Whether it changes settings while it runs.
    pub has_settings: bool,
    /// Whether its owner is a superuser.
    pub superuser_owned: bool,
    /// `sql`, `plpgsql`, `c`, …
    pub language: String,
    /// The body as text.
    pub source: String,
    /// The body as trees, where it was written in SQL's own form.
    pub sql_body: Option<String>,
    /// Trees of the arguments' defaults.
    pub defaults: Option<String>,
    /// Names of the arguments, empty for those without.
    pub argument_names: Vec<String>,
    /// Types of its arguments and results: a value that becomes one is checked by it, whatever the call looks like.
    pub types: Vec<Oid>,
    /// What an aggregate runs and holds; none for a plain function.
    pub aggregate: Option<AggregateFact>,
}

/// The parts of an aggregate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AggregateFact {
    /// Transition, final, combine, serial and moving functions.
    pub functions: Vec<Oid>,
    /// The sort operator.
    pub operators: Vec<Oid>,
    /// Types of its states.
    pub types: Vec<Oid>,
}

/// An operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorFact {
    /// Its name.
    pub name: ObjectName,
    /// What it runs: its function, and those that sort and hash by it.
    pub functions: Vec<Oid>,
    /// Its negator and its commutator, which the planner may put in its place.
    pub stand_ins: Vec<Oid>,
}

/// A cast that runs a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CastFact {
    /// What it runs.
    pub function: Oid,
    /// What it makes, where that is what functions of PostgreSQL look a cast up for.
    pub target: CastTarget,
}

/// What a cast makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastTarget {
    /// `json` or `jsonb`, looked up by what writes JSON.
    Json,
    /// `text`, looked up by `||` and `quote_literal`.
    Text,
    /// Anything else.
    Other,
}

/// What a type is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeKind {
    /// A base type.
    Base,
    /// A row type.
    Composite,
    /// A domain.
    Domain,
    /// An enumeration.
    Enum,
    /// A pseudo-type.
    Pseudo,
    /// A range or multirange.
    Range,
}

/// A type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeFact {
    /// Its name.
    pub name: ObjectName,
    /// What it is.
    pub kind: TypeKind,
    /// The extension it belongs to.
    pub extension: Option<String>,
    /// The relation whose rows it describes, if that is no free-standing composite type.
    pub relation: Option<Oid>,
    /// Element, base, subtype, attributes: the types it is made of.
    pub parts: Vec<Oid>,
    /// Functions that may run wherever a value of it is read, written, compared or subscripted.
    pub functions: Vec<Oid>,
    /// Functions of its casts to json and jsonb.
    pub json_casts: Vec<Oid>,
    /// Trees of a domain's checks.
    pub checks: Vec<Expression>,
}

/// A stored tree and what it belongs to, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// Such as `index orders_pkey`.
    pub owner: String,
    /// The text of its tree, or of a list of trees.
    pub tree: String,
}

/// What a relation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationKind {
    /// A table, partitioned or not.
    Table,
    /// A view.
    View,
    /// A materialized view.
    MaterializedView,
    /// A table of another server, through postgres_fdw.
    PostgresForeignTable,
    /// A table of something else.
    OtherForeignTable,
    /// A sequence.
    Sequence,
    /// The storage of long values.
    Toast,
    /// An index or a row type.
    Other,
}

/// A relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationFact {
    /// Its name.
    pub name: ObjectName,
    /// What it is.
    pub kind: RelationKind,
    /// The extension it belongs to.
    pub extension: Option<String>,
    /// What reading it may compute: a view's rule, policies of row security that apply to reading, predicates of partial
    /// indexes, which a bitmap scan checks again on rows, and virtual generated columns.
    pub runs: Vec<Expression>,
    /// What the planner only simplifies: index expressions, checks, statistics, partition keys.
    pub folds: Vec<Expression>,
    /// Partitions and children.
    pub children: Vec<Oid>,
}
