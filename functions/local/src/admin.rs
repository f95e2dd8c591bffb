//! `pinguard key`, `credential`, `audit` and `migrate`: the work of an operator, against a control database.

mod arguments;
mod audit;
mod credentials;
mod keys;
mod table;

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;
use state::{Control, ControlError, SecretStore};
use tokio::time::Instant;

pub(crate) use arguments::Admin;

use self::arguments::{AuditCommand, Place};
use crate::serve::data::{CONTROL_SECRET, DataFolder};

/// The time of a command, a long audit included.
const TIME: Duration = Duration::from_mins(10);

/// Runs one command.
pub(crate) async fn run(command: Admin) -> Result<()> {
    match command {
        Admin::Key { place, command } => keys::run(&Desk::open(place)?, command).await,
        Admin::Credential { place, command } => credentials::run(&Desk::open(place)?, command).await,
        Admin::Audit { place, command: AuditCommand::Verify(options) } => {
            audit::verify(&Desk::open(place)?, &options).await
        }
        Admin::Migrate { place } => {
            let desk = Desk::open(place)?;
            desk.control.migrate().await.map_err(explained)?;
            desk.tell(&serde_json::json!({"migrated": true}), "the control database is up to date\n")
        }
    }
}

/// What a command works on, and how it answers.
struct Desk {
    control: Control,
    place: Place,
}

impl Desk {
    /// The control database of the flag or the environment; else that of a `pinguard serve` that runs on the data folder.
    fn open(place: Place) -> Result<Self> {
        let store = if let Some(url) = &place.control_url {
            SecretStore::given(CONTROL_SECRET, url)
        } else {
            let data = DataFolder::path_of(place.data.clone())?;
            let secrets = data.join("secrets");
            ensure!(
                secrets.join(CONTROL_SECRET).is_file(),
                "no `pinguard serve` runs on {}: start it, or give --control-url or PINGUARD_CONTROL_URL",
                data.display()
            );
            SecretStore::Files(secrets)
        };
        Ok(Self { control: Control::new(Arc::new(store), CONTROL_SECRET.to_owned()), place })
    }

    fn workspace(&self) -> &str {
        self.place.workspace.as_deref().unwrap_or(crate::serve::WORKSPACE)
    }

    /// Answers in JSON or for people, as asked.
    fn tell(&self, json: &Value, text: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        let told = if self.place.json { writeln!(out, "{json}") } else { write!(out, "{text}") };
        told.and_then(|()| out.flush()).context("cannot write the answer")
    }
}

fn latest() -> Instant {
    Instant::now() + TIME
}

/// What went wrong, and what an operator does next.
fn explained(error: ControlError) -> anyhow::Error {
    let hint = error.hint();
    anyhow!("{:#}; {hint}", anyhow::Error::new(error))
}
