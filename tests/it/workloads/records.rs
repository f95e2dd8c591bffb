//! The recorded statements: reading them, and the digest by which their results are recorded.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// A statement that ran, and what it gave.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) database: String,
    pub(super) sql: String,
    /// Schemas, divided by commas; none leaves what the database sets.
    pub(super) search_path: Option<String>,
    /// Names and types.
    pub(super) columns: Vec<(String, String)>,
    /// See [`digest`].
    pub(super) sha256: String,
}

/// A row as the server prints it; NULL is `None`.
pub(super) type TextRow = Vec<Option<String>>;

/// The folder of databases and statements, if it is there.
pub(super) fn folder() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/workloads");
    folder.join("db").is_dir().then_some(folder)
}

pub(super) fn read(folder: &Path) -> Vec<Record> {
    let file = folder.join("statements/core.jsonl.gz");
    let unpacked = Command::new("gunzip").arg("-c").arg(file).output().unwrap();
    assert!(unpacked.status.success(), "{}", String::from_utf8_lossy(&unpacked.stderr));
    String::from_utf8(unpacked.stdout).unwrap().lines().map(record).collect()
}

fn record(line: &str) -> Record {
    let record: Value = serde_json::from_str(line).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let columns = record["columns"].as_array().unwrap();
    Record {
        id: text(&record["id"]),
        group: text(&record["group"]),
        database: text(&record["db"]),
        sql: text(&record["sql"]),
        search_path: record.get("search_path").map(text),
        columns: columns.iter().map(|column| (text(&column[0]), text(&column[1]))).collect(),
        sha256: text(&record["sha256"]),
    }
}

/// Whether columns are the recorded ones. The recording printed types in full; where a search path leads to a type's
/// schema, PostgreSQL prints it without.
pub(super) fn same_columns(columns: &[(String, String)], record: &Record) -> bool {
    let path = record.search_path.as_deref().unwrap_or_default();
    let short = |full: &str| match full.split_once('.') {
        Some((schema, name)) if path.split(',').any(|known| known == schema) => name.to_owned(),
        _ => full.to_owned(),
    };
    columns.len() == record.columns.len()
        && columns
            .iter()
            .zip(&record.columns)
            .all(|((name, given), (recorded, full))| name == recorded && *given == short(full))
}

/// SHA-256 over the rows in bytewise order, columns joined by 0x1f, NULL as `\N`, rows joined by line feeds.
pub(super) fn digest(rows: &[TextRow]) -> String {
    let line = |row: &TextRow| {
        row.iter().map(|cell| cell.as_deref().unwrap_or("\\N")).collect::<Vec<_>>().join("\x1f")
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.sort_unstable();
    Sha256::digest(lines.join("\n")).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}
