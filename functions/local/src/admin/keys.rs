//! `pinguard key create|list|revoke`.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use state::{ApiKey, FlowId, KeyRecord, NewKey, Scope};

use super::{Desk, arguments::KeyCommand, explained, latest, table::table};

pub(super) async fn run(desk: &Desk, command: KeyCommand) -> Result<()> {
    match command {
        KeyCommand::Create { name, scopes, flows } => create(desk, &name, scopes, flows).await,
        KeyCommand::List => list(desk).await,
        KeyCommand::Revoke { id } => {
            desk.control.revoke_key(desk.workspace(), &id).await.map_err(explained)?;
            desk.tell(&json!({"revoked": id}), &format!("revoked {id}\n"))
        }
    }
}

async fn create(desk: &Desk, name: &str, mut scopes: Vec<Scope>, flows: Vec<FlowId>) -> Result<()> {
    if scopes.is_empty() {
        scopes.push(Scope::McpCall);
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).context("the operating system gave no random bytes")?;
    let key = ApiKey::from_random(bytes);
    let flows = (!flows.is_empty()).then_some(flows);
    let new = NewKey { name, hash: key.hash(), scopes: &scopes, flows: flows.as_deref() };
    let id = desk.control.put_key(desk.workspace(), &new).await.map_err(explained)?;
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    let flows: Option<Vec<&str>> = flows.as_ref().map(|flows| flows.iter().map(FlowId::as_str).collect());
    let text = format!(
        "key     {}\nid      {id}\nname    {name}\nscopes  {}\nflows   {}\n\nThe key is shown this once: nothing keeps it.\n",
        key.text(),
        scopes.join(", "),
        flows.as_ref().map_or_else(every_flow, |flows| flows.join(", ")),
    );
    let json = json!({"id": id, "name": name, "scopes": scopes, "flows": flows, "key": key.text()});
    desk.tell(&json, &text)
}

async fn list(desk: &Desk) -> Result<()> {
    let keys = desk.control.list_keys(desk.workspace(), latest()).await.map_err(explained)?;
    let rows: Vec<_> = keys
        .iter()
        .map(|key| {
            [
                key.id.clone(),
                key.name.clone(),
                key.scopes.join(", "),
                key.flows.as_ref().map_or_else(every_flow, |flows| flows.join(", ")),
                key.created_at.clone(),
                key.revoked_at.clone().unwrap_or_default(),
            ]
        })
        .collect();
    let text = table(["id", "name", "scopes", "flows", "created", "revoked"], &rows, "no keys");
    let json: Vec<Value> = keys.iter().map(record).collect();
    desk.tell(&json!({"keys": json}), &text)
}

fn record(key: &KeyRecord) -> Value {
    json!({"id": key.id, "name": key.name, "scopes": key.scopes, "flows": key.flows,
        "createdAt": key.created_at, "revokedAt": key.revoked_at})
}

fn every_flow() -> String {
    "every flow".to_owned()
}
