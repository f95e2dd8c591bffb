#![doc = include_str!("../README.md")]

mod call;
mod control;
mod flow;
mod keys;
mod secrets;

pub use call::{CallRecord, Effect, Journal, preview};
pub use control::{Admission, Caller, Control, ControlError, Credential, FlowStage, LiveFlow, NewKey};
pub use flow::{
    Actions, CredentialId, Flow, FlowId, FlowKind, FlowProblems, FunctionName, Limits, NameError, Node,
    NodeId, Problem, QualifiedName, RelationName, RowFormat, quote_identifier,
};
pub use keys::{ApiKey, HeaderError, KeyHash, KeyToken, Scope, UnknownScope};
#[cfg(feature = "aws")]
pub use secrets::AwsSecrets;
pub use secrets::{Secret, SecretError, SecretStage, SecretStore, SecretText};
