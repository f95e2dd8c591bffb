//! `pinguard credential add|list|remove`.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};
use state::{Agreement, Credential, Removal};

use super::{Desk, arguments::CredentialCommand, explained, latest, table::table};

pub(super) async fn run(desk: &Desk, command: CredentialCommand) -> Result<()> {
    let workspace = desk.workspace();
    match command {
        CredentialCommand::Add { id, secret, name, replace } => {
            let secret_id = secret.as_deref().unwrap_or(id.as_str());
            ensure!(
                !secret_id.contains("://"),
                "--secret is the id of a secret; the connection URL belongs into the secret"
            );
            let name = name.as_deref().unwrap_or(id.as_str());
            let credential = Credential { id: &id, name, secret_id };
            if replace {
                desk.control.put_credential(workspace, &credential).await.map_err(explained)?;
            } else {
                let new = desk.control.add_credential(workspace, &credential).await.map_err(explained)?;
                ensure!(new, "there is a credential `{id}`: change it with --replace, or choose another id");
            }
            let json = json!({"id": id.as_str(), "name": name, "kind": "url", "secretId": secret_id});
            desk.tell(&json, &format!("{id} reads its connection URL from the secret {secret_id}\n"))
        }
        CredentialCommand::Agree { id, to } => {
            let agreed: BTreeSet<Agreement> = to.into_iter().collect();
            let known = desk.control.agree(workspace, &id, &agreed, latest()).await.map_err(explained)?;
            ensure!(known, "the workspace `{workspace}` has no credential `{id}`");
            let words: Vec<&str> = agreed.iter().map(|agreement| agreement.as_str()).collect();
            let text = if words.is_empty() { "nothing".to_owned() } else { words.join(", ") };
            desk.tell(&json!({"id": id.as_str(), "agreed": words}), &format!("{id}: agreed to {text}\n"))
        }
        CredentialCommand::List => {
            let found = desk.control.list_credentials(workspace, latest()).await.map_err(explained)?;
            let rows: Vec<_> = found
                .iter()
                .map(|one| {
                    let agreed =
                        if one.agreed.is_empty() { "nothing".to_owned() } else { one.agreed.join(", ") };
                    [one.id.clone(), one.name.clone(), one.kind.clone(), one.secret_id.clone(), agreed]
                })
                .collect();
            let text = table(["id", "name", "kind", "secret", "agreed to"], &rows, "no credentials");
            let json: Vec<Value> = found
                .iter()
                .map(|one| {
                    json!({"id": one.id, "name": one.name, "kind": one.kind, "secretId": one.secret_id, "agreed": one.agreed})
                })
                .collect();
            desk.tell(&json!({"credentials": json}), &text)
        }
        CredentialCommand::Remove { id } => {
            match desk.control.remove_credential(workspace, &id, latest()).await.map_err(explained)? {
                Removal::Removed => desk.tell(&json!({"removed": id.as_str()}), &format!("removed {id}\n")),
                Removal::NotFound => bail!("the workspace `{workspace}` has no credential `{id}`"),
                Removal::InUse(flows) => {
                    bail!("nodes of `{}` use `{id}`: give them another credential first", flows.join("`, `"))
                }
            }
        }
    }
}
