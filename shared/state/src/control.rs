//! The control database: whom a key belongs to, what a flow is Live as, and the schema they lie in.

mod admit;
mod agreements;
mod draft;
mod error;
mod link;
mod live;
mod migrate;
mod publish;
mod put;
mod records;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

pub use agreements::{Agreement, UnknownAgreement};
pub use draft::{FlowSummary, Saving, StoredFlow, Versions};
pub use error::ControlError;
pub(crate) use link::{Links, Parameter};
pub use publish::{Deletion, Publication};
pub use put::{Credential, FlowStage, NewKey};
pub use records::{CredentialRecord, KeyRecord, Removal};

use crate::audit::{self, Actor, AuditFilter, AuditHead, AuditKey, AuditPage, Verification};
use crate::flow::{CredentialId, Flow, FlowId, FlowKind};
use crate::keys::{KeyToken, Scope};
use crate::secrets::SecretStore;
use live::LiveFlows;

/// The time of a change to the control database, from connecting to the last answer.
const CHANGE_TIME: Duration = Duration::from_secs(30);

/// The control database. Holds one warm connection, and the parsed flows that this instance has served.
#[derive(Debug)]
pub struct Control {
    links: Arc<Links>,
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
    /// The key's id, a UUID; of a token the subject.
    pub key_id: String,
    /// The key's name, as its owner gave it; of a token the subject.
    pub name: String,
    /// The workspace.
    pub workspace: String,
    /// What the key may be used for.
    pub scopes: BTreeSet<Scope>,
    /// The only flows it opens; none means every flow of the workspace.
    pub flows: Option<BTreeSet<FlowId>>,
    /// What the caller's access token says; none for a key.
    pub claims: Option<Arc<Map<String, Value>>>,
}

/// Whose key it is, whatever it is to open.
#[derive(Debug)]
pub enum Identity {
    /// The key is good.
    Known(Caller),
    /// No such key.
    UnknownKey,
    /// The key was revoked.
    Revoked,
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
    pub secrets: HashMap<CredentialId, CredentialSecret>,
}

/// A credential's secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialSecret {
    /// Where the connection URL is kept.
    pub secret_id: String,
    /// What the operator agreed to for it.
    pub agreed: BTreeSet<Agreement>,
}

impl CredentialSecret {
    /// What was agreed to that this build does not know (a newer one may) counts as not agreed.
    pub(crate) fn new(secret_id: String, agreed: &[String]) -> Self {
        Self { secret_id, agreed: agreed.iter().filter_map(|word| word.parse().ok()).collect() }
    }
}

impl Caller {
    /// Whether the key may be used for this.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Whether the key opens this flow, if the workspace has it.
    pub fn opens(&self, flow: &FlowId) -> bool {
        self.flows.as_ref().is_none_or(|flows| flows.contains(flow))
    }

    /// The caller as the audit names it.
    pub fn actor(&self) -> Actor {
        Actor::new(&self.key_id, &self.name)
    }
}

impl Control {
    /// A control database behind a secret. Nothing is connected before the first use.
    pub fn new(store: Arc<SecretStore>, secret_id: String) -> Self {
        Self::renewed_after(store, secret_id, link::MOST_AGE)
    }

    /// The same, whose connection is kept for as long as is said and not five minutes.
    pub fn renewed_after(store: Arc<SecretStore>, secret_id: String, most_age: Duration) -> Self {
        Self { links: Arc::new(Links::new(store, secret_id, most_age)), flows: LiveFlows::default() }
    }

