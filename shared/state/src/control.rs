//! The control database: whom a key belongs to, what a flow is Live as, and the schema they lie in.

mod admit;
mod error;
mod link;
mod live;
mod migrate;
mod put;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub use error::ControlError;
pub use put::{Credential, FlowStage, NewKey};

use crate::flow::{CredentialId, Flow};
use crate::keys::{KeyToken, Scope};
use crate::secrets::SecretStore;
use link::Links;
use live::LiveFlows;

/// The time of a change to the control database, from connecting to the last answer.
const CHANGE_TIME: Duration = Duration::from_secs(30);

/// The control database. Holds one warm connection, and the parsed flows that this instance has served.
#[derive(Debug)]
pub struct Control {
    links: Links,
    flows: LiveFlows,
}

/// What a key opens.
#[derive(Debug)]
pub enum Admission {
    /// The key is good and the flow is there.
    Granted(Caller, LiveFlow),
    /// No such key.
    UnknownKey,
    /// The key was revoked.
    Revoked,
    /// The key is good, and opens no Live flow of this id: there is none, or it is another workspace's, or the key is
    /// bound to other flows.
    FlowNotFound,
}

/// Who is calling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The key's id, a UUID.
    pub key_id: String,
    /// The key's name, as its owner gave it.
    pub name: String,
    /// The workspace.
    pub workspace: String,
    /// What the key may be used for.
    pub scopes: BTreeSet<Scope>,
}

/// A flow as agents see it now.
#[derive(Debug, Clone)]
pub struct LiveFlow {
    /// The flow, parsed once in this instance.
    pub flow: Arc<Flow>,
    /// How many times Live has been written.
    pub version: i64,
    /// The secret behind each credential that the flow's nodes name. A credential that the workspace does not have is
    /// not in it.
    pub secrets: HashMap<CredentialId, String>,
}

impl Caller {
    /// Whether the key may be used for this.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

impl Control {
    /// A control database behind a secret. Nothing is connected before the first use.
    pub fn new(store: Arc<SecretStore>, secret_id: String) -> Self {
        Self { links: Links::new(store, secret_id), flows: LiveFlows::default() }
    }

    /// Looks up a key and the flow it asks for, in one round trip on a warm connection.
    pub async fn admit(
        &self,
        token: &KeyToken,
        flow: &str,
        deadline: Instant,
    ) -> Result<Admission, ControlError> {
        admit::by_key(&self.links, &self.flows, token, flow, deadline).await
    }

    /// The Live flow of this id, without a key: for tests and for a listener on loopback that asks for none.
    pub async fn open_flow(
        &self,
        workspace: &str,
        flow: &str,
        deadline: Instant,
    ) -> Result<Option<LiveFlow>, ControlError> {
        admit::without_key(&self.links, &self.flows, workspace, flow, deadline).await
    }

    /// Brings the schema `pinguard` up to what this build needs. Doing it again, or at the same time elsewhere, is fine.
    pub async fn migrate(&self) -> Result<(), ControlError> {
        migrate::run(&self.links, Instant::now() + CHANGE_TIME).await
    }

    /// Stores a flow as the draft, or as draft and Live. Gives the version of Live.
    pub async fn put_flow(
        &self,
        workspace: &str,
        flow: &Flow,
        stage: FlowStage,
    ) -> Result<i64, ControlError> {
        put::flow(&self.links, workspace, flow, stage, Instant::now() + CHANGE_TIME).await
    }

    /// Stores a key, or renames and re-scopes the one of this hash. Gives its id. A revoked key stays revoked.
    pub async fn put_key(&self, workspace: &str, key: &NewKey<'_>) -> Result<String, ControlError> {
        put::key(&self.links, workspace, key, Instant::now() + CHANGE_TIME).await
    }

    /// Revokes a key, from the next call on.
    pub async fn revoke_key(&self, workspace: &str, key_id: &str) -> Result<(), ControlError> {
        put::revoke(&self.links, workspace, key_id, Instant::now() + CHANGE_TIME).await
    }

    /// Stores a credential, or changes the one of this id.
    pub async fn put_credential(
        &self,
        workspace: &str,
        credential: &Credential<'_>,
    ) -> Result<(), ControlError> {
        put::credential(&self.links, workspace, credential, Instant::now() + CHANGE_TIME).await
    }
}
