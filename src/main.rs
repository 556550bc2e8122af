//! The one binary: agent and command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    longshore_agent::run(std::env::args_os())
}
