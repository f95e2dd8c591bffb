//! `pinguard audit verify`.

use std::{fmt::Write as _, fs};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use state::{AuditHead, AuditKey, Verification};

use super::{Desk, arguments::Verify, explained, latest};
use crate::serve::data::{AUDIT_SECRET, DataFolder};

/// Fails where a chain is not whole.
pub(super) async fn verify(desk: &Desk, options: &Verify) -> Result<()> {
    let key = key(desk, options)?;
    let workspaces = match &desk.place.workspace {
        Some(workspace) => vec![workspace.clone()],
        None => desk.control.audited_workspaces(latest()).await.map_err(explained)?,
    };
    let head = options.head.as_deref().map(|text| AuditHead::parse(desk.workspace(), text));
    let head = head.transpose().map_err(anyhow::Error::msg)?;
    let mut found = Vec::with_capacity(workspaces.len());
    for workspace in &workspaces {
        let look = desk.control.verify_audit(&key, workspace, head.as_ref(), latest());
        found.push(look.await.map_err(explained)?);
    }
    let whole = found.iter().all(Verification::is_whole);
    let json = json!({"whole": whole, "workspaces": found.iter().map(as_json).collect::<Vec<_>>()});
    let text: String = found.iter().map(as_text).collect();
    desk.tell(&json, if text.is_empty() { "no audit rows yet\n" } else { &text })?;
    if whole { Ok(()) } else { bail!("the audit is not as it was written") }
}

fn key(desk: &Desk, options: &Verify) -> Result<AuditKey> {
    let path = match &options.key_file {
        Some(path) => path.clone(),
        None => DataFolder::path_of(desk.place.data.clone())?.join("secrets").join(AUDIT_SECRET),
    };
    let text = fs::read_to_string(&path).with_context(|| {
        format!("cannot read the audit's key from {}: give it with --key-file", path.display())
    })?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    AuditKey::new(text.as_bytes()).map_err(|problem| anyhow!("{}: {problem}", path.display()))
}

fn as_json(found: &Verification) -> Value {
    let finding = |finding: &state::Finding| json!({"code": finding.code(), "message": finding.to_string()});
    json!({
        "workspace": found.workspace,
        "rows": found.rows,
        "head": found.head.as_ref().map(ToString::to_string),
        "findings": found.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn as_text(found: &Verification) -> String {
    let mut text = format!("{}: {} rows", found.workspace, found.rows);
    // Writing to a String cannot fail.
    if let Some(head) = &found.head {
        let _ = write!(text, ", head {head}");
    }
    text.push_str(if found.is_whole() { ", whole\n" } else { "\n" });
    for finding in &found.findings {
        let _ = writeln!(text, "  {finding}");
    }
    text
}
