//! What a node lets its callers do, as far as the guard decides it.

/// The rules under which one statement is judged.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which relations the statement may name.
    pub selection: Selection,
    /// Rows that the wrapped statement may return at most.
    pub row_limit: RowLimit,
}

/// The node's ticked tables and views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Nothing is ticked: every relation that the login can read.
    Everything,
    /// Only these, as schema-qualified names in PostgreSQL's quoting.
    Only(Vec<String>),
}

/// The `LIMIT` of the wrapped statement: one row more than a page shows, so that `truncated` is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimit(u32);

impl RowLimit {
    /// A limit of `shown` rows and the one that tells whether there are more.
    pub fn new(shown: u32) -> Self {
        Self(shown.saturating_add(1))
    }

    /// The number that stands behind `LIMIT`.
    pub fn rows(self) -> u32 {
        self.0
    }
}
