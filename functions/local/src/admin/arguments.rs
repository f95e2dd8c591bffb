//! The words of these commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use state::{Agreement, CredentialId, FlowId, Scope};

/// Which control database, which workspace, and how to answer.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The control database [default: that of a `pinguard serve` that is running].
    #[arg(long, value_name = "URL", env = "PINGUARD_CONTROL_URL", hide_env_values = true, global = true)]
    pub(crate) control_url: Option<String>,
    /// The data folder of the `pinguard serve` that is running [default: the one that it takes].
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data: Option<PathBuf>,
    /// The workspace [default: local; all of them for `audit verify`].
    #[arg(long, value_name = "NAME", global = true)]
    pub(crate) workspace: Option<String>,
    /// Answer with one line of JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The commands of an operator.
#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// API keys: `create`, `list`, `revoke`.
    Key {
        #[command(flatten)]
        place: Place,
        #[command(subcommand)]
        command: KeyCommand,
    },
    /// Credentials, which name the secrets of databases: `add`, `list`, `remove`.
    Credential {
        #[command(flatten)]
        place: Place,
        #[command(subcommand)]
        command: CredentialCommand,
    },
    /// The audit: `verify`.
    Audit {
        #[command(flatten)]
        place: Place,
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// Makes or updates the schema `pinguard` of the control database.
    Migrate {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// Makes a key, and shows it this once.
    Create {
        /// A name for people and call records.
        #[arg(value_parser = line)]
        name: String,
        /// What it may be used for; can be repeated [default: mcp:call].
        #[arg(long = "scope", value_name = "SCOPE")]
        scopes: Vec<Scope>,
        /// A flow that it opens; can be repeated [default: every flow of the workspace].
        #[arg(long = "flow", value_name = "ID", value_parser = flow)]
        flows: Vec<FlowId>,
    },
    /// Lists keys, the newest first.
    List,
    /// Revokes a key, from the next call on.
    Revoke {
        /// The id, as the list shows it.
        id: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum CredentialCommand {
    /// Adds a credential.
    Add {
        /// The id that nodes name.
        #[arg(value_parser = credential)]
        id: CredentialId,
        /// The secret that holds the connection URL [default: the id].
        #[arg(long, value_name = "SECRET")]
        secret: Option<String>,
        /// A name for people [default: the id].
        #[arg(long, value_parser = line)]
        name: Option<String>,
        /// Change the credential of this id if there is one.
        #[arg(long)]
        replace: bool,
    },
    /// Says what is agreed to for a login that lacks the grants of `pinguard setup-sql`, in place of what was said before.
    Agree {
        /// The id.
        #[arg(value_parser = credential)]
        id: CredentialId,
        /// loud: what statements resolve to may go to the server's log; event-triggers: those on DDL may fire.
        #[arg(long = "to", value_name = "WHAT")]
        to: Vec<Agreement>,
    },
    /// Lists credentials.
    List,
    /// Removes a credential that no flow uses.
    Remove {
        /// The id.
        #[arg(value_parser = credential)]
        id: CredentialId,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    Verify(Verify),
}

/// Goes over the audit's rows, and says which were changed, removed, moved or cut off.
///
/// The end of a chain can only be judged with a head from the log: without one, a chain that was shortened together with
/// its head looks whole.
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// The file with the audit's key [default: that of the data folder].
    #[arg(long, value_name = "FILE", env = "PINGUARD_AUDIT_KEY_FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// A head that the log told, as in its line `auditHead`; needs --workspace.
    #[arg(long, value_name = "COUNT:HMAC", requires = "workspace")]
    pub(crate) head: Option<String>,
}

fn line(text: &str) -> Result<String, String> {
    let text = text.trim();
    if !(1..=100).contains(&text.chars().count()) || text.chars().any(char::is_control) {
        return Err("a name is one line of 1 to 100 characters".to_owned());
    }
    Ok(text.to_owned())
}

fn flow(text: &str) -> Result<FlowId, String> {
    FlowId::parse(text).ok_or_else(id)
}

fn credential(text: &str) -> Result<CredentialId, String> {
    CredentialId::parse(text).ok_or_else(id)
}

fn id() -> String {
    "an id is 1 to 20 characters of a-z, 0-9 and `-`".to_owned()
}
