//! Going over a chain from its first row to its last, to find what was done to it.

use std::fmt;

use hmac::Mac;
use tokio::time::Instant;
use tokio_postgres::types::Type;
use tokio_postgres::{IsolationLevel, Transaction};

use super::chain::{AuditHead, AuditKey, NOTHING, hex};
use super::row::Row;
use crate::control::{ControlError, Links};

/// Rows that are held at one time.
const BATCH: i64 = 2_000;
/// Rows that do not fit their HMAC and are looked at for the place where they would; of more it is said that they changed.
const MOST_SOUGHT: usize = 200;
/// How far from where it stands such a place is sought.
const REACH: i64 = 1_000;

/// What a look at a chain found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The workspace.
    pub workspace: String,
    /// Rows that are there.
    pub rows: u64,
    /// Where the chain ends, if there is any row.
    pub head: Option<AuditHead>,
    /// What is wrong with it, by number; empty for a chain that is whole.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong with a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// A row does not fit its HMAC.
    Changed {
        /// Where it stands.
        number: i64,
    },
    /// A row stands where another was.
    Moved {
        /// Where it stands.
        number: i64,
        /// Where it was written.
        from: i64,
    },
    /// Rows are not there.
    Removed {
        /// The first of them.
        first: i64,
        /// The last.
        last: i64,
    },
    /// The newest rows are not there.
    CutOff {
        /// The first of them.
        first: i64,
        /// The last.
        last: i64,
    },
    /// A row is good in itself and does not follow the one before it.
    Unlinked {
        /// Where it stands.
        number: i64,
    },
    /// The head's row tells of another end.
    Head {
        /// How many rows it tells of.
        count: i64,
    },
    /// The row is another than the one whose HMAC the log tells.
    NotAsLogged {
        /// Its number.
        number: i64,
    },
}

const ROWS: &str = r#"
    SELECT workspace, number, id::text,
           to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS at, type, change, actor, user_name, flow, node,
           summary, detail::text, previous, hmac
    FROM pinguard.audit WHERE workspace = $1 AND number > $2 ORDER BY number LIMIT $3"#;

const HEAD: &str = "SELECT count, hmac FROM pinguard.audit_head WHERE workspace = $1";

const WORKSPACES: &str = "
    SELECT workspace FROM pinguard.audit UNION SELECT workspace FROM pinguard.audit_head ORDER BY workspace";

/// The workspaces that have a chain.
pub(crate) async fn workspaces(links: &Links, deadline: Instant) -> Result<Vec<String>, ControlError> {
    let rows = links.rows(WORKSPACES, &[], deadline).await?;
    Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
}

/// Goes over a workspace's chain as it is at one moment. `logged` is a head that the log told some time.
pub(crate) async fn verify(
    links: &Links,
    key: &AuditKey,
    workspace: &str,
    logged: Option<&AuditHead>,
    deadline: Instant,
) -> Result<Verification, ControlError> {
    let look = async |client: &mut tokio_postgres::Client| {
        let transaction = client
            .build_transaction()
            .isolation_level(IsolationLevel::RepeatableRead)
            .read_only(true)
            .start()
            .await?;
        let mut walk = Walk::new(key);
        loop {
            let after = walk.last_number();
            let wanted =
                [(&workspace as _, Type::TEXT), (&after as _, Type::INT8), (&BATCH as _, Type::INT8)];
            let rows = transaction.query_typed(ROWS, &wanted).await?;
            for row in &rows {
                walk.step(read(row)?, row.try_get("hmac")?, logged);
            }
            if rows.is_empty() {
                break;
            }
        }
        let head = head(&transaction, workspace).await?;
        Ok(walk.end(workspace, head, logged))
    };
    links.with_new(deadline, look).await
}

async fn head(
    transaction: &Transaction<'_>,
    workspace: &str,
) -> Result<Option<(i64, Vec<u8>)>, ControlError> {
    match transaction.query_typed_opt(HEAD, &[(&workspace, Type::TEXT)]).await? {
        Some(row) => Ok(Some((row.try_get(0)?, row.try_get(1)?))),
        None => Ok(None),
    }
}

fn read(row: &tokio_postgres::Row) -> Result<Row, ControlError> {
    Ok(Row {
        workspace: row.try_get("workspace")?,
        number: row.try_get("number")?,
        id: row.try_get("id")?,
        at: as_written(row.try_get("at")?),
        kind: row.try_get("type")?,
        change: row.try_get("change")?,
        actor: row.try_get("actor")?,
        user: row.try_get("user_name")?,
        flow: row.try_get("flow")?,
        node: row.try_get("node")?,
        summary: row.try_get("summary")?,
        detail: row.try_get("detail")?,
        previous: row.try_get("previous")?,
    })
}

/// A time with six digits as RFC 3339 has it: without zeros at its end.
fn as_written(at: &str) -> String {
    format!("{}Z", at.trim_end_matches('0').trim_end_matches('.'))
}

/// The state between two rows.
struct Walk<'a> {
    key: &'a AuditKey,
    rows: u64,
    /// The last row's number and HMAC.
    last: Option<(i64, Vec<u8>)>,
    /// Whether the last row fits its HMAC.
    last_fits: bool,
    /// Numbers that rows were written with, as far as their HMACs tell.
    held: Vec<i64>,
    misfits: Vec<(Row, Vec<u8>)>,
    findings: Vec<Finding>,
}

