//! The tools of the MCP project, as `scripts/test` unpacks them, on a Node of their own; and telling what they found.

use std::{
    io::{self, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use crate::support::command::Folder;

/// A script of an npm package, ready for its arguments. What it keeps for itself goes to `home`.
pub(crate) fn tool(script: &str, home: &Folder) -> Command {
    let target = Path::new(env!("CARGO_BIN_EXE_pinguard-under-test")).ancestors().nth(2).unwrap();
    let node = target.join("node/node_modules/node/bin/node");
    let script = target.join("mcp-tools/node_modules/@modelcontextprotocol").join(script);
    for file in [&node, &script] {
        assert!(file.is_file(), "{} is not there: run scripts/test, which installs it", file.display());
    }
    let mut command = Command::new(&node);
    // They start Node once more, by its name.
    let path = format!("{}:/usr/bin:/bin", node.parent().unwrap().display());
    command.arg(script).env("PATH", path).env("HOME", &home.0).current_dir(&home.0).stdin(Stdio::null());
    command
}

/// Tells a figure, or what is left out. Unlike what `eprintln` writes, it is seen of tests that pass too.
pub(crate) fn tell(line: &str) {
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "{line}").unwrap();
}
