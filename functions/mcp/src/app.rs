//! What lives as long as the instance: settings, the way to secrets, the control database, the journal.

use std::sync::Arc;

use analyst::{Failure, Memories, Reached, Scope};
use pg::values::RowFormat;
use service::{Callers, Way};
use state::{Cache, Control, CredentialSecret, Journal, Limiter, LiveFlow, Node, SecretStore, StampKeys};
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
    /// What instances share for some minutes: kept rows of results.
    pub cache: Arc<Cache>,
    /// Counts calls, in the cache where it can.
    pub limiter: Limiter,
    /// What is remembered of the databases, so that a warm call asks their catalogs nothing.
    pub memories: Memories,
}

impl App {
    /// A node's limits and selection under the deployment's limits.
    pub(crate) fn scope(&self, node: &Node) -> Scope {
        service::scope(&self.settings.limits, node)
    }

    /// The secret of a node: its credential's, else the default one.
    pub(crate) fn secret(&self, flow: &LiveFlow, node: &Node) -> Result<CredentialSecret, Failure> {
        service::secret(&self.settings.limits, &flow.secrets, node)
    }
}

impl Work<'_> {
    /// A connection with the node's secret, read for this call.
    pub(crate) async fn open(&self, deadline: Instant) -> Result<pg::Connection, Failure> {
        self.reach(deadline).await.map(|reached| reached.connection)
    }

    /// The same with what is remembered of its database.
    pub(crate) async fn reach(&self, deadline: Instant) -> Result<Reached, Failure> {
        let App { secrets, memories, settings, .. } = self.app;
        let way = Way { secrets, memories, limits: &settings.limits };
        let opened = way.open(&self.secret, deadline).await?;
        self.report(|report| {
            report.warnings.clone_from(&opened.warnings);
            report.database = Some(Arc::clone(&opened.database));
        });
        Ok(opened.into())
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
