//! `pinguard credential add|list|remove`.

use anyhow::{Result, bail, ensure};
use serde_json::{Value, json};
use state::{Credential, Removal};

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
        CredentialCommand::List => {
            let found = desk.control.list_credentials(workspace, latest()).await.map_err(explained)?;
            let rows: Vec<_> = found
                .iter()
                .map(|one| [one.id.clone(), one.name.clone(), one.kind.clone(), one.secret_id.clone()])
                .collect();
            let text = table(["id", "name", "kind", "secret"], &rows, "no credentials");
            let json: Vec<Value> = found
                .iter()
                .map(|one| json!({"id": one.id, "name": one.name, "kind": one.kind, "secretId": one.secret_id}))
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
