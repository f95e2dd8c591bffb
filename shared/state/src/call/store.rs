//! Call records as rows of `pinguard.call`.

use serde_json::Value;
use tokio::time::Instant;
use tokio_postgres::types::Type;

use super::{CallRecord, preview};
use crate::control::{ControlError, Links};

/// Records that arrive twice are written once.
const INSERT: &str = r#"
    INSERT INTO pinguard.call (id, at, workspace, flow, node, caller, tool, pin, pin_version, sql_hash, lane, effect, code,
        rows_returned, tables_read, bytes, elapsed_ms, page, free_sql_with_pin,
        counted_here, preview)
    SELECT id, at, workspace, flow, node, caller, tool, pin, "pinVersion", "sqlHash", lane, effect, code,
        "rowsReturned", "tablesRead", bytes, "elapsedMs", page, "freeSqlWithPin", "countedHere", preview
    FROM jsonb_to_recordset($1) AS r(id text, at timestamptz, workspace text, flow text, node text, caller text, tool text,
        pin text, "pinVersion" bigint, "sqlHash" text, lane text, effect text, code text, "rowsReturned" bigint,
        "tablesRead" text[], bytes bigint, "elapsedMs" bigint, page bigint, "freeSqlWithPin" text[],
        "countedHere" text, preview text)
    ON CONFLICT (id) DO NOTHING"#;

/// Writes records, in one statement.
pub(crate) async fn store(
    links: &Links,
    records: &[CallRecord],
    deadline: Instant,
) -> Result<(), ControlError> {
    if records.is_empty() {
        return Ok(());
    }
    let rows = records.iter().map(row).collect::<Result<Vec<_>, _>>().map_err(|_| ControlError::Answer)?;
    // Written twice it stays written once, so a connection that died may be replaced.
    links.rows(INSERT, &[(&Value::from(rows), Type::JSONB)], deadline).await?;
    Ok(())
}

fn row(record: &CallRecord) -> Result<Value, serde_json::Error> {
    // Its literals are hidden where it is made; whatever else wrote this line, they are hidden here.
    let preview = record.preview.as_deref().map(preview);
    let mut row = serde_json::to_value(CallRecord { preview, ..record.clone() })?;
    row.as_object_mut().into_iter().flat_map(|row| row.values_mut()).for_each(storable);
    Ok(row)
}

/// Makes a value one that the database takes: texts without NUL, numbers that fit.
fn storable(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\0') => *text = text.replace('\0', "\u{fffd}"),
        Value::Number(number) if number.as_i64().is_none() => *value = Value::from(i64::MAX),
        Value::Array(values) => values.iter_mut().for_each(storable),
        _ => {}
    }
}
