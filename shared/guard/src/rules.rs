//! What a node lets its callers do, as far as the guard decides it.

use crate::facts::ObjectName;

/// The rules under which one statement is judged.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which relations the statement may name.
    pub selection: Selection,
    /// Functions that the owner of the node vouches for.
    pub allowed_functions: Vec<ObjectName>,
    /// Foreign tables of postgres_fdw that may be read though another server's rights count for them.
    pub allowed_foreign_tables: Vec<ObjectName>,
    /// Settings that the statement may read besides those of the list, in small letters: they hold what the caller's own
    /// access token says.
    pub told_settings: Vec<String>,
    /// Rows that the wrapped statement may return at most.
    pub row_limit: RowLimit,
}

/// The node's ticked tables and views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Nothing is ticked: every relation that the login can read.
    Everything,
    /// Only these.
    Only(Vec<ObjectName>),
}

/// The `LIMIT` of the wrapped statement: one row more than is shown or kept, so that `truncated` is exact; and its `OFFSET`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLimit {
    rows: u32,
    skipped: u32,
}

impl Rules {
    /// No selection and nothing allowed by name.
    pub fn open(row_limit: RowLimit) -> Self {
        let nothing = Vec::new;
        Self {
            selection: Selection::Everything,
            allowed_functions: nothing(),
            allowed_foreign_tables: nothing(),
            told_settings: Vec::new(),
            row_limit,
        }
    }
}

impl RowLimit {
    /// A limit of `wanted` rows and the one that tells whether there are more.
    pub fn new(wanted: u32) -> Self {
        Self { rows: wanted.saturating_add(1), skipped: 0 }
    }

    /// The same behind so many rows.
    #[must_use]
    pub fn after(self, skipped: u32) -> Self {
        Self { skipped, ..self }
    }

    /// The number that stands behind `LIMIT`.
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// The number that stands behind `OFFSET`; without one, 0.
    pub fn skipped(self) -> u32 {
        self.skipped
    }
}
