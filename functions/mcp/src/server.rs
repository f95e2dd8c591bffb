//! One node as an MCP server, made for one request.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use analyst::{Failure, Kind, Scope, selected};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use state::{LiveFlow, Node};
use tokio::time::{Instant, timeout_at};

use crate::answer::tool_result;
use crate::app::App;
use crate::instructions;
use crate::record::{Begun, Subject};
use crate::tools::{BuiltIn, Done, Report, Work, label};

/// How long a client may keep the list of tools, in milliseconds.
const LIST_TTL_MS: u64 = 60_000;

/// How long the list of tools may wait for the columns of a selection.
const LISTING: Duration = Duration::from_secs(2);

/// Characters of a tool's name that an error repeats: no tool has more.
const QUOTED_CHARS: usize = 64;

/// A node, and the caller that asks it.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    pub(crate) live: LiveFlow,
    pub(crate) node: Arc<Node>,
    pub(crate) workspace: String,
    /// The name of the caller's key.
    pub(crate) caller: Option<String>,
    pub(crate) latest: Instant,
}

impl Server {
    async fn tools(&self) -> Vec<Tool> {
        let scope = self.app.scope(&self.node);
        let selected = self.selected(&scope).await;
        BuiltIn::offered(&self.node.actions)
            .map(|tool| tool.definition(&self.node, &scope, selected.as_deref()))
            .collect()
    }

    /// Lines about the selected relations; where the database does not answer soon, their names alone. A node without a
    /// selection does not need its database for its list of tools.
    async fn selected(&self, scope: &Scope) -> Option<Vec<String>> {
        if scope.relations.is_empty() || !self.node.actions.query() {
            return None;
        }
        let deadline = self.latest.min(Instant::now() + LISTING);
        let described = async {
            let work = self.begin(scope.clone())?;
            selected::described(scope, deadline, async || work.open(deadline).await).await
        };
        match timeout_at(deadline, described).await {
            Ok(Ok(lines)) => return Some(lines),
            Ok(Err(failure)) => tracing::info!(code = %failure.code, "tools are listed without columns"),
            Err(_) => tracing::info!(code = "deadline", "tools are listed without columns"),
        }
        Some(selected::names_alone(scope))
    }

    fn find(&self, name: &str) -> Option<BuiltIn> {
        BuiltIn::offered(&self.node.actions).find(|tool| tool.name() == name)
    }

    /// Does a tool's work to its end, or until the caller has left.
    async fn work(&self, tool: BuiltIn, given: &JsonObject, left: impl Future<Output = ()>) -> Done {
        let work = match self.begin(self.app.scope(&self.node)) {
            Ok(work) => work,
            Err(failure) => return Done { result: Err(failure), report: Report::default() },
        };
        // Dropping the call cancels its statement.
        let result = tokio::select! {
            result = tool.call(given, &work) => result,
            () = left => Err(Failure::new(Kind::Plumbing, "caller_left", "the caller left before the answer was there")),
        };
        work.done(result)
    }

    fn begin(&self, scope: Scope) -> Result<Work<'_>, Failure> {
        Ok(Work {
            app: &self.app,
            node: &self.node,
            secret: self.app.secret(&self.live, &self.node)?,
            scope,
            latest: self.latest,
            report: Mutex::default(),
        })
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let implementation = Implementation::new("pinguard", env!("CARGO_PKG_VERSION")).with_title(format!(
            "{}: {}",
            self.live.flow.name,
            label(&self.node)
        ));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(instructions::text(&self.node, &self.app.scope(&self.node)))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut list = ListToolsResult::with_all_items(self.tools().await);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.find(name).map(|tool| tool.definition(&self.node, &self.app.scope(&self.node), None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let begun = Begun::now();
        let Some(tool) = self.find(&request.name) else {
            let known: Vec<&str> = BuiltIn::offered(&self.node.actions).map(BuiltIn::name).collect();
            let name: String = request.name.chars().take(QUOTED_CHARS).flat_map(char::escape_debug).collect();
            let offered =
                if known.is_empty() { "none: its `actions` are empty".to_owned() } else { known.join(", ") };
            let message = format!("there is no tool `{name}`; the tools of this node are {offered}");
            return Err(ErrorData::invalid_params(message, None));
        };
        let given = request.arguments.unwrap_or_default();
        // The context ends when the caller's connection does.
        let done = self.work(tool, &given, context.ct.cancelled()).await;
        let sql_hash = done.report.sql.as_deref().map(pins::sql_hash);
        let subject = Subject {
            workspace: &self.workspace,
            flow: self.live.flow.id.as_str(),
            node: self.node.id.as_str(),
            caller: self.caller.as_deref(),
            tool: tool.name(),
        };
        begun.write(&self.app, &subject, &done, sql_hash.as_deref());
        Ok(tool_result(done, sql_hash.as_deref()).into())
    }

    /// What the library knows no method for, or not with such params.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = &request.method;
        let version = context.protocol_version().unwrap_or(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let Some(params) = params_of(method, &version) else {
            let message =
                format!("there is no method `{method}`; this server offers tools/list and tools/call");
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None));
        };
        let message = format!("{method} cannot be read with these params: it takes {params}");
        Err(ErrorData::invalid_params(message, None))
    }
}

/// What the methods that are served take.
fn params_of(method: &str, version: &ProtocolVersion) -> Option<&'static str> {
    match method {
        "initialize" | "ping" if !version.has_initialize() => None,
        "initialize" => Some("`protocolVersion`, `capabilities`, and `clientInfo` with `name` and `version`"),
        "server/discover" => Some("`_meta` with the protocol version and the client's capabilities"),
        "tools/list" => Some("at most `cursor`, a string"),
        "tools/call" => Some("`name`, a string, and `arguments`, an object"),
        "ping" => Some("none"),
        _ => None,
    }
}
