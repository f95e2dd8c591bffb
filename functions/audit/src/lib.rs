#![doc = include_str!("../README.md")]

mod intake;
mod settings;

use std::sync::Arc;

use serde_json::{Value, json};
use state::{AuditEvent, Auditor, CallRecord, Control, ControlError, EventSink};
use thiserror::Error;
use tokio::time::Instant;

pub use intake::BadPayload;
pub use service::Problems;
pub use settings::Settings;

use intake::{Intake, Line};

/// Why an event was not dealt with. What it held comes again.
#[derive(Debug, Error)]
pub enum Failure {
    /// It is of no kind that is known here, or broken.
    #[error("the event is none of this function's")]
    Payload(#[from] BadPayload),
    /// The control database did not take it.
    #[error("the control database did not take what the event held")]
    Control(#[source] ControlError),
}

/// Deals with one event and gives what its sender is answered. `latest` is when that must be on its way.
pub async fn handle(auditor: &Arc<Auditor>, event: &Value, latest: Instant) -> Result<Value, Failure> {
    let answer = match Intake::read(event)? {
        Intake::Queue(messages) => {
            let failed = queue(auditor, &messages, latest).await;
            json!({"batchItemFailures": failed})
        }
        Intake::Log(lines) => {
            log(auditor, lines, latest).await.map_err(not_written)?;
            Value::Null
        }
        Intake::Schedule => Value::Null,
    };
    drain(auditor, &auditor.control, latest).await;
    Ok(answer)
}

fn not_written(error: ControlError) -> Failure {
    tracing::error!(%error, code = error.code(), "records of the log could not be written");
    Failure::Control(error)
}

/// Writes the events of messages. Gives the ids of those that must come again.
async fn queue(auditor: &Auditor, messages: &[intake::Message], latest: Instant) -> Vec<Value> {
    let (mut events, mut good, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        match AuditEvent::from_json(&message.body) {
            Ok(event) => {
                events.push(event);
                good.push(message.id.as_str());
            }
            Err(error) => {
                tracing::error!(%error, id = message.id, "a message of the audit queue cannot be read");
                failed.push(message.id.as_str());
            }
        }
    }
    if let Err(error) = auditor.record(&events, latest).await {
        tracing::error!(%error, code = error.code(), "audit events could not be written");
        failed.extend(good);
    }
    failed.into_iter().map(|id| json!({"itemIdentifier": id})).collect()
}

async fn log(auditor: &Auditor, lines: Vec<Line>, latest: Instant) -> Result<(), ControlError> {
    let (mut events, mut calls): (Vec<AuditEvent>, Vec<CallRecord>) = (Vec::new(), Vec::new());
    let mut unreadable = 0_usize;
    for line in lines {
        match line {
            Line::Event(event) => events.push(*event),
            Line::Call(call) => calls.push(*call),
            Line::Unreadable => unreadable += 1,
        }
    }
    if unreadable > 0 {
        tracing::warn!(unreadable, "lines of the log look like records and cannot be read");
    }
    if !events.is_empty() {
        auditor.record(&events, latest).await?;
    }
    auditor.calls(&calls, latest).await
}

/// Writes what lies in the outbox. It can wait for the next event, so trouble with it is only logged.
async fn drain(auditor: &Arc<Auditor>, control: &Control, latest: Instant) {
    match EventSink::InProcess(Arc::clone(auditor)).drain(control, latest).await {
        Ok(drained) if drained.unreadable > 0 => {
            tracing::warn!(unreadable = drained.unreadable, "events of the outbox cannot be read");
        }
        Ok(_) => {}
        Err(error) => tracing::error!(%error, "the outbox could not be drained"),
    }
}
