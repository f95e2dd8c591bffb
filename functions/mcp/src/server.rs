//! One node as an MCP server, made for one request.

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use state::{LiveFlow, Node};
use tokio::time::Instant;

use crate::answer::tool_result;
use crate::app::App;
use crate::instructions;
use crate::record::{Begun, Subject};
use crate::tools::{BuiltIn, Done, Report, Work, label};

/// How long a client may keep the list of tools, in milliseconds.
const LIST_TTL_MS: u64 = 60_000;

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
    fn tools(&self) -> Vec<Tool> {
        let scope = self.app.scope(&self.node);
        BuiltIn::offered(&self.node.actions).map(|tool| tool.definition(&self.node, &scope)).collect()
    }

    fn find(&self, name: &str) -> Option<BuiltIn> {
        BuiltIn::offered(&self.node.actions).find(|tool| tool.name() == name)
    }

    async fn work(&self, tool: BuiltIn, given: &JsonObject) -> Done {
        let secret_id = match self.app.secret_id(&self.live, &self.node) {
            Ok(secret_id) => secret_id,
            Err(failure) => return Done { result: Err(failure), report: Report::default() },
        };
        let scope = self.app.scope(&self.node);
        let work = Work { app: &self.app, node: &self.node, secret_id, scope, latest: self.latest };
        tool.call(given, &work).await
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
        let mut list = ListToolsResult::with_all_items(self.tools());
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.find(name).map(|tool| tool.definition(&self.node, &self.app.scope(&self.node)))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let begun = Begun::now();
        let Some(tool) = self.find(&request.name) else {
            let known: Vec<&str> = BuiltIn::offered(&self.node.actions).map(BuiltIn::name).collect();
            let message = format!("there is no tool `{}`; the tools are {}", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let given = request.arguments.unwrap_or_default();
        // Dropping the work cancels its statement; the context ends when the caller's connection does.
        let done = tokio::select! {
            done = self.work(tool, &given) => done,
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("the caller left", None)),
        };
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
}
