//! A flow's nodes as an MCP server, made for one request.

use std::sync::{Arc, Mutex};

use analyst::{Failure, Kind, Scope};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, ErrorCode,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use state::Node;
use tokio::time::Instant;

use crate::answer::tool_result;
use crate::app::App;
use crate::instructions;
use crate::list;
use crate::record::{Begun, Subject};
use crate::served::{Does, Offer, Served};
use crate::tools::{Done, Pins, Report, Work, label};

/// How long a client may keep the list of tools, in milliseconds.
const LIST_TTL_MS: u64 = 60_000;

/// Characters of a tool's name that an error repeats: no tool has more.
const QUOTED_CHARS: usize = 64;

/// Names of tools that an error lists.
const MOST_LISTED: usize = 40;

/// What is served, and the caller that asks it.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) app: Arc<App>,
    pub(crate) served: Served,
    pub(crate) workspace: String,
    /// The name of the caller's key, or the subject of its token.
    pub(crate) caller: Option<String>,
    /// What the caller's token says.
    pub(crate) claims: Option<Arc<Map<String, Value>>>,
    pub(crate) latest: Instant,
}

impl Server {
    /// The tools that may be called now: each node's own, then its pins that stand.
    pub(crate) async fn offers(&self) -> Result<Vec<Offer<'_>>, Failure> {
        let mut offers = Vec::new();
        for node in self.served.nodes() {
            let work = match self.begin(node, self.app.scope(node)) {
                Ok(work) => work,
                Err(failure) if self.served.single().is_some() => return Err(failure),
                Err(failure) => {
                    tracing::warn!(node = node.id.as_str(), code = %failure.code, "a node offers no tool");
                    continue;
                }
            };
            let pins = work.standing_pins().await;
            offers.extend(self.served.built_in(node, Pins::any(&pins)));
            offers.extend(pins.into_iter().map(|pin| Offer::pin(node, pin)));
        }
        Offer::each_name_once(&offers)?;
        Ok(offers)
    }

    /// Does a tool's work to its end, or until the caller has left.
    async fn work(&self, offer: &Offer<'_>, given: &JsonObject, left: impl Future<Output = ()>) -> Done {
        let claims = analyst::claims::of(&offer.node.caller_claims, self.claims.as_deref());
        let begun =
            claims.and_then(|claims| self.begin(offer.node, Scope { claims, ..self.app.scope(offer.node) }));
        let work = match begun {
            Ok(work) => work,
            Err(failure) => return Done { result: Err(failure), report: Report::default() },
        };
        // Dropping the call cancels its statement.
        let result = tokio::select! {
            result = Box::pin(work.call(offer.does, given)) => result,
            () = left => Err(Failure::new(Kind::Plumbing, "caller_left", "the caller left before the answer was there")),
        };
        work.done(result)
    }

    pub(crate) fn begin<'a>(&'a self, node: &'a Node, scope: Scope) -> Result<Work<'a>, Failure> {
        Ok(Work {
            app: &self.app,
            workspace: &self.workspace,
            flow: self.served.live.flow.id.as_str(),
            caller: self.caller.as_deref(),
            node,
            secret: self.app.secret(&self.served.live, node)?,
            scope,
            token: self.claims.as_deref(),
            latest: self.latest,
            report: Mutex::default(),
        })
    }

    async fn no_such_tool(&self, name: &str) -> ErrorData {
        let offers = match self.offers().await {
            Ok(offers) => offers,
            Err(failure) => return no_tools(&failure),
        };
        let name: String = name.chars().take(QUOTED_CHARS).flat_map(char::escape_debug).collect();
        let known: Vec<&str> = offers.iter().take(MOST_LISTED).map(|offer| offer.name.as_ref()).collect();
        let offered = match offers.len().saturating_sub(known.len()) {
            _ if known.is_empty() => "none: its `actions` are empty".to_owned(),
            0 => known.join(", "),
            more => format!("{} and {more} more", known.join(", ")),
        };
        let of = if self.served.single().is_some() { "node" } else { "flow" };
        let message = format!("there is no tool `{name}`; the tools of this {of} are {offered}");
        ErrorData::invalid_params(message, None)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let flow = &self.served.live.flow.name;
        let title = match self.served.single() {
            Some(node) => format!("{flow}: {}", label(node)),
            None => flow.clone(),
        };
        let implementation = Implementation::new("pinguard", env!("CARGO_PKG_VERSION")).with_title(title);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(instructions::text(&self.served))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = list::tools(self).await.map_err(|failure| no_tools(&failure))?;
        let mut list = ListToolsResult::with_all_items(tools);
        list.ttl_ms = Some(LIST_TTL_MS);
        list.cache_scope = Some(CacheScope::Private);
        Ok(list)
    }

    /// For the protocol library, which wants to know what kind of tool it is; no caller sees this definition.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        let offer = self.served.find(name).ok().flatten()?;
        list::definition(&offer, &self.app.scope(offer.node), None)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let begun = Begun::now();
        let offer = match self.served.find(&request.name) {
            Ok(Some(offer)) => offer,
            Ok(None) => return Err(self.no_such_tool(&request.name).await),
            Err(failure) => return Err(no_tools(&failure)),
        };
        let given = request.arguments.unwrap_or_default();
        // The context ends when the caller's connection does.
        let done = self.work(&offer, &given, context.ct.cancelled()).await;
        let sql_hash = done.report.sql.as_deref().map(pins::sql_hash);
        let subject = Subject {
            workspace: &self.workspace,
            flow: self.served.live.flow.id.as_str(),
            node: offer.node.id.as_str(),
            caller: self.caller.as_deref(),
            tool: &offer.name,
            pin: match offer.does {
                Does::Pin(pin) => Some(pin),
                Does::BuiltIn(_) => None,
            },
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

/// Why there is no list of tools, in the protocol's own terms.
fn no_tools(failure: &Failure) -> ErrorData {
    let data = json!({"code": failure.code, "hint": failure.hint});
    ErrorData::internal_error(failure.message.clone(), Some(data))
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
