//! The words of these commands.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Tests, saves and publishes the pins of a flow document, for a repository and its CI: `test`, `push`.
///
/// The document is YAML or, in a file whose name ends in `.json`, JSON. Beside what is saved, a pin in it has `samples`: the
/// values that it is tested with.
///
/// Exit codes: 0 all pins passed, 1 some did not, 2 everything else.
#[derive(Debug, Args)]
pub(crate) struct Pins {
    /// Where pinguard is; the API is below it at /api/v1.
    #[arg(
        long,
        value_name = "URL",
        env = "PINGUARD_URL",
        default_value = "http://127.0.0.1:8787",
        global = true
    )]
    pub(crate) url: String,
    /// A file with the key, instead of the variable PINGUARD_KEY; the scopes flows:read and chatflows:update or
    /// agentflows:update are needed.
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) key_file: Option<PathBuf>,
    /// Report in JSON: a line for each pin, and one for all.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tests each pin on its node as the document has it, and saves nothing.
    ///
    /// The server must know flow and node; `push` makes them.
    Test {
        /// The flow document.
        file: PathBuf,
    },
    /// Tests each pin and, if all pass, saves the document with their stamps as the flow's draft.
    ///
    /// A flow or a node that the server does not know yet is saved before the test, without stamps. Live changes only with
    /// --publish.
    Push {
        /// The flow document.
        file: PathBuf,
        /// Make the saved draft Live.
        #[arg(long)]
        publish: bool,
    },
}
