//! What arrives: batches of a queue, payloads of a log subscription, a schedule.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;
use state::{AuditEvent, CallRecord};
use thiserror::Error;

/// A payload that unpacks to more is not one of CloudWatch Logs, whose events are at most 1 MiB packed.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// An event, read as far as its kind needs.
#[derive(Debug)]
pub(crate) enum Intake {
    /// Messages of a queue.
    Queue(Vec<Message>),
    /// Lines of a log that concern us.
    Log(Vec<Line>),
    /// Time to look at the outbox.
    Schedule,
}

/// A message of a queue.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    #[serde(rename = "messageId")]
    pub(crate) id: String,
    pub(crate) body: String,
}

/// A line of a log.
#[derive(Debug)]
pub(crate) enum Line {
    /// An audit event that could not be sent.
    Event(Box<AuditEvent>),
    /// A call record.
    Call(Box<CallRecord>),
    /// It looks like one of them and does not read as it.
    Unreadable,
}

/// An event that cannot be read.
#[derive(Debug, Error)]
pub enum BadPayload {
    /// Neither messages nor a log nor a schedule.
    #[error("expected `Records` of a queue, `awslogs` of a log subscription, or an event of a schedule")]
    Kind,
    /// Messages without id or body.
    #[error("the queue's messages lack `messageId` or `body`")]
    Messages(#[source] serde_json::Error),
    /// A log payload that does not unpack.
    #[error("the log payload is no base64 of gzip of JSON")]
    Log,
}

impl Intake {
    pub(crate) fn read(event: &Value) -> Result<Self, BadPayload> {
        if let Some(records) = event.get("Records") {
            return Vec::<Message>::deserialize(records).map(Self::Queue).map_err(BadPayload::Messages);
        }
        if let Some(data) = event.pointer("/awslogs/data") {
            return data.as_str().and_then(lines).map(Self::Log).ok_or(BadPayload::Log);
        }
        match event.get("source").and_then(Value::as_str) {
            Some("aws.events" | "aws.scheduler") => Ok(Self::Schedule),
            _ => Err(BadPayload::Kind),
        }
    }
}

/// The lines that concern us of a packed payload.
fn lines(data: &str) -> Option<Vec<Line>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Payload {
        #[serde(default)]
        log_events: Vec<LogEvent>,
    }
    #[derive(Deserialize)]
    struct LogEvent {
        message: String,
    }
    let packed = STANDARD.decode(data).ok()?;
    let mut text = String::new();
    GzDecoder::new(packed.as_slice()).take(MOST_BYTES).read_to_string(&mut text).ok()?;
    let payload: Payload = serde_json::from_str(&text).ok()?;
    Some(payload.log_events.iter().filter_map(|event| Line::read(&event.message)).collect())
}

impl Line {
    /// None for a line that is neither event nor record: the log holds others.
    fn read(message: &str) -> Option<Self> {
        let line: Value = serde_json::from_str(message).ok()?;
        let read = match line.get("auditEvent") {
            Some(event) => {
                AuditEvent::from_json(&event.to_string()).ok().map(|event| Self::Event(Box::new(event)))
            }
            None if line.get("effect").is_some() && line.get("tool").is_some() => {
                serde_json::from_value(line).ok().map(|call| Self::Call(Box::new(call)))
            }
            None => return None,
        };
        Some(read.unwrap_or(Self::Unreadable))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::json;

    use super::*;

    fn packed(payload: &Value) -> Value {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(payload.to_string().as_bytes()).unwrap();
        json!({"awslogs": {"data": STANDARD.encode(encoder.finish().unwrap())}})
    }

    #[test]
    fn lines_that_are_no_records_are_passed_over() {
        let call = json!({"id": "1", "at": "2026-01-01T00:00:00Z", "workspace": "w", "flow": "f", "tool": "query",
            "effect": "allowed", "elapsedMs": 1});
        let mut broken = call.clone();
        broken["effect"] = json!("unheard of");
        let messages = [
            "START RequestId: 1".to_owned(),
            r#"{"level":"INFO","fields":{"message":"x"}}"#.to_owned(),
            call.to_string() + "\n",
            broken.to_string(),
            r#"{"auditEvent":{"sql":"SELECT 1"}}"#.to_owned(),
            r#"{"auditHead":{"workspace":"w","count":1,"hmac":""}}"#.to_owned(),
        ];
        let events: Vec<_> =
            messages.iter().map(|message| json!({"id": "1", "timestamp": 1, "message": message})).collect();
        let payload = json!({"messageType": "DATA_MESSAGE", "logGroup": "g", "logEvents": events});
        let Intake::Log(lines) = Intake::read(&packed(&payload)).unwrap() else { panic!("no log") };
        assert!(matches!(lines.as_slice(), [Line::Call(_), Line::Unreadable, Line::Unreadable]), "{lines:?}");
        let control =
            json!({"messageType": "CONTROL_MESSAGE", "logEvents": [{"message": "CWL CONTROL MESSAGE"}]});
        assert!(matches!(Intake::read(&packed(&control)).unwrap(), Intake::Log(lines) if lines.is_empty()));
    }

    #[test]
    fn an_event_of_another_kind_is_refused() {
        for event in [json!({}), json!(null), json!({"source": "aws.s3"}), json!({"body": "{}"})] {
            assert!(matches!(Intake::read(&event), Err(BadPayload::Kind)), "{event}");
        }
        for data in [json!("%"), json!(STANDARD.encode("plain")), json!(1)] {
            assert!(
                matches!(Intake::read(&json!({"awslogs": {"data": data}})), Err(BadPayload::Log)),
                "{data}"
            );
        }
        assert!(matches!(Intake::read(&json!({"Records": [{"body": "x"}]})), Err(BadPayload::Messages(_))));
        assert!(matches!(Intake::read(&json!({"source": "aws.scheduler"})), Ok(Intake::Schedule)));
    }
}
