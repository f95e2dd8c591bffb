//! The editor's API on this machine, and the audit in the same process: events and call records are written as they come.

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use anyhow::Result;
use flows::{App, Callers, Settings};
use service::Limits;
use state::{Auditor, CallRecord, Control, EventSink, Journal, Lines, SecretStore, StampKeys};
use tokio::{sync::mpsc, task::JoinHandle, time::Instant};

use super::{
    announce::Voice,
    data::{AUDIT_SECRET, CONTROL_SECRET, DATABASE_SECRET, DataFolder, STAMP_SECRET},
};
use crate::endpoint;

/// Records that are written at one time.
const BATCH: usize = 100;
/// How long records may take to be written, also at the end.
const WRITE_TIME: Duration = Duration::from_secs(5);

/// Who may use what is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// Holders of a key.
    Keys,
    /// Whoever is on this machine.
    Open,
}

impl Door {
    pub(crate) fn callers(self) -> Callers {
        match self {
            Self::Keys => Callers::ApiKeys,
            Self::Open => Callers::Anyone { workspace: super::WORKSPACE.to_owned() },
        }
    }
}

/// What writes the audit's rows and the call records.
pub(crate) fn auditor(secrets: &Arc<SecretStore>, data: &DataFolder) -> Result<Arc<Auditor>> {
    let control = Control::new(Arc::clone(secrets), CONTROL_SECRET.to_owned());
    Ok(Arc::new(Auditor { control, key: data.audit_key()?, heads: Lines::Stderr }))
}

/// The editor's API.
pub(crate) fn app(secrets: &Arc<SecretStore>, auditor: &Arc<Auditor>, door: Door, port: u16) -> App {
    App {
        settings: Settings {
            limits: Limits { default_secret: Some(DATABASE_SECRET.to_owned()), ..Limits::default() },
            own_secrets: [CONTROL_SECRET, AUDIT_SECRET, STAMP_SECRET].map(str::to_owned).to_vec(),
            credential_prefix: None,
            front: endpoint::front(port),
        },
        secrets: Arc::clone(secrets),
        control: Control::new(Arc::clone(secrets), CONTROL_SECRET.to_owned()),
        callers: door.callers(),
        events: EventSink::InProcess(Arc::clone(auditor)),
    }
}

/// The test of pins.
pub(crate) fn tests(
    secrets: &Arc<SecretStore>,
    auditor: &Arc<Auditor>,
    door: Door,
    port: u16,
) -> pin_test::App {
    pin_test::App {
        settings: pin_test::Settings {
            limits: Limits { default_secret: Some(DATABASE_SECRET.to_owned()), ..Limits::default() },
            front: endpoint::front(port),
        },
        secrets: Arc::clone(secrets),
        control: Control::new(Arc::clone(secrets), CONTROL_SECRET.to_owned()),
        callers: door.callers(),
        stamp_keys: Some(stamp_keys(secrets)),
        events: EventSink::InProcess(Arc::clone(auditor)),
        log: Lines::Stderr,
        memories: pin_test::Memories::default(),
    }
}

/// The key of stamps, read for each call.
pub(crate) fn stamp_keys(secrets: &Arc<SecretStore>) -> StampKeys {
    StampKeys::new(Arc::clone(secrets), STAMP_SECRET.to_owned(), Duration::ZERO)
}

/// A journal that tells of each call on standard error, in one short line or in JSON, and writes it into the control database.
/// The task ends when the journal is dropped and all is written.
pub(crate) fn journal(voice: Voice, auditor: Arc<Auditor>) -> (Journal, JoinHandle<()>) {
    let (sender, mut records) = mpsc::unbounded_channel();
    let written = tokio::spawn(async move {
        let mut batch = Vec::with_capacity(BATCH);
        while records.recv_many(&mut batch, BATCH).await > 0 {
            for record in &batch {
                tell(voice, record);
            }
            if let Err(error) = auditor.calls(&batch, Instant::now() + WRITE_TIME).await {
                tracing::warn!(%error, code = error.code(), "call records could not be written");
            }
            batch.clear();
        }
    });
    (Journal::Channel(sender), written)
}

/// Waits for the last records.
pub(crate) async fn settle(written: JoinHandle<()>) {
    if tokio::time::timeout(WRITE_TIME, written).await.is_err() {
        tracing::warn!("the last call records were not written in time");
    }
}

fn tell(voice: Voice, record: &CallRecord) {
    let _ = match voice {
        Voice::Text => writeln!(io::stderr(), "{}", endpoint::line(record)),
        Voice::Json => Lines::Stderr.write(record),
    };
}
