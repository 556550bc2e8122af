//! The supervisor: one small process a node, the parent of all tasks that run on the host.
//!
//! It holds the tasks' pipes, writes their rotated logs, and keeps their exits on disk. It outlives the agent, which finds
//! it again by its socket, and it ends by itself when it has no tasks and no agent has been with it for a while. It does
//! nothing else, so that it never needs a restart.
//!
//! Should it die all the same, its tasks cannot be held any longer (their pipes are broken, their exits cannot be read):
//! the next supervisor kills what is left of them and tells so.

mod client;
mod control_group;
mod processes;
mod protocol;
mod record;
mod server;
mod stage;
mod task;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) use client::{Launch, Supervisor};
pub(crate) use protocol::{Answer, Attempt, Command, Exit, Logs, Request, TaskStatus};

/// The commands of the binary that people are not told of: the supervisor, and the first stage of each task's process.
pub const HIDDEN_COMMANDS: [&str; 2] = ["__supervisor", "__task"];

/// Runs a hidden command. `arguments` begins with its name.
pub fn hidden_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    let outcome = match (arguments.next().as_deref().and_then(|name| name.to_str()), arguments.next()) {
        (Some("__supervisor"), Some(folder)) => server::run(&PathBuf::from(folder)),
        (Some("__task"), None) => stage::run(),
        _ => {
            eprintln!("this command is for the agent's own use");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("supervisor: {error}");
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                eprintln!("supervisor: because {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}
