//! One line about each call: who, what, how it ended. No values, ever.

use std::time::{Instant, SystemTime};

use analyst::Kind;
use state::{CallRecord, Effect, preview};
use uuid::Uuid;

use crate::app::App;
use crate::tools::Done;

/// A call that has begun.
pub(crate) struct Begun {
    at: SystemTime,
    clock: Instant,
}

/// Whose call it is, and of what.
pub(crate) struct Subject<'a> {
    pub(crate) workspace: &'a str,
    pub(crate) flow: &'a str,
    pub(crate) node: &'a str,
    pub(crate) caller: Option<&'a str>,
    pub(crate) tool: &'a str,
    pub(crate) pin: Option<&'a pins::Pin>,
}

impl Begun {
    pub(crate) fn now() -> Self {
        Self { at: SystemTime::now(), clock: Instant::now() }
    }

    /// Writes the call's line; trouble with it is logged and does not fail the call.
    pub(crate) fn write(&self, app: &App, subject: &Subject<'_>, done: &Done, sql_hash: Option<&str>) {
        let report = &done.report;
        let ran = report.sql.is_some();
        let of_page = report.pin.as_ref();
        let record = CallRecord {
            id: Uuid::now_v7().to_string(),
            at: self.at,
            workspace: subject.workspace.to_owned(),
            flow: subject.flow.to_owned(),
            node: Some(subject.node.to_owned()),
            caller: subject.caller.map(str::to_owned),
            tool: subject.tool.to_owned(),
            pin: subject.pin.map(|pin| pin.id().to_owned()).or_else(|| of_page.map(|(id, _)| id.clone())),
            pin_version: subject.pin.map(pins::Pin::version).or_else(|| of_page.map(|(_, version)| *version)),
            sql_hash: sql_hash.map(str::to_owned),
            lane: report.lane().map(str::to_owned),
            effect: effect(done),
            code: done.result.as_ref().err().map(|failure| failure.code.to_string()),
            rows_returned: (ran && done.result.is_ok()).then_some(report.rows),
            tables_read: report.tables.clone(),
            bytes: done.result.is_ok().then_some(report.bytes),
            elapsed_ms: u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX),
            page: report.page,
            free_sql_with_pin: report.free_sql_with_pin.clone(),
            counted_here: report.counted_here.map(str::to_owned),
            preview: report.sql.as_deref().filter(|_| app.settings.trace_preview).map(preview),
        };
        if let Err(error) = app.journal.write(record) {
            tracing::warn!(%error, "a call record could not be written");
        }
        if let Err(failure) = &done.result
            && let Some(log) = &failure.log
        {
            tracing::info!(code = %failure.code, detail = %log, "a call failed");
        }
    }
}

fn effect(done: &Done) -> Effect {
    match (&done.result, done.report.sql.is_some()) {
        (Ok(_), true) => Effect::Allowed,
        (Ok(_), false) => Effect::None,
        (Err(failure), _) if failure.kind == Kind::Refusal => Effect::Refused,
        (Err(_), _) => Effect::Failed,
    }
}
