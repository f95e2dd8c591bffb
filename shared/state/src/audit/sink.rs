//! Where events go: a queue, the audit of this process, or the log.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::json;
use thiserror::Error;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

use super::chain::AuditKey;
use super::event::AuditEvent;
use super::outbox::{self, Drained};
use super::store;
use crate::call::{self, CallRecord};
use crate::control::{Control, ControlError};

/// Where events are handed on to.
#[derive(Debug)]
pub enum EventSink {
    /// A queue that feeds the audit function.
    #[cfg(feature = "aws")]
    Queue(super::queue::Queue),
    /// The audit of this process.
    InProcess(Arc<Auditor>),
    /// Lines of the log, which its subscription takes to the audit function.
    Log(Lines),
}

/// Where lines for machines go.
#[derive(Debug, Clone)]
pub enum Lines {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// A receiver in this process.
    Channel(UnboundedSender<String>),
}

/// What writes the audit's rows and the call records: the control database, the key of the chains, and the log that the
/// heads are told to.
#[derive(Debug)]
pub struct Auditor {
    /// The control database.
    pub control: Control,
    /// The key.
    pub key: AuditKey,
    /// The log.
    pub heads: Lines,
}

/// Why events could not be handed on.
#[derive(Debug, Error)]
pub enum SinkError {
    /// The control database did not take or give them.
    #[error("the control database did not take the audit events")]
    Control(#[source] ControlError),
    /// The queue did not take them.
    #[error("the audit queue did not take the events: {0}")]
    Queue(String),
    /// The log did not take them.
    #[error("the log did not take the audit events")]
    Log(#[source] io::Error),
}

impl EventSink {
    /// Hands on events.
    pub async fn deliver(&self, events: &[AuditEvent], deadline: Instant) -> Result<(), SinkError> {
        match self {
            #[cfg(feature = "aws")]
            Self::Queue(queue) => queue.send(events, deadline).await,
            Self::InProcess(auditor) => auditor.record(events, deadline).await.map_err(SinkError::Control),
            Self::Log(lines) => {
                events.iter().try_for_each(|event| lines.event(event)).map_err(SinkError::Log)
            }
        }
    }

    /// Hands on the event of something that is done already and must not fail for it: where it cannot be sent, it becomes
    /// a line of the log. Gives the error that made it one, to be logged.
    pub async fn offer(&self, event: AuditEvent, log: &Lines, deadline: Instant) -> Result<(), SinkError> {
        match self.deliver(std::slice::from_ref(&event), deadline).await {
            Ok(()) => Ok(()),
            Err(error) => {
                log.event(&event).map_err(SinkError::Log)?;
                Err(error)
            }
        }
    }

    /// Hands on what publishing left in the outbox.
    pub async fn drain(&self, control: &Control, deadline: Instant) -> Result<Drained, SinkError> {
        outbox::drain(&control.links(), self, deadline).await
    }
}

impl Auditor {
    /// Writes events; those that are written already stay as they are. The heads of the chains that grew go to the log,
    /// so that a cut of the newest rows can be noticed.
    pub async fn record(&self, events: &[AuditEvent], deadline: Instant) -> Result<(), ControlError> {
        for head in store::append(&self.control.links(), &self.key, events, deadline).await? {
            // The rows are written. A log that takes no line cannot be told of it either.
            let _ = self.heads.write(&json!({"auditHead": head}));
        }
        Ok(())
    }

    /// Writes call records; those that are written already stay as they are.
    pub async fn calls(&self, records: &[CallRecord], deadline: Instant) -> Result<(), ControlError> {
        call::store(&self.control.links(), records, deadline).await
    }
}

impl Lines {
    /// Writes one line of JSON. A receiver that is gone is no error: nobody asked to read on.
    pub fn write(&self, line: &impl Serialize) -> io::Result<()> {
        match self {
            Self::Stdout => call::write_line(&mut io::stdout().lock(), line),
            Self::Stderr => call::write_line(&mut io::stderr().lock(), line),
            Self::Channel(sender) => {
                drop(sender.send(serde_json::to_string(line)?));
                Ok(())
            }
        }
    }

    fn event(&self, event: &AuditEvent) -> io::Result<()> {
        let event: serde_json::Value = serde_json::from_str(&event.to_json())?;
        self.write(&json!({"auditEvent": event}))
    }
}
