//! `pinguard pins test|push`: the pins of a flow document that a repository keeps, tested, saved and published over the API.

mod api;
mod arguments;
mod file;
mod report;
mod yaml;

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub(crate) use self::arguments::Pins;

use self::{
    api::{Api, Tested},
    arguments::Command,
    file::FlowFile,
    report::{Report, Voice},
};

/// Some pin did not pass.
const FAILED: u8 = 1;
/// Nothing can be said of the pins, or what passed could not be saved.
const BROKEN: u8 = 2;

/// When a draft that was saved becomes Live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Publishing {
    /// When somebody publishes it.
    Later,
    AtOnce,
}

/// Runs one command. Prints what came of each pin, and why it went no further, if it did not.
pub(crate) fn run(options: &Pins) -> ExitCode {
    match work(options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::from(BROKEN)
        }
    }
}

/// Whether every pin passed.
fn work(options: &Pins) -> Result<bool> {
    let api = Api::new(&options.url, key(options.key_file.as_deref())?.as_deref())?;
    let (Command::Test { file } | Command::Push { file, .. }) = &options.command;
    let file = FlowFile::read(file)?;
    let mut report = Report::new(file.id());
    let done = match options.command {
        Command::Test { .. } => test(&api, &file, &mut report).map(drop),
        Command::Push { publish, .. } => {
            let publishing = if publish { Publishing::AtOnce } else { Publishing::Later };
            push(&api, &file, publishing, &mut report)
        }
    };
    // What came of the pins is told also where it could not be saved.
    if done.is_ok() || !report.is_empty() {
        let voice = if options.json { Voice::Json } else { Voice::Text };
        let mut out = io::stdout().lock();
        report.tell(voice, &mut out).and_then(|()| out.flush()).context("cannot write the report")?;
    }
    done.map(|()| report.passed())
}

/// The key of the file or else of the environment. It is never on the command line, which others can read.
fn key(file: Option<&Path>) -> Result<Option<String>> {
    let Some(path) = file else {
        #[expect(
            clippy::disallowed_methods,
            reason = "clap would take the variable only with an option beside it"
        )]
        return Ok(std::env::var("PINGUARD_KEY").ok().filter(|key| !key.is_empty()));
    };
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(!text.trim().is_empty(), "{} holds no key", path.display());
    Ok(Some(text))
}

/// Saves nothing of a flow that the server knows unless every pin passes.
fn push(api: &Api, file: &FlowFile, publishing: Publishing, report: &mut Report) -> Result<()> {
    let id = file.id();
    let stored = api.flow(id)?;
    let mut version = stored.version;
    if file.tests.iter().any(|test| !stored.nodes.contains(&test.node)) {
        // A pin is tested on a node that is there.
        version = api.save(id, &file.document, version)?;
    }
    let stamped = test(api, file, report)?;
    if report.passed() {
        version = api.save(id, &stamped, version)?;
        report.saved(version);
        if publishing == Publishing::AtOnce {
            report.published(api.publish(id, version)?);
        }
    }
    Ok(())
}

/// Tests every pin. Gives the document with the stamps of those that passed.
fn test(api: &Api, file: &FlowFile, report: &mut Report) -> Result<Value> {
    let mut document = file.document.clone();
    for test in &file.tests {
        let body = json!({
            "nodeId": test.node, "pin": file.pin(test), "values": test.samples, "canvas": file.canvas(test),
        });
        let tested = api.test(file.id(), &body)?;
        let pin = document.pointer_mut(&test.place).and_then(Value::as_object_mut);
        if let (Tested::Passed(answer), Some(pin)) = (&tested, pin) {
            pin.insert("stamp".to_owned(), answer.stamp.clone());
        }
        report.add(test, tested);
    }
    Ok(document)
}
