#![doc = include_str!("../README.md")]

mod admin;
mod arguments;
pub mod embedded;
mod endpoint;
mod listener;
mod pins;
mod serve;
mod setup_sql;
pub mod supervised;

use std::{
    ffi::OsString,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::Parser as _;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;

pub use self::serve::databases::DEMO;

use self::arguments::{Arguments, Command};

/// The command. Prints why it failed, if it did.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    log_to_stderr();
    let done = match arguments.command {
        Command::Serve(options) => tokio::runtime::Runtime::new()
            .map_err(anyhow::Error::from)
            .and_then(|runtime| runtime.block_on(serve::serve(options))),
        Command::Admin(command) => tokio::runtime::Runtime::new()
            .map_err(anyhow::Error::from)
            .and_then(|runtime| runtime.block_on(admin::run(command))),
        Command::SetupSql(options) => setup_sql::print(&options),
        Command::Pins(options) => return pins::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Warnings and errors, unless `RUST_LOG` asks for more.
fn log_to_stderr() {
    let mut filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into()).from_env_lossy();
    // The protocol library logs each refused request in its own terms and, further down, statements and rows.
    if let Ok(silent) = "rmcp=off".parse() {
        filter = filter.add_directive(silent);
    }
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .with_target(false)
        .init();
}
