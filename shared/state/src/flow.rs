//! The flow document: which nodes a flow has, and what agents may do on each. Read whole or not at all.

mod fields;
mod id;
mod problem;
mod read;
mod twice;
mod write;

use std::collections::BTreeSet;

pub use id::{CredentialId, FlowId, NodeId};
pub use pg::ClaimName;
pub use pg::name::{FunctionName, NameError, QualifiedName, RelationName, quote_identifier};
pub use problem::{FlowProblems, Problem};

/// A named set of nodes, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// What stands in URLs, unique in its workspace.
    pub id: FlowId,
    /// What people read.
    pub name: String,
    /// Which permission changes it.
    pub kind: FlowKind,
    /// The nodes, with ids unique among them.
    pub nodes: Vec<Node>,
}

/// The two kinds of flow; they differ in the scope that may change them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowKind {
    /// Changed with `chatflows:update`.
    Chatflow,
    /// Changed with `agentflows:update`.
    Agentflow,
}

/// One PostgreSQL connection as agents see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What stands in URLs, unique in its flow.
    pub id: NodeId,
    /// What people read; the id where the document has none.
    pub name: String,
    /// One line for agents.
    pub summary: Option<String>,
    /// The credential; none means the deployment's default one.
    pub credential: Option<CredentialId>,
    /// The groups of tools that are on.
    pub actions: Actions,
    /// The selection, in document order, each once; empty means every readable relation.
    pub relations: Vec<RelationName>,
    /// The owner's instructions, at most 2,000 characters.
    pub rules: Option<String>,
    /// The page size in rows, at least 1; only below the deployment's ceiling does it count.
    pub row_cap: Option<u32>,
    /// The whole time of a call, at least 1; only below the deployment's ceiling does it count.
    pub timeout_seconds: Option<u32>,
    /// Schema names, as they are (not quoted); empty leaves the login's own path.
    pub search_path: Vec<String>,
    /// Functions of the owner's that statements may call.
    pub allowed_functions: Vec<FunctionName>,
    /// Foreign tables that may be read though they lie on another server.
    pub allowed_foreign_tables: Vec<RelationName>,
    /// The pinned queries; names and ids are unique in the flow.
    pub pins: Vec<pins::Pin>,
    /// Bounds beside row cap and timeout.
    pub limits: Limits,
    /// The claims of a caller's token that the node's database may see, no two of one setting.
    pub caller_claims: Vec<ClaimName>,
    /// How rows are written where a call does not say.
    pub row_format: RowFormat,
}

/// Groups of tools that a node offers beside its pins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions(BTreeSet<Action>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    Query,
    Catalog,
}

/// Optional bounds of a node. They only lower what the deployment allows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Rows of a whole result over all its pages.
    pub max_rows: Option<u32>,
    /// Bytes of one answer's rows.
    pub max_bytes: Option<u32>,
    /// Seconds of one call.
    pub timeout_seconds: Option<u32>,
    /// Calls in any sliding minute.
    pub calls_per_minute: Option<u32>,
    /// Calls at one time.
    pub concurrent_calls: Option<u32>,
    /// Rows that the planner may expect.
    pub max_estimated_rows: Option<u64>,
    /// The plan's total cost, in the planner's units.
    pub max_plan_cost: Option<f64>,
}

/// How rows are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowFormat {
    /// A list a row.
    #[default]
    Arrays,
    /// An object a row.
    Objects,
    /// Aligned text.
    Table,
}

impl Flow {
    /// Reads a document of at most 2.5 MB. Every problem is reported, each with its path.
    pub fn from_json(text: &str) -> Result<Self, FlowProblems> {
        read::flow(text)
    }

    /// Reads a document that was taken once, and that the database has since spelt out in more bytes.
    pub(crate) fn from_stored(text: &str) -> Result<Self, FlowProblems> {
        read::stored(text)
    }

    /// The document that reads back to this flow: keys in fixed order, what is not set left out.
    pub fn to_json(&self) -> serde_json::Value {
        write::flow(self)
    }

    /// The node of this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id.as_str() == id)
    }
}

impl Node {
    /// The node's part of the flow document.
    pub fn to_json(&self) -> serde_json::Value {
        write::node(self)
    }
}

impl FlowKind {
    const ALL: [(&'static str, Self); 2] = [("chatflow", Self::Chatflow), ("agentflow", Self::Agentflow)];

    /// The document's word.
    pub fn as_str(self) -> &'static str {
        word(&Self::ALL, self)
    }

    /// The kind of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
    }
}

impl Actions {
    /// Whether free SQL and `describe` are on.
    pub fn query(&self) -> bool {
        self.0.contains(&Action::Query)
    }

    /// Whether `list_schemas`, `list_tables` and `describe_table` are on.
    pub fn catalog(&self) -> bool {
        self.0.contains(&Action::Catalog)
    }
}

impl Action {
    const ALL: [(&'static str, Self); 2] = [("query", Self::Query), ("catalog", Self::Catalog)];
}

impl RowFormat {
    const ALL: [(&'static str, Self); 3] =
        [("arrays", Self::Arrays), ("objects", Self::Objects), ("table", Self::Table)];

    /// The document's word.
    pub fn as_str(self) -> &'static str {
        word(&Self::ALL, self)
    }
}

/// The word that a table of words gives a value.
fn word<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, other)| *other == value).map_or("", |(word, _)| word)
}

#[cfg(test)]
mod tests;
