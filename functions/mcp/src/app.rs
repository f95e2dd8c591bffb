//! What lives as long as the instance: settings, the way to secrets, the control database, the journal.

use std::collections::BTreeSet;
use std::sync::Arc;

use analyst::connect::{self, SecretText, Stage};
use analyst::{Ceilings, Failure, Kind, Memories, ObjectName, Reached, Scope};
use oauth::ResourceServer;
use pg::values::RowFormat;
use pg::{Agreed, ConnectOptions, Consent, SearchPath};
use state::{
    Agreement, Control, CredentialSecret, Journal, LiveFlow, Node, SecretStage, SecretStore, StampKeys,
};
use tokio::time::Instant;

use crate::settings::Settings;
use crate::tools::Work;

/// The instance.
#[derive(Debug)]
pub struct App {
    /// How calls are served.
    pub settings: Settings,
    /// Where database URLs come from.
    pub secrets: Arc<SecretStore>,
    /// Flows and keys.
    pub control: Control,
    /// Who may call.
    pub callers: Callers,
    /// Where call records go.
    pub journal: Journal,
    /// The key of the pins' stamps; none while pins are off.
    pub stamp_keys: Option<StampKeys>,
    /// What is remembered of the databases, so that a warm call asks their catalogs nothing.
    pub memories: Memories,
}

/// Who may call.
#[derive(Debug, Clone)]
pub enum Callers {
    /// Holders of an API key.
    ApiKeys,
    /// Holders of an access token of the issuer that the operator trusts.
    Tokens(Arc<ResourceServer>),
    /// Anyone who reaches the listener, as this workspace: for loopback alone.
    Anyone {
        /// The workspace that calls belong to.
        workspace: String,
    },
}

impl App {
    /// A node's limits under the deployment's.
    pub(crate) fn scope(&self, node: &Node) -> Scope {
        let settings = &self.settings;
        let limits = &node.limits;
        let rows = [node.row_cap, limits.max_rows].into_iter().flatten().fold(settings.row_cap, u32::min);
        let seconds = [node.timeout_seconds, limits.timeout_seconds]
            .into_iter()
            .flatten()
            .fold(settings.timeout_seconds, u32::min);
        let bytes =
            limits.max_bytes.map_or(settings.max_bytes, |bytes| settings.max_bytes.min(bytes as usize));
        Scope {
            relations: node.relations.clone(),
            allowed_functions: node
                .allowed_functions
                .iter()
                .map(|name| object(name.schema(), name.name()))
                .collect(),
            allowed_foreign_tables: node
                .allowed_foreign_tables
                .iter()
                .map(|name| object(name.schema(), name.name()))
                .collect(),
            // The names were checked with the flow.
            search_path: SearchPath::new(&node.search_path).ok().filter(|path| !path.names().is_empty()),
            ceilings: Ceilings { rows, bytes, seconds, value_chars: settings.value_chars },
        }
    }

    /// The secret of a node: its credential's, else the default one.
    pub(crate) fn secret(&self, flow: &LiveFlow, node: &Node) -> Result<CredentialSecret, Failure> {
        let found = match &node.credential {
            Some(credential) => flow.secrets.get(credential).cloned(),
            None => self
                .settings
                .default_secret
                .clone()
                .map(|secret_id| CredentialSecret { secret_id, agreed: BTreeSet::new() }),
        };
        found.ok_or_else(|| {
            let message = match &node.credential {
                Some(credential) => {
                    format!("the node's credential `{credential}` does not exist in its workspace")
                }
                None => "the node has no credential, and there is no default one".to_owned(),
            };
            Failure::new(Kind::Plumbing, "no_credential", message)
                .hinting("the operator gives the node a credential of its workspace")
        })
    }
}

fn object(schema: &str, name: &str) -> ObjectName {
    ObjectName { schema: schema.to_owned(), name: name.to_owned() }
}

fn consent(secret: &CredentialSecret) -> Consent {
    let agreed = |agreement| {
        if secret.agreed.contains(&agreement) { Agreed::Yes } else { Agreed::No }
    };
    Consent { loud: agreed(Agreement::Loud), event_triggers: agreed(Agreement::EventTriggers) }
}

impl Work<'_> {
    /// A connection with the node's secret, read for this call.
    pub(crate) async fn open(&self, deadline: Instant) -> Result<pg::Connection, Failure> {
        self.reach(deadline).await.map(|reached| reached.connection)
    }

    /// The same with what is remembered of its database.
    pub(crate) async fn reach(&self, deadline: Instant) -> Result<Reached, Failure> {
        let timeout = std::time::Duration::from_secs(u64::from(self.app.settings.connect_timeout_seconds));
        let options = ConnectOptions { connect_timeout: timeout, deadline };
        let opened = connect::open(&|stage| Box::pin(self.read_secret(stage)), options).await?;
        let database = self.app.memories.of(&self.secret.secret_id, &opened.version, consent(&self.secret));
        self.report(|report| {
            report.warnings = opened.warnings;
            report.database = Some(Arc::clone(&database));
        });
        Ok(Reached { connection: opened.connection, database })
    }

    async fn read_secret(&self, stage: Stage) -> Result<SecretText, Failure> {
        let stage = match stage {
            Stage::Current => SecretStage::Current,
            Stage::Pending => SecretStage::Pending,
        };
        let secret = self.app.secrets.read(&self.secret.secret_id, stage).await.map_err(|error| {
            Failure::new(Kind::Plumbing, error.code(), error.to_string()).hinting(error.hint())
        })?;
        Ok(SecretText { text: secret.text.to_string(), version: secret.version })
    }

    /// How the node writes rows where a call does not say.
    pub(crate) fn row_format(&self) -> RowFormat {
        match self.node.row_format {
            state::RowFormat::Arrays => RowFormat::Arrays,
            state::RowFormat::Objects => RowFormat::Objects,
            state::RowFormat::Table => RowFormat::Table,
        }
    }
}
