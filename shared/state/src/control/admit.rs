//! From a key and a flow's id to what the caller may use, in one round trip.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::error::ControlError;
use super::link::{Links, Parameter};
use super::live::{LiveFlows, Parsed};
use super::{Admission, Caller, CredentialSecret, Identity, LiveFlow};
use crate::flow::{CredentialId, Flow, FlowId};
use crate::keys::{KeyToken, Scope};

/// A flow's Live, as both statements below ask for it. The document is left out where this instance has it parsed.
macro_rules! live {
    () => {
        "f.version, f.revision::text AS revision,
         CASE WHEN f.revision::text = ANY ($3) THEN NULL ELSE f.live::text END AS live,
         (SELECT jsonb_object_agg(c.id, jsonb_build_array(c.secret_id, c.agreed)) FROM pinguard.credential c
          WHERE c.workspace = f.workspace AND c.id IN
              (SELECT node ->> 'credential' FROM jsonb_array_elements(f.live -> 'nodes') node)) AS secrets"
    };
}

/// The unique index on the hash compares it. That this takes no constant time tells nobody a key: who does not know one
/// cannot steer its SHA-256.
const BY_KEY: &str = concat!(
    "SELECT k.id::text AS key_id, k.name, k.workspace, k.scopes, k.flows, k.revoked_at IS NOT NULL AS revoked, ",
    live!(),
    " FROM pinguard.api_key k
      LEFT JOIN pinguard.flow f
          ON f.workspace = k.workspace AND f.id = $2 AND f.live IS NOT NULL AND (k.flows IS NULL OR f.id = ANY (k.flows))
      WHERE k.hash = $1"
);

const WITHOUT_KEY: &str = concat!(
    "SELECT ",
    live!(),
    " FROM pinguard.flow f WHERE f.workspace = $1 AND f.id = $2 AND f.live IS NOT NULL"
);

const WHOSE: &str = "
    SELECT k.id::text AS key_id, k.name, k.workspace, k.scopes, k.flows, k.revoked_at IS NOT NULL AS revoked
    FROM pinguard.api_key k WHERE k.hash = $1";

pub(super) async fn identify(
    links: &Links,
    token: &KeyToken,
    deadline: Instant,
) -> Result<Identity, ControlError> {
    let hash = token.hash();
    let Some(row) = links.read(WHOSE, &[(&hash.bytes().as_slice(), Type::BYTEA)], deadline).await? else {
        return Ok(Identity::UnknownKey);
    };
    Ok(if row.try_get("revoked")? { Identity::Revoked } else { Identity::Known(caller(&row)?) })
}

pub(super) async fn by_key(
    links: &Links,
    flows: &LiveFlows,
    token: &KeyToken,
    flow: &str,
    deadline: Instant,
) -> Result<Admission, ControlError> {
    let asked = Asked::new(flows, flow);
    let hash = token.hash();
    let parameters: [Parameter<'_>; 3] = [
        (&hash.bytes().as_slice(), Type::BYTEA),
        (&asked.id, Type::TEXT),
        (&asked.revisions(), Type::TEXT_ARRAY),
    ];
    let Some(row) = links.read(BY_KEY, &parameters, deadline).await? else {
        return Ok(Admission::UnknownKey);
    };
    if row.try_get("revoked")? {
        return Ok(Admission::Revoked);
    }
    let Some(live) = asked.live(flows, &row)? else { return Ok(Admission::FlowNotFound) };
    Ok(Admission::Granted(caller(&row)?, live))
}

pub(super) async fn without_key(
    links: &Links,
    flows: &LiveFlows,
    workspace: &str,
    flow: &str,
    deadline: Instant,
) -> Result<Option<LiveFlow>, ControlError> {
    let asked = Asked::new(flows, flow);
    let parameters: [Parameter<'_>; 3] =
        [(&workspace, Type::TEXT), (&asked.id, Type::TEXT), (&asked.revisions(), Type::TEXT_ARRAY)];
    match links.read(WITHOUT_KEY, &parameters, deadline).await? {
        Some(row) => asked.live(flows, &row),
        None => Ok(None),
    }
}

/// The flow that is asked for, and what this instance has parsed of it.
struct Asked<'a> {
    id: &'a str,
    parsed: Vec<Parsed>,
}

impl<'a> Asked<'a> {
    /// A text that is no flow id becomes the empty one, which no flow has: it may hold what the server cannot take.
    fn new(flows: &LiveFlows, id: &'a str) -> Self {
        let id = if FlowId::parse(id).is_some() { id } else { "" };
        Self { id, parsed: flows.of(id) }
    }

    fn revisions(&self) -> Vec<&str> {
        self.parsed.iter().map(|(revision, _)| revision.as_str()).collect()
    }

    fn live(&self, flows: &LiveFlows, row: &Row) -> Result<Option<LiveFlow>, ControlError> {
        let Some(revision) = row.try_get::<_, Option<&str>>("revision")? else { return Ok(None) };
        let flow = match row.try_get::<_, Option<&str>>("live")? {
            Some(document) => {
                let read = Flow::from_stored(document);
                Arc::new(read.map_err(|source| ControlError::Flow { id: self.id.to_owned(), source })?)
            }
            None => self.kept(revision).ok_or(ControlError::Answer)?,
        };
        flows.keep(revision, &flow);
        Ok(Some(LiveFlow { flow, version: row.try_get("version")?, secrets: secrets(row)? }))
    }

    fn kept(&self, revision: &str) -> Option<Arc<Flow>> {
        self.parsed.iter().find(|(kept, _)| kept == revision).map(|(_, flow)| Arc::clone(flow))
    }
}

fn secrets(row: &Row) -> Result<HashMap<CredentialId, CredentialSecret>, ControlError> {
    match row.try_get::<_, Option<Value>>("secrets")? {
        None => Ok(HashMap::new()),
        Some(Value::Object(secrets)) => {
            let pair = |(id, secret): (String, Value)| Some((CredentialId::parse(&id)?, credential(secret)?));
            secrets.into_iter().map(pair).collect::<Option<_>>().ok_or(ControlError::Answer)
        }
        Some(_) => Err(ControlError::Answer),
    }
}

fn credential(pair: Value) -> Option<CredentialSecret> {
    let (secret_id, agreed): (String, Vec<String>) = serde_json::from_value(pair).ok()?;
    Some(CredentialSecret::new(secret_id, &agreed))
}

/// A scope that this build does not know (a newer one may) opens nothing here.
fn caller(row: &Row) -> Result<Caller, ControlError> {
    let scopes: Vec<&str> = row.try_get("scopes")?;
    let scopes: BTreeSet<Scope> = scopes.into_iter().filter_map(|word| word.parse().ok()).collect();
    let flows: Option<Vec<&str>> = row.try_get("flows")?;
    Ok(Caller {
        key_id: row.try_get("key_id")?,
        name: row.try_get("name")?,
        workspace: row.try_get("workspace")?,
        scopes,
        flows: flows.map(|flows| flows.into_iter().filter_map(FlowId::parse).collect()),
        claims: None,
    })
}