    /// The connections, for the cache that lies in the same database.
    pub(crate) fn links(&self) -> Arc<Links> {
        Arc::clone(&self.links)
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

    /// The Live flow of this id, without a key: for callers with access tokens, and a listener on loopback that asks for none.
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

    /// Stores a credential unless the workspace has one of this id; says whether it did.
    pub async fn add_credential(
        &self,
        workspace: &str,
        credential: &Credential<'_>,
    ) -> Result<bool, ControlError> {
        put::new_credential(&self.links, workspace, credential, Instant::now() + CHANGE_TIME).await
    }

    /// Looks up a key.
    pub async fn identify(&self, token: &KeyToken, deadline: Instant) -> Result<Identity, ControlError> {
        admit::identify(&self.links, token, deadline).await
    }

    /// The flows of a workspace, by id.
    pub async fn list_flows(
        &self,
        workspace: &str,
        deadline: Instant,
    ) -> Result<Vec<FlowSummary>, ControlError> {
        draft::list(&self.links, workspace, deadline).await
    }

    /// A flow with its draft and Live.
    pub async fn read_flow(
        &self,
        workspace: &str,
        flow: &FlowId,
        deadline: Instant,
    ) -> Result<Option<StoredFlow>, ControlError> {
        draft::read(&self.links, workspace, flow, deadline).await
    }

    /// Stores a draft over the one of version `over`, or makes the flow. `kinds` are those that may be changed.
    pub async fn save_draft(
        &self,
        workspace: &str,
        flow: &Flow,
        over: Option<i64>,
        kinds: &[FlowKind],
        deadline: Instant,
    ) -> Result<Saving, ControlError> {
        draft::save(&self.links, workspace, flow, over, kinds, deadline).await
    }

    /// Makes the draft Live, in one transaction with the audit's events. Where `draft` is given, only the draft of this
    /// version. `kinds` are those that may be changed.
    pub async fn publish(
        &self,
        (workspace, flow): (&str, &FlowId),
        draft: Option<i64>,
        kinds: &[FlowKind],
        by: &Actor,
        deadline: Instant,
    ) -> Result<Publication, ControlError> {
        publish::publish(&self.links, (workspace, flow), draft, kinds, by, deadline).await
    }

    /// Removes a flow, in one transaction with the audit's events. `draft` and `kinds` are as in publishing.
    pub async fn delete_flow(
        &self,
        (workspace, flow): (&str, &FlowId),
        draft: Option<i64>,
        kinds: &[FlowKind],
        by: &Actor,
        deadline: Instant,
    ) -> Result<Deletion, ControlError> {
        publish::delete(&self.links, (workspace, flow), draft, kinds, by, deadline).await
    }

    /// The keys of a workspace, the newest first.
    pub async fn list_keys(
        &self,
        workspace: &str,
        deadline: Instant,
    ) -> Result<Vec<KeyRecord>, ControlError> {
        records::keys(&self.links, workspace, deadline).await
    }

    /// The credentials of a workspace, by id.
    pub async fn list_credentials(
        &self,
        workspace: &str,
        deadline: Instant,
    ) -> Result<Vec<CredentialRecord>, ControlError> {
        records::credentials(&self.links, workspace, deadline).await
    }

    /// The secret that a credential of the workspace names, with what was agreed to for it.
    pub async fn secret_of(
        &self,
        workspace: &str,
        id: &CredentialId,
        deadline: Instant,
    ) -> Result<Option<CredentialSecret>, ControlError> {
        records::secret_of(&self.links, workspace, id, deadline).await
    }

    /// Whether a credential of another workspace names this secret.
    pub async fn is_secret_of_another(
        &self,
        workspace: &str,
        secret_id: &str,
        deadline: Instant,
    ) -> Result<bool, ControlError> {
        records::is_secret_of_another(&self.links, workspace, secret_id, deadline).await
    }

    /// Removes a credential that no flow names.
    pub async fn remove_credential(
        &self,
        workspace: &str,
        id: &CredentialId,
        deadline: Instant,
    ) -> Result<Removal, ControlError> {
        records::remove_credential(&self.links, workspace, id, deadline).await
    }

    /// Sets what its operator agrees to for a credential; false if the workspace has none of this id.
    pub async fn agree(
        &self,
        workspace: &str,
        id: &CredentialId,
        agreed: &BTreeSet<Agreement>,
        deadline: Instant,
    ) -> Result<bool, ControlError> {
        agreements::agree(&self.links, workspace, id, agreed, deadline).await
    }

    /// Rows of a workspace's audit, the newest first.
    pub async fn audit_page(
        &self,
        workspace: &str,
        filter: &AuditFilter,
        deadline: Instant,
    ) -> Result<AuditPage, ControlError> {
        audit::read_page(&self.links, workspace, filter, deadline).await
    }

    /// The workspaces that have audit rows.
    pub async fn audited_workspaces(&self, deadline: Instant) -> Result<Vec<String>, ControlError> {
        audit::workspaces(&self.links, deadline).await
    }

    /// Goes over a workspace's audit. `logged` is a head that the log told some time.
    pub async fn verify_audit(
        &self,
        key: &AuditKey,
        workspace: &str,
        logged: Option<&AuditHead>,
        deadline: Instant,
    ) -> Result<Verification, ControlError> {
        audit::verify(&self.links, key, workspace, logged, deadline).await
    }
}
