//! An event as a row: what stands in its columns, and the bytes that its HMAC is over.

use hmac::{Hmac, Mac};
use pins::ParamName;
use serde::Serialize;
use sha2::Sha256;

use super::chain::{AuditKey, Link};
use super::event::{AuditEvent, TYPE, rfc3339};
use crate::flow::CredentialId;

/// The detail is dropped where its JSON is longer.
const MAX_DETAIL_CHARS: usize = 8_000;

/// The columns, as the database gives them back. Times are in UTC with six digits of a second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) workspace: String,
    pub(super) number: i64,
    pub(super) id: String,
    pub(super) at: String,
    pub(super) kind: String,
    pub(super) change: String,
    pub(super) actor: String,
    pub(super) user: String,
    pub(super) flow: String,
    pub(super) node: String,
    pub(super) summary: String,
    pub(super) detail: Option<String>,
    pub(super) previous: Vec<u8>,
}

impl Row {
    /// The row of an event that follows another.
    pub(super) fn new(event: &AuditEvent, number: i64, previous: Link) -> Self {
        Self {
            workspace: event.workspace.clone(),
            number,
            id: event.id.to_string(),
            at: rfc3339(event.at),
            kind: TYPE.to_owned(),
            change: event.change.to_string(),
            actor: event.by.id().to_owned(),
            user: event.by.name().to_owned(),
            flow: event.flow.to_string(),
            node: event.node.to_string(),
            // A tool's name has 64 characters at most.
            summary: format!("{} {}", event.pin, event.change.past()),
            detail: detail(event),
            previous: previous.to_vec(),
        }
    }

    /// The HMAC that belongs to the row if it stood at this number.
    pub(super) fn mac(&self, key: &AuditKey, number: i64) -> Hmac<Sha256> {
        let mut mac = key.mac();
        let mut text = |text: &str| {
            mac.update(&(text.len() as u64).to_be_bytes());
            mac.update(text.as_bytes());
        };
        text("pinguard audit 1");
        text(&self.workspace);
        text(&number.to_string());
        for part in [
            &self.id,
            &self.at,
            &self.kind,
            &self.change,
            &self.actor,
            &self.user,
            &self.flow,
            &self.node,
            &self.summary,
        ] {
            text(part);
        }
        text(if self.detail.is_some() { "detail" } else { "none" });
        text(self.detail.as_deref().unwrap_or_default());
        mac.update(&self.previous);
        mac
    }
}

/// What a row says beyond its columns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Detail<'a> {
    pin: &'a str,
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    statement_hash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<&'a str>,
}

fn detail(event: &AuditEvent) -> Option<String> {
    let detail = Detail {
        pin: event.pin.as_str(),
        version: event.version,
        statement_hash: event.statement_hash.as_deref(),
        credential: event.credential.as_ref().map(CredentialId::as_str),
        params: event.params.iter().map(ParamName::as_str).collect(),
    };
    let detail = serde_json::to_string(&detail).ok()?;
    Some(detail).filter(|text| text.chars().count() <= MAX_DETAIL_CHARS)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::event::tests::event;
    use super::*;

    #[test]
    fn a_row_has_what_the_event_names() {
        let row = Row::new(&event("pq_revenue"), 7, [0; 32]);
        assert_eq!(
            (row.summary.as_str(), row.at.as_str()),
            ("pq_revenue created", "2026-01-02T03:04:05.123456Z")
        );
        let hash = "ab".repeat(32);
        let detail = format!(
            r#"{{"pin":"pq_revenue","version":3,"statementHash":"{hash}","credential":"cred-1","params":["month","n"]}}"#
        );
        assert_eq!(row.detail, Some(detail));
    }

    #[test]
    fn a_summary_holds_the_longest_name_whole() {
        let name = format!("pq_{}", "a".repeat(61));
        assert_eq!(Row::new(&event(&name), 1, [0; 32]).summary, format!("{name} created"));
    }

    #[test]
    fn a_detail_longer_than_8000_characters_is_dropped_and_the_row_stays() {
        let mut event = event("pq_a");
        let name = |index: usize| ParamName::parse(&format!("p{index:062}")).unwrap();
        event.params = (0..119).map(name).collect();
        let kept = Row::new(&event, 1, [0; 32]).detail.unwrap();
        assert!((7_900..=8_000).contains(&kept.chars().count()), "{}", kept.len());
        event.params = (0..121).map(name).collect();
        let row = Row::new(&event, 1, [0; 32]);
        assert_eq!((row.detail, row.summary.as_str()), (None, "pq_a created"));
    }

    fn bytes(row: &Row) -> Vec<u8> {
        let key = AuditKey::new(&[7; 32]).unwrap();
        row.mac(&key, row.number).finalize().into_bytes().to_vec()
    }

    #[test]
    fn the_hmac_of_a_row_stays_what_it_is() {
        let row = Row::new(&event("pq_a"), 1, [0; 32]);
        let hex = super::super::chain::hex(&bytes(&row));
        // Worked out by another implementation, from the bytes alone.
        assert_eq!(hex, "76557582d91832b616dabb20163384985707df5876f87af3bd866ed25ac18394");
    }

    fn rows() -> impl Strategy<Value = Row> {
        let text =
            || prop::sample::select(vec!["", "a", "b", "ab", "none", "detail"]).prop_map(str::to_owned);
        let texts = prop::collection::vec(text(), 10);
        (texts, 1_i64..3, prop::option::of(text()), any::<bool>()).prop_map(
            |(texts, number, detail, zero)| {
                let [workspace, id, at, kind, change, actor, user, flow, node, summary] =
                    texts.try_into().unwrap();
                let previous = vec![u8::from(zero); 32];
                Row {
                    workspace,
                    number,
                    id,
                    at,
                    kind,
                    change,
                    actor,
                    user,
                    flow,
                    node,
                    summary,
                    detail,
                    previous,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn two_rows_have_one_hmac_only_if_they_are_equal(one in rows(), other in rows()) {
            prop_assert_eq!(bytes(&one) == bytes(&other), one == other);
        }
    }
}
