//! The call record: one JSON line for each use of a tool, and where it goes.

mod preview;
mod scan;
mod store;

use std::io::{self, Write};
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::mpsc::UnboundedSender;

pub use preview::preview;
pub(crate) use store::store;

/// One use of a tool. It holds no value of the caller's or the database's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// A UUID, unique to this call.
    pub id: String,
    /// When it began; written in UTC, as RFC 3339.
    #[serde(serialize_with = "rfc3339", deserialize_with = "from_rfc3339")]
    pub at: SystemTime,
    /// The caller's workspace.
    pub workspace: String,
    /// The flow.
    pub flow: String,
    /// The node, where one was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The name of the caller's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The tool, by the name it was called with.
    pub tool: String,
    /// The pin's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<String>,
    /// The pin's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_version: Option<u64>,
    /// SHA-256 of the normalised statement, 64 hex digits; on a later page that of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql_hash: Option<String>,
    /// How the guard learnt what the statement resolves to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
    /// What became of the statement.
    pub effect: Effect,
    /// The code of a refusal or an error: a SQLSTATE or one of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Rows in the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows_returned: Option<u64>,
    /// The relations that the statement reads, qualified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tables_read: Option<Vec<String>>,
    /// Bytes of the answer's rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// From the call's arrival to its answer.
    pub elapsed_ms: u64,
    /// The page, from 1, of a result that has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// The tools of the valid pins that the node offered while free SQL was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub free_sql_with_pin: Option<Vec<String>>,
    /// Where this instance alone counted the caller's calls: the code of what was wrong with the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_here: Option<String>,
    /// The statement without its literals, as [`preview`] makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// What became of a call's statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// There was no statement to judge.
    None,
    /// It ran.
    Allowed,
    /// The guard said no.
    Refused,
    /// It was let through and failed.
    Failed,
}

/// Where call records go.
#[derive(Debug, Clone)]
pub enum Journal {
    /// A line on standard output.
    Stdout,
    /// A line on standard error.
    Stderr,
    /// The record itself, to a receiver in this process.
    Channel(UnboundedSender<CallRecord>),
}

impl Journal {
    /// Writes a record. A receiver that is gone is no error: nobody asked to read on.
    pub fn write(&self, record: CallRecord) -> io::Result<()> {
        match self {
            Self::Stdout => write_line(&mut io::stdout().lock(), &record),
            Self::Stderr => write_line(&mut io::stderr().lock(), &record),
            Self::Channel(sender) => {
                drop(sender.send(record));
                Ok(())
            }
        }
    }
}

/// One write, so that lines of several threads and processes do not mix.
pub(crate) fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    out.write_all(&line)?;
    out.flush()
}

fn rfc3339<S: Serializer>(at: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    let text = OffsetDateTime::from(*at).format(&Rfc3339).map_err(serde::ser::Error::custom)?;
    serializer.serialize_str(&text)
}

fn from_rfc3339<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    OffsetDateTime::parse(&text, &Rfc3339).map(SystemTime::from).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn record() -> CallRecord {
        CallRecord {
            id: "0190-1".to_owned(),
            at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_120),
            workspace: "w".to_owned(),
            flow: "f".to_owned(),
            node: None,
            caller: None,
            tool: "query".to_owned(),
            pin: None,
            pin_version: None,
            sql_hash: None,
            lane: None,
            effect: Effect::None,
            code: None,
            rows_returned: None,
            tables_read: None,
            bytes: None,
            elapsed_ms: 3,
            page: None,
            free_sql_with_pin: None,
            counted_here: None,
            preview: None,
        }
    }

    fn line(record: &CallRecord) -> String {
        let mut out = Vec::new();
        write_line(&mut out, record).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_record_is_one_line_without_what_is_absent() {
        assert_eq!(
            line(&record()),
            concat!(
                r#"{"id":"0190-1","at":"2023-11-14T22:13:20.12Z","workspace":"w","flow":"f","tool":"query","#,
                r#""effect":"none","elapsedMs":3}"#,
                "\n"
            )
        );
    }

    #[test]
    fn a_full_record_has_the_keys_of_the_contract() {
        let full = CallRecord {
            node: Some("n".to_owned()),
            caller: Some("key\nname".to_owned()),
            pin: Some("p1".to_owned()),
            pin_version: Some(2),
            sql_hash: Some("00".repeat(32)),
            lane: Some("quiet".to_owned()),
            effect: Effect::Refused,
            code: Some("42P01".to_owned()),
            rows_returned: Some(0),
            tables_read: Some(vec!["public.orders".to_owned()]),
            bytes: Some(12),
            page: Some(1),
            free_sql_with_pin: Some(vec!["pq_a".to_owned()]),
            counted_here: Some("cache_timeout".to_owned()),
            preview: Some("SELECT ?".to_owned()),
            ..record()
        };
        let line = line(&full);
        assert_eq!(line.matches('\n').count(), 1, "a line break in a value is escaped");
        let json: serde_json::Value = serde_json::from_str(&line).unwrap();
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        let contract = "id, at, workspace, flow, node, caller, tool, pin, pinVersion, sqlHash, lane, effect, code, rowsReturned, tablesRead, bytes, elapsedMs, page, freeSqlWithPin, countedHere, preview";
        assert_eq!(keys, contract.split(", ").collect::<Vec<_>>());
        assert_eq!(json["effect"], "refused");
        assert_eq!(serde_json::from_value::<CallRecord>(json).unwrap(), full, "and reads back");
    }

    #[test]
    fn a_channel_gets_the_record_and_may_be_gone() {
        let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
        let journal = Journal::Channel(sender);
        journal.write(record()).unwrap();
        assert_eq!(receiver.try_recv().unwrap().id, "0190-1");
        drop(receiver);
        journal.write(record()).unwrap();
    }
}
