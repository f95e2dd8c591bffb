//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use pg::name::{RelationName, identifier};
use state::{CacheTarget, CacheTargetError};

use crate::{admin::Admin, pins::Pins, setup_sql::role};

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
    SetupSql(SetupSql),
    Pins(Pins),
    #[command(flatten)]
    Admin(Admin),
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
    /// Share kept rows and counts of calls with other instances in this Valkey or Redis, such as redis://127.0.0.1:6379.
    #[arg(long, value_name = "URL", value_parser = cache_url)]
    pub(crate) cache: Option<String>,
    /// When ready, print one line of JSON and nothing else on standard output.
    #[arg(long)]
    pub(crate) json: bool,
    /// Ask callers for no key.
    #[arg(long)]
    pub(crate) no_auth: bool,
}

/// Prints SQL that makes a login for pinguard, which may read what you name and nothing else.
///
/// Run what it prints as a superuser, connected to the database that is to be read. Names are written as in SQL: with capitals,
/// blanks or dots in double quotes.
#[derive(Debug, Args)]
pub(crate) struct SetupSql {
    /// The login.
    #[arg(long, value_name = "NAME", value_parser = role)]
    pub(crate) role: String,
    /// The database that it may connect to; without it nothing is granted, since by default every login may.
    #[arg(long, value_name = "NAME", value_parser = identifier)]
    pub(crate) database: Option<String>,
    /// A schema of which it may read all tables and views; can be repeated [default: public, unless relations are named].
    #[arg(long = "schema", value_name = "NAME", value_parser = identifier)]
    pub(crate) schemas: Vec<String>,
    /// A table or view that it may read, with its schema; can be repeated.
    #[arg(long = "relation", value_name = "SCHEMA.NAME")]
    pub(crate) relations: Vec<RelationName>,
    /// The server's major version [default: what fits 15 to 18, and 14 as a comment].
    #[arg(long, value_name = "14-18", value_parser = value_parser!(u16).range(14..=18))]
    pub(crate) major: Option<u16>,
}

/// The URL of a cache, as it was given.
fn cache_url(url: &str) -> Result<String, CacheTargetError> {
    CacheTarget::parse(url).map(|_| url.to_owned())
}
