//! What a statement sent back, before it becomes JSON.

use crate::server_error::Notice;
use crate::types::TypeBook;
use crate::values::Page;

/// One value in PostgreSQL's text form, of which a prefix is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RawValue {
    /// The first bytes; they end at a character's end where the value is UTF-8.
    pub bytes: Vec<u8>,
    /// Characters of the whole value.
    pub full_chars: usize,
    /// Bytes of the whole value.
    pub full_bytes: usize,
}

impl RawValue {
    /// What was kept as text; bytes that are no UTF-8 are replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Whether the tail of the value was not kept.
    pub fn is_cut(&self) -> bool {
        self.bytes.len() < self.full_bytes
    }
}

/// A column as the server describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawColumn {
    /// Its name; names may repeat and may be `?column?`.
    pub name: String,
    /// Its type; the base type where the column's type is a domain.
    pub type_oid: u32,
    /// The type's modifier, -1 where there is none.
    pub type_modifier: i32,
    /// The table that it comes straight from, 0 where it does not.
    pub table_oid: u32,
    /// Its number in that table.
    pub column_number: i16,
}

/// Why reading ended before the result did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// There are more rows than were asked for.
    Rows,
    /// There are more rows, and the kept bytes are past the budget. The last row is whole.
    Bytes,
    /// The time for reading on past the page is over.
    Time,
    /// Reading on past the page failed.
    Failed,
}

/// The result of a statement.
#[derive(Debug, Clone)]
pub struct Raw {
    /// The columns, in order.
    pub columns: Vec<RawColumn>,
    /// The rows; each has a value or NULL for every column.
    pub rows: Vec<Vec<Option<RawValue>>>,
    /// The first of the rows, as a page; none where none was planned.
    pub page: Option<Page>,
    /// Set if there was more.
    pub stopped: Option<Stopped>,
    /// What failed while reading on past the page: a sentence, with the SQLSTATE where the server said it.
    pub failed: Option<String>,
    /// The server's word on what it did, as `SELECT 3`; empty where reading stopped.
    pub command_tag: String,
    /// What the server remarked meanwhile, up to a bound.
    pub notices: Vec<Notice>,
    /// What the server says of the columns' types that are not built in.
    pub type_facts: TypeBook,
}
