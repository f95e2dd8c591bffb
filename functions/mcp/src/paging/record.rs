//! What is kept beside the rows of a result: whose it is, under what it was read, and how to read on.

use analyst::pages::{Index, PageAsk};
use analyst::{Failure, query::Answer};
use pg::Parameter;
use pg::values::RowFormat;
use rmcp::model::JsonObject;
use serde::{Deserialize, Serialize};

use super::cursor::Cursor;

/// One stretch of kept rows of a result.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) flow: String,
    pub(super) node: String,
    /// Of all that decides what the node gives this caller.
    pub(super) configuration: String,
    pub(super) statement: Statement,
    /// The tables and views that the statement names.
    pub(super) tables: Vec<String>,
    /// When the result's first page was read, in seconds since 1970.
    pub(super) born: u64,
    /// The row of the result at which these rows begin; its first is 0.
    pub(super) first: u32,
    /// Whether pages have numbers: all but the last have `shape.rows` rows.
    pub(super) numbered: bool,
    pub(super) shape: Shape,
    pub(super) index: Index,
}

/// What runs again where the kept rows end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    pub(crate) sql: String,
    /// The values that are bound to it.
    pub(crate) parameters: Vec<Parameter>,
    /// None for free SQL.
    pub(crate) pin: Option<PinCall>,
}

/// Which pin was called, and with what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PinCall {
    pub(crate) id: String,
    pub(crate) arguments: JsonObject,
}

/// Pages as the first one was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shape {
    pub(crate) rows: u32,
    pub(crate) bytes: usize,
    pub(crate) format: RowFormat,
}

/// A page's place in its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// The first row, from 0.
    pub(super) from: u32,
    /// The row after the last.
    pub(super) to: u32,
    /// Which page it is, from 1.
    pub(super) page: u32,
}

impl Record {
    /// The row after the last that is kept.
    pub(super) fn last(&self) -> u32 {
        self.first.saturating_add(self.index.rows())
    }

    /// Where page `number` begins. `cursor` is that of the page which would come next.
    pub(super) fn begin(&self, number: u32, cursor: Cursor) -> Result<u32, Failure> {
        if number == cursor.page {
            return Ok(cursor.at);
        }
        if number == 1 && self.first == 0 {
            return Ok(0);
        }
        if !self.numbered {
            let message = format!(
                "page {number} cannot be had: the pages of this result end by bytes and have no numbers"
            );
            return Err(Failure::argument(message).hinting("leave `page` out, or send 1 for the first page"));
        }
        let begin = number.saturating_sub(1).saturating_mul(self.shape.rows);
        if (self.first..self.last()).contains(&begin) {
            return Ok(begin);
        }
        let page_of = |row: u32| row / self.shape.rows + 1;
        let (low, high) = (page_of(self.first), page_of(self.last().saturating_sub(1)));
        let message = format!("page {number} is not kept; pages {low} to {high} are");
        Err(Failure::argument(message).hinting("pages after these are read one by one, by their cursors"))
    }

    /// Which page begins at a row.
    pub(super) fn page_at(&self, from: u32, cursor: Cursor) -> u32 {
        match from {
            0 => 1,
            _ if self.numbered && from.is_multiple_of(self.shape.rows) => from / self.shape.rows + 1,
            _ => cursor.page,
        }
    }

    /// Says on an answer where it stands in its result, and how to go on.
    pub(super) fn label(&self, answer: &mut Answer, result: [u8; 16], place: Place) {
        let goes_on = place.to < self.last() || self.index.goes_on();
        let next = Cursor { result, first: self.first, at: place.to, page: place.page.saturating_add(1) };
        answer.cursor = goes_on.then(|| next.text());
        answer.hint = match (goes_on, answer.truncated) {
            (true, _) => {
                Some("`next_page` with `cursor` reads on; to look at less, aggregate or filter".to_owned())
            }
            (false, true) => Some("aggregate or filter".to_owned()),
            (false, false) => None,
        };
        answer.summary = Some(super::summary::of(self, place));
    }

    /// A page as the caller may have it, by what the first one was.
    pub(super) fn ask(shape: Shape, value_chars: usize) -> PageAsk {
        PageAsk { rows: shape.rows, bytes: shape.bytes, format: shape.format, value_chars }
    }
}