impl<'a> Walk<'a> {
    fn new(key: &'a AuditKey) -> Self {
        Self {
            key,
            rows: 0,
            last: None,
            last_fits: true,
            held: Vec::new(),
            misfits: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn last_number(&self) -> i64 {
        self.last.as_ref().map_or(0, |(number, _)| *number)
    }

    fn step(&mut self, row: Row, hmac: Vec<u8>, logged: Option<&AuditHead>) {
        let number = row.number;
        let fits = row.mac(self.key, number).verify_slice(&hmac).is_ok();
        let before = match &self.last {
            Some((last, hmac)) => (*last == number - 1).then_some(hmac.as_slice()),
            None => (number == 1).then_some(NOTHING.as_slice()),
        };
        // Behind a gap or a row that is wrong itself, nothing can be said about what a row should follow.
        if fits && self.last_fits && before.is_some_and(|before| before != row.previous) {
            self.findings.push(Finding::Unlinked { number });
        }
        if logged.is_some_and(|logged| logged.count == number && logged.hmac != hex(&hmac)) {
            self.findings.push(Finding::NotAsLogged { number });
        }
        self.rows += 1;
        self.last = Some((number, hmac.clone()));
        self.last_fits = fits;
        if fits {
            self.held.push(number);
        } else {
            self.misfits.push((row, hmac));
        }
    }

    fn end(
        mut self,
        workspace: &str,
        head: Option<(i64, Vec<u8>)>,
        logged: Option<&AuditHead>,
    ) -> Verification {
        let last = self.last_number();
        let known = [Some(last), head.as_ref().map(|(count, _)| *count), logged.map(|logged| logged.count)];
        let end = known.into_iter().flatten().max().unwrap_or(0);
        self.place_misfits(end);
        self.find_gaps(last, end);
        let same = match (&head, &self.last) {
            (Some((count, hmac)), Some((number, last))) => count == number && hmac == last,
            (None, None) => true,
            (Some((count, _)), None) => *count == 0,
            (None, Some(_)) => false,
        };
        let cut = self.findings.iter().any(|finding| matches!(finding, Finding::CutOff { .. }));
        if !same && !cut {
            self.findings.push(Finding::Head { count: head.map_or(0, |(count, _)| count) });
        }
        self.findings.sort_unstable_by_key(|finding| (finding.number(), *finding));
        let head = self.last.map(|(count, hmac)| AuditHead {
            workspace: workspace.to_owned(),
            count,
            hmac: hex(&hmac),
        });
        Verification { workspace: workspace.to_owned(), rows: self.rows, head, findings: self.findings }
    }

    /// Tells rows that stand in a wrong place from those with other contents: a moved row fits its HMAC with another number.
    fn place_misfits(&mut self, end: i64) {
        for (index, (row, hmac)) in std::mem::take(&mut self.misfits).into_iter().enumerate() {
            let number = row.number;
            let near = (number - REACH).max(1)..=(number + REACH).min(end);
            let fits = |place: &i64| row.mac(self.key, *place).verify_slice(&hmac).is_ok();
            let from = if index < MOST_SOUGHT { near.into_iter().find(fits) } else { None };
            self.held.push(from.unwrap_or(number));
            self.findings.push(match from {
                Some(from) => Finding::Moved { number, from },
                None => Finding::Changed { number },
            });
        }
    }

    /// Numbers that no row was written with. Those past the last row were cut off.
    fn find_gaps(&mut self, last: i64, end: i64) {
        self.held.sort_unstable();
        let mut next = 1;
        for held in std::mem::take(&mut self.held).into_iter().chain([end + 1]) {
            if held > next {
                let (first, end) = (next, held - 1);
                self.findings.push(if first > last {
                    Finding::CutOff { first, last: end }
                } else {
                    Finding::Removed { first, last: end }
                });
            }
            next = next.max(held + 1);
        }
    }
}

impl Verification {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Finding {
    fn number(self) -> i64 {
        match self {
            Self::Changed { number }
            | Self::Moved { number, .. }
            | Self::Unlinked { number }
            | Self::NotAsLogged { number } => number,
            Self::Removed { first, .. } | Self::CutOff { first, .. } => first,
            Self::Head { .. } => i64::MAX,
        }
    }

    /// A word for it.
    pub fn code(self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed",
            Self::Moved { .. } => "moved",
            Self::Removed { .. } => "removed",
            Self::CutOff { .. } => "cut_off",
            Self::Unlinked { .. } => "unlinked",
            Self::Head { .. } => "head",
            Self::NotAsLogged { .. } => "not_as_logged",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = |first: i64, last: i64| {
            if first == last { format!("row {first} is") } else { format!("rows {first} to {last} are") }
        };
        match *self {
            Self::Changed { number } => write!(f, "row {number} was changed"),
            Self::Moved { number, from } => write!(f, "row {number} was written as row {from}"),
            Self::Removed { first, last } => write!(f, "{} missing", rows(first, last)),
            Self::CutOff { first, last } => write!(f, "{} missing at the end", rows(first, last)),
            Self::Unlinked { number } => {
                write!(f, "row {number} follows another row than the one before it")
            }
            Self::Head { count } => write!(f, "the head tells of {count} rows, or of another last row"),
            Self::NotAsLogged { number } => write!(f, "row {number} is another than the log tells of"),
        }
    }
}
