//! One thing that somebody did to a pin.

use std::fmt;
use std::time::SystemTime;

use pins::{ParamName, Pin, ToolName};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

use crate::flow::{CredentialId, FlowId, Node, NodeId};

/// The type that all events of today have.
pub(super) const TYPE: &str = "pinned_query_change";
/// A name is cut to so many characters.
const MAX_NAME_CHARS: usize = 100;

/// An event. It names things and holds no statement, no value and no default: its parts are of types that cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEvent {
    /// Unique to the event, so that one that arrives twice is written once.
    pub id: Uuid,
    /// When it was done, in microseconds.
    pub at: SystemTime,
    /// The workspace.
    pub workspace: String,
    /// Who did it.
    pub by: Actor,
    /// What was done.
    pub change: ChangeKind,
    /// The flow.
    pub flow: FlowId,
    /// The node.
    pub node: NodeId,
    /// The pin.
    pub pin: ToolName,
    /// The pin's version.
    pub version: u64,
    /// The hash of statement and parameters; absent where the pin does not compile.
    pub statement_hash: Option<String>,
    /// The node's credential; absent for the default one.
    pub credential: Option<CredentialId>,
    /// The names of the parameters.
    pub params: Vec<ParamName>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    id: String,
    name: String,
}

/// What was done to a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It became Live.
    Create,
    /// It is Live in another form.
    Edit,
    /// It is Live no more.
    Delete,
    /// It passed its test.
    Test,
}

/// A text that is no event.
#[derive(Debug, Error)]
pub enum BadEvent {
    /// No JSON object with the keys of an event.
    #[error("not the JSON of an audit event")]
    Shape(#[source] serde_json::Error),
    /// A value that its key cannot have.
    #[error("the audit event's `{0}` is none")]
    Value(&'static str),
}

/// The event as it travels.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Wire {
    id: Uuid,
    at: String,
    r#type: String,
    workspace: String,
    actor: String,
    user: String,
    change: String,
    flow: String,
    node: String,
    pin: String,
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    statement_hash: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
    #[serde(default)]
    params: Vec<String>,
}

impl AuditEvent {
    /// The event of something that is done to a pin now.
    pub fn now(
        workspace: &str,
        by: &Actor,
        change: ChangeKind,
        (flow, node, pin): (&FlowId, &Node, &Pin),
    ) -> Self {
        Self {
            id: Uuid::now_v7(),
            at: to_micros(SystemTime::now()),
            workspace: workspace.to_owned(),
            by: by.clone(),
            change,
            flow: flow.clone(),
            node: node.id.clone(),
            pin: pin.name().clone(),
            version: pin.version(),
            statement_hash: pin.compile().ok().map(|compiled| compiled.statement_hash().to_owned()),
            credential: node.credential.clone(),
            params: pin.params().iter().map(|param| param.name().clone()).collect(),
        }
    }

    /// Reads what [`AuditEvent::to_json`] wrote. Keys of another kind are refused; a hash that is none is left out.
    pub fn from_json(text: &str) -> Result<Self, BadEvent> {
        let wire: Wire = serde_json::from_str(text).map_err(BadEvent::Shape)?;
        let bad = BadEvent::Value;
        if wire.r#type != TYPE {
            return Err(bad("type"));
        }
        let at = OffsetDateTime::parse(&wire.at, &Rfc3339).map_err(|_| bad("at"))?;
        let is_word = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
        if !is_word(&wire.workspace) {
            return Err(bad("workspace"));
        }
        let params = wire.params.iter().map(|name| ParamName::parse(name).ok()).collect::<Option<_>>();
        Ok(Self {
            id: wire.id,
            at: to_micros(at.into()),
            by: Actor::new(&wire.actor, &wire.user),
            change: ChangeKind::parse(&wire.change).ok_or(bad("change"))?,
            flow: FlowId::parse(&wire.flow).ok_or(bad("flow"))?,
            node: NodeId::parse(&wire.node).ok_or(bad("node"))?,
            pin: ToolName::parse(&wire.pin).map_err(|_| bad("pin"))?,
            version: wire.version,
            statement_hash: wire.statement_hash.filter(|hash| is_hash(hash)),
            credential: match &wire.credential {
                Some(id) => Some(CredentialId::parse(id).ok_or(bad("credential"))?),
                None => None,
            },
            params: params.ok_or(bad("params"))?,
            workspace: wire.workspace,
        })
    }

    /// The event as one line of JSON.
    pub fn to_json(&self) -> String {
        let wire = Wire {
            id: self.id,
            at: rfc3339(self.at),
            r#type: TYPE.to_owned(),
            workspace: self.workspace.clone(),
            actor: self.by.id.clone(),
            user: self.by.name.clone(),
            change: self.change.as_str().to_owned(),
            flow: self.flow.to_string(),
            node: self.node.to_string(),
            pin: self.pin.to_string(),
            version: self.version,
            statement_hash: self.statement_hash.clone(),
            credential: self.credential.as_ref().map(ToString::to_string),
            params: self.params.iter().map(ToString::to_string).collect(),
        };
        // Strings and numbers always serialise.
        serde_json::to_string(&wire).unwrap_or_default()
    }
}

