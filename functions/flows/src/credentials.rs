//! Credentials: records that name a secret. The secret's content is not seen here.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value, json};
use service::{Answer, Asked, Refusal, answer};
use state::{Caller, Credential, CredentialId, CredentialRecord, Removal, Scope};
use tokio::time::Instant;

use crate::app::App;
use crate::keys::name;
use crate::route::no_credential;

const MAX_SECRET_CHARS: usize = 2_048;

pub(crate) async fn list(app: &App, caller: &Caller, latest: Instant) -> Result<Answer, Refusal> {
    if !caller.may(Scope::FlowsRead) && !caller.may(Scope::KeysManage) {
        return Err(service::lacks("flows:read or keys:manage"));
    }
    let credentials = app.control.list_credentials(&caller.workspace, latest).await?;
    let credentials: Vec<Value> = credentials.iter().map(listed).collect();
    Ok(answer::json(StatusCode::OK, &json!({"credentials": credentials})))
}

pub(crate) async fn add(
    app: &App,
    caller: &Caller,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct New {
        id: String,
        name: Option<String>,
        kind: Option<Kind>,
        secret_id: String,
    }
    manages(caller)?;
    let new: New = asked.json()?;
    let id = CredentialId::parse(&new.id)
        .ok_or_else(|| Refusal::bad_request("`id` must be 1 to 20 characters of a-z, 0-9 and `-`"))?;
    let name = name(new.name.as_deref().unwrap_or(id.as_str()))?;
    may_name(app, caller, &new.secret_id, latest).await?;
    let credential = Credential { id: &id, name, secret_id: &new.secret_id };
    if !app.control.add_credential(&caller.workspace, &credential).await? {
        let message = format!("there is a credential `{id}`; change it with PUT, or choose another id");
        return Err(Refusal::conflict("credential_taken", message));
    }
    let kind = new.kind.unwrap_or(Kind::Url).as_str();
    Ok(answer::json(StatusCode::CREATED, &record(id.as_str(), name, kind, &new.secret_id)))
}

pub(crate) async fn change(
    app: &App,
    caller: &Caller,
    id: &CredentialId,
    asked: &Asked,
    latest: Instant,
) -> Result<Answer, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Change {
        name: Option<String>,
        kind: Option<Kind>,
        secret_id: String,
    }
    manages(caller)?;
    let change: Change = asked.json()?;
    let name = name(change.name.as_deref().unwrap_or(id.as_str()))?;
    may_name(app, caller, &change.secret_id, latest).await?;
    let there = app.control.secret_of(&caller.workspace, id, latest).await?;
    there.ok_or_else(|| no_credential(id.as_str()))?;
    let credential = Credential { id, name, secret_id: &change.secret_id };
    app.control.put_credential(&caller.workspace, &credential).await?;
    let kind = change.kind.unwrap_or(Kind::Url).as_str();
    Ok(answer::json(StatusCode::OK, &record(id.as_str(), name, kind, &change.secret_id)))
}

pub(crate) async fn remove(
    app: &App,
    caller: &Caller,
    id: &CredentialId,
    latest: Instant,
) -> Result<Answer, Refusal> {
    manages(caller)?;
    match app.control.remove_credential(&caller.workspace, id, latest).await? {
        Removal::Removed => Ok(answer::done()),
        Removal::NotFound => Err(no_credential(id.as_str())),
        Removal::InUse(flows) => {
            let message =
                format!("nodes of `{}` use the credential; give them another first", flows.join("`, `"));
            Err(Refusal::conflict("credential_in_use", message).with("flows", flows))
        }
    }
}

/// What a secret holds.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Url,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Url => "url",
        }
    }
}

/// With what its operator agreed to, which only `pinguard credential agree` sets.
fn listed(credential: &CredentialRecord) -> Value {
    let CredentialRecord { id, name, kind, secret_id, agreed } = credential;
    json!({"id": id, "name": name, "kind": kind, "secretId": secret_id, "agreed": agreed})
}

fn record(id: &str, name: &str, kind: &str, secret_id: &str) -> Value {
    json!({"id": id, "name": name, "kind": kind, "secretId": secret_id})
}

/// Credentials belong to the whole workspace, so a key that is bound to some flows has no say in them.
fn manages(caller: &Caller) -> Result<(), Refusal> {
    service::must(caller, Scope::KeysManage)?;
    if caller.flows.is_some() {
        return Err(Refusal::forbidden(
            "a key that is bound to flows cannot change the workspace's credentials",
        ));
    }
    Ok(())
}

/// A credential opens whatever its secret opens, so one workspace may name neither another's secrets nor pinguard's own.
async fn may_name(app: &App, caller: &Caller, secret: &str, latest: Instant) -> Result<(), Refusal> {
    let length = secret.chars().count();
    if !(1..=MAX_SECRET_CHARS).contains(&length) || secret.chars().any(|c| c.is_control() || c == ' ') {
        let message = format!(
            "`secretId` must be the id of a secret, 1 to {MAX_SECRET_CHARS} characters without blanks"
        );
        return Err(Refusal::bad_request(message));
    }
    if secret.contains("://") {
        return Err(Refusal::bad_request(
            "`secretId` is the id of a secret; the connection URL belongs into the secret",
        ));
    }
    let taken = !app.settings.may_name(&caller.workspace, secret)
        || app.control.is_secret_of_another(&caller.workspace, secret, latest).await?;
    if taken {
        let message = "this workspace may not name that secret; ask the operator which it may";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "secret_not_allowed", message));
    }
    Ok(())
}
