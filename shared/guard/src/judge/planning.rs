//! What PostgreSQL would make of a short statement while it plans it, before any limit of a statement's time or of an answer's
//! size holds: constants that it computes, and subqueries that it writes out wherever their columns are used.
//!
//! `repeat` within `repeat` makes gigabytes of fifty characters. Two dozen subqueries, each of which uses its column twice, make
//! millions of expressions: on PostgreSQL 18 they took 13 GB and ran 50 seconds past a `statement_timeout` of two.
//!
//! Bounds are taken from below upwards, in one pass over each tree. What a function or view of the database's own makes of what
//! the statement gives it is its owner's affair.

mod growth;

use std::sync::Arc;

use self::growth::Constant;
use super::{Judgement, Origin};
use crate::tree::{Node, NodeId, NodeKind, Tree, Value};
use crate::verdict::Code;

/// Bytes that a constant may come to. No answer shows as many.
const MOST_BYTES: u64 = 4 << 20;
/// Bytes of all of them.
const MOST_BYTES_IN_ALL: u64 = 16 << 20;
/// Nodes that a statement may come to, or twice those that it has. PostgreSQL 18 plans this many in a fifth of a second.
const MOST_NODES: u64 = 250_000;
/// Queries that a statement needs to have for the second limit to be in reach.
const FEW_QUERIES: usize = 4;

/// What is known of a node.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// Nodes that stand below it and it, once subqueries are written out.
    nodes: u64,
    /// What it may come to, if it is computed while planning.
    constant: Option<Constant>,
}

impl Judgement<'_> {
    /// Refuses what grows too far.
    pub(super) fn planning(&mut self, tree: &Tree<'_>, origin: &Arc<Origin>) {
        if !may_grow(tree) {
            return;
        }
        let parameters = if origin.within.is_none() { Parameters::Sent } else { Parameters::Arguments };
        let mut walk = Walk::of(tree, parameters);
        let most = MOST_NODES.max(2 * walk.measures.len() as u64);
        let mut made: u64 = 0;
        for node in tree.nodes() {
            let measure = walk.measure(node);
            let bytes = measure.constant.map_or(0, |constant| constant.bytes);
            if is_made(node) {
                made = made.saturating_add(bytes);
            }
            if bytes > MOST_BYTES || made > MOST_BYTES_IN_ALL {
                let message = "constants of the statement may come to more than 4 MiB, and PostgreSQL computes them before it runs";
                let help = "write them shorter, and how often or how wide as a plain number";
                self.finding(Code::HugeConstant, message.to_owned(), help, origin);
            }
            if measure.nodes > most {
                let message = "the statement's subqueries use each other's columns so often that planning it would take minutes";
                let help = "use a subquery's column once, or put `OFFSET 0` into the subquery";
                self.finding(Code::HugePlan, message.to_owned(), help, origin);
            }
            if let Some(place) = walk.measures.get_mut(node.id().index()) {
                *place = measure;
            }
        }
    }
}

fn may_grow(tree: &Tree<'_>) -> bool {
    let is_query = |node: &Node<'_, '_>| node.kind() == Some(NodeKind::Query);
    tree.nodes().any(is_steep) || tree.nodes().filter(is_query).nth(FEW_QUERIES - 1).is_some()
}

fn is_steep(node: Node<'_, '_>) -> bool {
    node.kind() == Some(NodeKind::FuncExpr) && node.number("funcid").is_some_and(growth::is_steep)
}

/// Whether a constant is made here of others, and lies beside them.
fn is_made(node: Node<'_, '_>) -> bool {
    is_steep(node) || node.kind() == Some(NodeKind::Var)
}

/// One pass over a tree, in which children come before their parents, and what a column stands for before the column.
struct Walk<'a, 't> {
    tree: &'a Tree<'t>,
    measures: Vec<Measure>,
    /// The query that each node stands in.
    within: Vec<Option<NodeId>>,
    parameters: Parameters,
}

