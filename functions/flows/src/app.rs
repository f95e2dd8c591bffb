//! What lives as long as the instance.

use std::sync::Arc;

use oauth::ResourceServer;
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

/// Who may call.
#[derive(Debug, Clone)]
pub enum Callers {
    /// Holders of an API key, as far as its scopes reach.
    ApiKeys,
    /// Holders of an access token of the issuer that the operator trusts, as far as its scopes reach.
    Tokens(Arc<ResourceServer>),
    /// Anyone who reaches the listener, with every right in this workspace: for loopback alone.
    Anyone {
        /// The workspace that calls belong to.
        workspace: String,
    },
}
