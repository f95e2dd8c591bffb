#![doc = include_str!("../README.md")]

mod audit;
mod cache;
mod call;
mod control;
mod flow;
mod keys;
mod limits;
mod secrets;
mod stamp_keys;

#[cfg(feature = "aws")]
pub use audit::Queue;
pub use audit::{
    Actor, AuditEntry, AuditEvent, AuditFilter, AuditHead, AuditKey, AuditPage, Auditor, BadEvent,
    ChangeKind, Drained, EventSink, Finding, Lines, SinkError, Verification,
};
pub use cache::{
    Cache, CacheError, CacheTarget, CacheTargetError, Caps, EntryKey, Life, Place, Seat, Unavailable,
};
pub use call::{CallRecord, Effect, Journal, preview};
pub use control::{
    Admission, Agreement, Caller, Control, ControlError, Credential, CredentialRecord, CredentialSecret,
    Deletion, FlowStage, FlowSummary, Identity, KeyRecord, LiveFlow, NewKey, Publication, Removal, Saving,
    StoredFlow, UnknownAgreement, Versions,
};
pub use flow::{
    Actions, ClaimName, CredentialId, Flow, FlowId, FlowKind, FlowProblems, FunctionName, Limits, NameError,
    Node, NodeId, Problem, QualifiedName, RelationName, RowFormat, quote_identifier,
};
pub use keys::{ApiKey, HeaderError, KeyHash, KeyToken, Scope, UnknownScope};
pub use limits::{CallLimits, Counted, CountedCall, Entry, Limit, Limiter, Over};
#[cfg(feature = "aws")]
pub use secrets::AwsSecrets;
pub use secrets::{Secret, SecretError, SecretStage, SecretStore, SecretText, TokenError};
pub use stamp_keys::{StampKeyError, StampKeys};
