//! The audit: who made, changed, removed and tested which pin, in rows that cannot be changed without being noticed.

mod chain;
mod changes;
mod event;
mod outbox;
mod page;
#[cfg(feature = "aws")]
mod queue;
mod row;
mod sink;
mod store;
mod verify;

pub use chain::{AuditHead, AuditKey};
pub use event::{Actor, AuditEvent, BadEvent, ChangeKind};
pub use outbox::Drained;
pub use page::{AuditEntry, AuditFilter, AuditPage};
#[cfg(feature = "aws")]
pub use queue::Queue;
pub use sink::{Auditor, EventSink, Lines, SinkError};
pub use verify::{Finding, Verification};

pub(crate) use changes::between;
pub(crate) use outbox::insert as into_outbox;
pub(crate) use page::read as read_page;
pub(crate) use verify::{verify, workspaces};
