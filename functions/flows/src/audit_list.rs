//! The audit, to read.

use http::StatusCode;
use serde_json::json;
use service::{Answer, Asked, Refusal, answer};
use state::{AuditFilter, Caller, ChangeKind, FlowId, NodeId, Scope};
use tokio::time::Instant;

use crate::app::App;

const LIMIT: u32 = 50;
const MOST: u32 = 200;

pub(crate) async fn list(
    app: &App,
    caller: &Caller,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    service::must(caller, Scope::AuditRead)?;
    let mut filter = AuditFilter { limit: LIMIT, ..AuditFilter::default() };
    filter.flows = caller.flows.as_ref().map(|flows| flows.iter().cloned().collect());
    for (name, value) in asked.query(&["flow", "node", "change", "before", "limit"])? {
        let accepts = |what: &str| Refusal::bad_request(format!("`{name}` must be {what}"));
        match name {
            "flow" => {
                let flow = FlowId::parse(value).ok_or_else(|| accepts("a flow's id"))?;
                filter.flows = Some(if caller.opens(&flow) { vec![flow] } else { Vec::new() });
            }
            "node" => filter.node = Some(NodeId::parse(value).ok_or_else(|| accepts("a node's id"))?),
            "change" => {
                let change = ChangeKind::parse(value);
                filter.change = Some(change.ok_or_else(|| accepts("create, edit, delete or test"))?);
            }
            "before" => {
                let before = value.parse().map_err(|_| accepts("the `next` of the page before"))?;
                filter.before = Some(before);
            }
            _ => {
                let limit = value.parse().ok().filter(|limit| (1..=MOST).contains(limit));
                filter.limit = limit.ok_or_else(|| accepts(&format!("a number from 1 to {MOST}")))?;
            }
        }
    }
    let page = app.control.audit_page(&caller.workspace, &filter, latest).await?;
    Ok(answer::json(StatusCode::OK, &json!(page)))
}
