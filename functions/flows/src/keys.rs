//! API keys: made, listed, revoked.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use service::{Answer, Asked, Callers, Refusal, answer};
use state::{ApiKey, Caller, FlowId, KeyRecord, NewKey, Scope};
use tokio::time::Instant;

use crate::app::App;

const MAX_NAME_CHARS: usize = 100;

pub(crate) async fn list(app: &App, caller: &Caller, latest: Instant) -> Result<Answer, Refusal> {
    service::must(caller, Scope::KeysManage)?;
    let keys = app.control.list_keys(&caller.workspace, latest).await?;
    let keys: Vec<Value> = keys.iter().filter(|key| is_theirs(caller, key)).map(record).collect();
    Ok(answer::json(StatusCode::OK, &json!({"keys": keys})))
}

pub(crate) async fn create(app: &App, caller: &Caller, asked: &Asked) -> Result<Answer, Refusal> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct New {
        name: String,
        scopes: Vec<String>,
        flows: Option<Vec<String>>,
    }
    service::must(caller, Scope::KeysManage)?;
    if let Callers::Tokens(_) = app.callers {
        return Err(Refusal::conflict(
            "keys_off",
            "this deployment takes access tokens; a key would open nothing",
        ));
    }
    let new: New = asked.json()?;
    let name = name(&new.name)?;
    let scopes = new.scopes.iter().map(|word| word.parse()).collect::<Result<Vec<Scope>, _>>();
    let scopes = scopes.map_err(|error| Refusal::bad_request(error.to_string()))?;
    if scopes.is_empty() {
        return Err(Refusal::bad_request("`scopes` must name at least one scope"));
    }
    let flows =
        new.flows.as_ref().map(|flows| flows.iter().map(|id| flow(id)).collect::<Result<Vec<_>, _>>());
    let flows = flows.transpose()?;
    if !within(caller, flows.as_deref()) {
        return Err(Refusal::forbidden(
            "this key is bound to flows; a key that it makes must be bound to some of them",
        ));
    }
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        tracing::error!(%error, "the system gave no random bytes");
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "no_randomness", "no key can be made now; try again")
    })?;
    let key = ApiKey::from_random(bytes);
    let stored = NewKey { name, hash: key.hash(), scopes: &scopes, flows: flows.as_deref() };
    let id = app.control.put_key(&caller.workspace, &stored).await?;
    let words: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    let body = json!({"id": id, "name": name, "scopes": words, "flows": new.flows, "key": key.text()});
    Ok(answer::json(StatusCode::CREATED, &body))
}

pub(crate) async fn revoke(app: &App, caller: &Caller, id: &str, latest: Instant) -> Result<Answer, Refusal> {
    service::must(caller, Scope::KeysManage)?;
    let absent = || Refusal::not_found(format!("there is no key `{id}`"));
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_id {
        return Err(absent());
    }
    if caller.flows.is_some() {
        let keys = app.control.list_keys(&caller.workspace, latest).await?;
        keys.iter().find(|key| key.id == id && is_theirs(caller, key)).ok_or_else(absent)?;
    }
    app.control.revoke_key(&caller.workspace, id).await?;
    Ok(answer::done())
}

/// A name for people: one line.
pub(crate) fn name(text: &str) -> Result<&str, Refusal> {
    let name = text.trim();
    let length = name.chars().count();
    if !(1..=MAX_NAME_CHARS).contains(&length) || name.chars().any(char::is_control) {
        return Err(Refusal::bad_request(format!(
            "`name` must be one line of 1 to {MAX_NAME_CHARS} characters"
        )));
    }
    Ok(name)
}

fn flow(id: &str) -> Result<FlowId, Refusal> {
    let message =
        || Refusal::bad_request("`flows` must be ids of flows: 1 to 20 characters of a-z, 0-9 and `-`");
    FlowId::parse(id).ok_or_else(message)
}

/// A key that is bound to flows reaches no further through the keys that it makes.
fn within(caller: &Caller, flows: Option<&[FlowId]>) -> bool {
    match (&caller.flows, flows) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(_), Some(flows)) => flows.iter().all(|flow| caller.opens(flow)),
    }
}

fn is_theirs(caller: &Caller, key: &KeyRecord) -> bool {
    let flows: Option<Vec<FlowId>> =
        key.flows.as_ref().map(|flows| flows.iter().filter_map(|id| FlowId::parse(id)).collect());
    within(caller, flows.as_deref())
}

fn record(key: &KeyRecord) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "scopes": key.scopes,
        "flows": key.flows,
        "createdAt": key.created_at,
        "revokedAt": key.revoked_at,
    })
}
