//! The list of tools, as clients get it.

use std::time::Duration;

use analyst::{Failure, Scope, selected};
use rmcp::model::Tool;
use state::Node;
use tokio::time::{Instant, timeout_at};

use crate::served::{Does, Offer};
use crate::server::Server;
use crate::tools;

/// How long the list of tools may wait for the columns of a selection.
const LISTING: Duration = Duration::from_secs(2);

/// Names of selected relations that a tool among other nodes' tells.
const MOST_NAMED: usize = 12;

/// Every tool that the caller may use now.
pub(crate) async fn tools(server: &Server) -> Result<Vec<Tool>, Failure> {
    let offers = server.offers().await?;
    let mut tools = Vec::with_capacity(offers.len());
    let mut readable = None;
    let mut described: Option<&str> = None;
    for offer in &offers {
        let scope = server.app.scope(offer.node);
        if described != Some(offer.node.id.as_str()) {
            described = Some(offer.node.id.as_str());
            readable = self::readable(server, offer.node, &scope).await;
        }
        tools.extend(definition(offer, &scope, readable.as_deref()));
    }
    Ok(tools)
}

/// A tool as it is listed; `readable` is what its description says of the tables, where that is known.
pub(crate) fn definition(offer: &Offer<'_>, scope: &Scope, readable: Option<&str>) -> Option<Tool> {
    match offer.does {
        Does::BuiltIn(tool) => Some(tool.definition(&offer.name, offer.node, scope, readable)),
        Does::Pin(pin) => tools::pinned_definition(pin, offer.node, scope),
    }
}

/// What tools say of the tables that they read: with their columns where a node is alone, by name beside others.
async fn readable(server: &Server, node: &Node, scope: &Scope) -> Option<String> {
    if server.served.single().is_none() {
        return Some(names(scope));
    }
    if scope.relations.is_empty() || !node.actions.query() {
        return None;
    }
    let lines = match described(server, node, scope).await {
        Some(lines) => lines,
        None => selected::names_alone(scope),
    };
    Some(selection(&lines))
}

/// Lines about the selected relations; none where the database does not answer soon. A node without a selection does not
/// need its database for its list of tools.
async fn described(server: &Server, node: &Node, scope: &Scope) -> Option<Vec<String>> {
    let deadline = server.latest.min(Instant::now() + LISTING);
    let described = async {
        let work = server.begin(node, scope.clone())?;
        selected::described(scope, deadline, async || work.open(deadline).await).await
    };
    match timeout_at(deadline, described).await {
        Ok(Ok(lines)) => return Some(lines),
        Ok(Err(failure)) => tracing::info!(code = %failure.code, "tools are listed without columns"),
        Err(_) => tracing::info!(code = "deadline", "tools are listed without columns"),
    }
    None
}

fn selection(lines: &[String]) -> String {
    if lines.is_empty() {
        return " None of the selected tables and views exists any more, so nothing can be queried."
            .to_owned();
    }
    format!(" Only these relations can be queried.\n{}", lines.join("\n"))
}

fn names(scope: &Scope) -> String {
    if scope.relations.is_empty() {
        return " It reads every table and view that its login can.".to_owned();
    }
    let named: Vec<String> = scope.relations.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = match scope.relations.len().saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(" It reads only {}{more}.", named.join(", "))
}
