//! `pinguard pins test|push`: the pins of a flow document that a repository keeps, tested, saved and published over the API.

mod api;
mod arguments;
mod file;
mod report;
mod yaml;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
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
    let done = Api::new(&options.url, options.key.as_deref()).and_then(|api| match &options.command {
        Command::Test { file } => test(&api, &FlowFile::read(file)?),
        Command::Push { file, publish } => {
            let publishing = if *publish { Publishing::AtOnce } else { Publishing::Later };
            push(&api, &FlowFile::read(file)?, publishing)
        }
    });
    let told = done.and_then(|report| {
        let voice = if options.json { Voice::Json } else { Voice::Text };
        let mut out = io::stdout().lock();
        report.tell(voice, &mut out).and_then(|()| out.flush()).context("cannot write the report")?;
        Ok(report.passed())
    });
    match told {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::from(BROKEN)
        }
    }
}

fn test(api: &Api, file: &FlowFile) -> Result<Report> {
    tested(api, file).map(|(report, _)| report)
}

/// Saves nothing of a flow that the server knows unless every pin passes.
fn push(api: &Api, file: &FlowFile, publishing: Publishing) -> Result<Report> {
    let id = file.id();
    let stored = api.flow(id)?;
    let mut version = stored.version;
    if file.tests.iter().any(|test| !stored.nodes.contains(&test.node)) {
        // A pin is tested on a node that is there.
        version = api.save(id, &file.document, version)?;
    }
    let (mut report, stamped) = tested(api, file)?;
    if report.passed() {
        version = api.save(id, &stamped, version)?;
        report.saved(version);
        if publishing == Publishing::AtOnce {
            report.published(api.publish(id, version)?);
        }
    }
    Ok(report)
}

/// Tests every pin. Gives the document with the stamps of those that passed.
fn tested(api: &Api, file: &FlowFile) -> Result<(Report, Value)> {
    let mut report = Report::new(file.id());
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
    Ok((report, document))
}