/// What `$1` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameters {
    /// A value that came with the statement.
    Sent,
    /// What a function is called with.
    Arguments,
}

impl<'a, 't> Walk<'a, 't> {
    fn of(tree: &'a Tree<'t>, parameters: Parameters) -> Self {
        let count = tree.nodes().count();
        let mut within = vec![None; count];
        for node in tree.nodes().rev() {
            let query = match node.kind() {
                Some(NodeKind::Query) => Some(node.id()),
                _ => within.get(node.id().index()).copied().flatten(),
            };
            for child in node.children() {
                if let Some(place) = within.get_mut(child.id().index()) {
                    *place = query;
                }
            }
        }
        Self { tree, measures: vec![Measure::default(); count], within, parameters }
    }

    fn of_node(&self, node: Node<'_, '_>) -> Measure {
        self.measures.get(node.id().index()).copied().unwrap_or_default()
    }

    fn measure(&self, node: Node<'a, 't>) -> Measure {
        let children: Vec<Measure> = node.children().map(|child| self.of_node(child)).collect();
        let nodes = children.iter().fold(1, |sum: u64, child| sum.saturating_add(child.nodes));
        let all = || children.iter().map(|child| child.constant).collect::<Option<Vec<Constant>>>();
        let constant = match node.kind() {
            Some(NodeKind::Var) => return self.column(node).unwrap_or(Measure { nodes: 1, constant: None }),
            Some(NodeKind::Const) => Some(growth::given(node)),
            Some(NodeKind::Param)
                if self.parameters == Parameters::Sent && node.number("paramkind") == Some(0) =>
            {
                Some(growth::PARAMETER)
            }
            // The value of something beside it; the day, or who asks.
            Some(NodeKind::CaseTestExpr | NodeKind::SQLValueFunction) => Some(growth::ELEMENT),
            Some(NodeKind::FuncExpr | NodeKind::OpExpr) => all().and_then(|given| growth::call(node, &given)),
            Some(NodeKind::ArrayExpr) => all().map(|given| growth::array(&given)),
            Some(NodeKind::ArrayCoerceExpr) => all().map(|given| growth::each(&given)),
            Some(NodeKind::CoerceViaIO) => all().map(|given| growth::written(&given)),
            Some(
                NodeKind::RelabelType
                | NodeKind::TargetEntry
                | NodeKind::RangeTblFunction
                | NodeKind::NamedArgExpr,
            ) => children.first().and_then(|child| child.constant),
            Some(
                NodeKind::BoolExpr
                | NodeKind::BooleanTest
                | NodeKind::CaseExpr
                | NodeKind::CaseWhen
                | NodeKind::CoalesceExpr
                | NodeKind::CoerceToDomain
                | NodeKind::CollateExpr
                | NodeKind::ConvertRowtypeExpr
                | NodeKind::DistinctExpr
                | NodeKind::FieldSelect
                | NodeKind::JsonConstructorExpr
                | NodeKind::JsonExpr
                | NodeKind::JsonIsPredicate
                | NodeKind::JsonValueExpr
                | NodeKind::MinMaxExpr
                | NodeKind::NullIfExpr
                | NodeKind::NullTest
                | NodeKind::RowCompareExpr
                | NodeKind::RowExpr
                | NodeKind::ScalarArrayOpExpr
                | NodeKind::SubscriptingRef
                | NodeKind::XmlExpr,
            ) => all().map(|given| growth::together(&given)),
            _ => None,
        };
        Measure { nodes, constant }
    }

    fn query_of(&self, node: NodeId) -> Option<NodeId> {
        self.within.get(node.index()).copied().flatten()
    }

    /// The query so many levels around another.
    fn outer(&self, query: NodeId, levels: u32) -> Option<NodeId> {
        (0..levels).try_fold(query, |query, _| self.query_of(query))
    }

