//! What lives as long as the instance.

use std::sync::Arc;

use analyst::Memories;
use service::Callers;
use state::{Control, EventSink, Lines, SecretStore, StampKeys};

use crate::settings::Settings;

/// The instance.
#[derive(Debug)]
pub struct App {
    /// How tests are run.
    pub settings: Settings,
    /// Where database URLs come from.
    pub secrets: Arc<SecretStore>,
    /// Flows, keys, credentials.
    pub control: Control,
    /// Who may test.
    pub callers: Callers,
    /// The key of stamps; none while pins are off.
    pub stamp_keys: Option<StampKeys>,
    /// Where the audit's events go.
    pub events: EventSink,
    /// Where an event goes that cannot be sent.
    pub log: Lines,
    /// What is remembered of the databases.
    pub memories: Memories,
}
