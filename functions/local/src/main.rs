//! The `pinguard` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    local::run(std::env::args_os())
}
