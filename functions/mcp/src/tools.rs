//! The tools that a node offers: what each is called, what it takes, and how it does its work.
//!
//! Which door a tool's input goes through is said by [`BuiltIn::takes`]; a test goes over [`BuiltIn::ALL`].

mod catalog;
mod describe;
mod next_page;
mod pinned;
mod query;
mod schema;
mod wishes;

use std::sync::{Arc, Mutex, PoisonError};

use analyst::{Failure, Scope};
use pins::Pin;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use state::{Actions, CredentialSecret, Node};
use tokio::time::Instant;

use crate::app::App;
use crate::served::Does;

pub(crate) use pinned::{compiled, definition as pinned_definition};
pub(crate) use wishes::Wishes;

/// The tools besides pins, in the order in which they are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// Free SQL.
    Query,
    /// One relation as text.
    Describe,
    /// Schemas.
    ListSchemas,
    /// Tables and views.
    ListTables,
    /// One relation as data.
    DescribeTable,
    /// What follows an answer that was cut.
    NextPage,
}

/// What of the caller's a tool brings to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// A statement: it goes through the guard, by `analyst::query::ask`.
    Statement,
    /// The handle of a result: what was asked for it passed the guard, and passes it again where it runs again.
    Cursor,
    /// A name: it is bound as a parameter of a query of ours.
    Name,
    /// Nothing.
    Nothing,
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Query,
        Self::Describe,
        Self::ListSchemas,
        Self::ListTables,
        Self::DescribeTable,
        Self::NextPage,
    ];

    /// The tool's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Describe => "describe",
            Self::ListSchemas => "list_schemas",
            Self::ListTables => "list_tables",
            Self::DescribeTable => "describe_table",
            Self::NextPage => "next_page",
        }
    }

    /// What it brings to the database.
    pub fn takes(self) -> Takes {
        match self {
            Self::Query => Takes::Statement,
            Self::Describe | Self::DescribeTable | Self::ListTables => Takes::Name,
            Self::ListSchemas => Takes::Nothing,
            Self::NextPage => Takes::Cursor,
        }
    }

    /// The tools of a node with these actions, which offers pins or does not.
    pub(crate) fn offered(actions: &Actions, pins: Pins) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |tool| match tool {
            Self::Query | Self::Describe => actions.query(),
            Self::ListSchemas | Self::ListTables | Self::DescribeTable => actions.catalog(),
            Self::NextPage => actions.query() || pins == Pins::Some,
        })
    }

    /// Whether it counts for the limits of calls.
    pub(crate) fn counts(self) -> bool {
        matches!(self.takes(), Takes::Statement | Takes::Cursor)
    }

    /// The tool as it is listed under this name; `readable` is a sentence about the tables, where it is known.
    pub(crate) fn definition(self, name: &str, node: &Node, scope: &Scope, readable: Option<&str>) -> Tool {
        let listed = match self {
            Self::Query => query::listed(scope),
            Self::Describe => describe::listed(scope),
            Self::ListSchemas => catalog::schemas_listed(),
            Self::ListTables => catalog::tables_listed(scope),
            Self::DescribeTable => catalog::table_listed(),
            Self::NextPage => next_page::listed(node),
        };
        // Two nodes look alike to a model unless each says whose it is.
        let mut description = format!("{} Database: {}.", listed.description, label(node));
        // Of a node alone, only free SQL needs the columns; beside others each tool has to say what it is about.
        if let Some(readable) = readable.filter(|_| self == Self::Query || name != self.name()) {
            description.push_str(readable);
        }
        tool(name, listed.title, description, listed.input, listed.output)
    }

    /// Does the work.
    pub(crate) async fn call(self, given: &JsonObject, work: &Work<'_>) -> Result<Value, Failure> {
        match self {
            Self::Query => query::call(given, work).await,
            Self::Describe => describe::call(given, work).await,
            Self::ListSchemas => catalog::list_schemas(given, work).await,
            Self::ListTables => catalog::list_tables(given, work).await,
            Self::DescribeTable => catalog::describe_table(given, work).await,
            Self::NextPage => next_page::call(given, work).await,
        }
    }
}

/// Whether a node offers pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pins {
    None,
    Some,
}

impl Pins {
    pub(crate) fn any<T>(pins: &[T]) -> Self {
        if pins.is_empty() { Self::None } else { Self::Some }
    }
}