impl Actor {
    /// An id and a name for people; blanks, secrets and what is too long are taken out of both.
    pub fn new(id: &str, name: &str) -> Self {
        Self { id: redact(id), name: redact(name) }
    }

    /// The id: a key's.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name: a key's, as its owner gave it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl ChangeKind {
    const ALL: [Self; 4] = [Self::Create, Self::Edit, Self::Delete, Self::Test];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Test => "test",
        }
    }

    /// The kind of this word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What happened, after the pin's name.
    pub(super) fn past(self) -> &'static str {
        match self {
            Self::Create => "created",
            Self::Edit => "edited",
            Self::Delete => "deleted",
            Self::Test => "tested",
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What PostgreSQL keeps of a time.
fn to_micros(at: SystemTime) -> SystemTime {
    let at = OffsetDateTime::from(at);
    at.replace_microsecond(at.microsecond()).unwrap_or(at).into()
}

pub(super) fn rfc3339(at: SystemTime) -> String {
    OffsetDateTime::from(at).format(&Rfc3339).unwrap_or_default()
}

/// SHA-256 in lower-case hexadecimal.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A name on one line, without words that may be a secret: URLs and keys.
fn redact(name: &str) -> String {
    let words = name.split_whitespace().map(|word| {
        let secret = word.contains("://") || word.contains("pgk_") || word.contains("password=");
        if secret { "********" } else { word }
    });
    let line = words.collect::<Vec<_>>().join(" ");
    line.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    pub(in super::super) fn event(pin: &str) -> AuditEvent {
        let json = json!({
            "id": "0197f3a0-0000-7000-8000-000000000001",
            "at": "2026-01-02T03:04:05.123456Z",
            "type": "pinned_query_change",
            "workspace": "acme",
            "actor": "key-1",
            "user": "Ada",
            "change": "create",
            "flow": "sales",
            "node": "orders",
            "pin": pin,
            "version": 3,
            "statementHash": "ab".repeat(32),
            "credential": "cred-1",
            "params": ["month", "n"],
        });
        AuditEvent::from_json(&json.to_string()).unwrap()
    }

    fn with(key: &str, value: Value) -> Result<AuditEvent, BadEvent> {
        let mut json: Value = serde_json::from_str(&event("pq_a").to_json()).unwrap();
        json[key] = value;
        AuditEvent::from_json(&json.to_string())
    }

    #[test]
    fn an_event_reads_as_it_was_written() {
        let event = event("pq_a");
        assert_eq!(AuditEvent::from_json(&event.to_json()).unwrap(), event);
        assert_eq!(rfc3339(event.at), "2026-01-02T03:04:05.123456Z");
        let bare = AuditEvent { statement_hash: None, credential: None, params: Vec::new(), ..event };
        assert_eq!(AuditEvent::from_json(&bare.to_json()).unwrap(), bare);
    }

    #[test]
    fn only_the_named_fields_and_only_names_are_taken() {
        for (key, value) in
            [("sql", json!("SELECT 1")), ("values", json!({"month": "2026-01-01"})), ("default", json!(1))]
        {
            assert!(matches!(with(key, value), Err(BadEvent::Shape(_))), "{key}");
        }
        for (key, value) in [
            ("type", json!("login")),
            ("at", json!("yesterday")),
            ("workspace", json!("")),
            ("change", json!("approve")),
            ("flow", json!("SELECT 1")),
            ("node", json!("")),
            ("pin", json!("SELECT password FROM users")),
            ("credential", json!("postgres://u:p@h/d")),
            ("params", json!(["month", "a b"])),
        ] {
            let message = with(key, value).unwrap_err().to_string();
            assert_eq!(message, format!("the audit event's `{key}` is none"));
        }
        assert!(AuditEvent::from_json("{").is_err() && AuditEvent::from_json("[]").is_err());
    }

    #[test]
    fn a_hash_that_is_none_is_left_out() {
        for hash in ["", "ab", &"AB".repeat(32), &"g0".repeat(32), &"ab".repeat(33)] {
            assert_eq!(with("statementHash", json!(hash)).unwrap().statement_hash, None, "{hash}");
        }
        assert!(with("statementHash", json!("0f".repeat(32))).unwrap().statement_hash.is_some());
    }

    #[test]
    fn a_name_is_one_line_without_secrets() {
        for (name, kept) in [
            ("Ada Lovelace", "Ada Lovelace"),
            (" a\n\tb ", "a b"),
            ("ci postgres://u:hunter2@h/d", "ci ********"),
            ("key pgk_AAEC", "key ********"),
            ("x password=hunter2 y", "x ******** y"),
            ("a\0b", "ab"),
        ] {
            assert_eq!(Actor::new("k", name).name(), kept, "{name:?}");
        }
        assert_eq!(Actor::new(&"ü".repeat(300), "").id().chars().count(), 100);
    }
}
