//! Rows of a capped result that are kept for its later pages, and cutting pages from them.
//!
//! Rows are kept as the server sent them, so that a later page may have another size and format than the first and still shows
//! every value alike. Where they are kept is the caller's business: here they are packed into parts, and a [`Leaf`] says which
//! parts a page needs.

mod leaf;
mod packing;

use std::time::Duration;

use pg::RawValue;
use pg::values::{Column, Page};
use serde::{Deserialize, Serialize};

pub use leaf::{Leaf, PageAsk};
pub use packing::Torn;

use crate::query::{Answer, column_view};

/// Rows past a page that are kept, at most.
pub const ROWS_AHEAD: u32 = 10_000;
/// Bytes of them.
pub(crate) const BYTES_AHEAD: usize = 4 << 20;
/// How long a first page waits for rows that it does not show.
pub(crate) const TIME_AHEAD: Duration = Duration::from_millis(250);

/// One row, as the server sent it.
pub(crate) type Row = Vec<Option<RawValue>>;

/// Whether what follows a page is read and kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ahead {
    /// The page alone.
    Nothing,
    /// Up to 10,000 further rows, 4 MiB or 250 ms, whichever ends first.
    Kept,
}

/// A first page's rows, and what was read on past it.
#[derive(Debug, Clone, PartialEq)]
pub struct Kept {
    /// Rows of the page, which are the first.
    pub shown: usize,
    columns: Vec<Column>,
    rows: Vec<Row>,
    end: End,
}

/// What ended the kept rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// The result did: all of it is kept.
    Result,
    /// No more are given of one result: by the node's limit, or because it is a plan or a setting.
    Limit,
    /// There are more rows than are kept.
    Rows,
    /// There are more bytes than are kept.
    Bytes,
    /// Reading on took too long.
    Time,
}

/// What must be known of kept rows to cut a page from them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    columns: Vec<Column>,
    /// In the order of the rows.
    parts: Vec<Part>,
    /// What ended them.
    pub end: End,
}

/// Some rows after each other, packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    rows: u32,
    bytes: u32,
}

impl Kept {
    pub(crate) fn new(shown: usize, columns: Vec<Column>, rows: Vec<Row>, end: End) -> Self {
        Self { shown, columns, rows, end }
    }

    /// The rows in parts, of which a page of usual size needs one or two; none where a row is too large to be kept.
    pub fn pack(&self) -> Option<(Index, Vec<Vec<u8>>)> {
        let mut parts = Vec::new();
        let mut packed = Vec::new();
        for (rows, bytes) in packing::pack(&self.rows)? {
            parts.push(Part { rows, bytes: u32::try_from(bytes.len()).ok()? });
            packed.push(bytes);
        }
        Some((Index { columns: self.columns.clone(), parts, end: self.end }, packed))
    }
}

impl Index {
    /// How many rows are kept.
    pub fn rows(&self) -> u32 {
        self.parts.iter().map(|part| part.rows).sum()
    }

    /// Whether there are more rows than are kept, and the statement may run again for them.
    pub fn goes_on(&self) -> bool {
        matches!(self.end, End::Rows | End::Bytes | End::Time)
    }

    /// Whether all rows of the result are kept.
    pub fn is_whole(&self) -> bool {
        self.end == End::Result
    }

    /// The answer for a page of these rows that begins at row `from`, the first being 0.
    pub fn answer(&self, page: Page, from: u32, ask: PageAsk) -> Answer {
        let rows = u32::try_from(page.row_count).unwrap_or(u32::MAX);
        let truncated_by = match (from.saturating_add(rows) < self.rows(), self.end) {
            (true, _) if rows < ask.rows => Some("bytes"),
            (true, _) | (false, End::Rows | End::Limit) => Some("rows"),
            (false, End::Bytes) => Some("bytes"),
            (false, End::Time) => Some("time"),
            (false, End::Result) => None,
        };
        Answer {
            columns: self.columns.iter().map(column_view).collect(),
            rows: page.rows,
            row_count: page.row_count,
            truncated: truncated_by.is_some(),
            truncated_by,
            values_cut: page.values_cut,
            summary: None,
            cursor: None,
            hint: None,
            notes: page.notes,
            elapsed_ms: 0,
            bytes: page.bytes,
            tables: Vec::new(),
            kept: None,
        }
    }
}