/// A tool that only reads.
fn tool(name: &str, title: &str, description: String, input: JsonObject, output: JsonObject) -> Tool {
    let annotations = ToolAnnotations::with_title(title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(name.to_owned(), description, input)
        .with_title(title)
        .with_raw_output_schema(output.into())
        .with_annotations(annotations)
}

/// How a node is told from others: its name and what its owner says of it.
pub(crate) fn label(node: &Node) -> String {
    match &node.summary {
        Some(summary) => format!("{} ({})", node.name, summary.trim_end_matches('.')),
        None => node.name.clone(),
    }
}

/// What a tool says of itself.
struct Listed {
    title: &'static str,
    description: String,
    input: JsonObject,
    output: JsonObject,
}

/// Where and within what a call works.
pub(crate) struct Work<'a> {
    pub(crate) app: &'a App,
    pub(crate) workspace: &'a str,
    pub(crate) flow: &'a str,
    /// The name of the caller's key, or the subject of its token.
    pub(crate) caller: Option<&'a str>,
    pub(crate) node: &'a Node,
    pub(crate) secret: CredentialSecret,
    pub(crate) scope: Scope,
    /// What the caller's access token says.
    pub(crate) token: Option<&'a JsonObject>,
    /// When the answer must be on its way, whatever the caller asks for.
    pub(crate) latest: Instant,
    /// What is known of the call so far, even if it never ends.
    pub(crate) report: Mutex<Report>,
}

/// A finished call.
pub(crate) struct Done {
    pub(crate) result: Result<Value, Failure>,
    pub(crate) report: Report,
}

/// What the call record says of a call beyond its result.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) sql: Option<String>,
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    pub(crate) warnings: Vec<String>,
    pub(crate) tables: Option<Vec<String>>,
    /// The tools of the pins that stood while free SQL ran.
    pub(crate) free_sql_with_pin: Option<Vec<String>>,
    /// The database that was asked.
    pub(crate) database: Option<Arc<analyst::Database>>,
    /// The pin of a page.
    pub(crate) pin: Option<(String, u64)>,
    /// Which page it is, of a result that has several.
    pub(crate) page: Option<u32>,
    /// What was wrong with the cache, where this instance alone counted the call.
    pub(crate) counted_here: Option<&'static str>,
}

impl Report {
    /// A statement gave rows.
    pub(crate) fn answered(&mut self, answer: &analyst::query::Answer) {
        self.rows = answer.row_count as u64;
        self.bytes = answer.bytes as u64;
        self.tables = Some(answer.tables.clone());
    }

    /// How PostgreSQL told what it resolved the call's statement to.
    pub(crate) fn lane(&self) -> Option<&'static str> {
        self.sql.as_ref()?;
        Some(self.database.as_ref()?.lane()?.as_str())
    }

    /// What an operator should know of the secret, its TLS and its login.
    pub(crate) fn warnings(&self) -> Vec<&str> {
        let login = self.database.iter().flat_map(|database| database.warnings());
        self.warnings.iter().chain(login).map(String::as_str).collect()
    }
}

impl<'a> Work<'a> {
    /// Does what a tool is for, if the caller's calls leave a place for it.
    pub(crate) async fn call(&self, does: Does<'_>, given: &JsonObject) -> Result<Value, Failure> {
        let counts = match does {
            Does::BuiltIn(tool) => tool.counts(),
            Does::Pin(_) => true,
        };
        if !counts {
            return self.work(does, given).await;
        }
        // Boxed here, or the compiler finds the future of a whole call nested too deep.
        let entry = Box::pin(self.enter()).await?;
        let result = Box::pin(self.work(does, given)).await;
        Box::pin(self.app.limiter.leave(entry)).await;
        result
    }

    async fn work(&self, does: Does<'_>, given: &JsonObject) -> Result<Value, Failure> {
        match does {
            Does::BuiltIn(tool) => tool.call(given, self).await,
            Does::Pin(pin) => pinned::call(pin, given, self).await,
        }
    }

    /// What stamps of the node cover beside a pin.
    pub(crate) fn stamp_scope(&self) -> pins::Scope {
        service::stamp_scope(self.workspace, self.node, &self.secret)
    }

    /// The node's pins that may be called now.
    pub(crate) async fn standing_pins(&self) -> Vec<&'a Pin> {
        self.app.standing(self.node, &self.stamp_scope(), self.latest).await
    }

    /// Adds to what is known of the call.
    pub(crate) fn report(&self, add: impl FnOnce(&mut Report)) {
        add(&mut self.report.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The call, ended.
    pub(crate) fn done(self, result: Result<Value, Failure>) -> Done {
        let mut report = self.report.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let (None, Ok(value)) = (&report.sql, &result) {
            report.bytes = value.to_string().len() as u64;
        }
        Done { result, report }
    }

    /// The moment at which a call that may take `seconds` ends.
    pub(crate) fn deadline(&self, seconds: u32) -> Instant {
        let own = Instant::now() + std::time::Duration::from_secs(u64::from(seconds));
        own.min(self.latest)
    }

    /// A value as JSON.
    pub(crate) fn json(value: &impl serde::Serialize) -> Result<Value, Failure> {
        serde_json::to_value(value).map_err(|error| {
            Failure::new(analyst::Kind::Internal, "internal", "the answer could not be written")
                .logging(error.to_string())
        })
    }
}