    /// What a column stands for, where its subquery is written out in its place.
    fn column(&self, column: Node<'a, 't>) -> Option<Measure> {
        let query = self.outer(self.query_of(column.id())?, column.number("varlevelsup")?)?;
        let place = usize::try_from(column.number("varno")?).ok()?.checked_sub(1)?;
        let entry = self.tree.node(query).list("rtable").nth(place)?;
        // 0 is all of them as one value.
        let number = column.number("varattno")?;
        match entry.number("rtekind")? {
            SUBQUERY => self.result(entry.list("subquery").next()?, number),
            JOIN => self.nth(entry, "joinaliasvars", number),
            FUNCTION => Some(self.of_node(entry.list("functions").next()?)).filter(|_| number < 2),
            VALUES => {
                let rows = entry.items(entry.value("values_lists"));
                let columns = rows.filter_map(|row| self.nth_of(entry, row, number));
                columns.reduce(Measure::or)
            }
            COMMON_TABLE => self.result(self.common_table(query, entry)?, number),
            GROUP => self.nth(entry, "groupexprs", number),
            _ => None,
        }
    }

    fn nth(&self, entry: Node<'a, 't>, field: &str, number: u32) -> Option<Measure> {
        self.nth_of(entry, entry.value(field), number)
    }

    fn nth_of(&self, entry: Node<'a, 't>, list: Value<'t>, number: u32) -> Option<Measure> {
        let mut items = entry.nodes_of(list).map(|item| self.of_node(item));
        match usize::try_from(number).ok()?.checked_sub(1) {
            Some(place) => items.nth(place),
            None => items.reduce(Measure::and),
        }
    }

    /// A column of a query that is written out where it is used, or of each of those that it unites.
    fn result(&self, query: Node<'a, 't>, number: u32) -> Option<Measure> {
        let united = query.list("setOperations").next().is_some();
        if united {
            let parts = query.list("rtable").filter_map(|entry| entry.list("subquery").next());
            return parts.filter_map(|part| self.entry(part, number)).reduce(Measure::or);
        }
        let stays = [
            "groupClause",
            "groupingSets",
            "havingQual",
            "distinctClause",
            "sortClause",
            "limitOffset",
            "limitCount",
        ]
        .into_iter()
        .any(|field| !matches!(query.value(field), Value::Null))
            || ["hasAggs", "hasWindowFuncs", "hasTargetSRFs"]
                .into_iter()
                .any(|field| query.token(field) != Some("false"));
        if stays { None } else { self.entry(query, number) }
    }

    fn entry(&self, query: Node<'a, 't>, number: u32) -> Option<Measure> {
        let entries =
            query.list("targetList").filter(|entry| number == 0 || entry.number("resno") == Some(number));
        entries.map(|entry| self.of_node(entry)).reduce(Measure::and)
    }

    /// The query of a `WITH` that is used once: others are computed by themselves.
    fn common_table(&self, query: NodeId, entry: Node<'a, 't>) -> Option<Node<'a, 't>> {
        let query = self.outer(query, entry.number("ctelevelsup")?)?;
        let name = entry.token("ctename");
        let table = self.tree.node(query).list("cteList").find(|table| table.token("ctename") == name)?;
        let once = table.number("cterefcount") == Some(1) && table.token("cterecursive") == Some("false");
        table.list("ctequery").next().filter(|_| once)
    }
}

/// `rtekind`.
const SUBQUERY: u32 = 1;
const JOIN: u32 = 2;
const FUNCTION: u32 = 3;
const VALUES: u32 = 5;
const COMMON_TABLE: u32 = 6;
const GROUP: u32 = 9;

impl Measure {
    /// One value of both.
    fn and(self, other: Self) -> Self {
        let constant = self.constant.zip(other.constant).map(|(one, two)| growth::together(&[one, two]));
        Self { nodes: self.nodes.saturating_add(other.nodes), constant }
    }

    /// Either of them.
    fn or(self, other: Self) -> Self {
        let constant = match (self.constant, other.constant) {
            (Some(one), Some(two)) => Some(one.or(two)),
            (one, two) => one.or(two),
        };
        Self { nodes: self.nodes.max(other.nodes), constant }
    }
}
