//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Read-only PostgreSQL for AI agents, over MCP.
#[derive(Debug, Parser)]
#[command(name = "pinguard", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
}

/// Serves agents on this machine; without options, a demo.
///
/// Starts a PostgreSQL of its own for the demo and for what pinguard itself keeps, listens on 127.0.0.1, and prints the
/// MCP URL, the key and a line to try it. Ctrl-C ends everything it started.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Serve this database instead of the demo, as flow `local`, node `db`.
    #[arg(long, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Serve the flow of this document (JSON) instead.
    #[arg(long, value_name = "FILE")]
    pub(crate) flow: Option<PathBuf>,
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 8787)]
    pub(crate) port: u16,
    /// Where the data and the key are kept [default: target/pinguard of the checkout, else ./pinguard-data].
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// When ready, print one line of JSON and nothing else on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Ask callers for no key.
    #[arg(long)]
    pub(crate) no_auth: bool,
}
