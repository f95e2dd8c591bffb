//! What lives as long as the instance.

use std::sync::Arc;

use service::Callers;
use state::{Control, EventSink, SecretStore};

use crate::settings::Settings;

/// The instance.
#[derive(Debug)]
pub struct App {
    /// How requests are served.
    pub settings: Settings,
    /// Where database URLs come from, for relation lists.
    pub secrets: Arc<SecretStore>,
    /// Flows, keys, credentials, audit rows.
    pub control: Control,
    /// Who may call.
    pub callers: Callers,
    /// Where the audit's events go.
    pub events: EventSink,
}
