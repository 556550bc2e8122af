//! Commands that a person could type, shown before they run.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An error for a person: what was being done, and why it did not work.
pub(crate) type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// The top folder of the workspace.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// The cargo that started us.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace());
    // What cargo tells a build of ours is not for the builds that we start: it would make them start anew.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// Shows a command, runs it, and takes any exit code but 0 for a failure.
pub(crate) fn run(command: &mut Command) -> Outcome {
    let shown = show(command);
    println!("\n$ {shown}");
    let status = command.status().map_err(|error| format!("could not run `{shown}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})").into()) }
}

/// A command as a person would type it.
pub(crate) fn show(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let mut text = name.to_string_lossy().into_owned();
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        let plain =
            !argument.is_empty() && argument.chars().all(|it| it.is_ascii_alphanumeric() || "-_=./:,+@%".contains(it));
        let _ =
            if plain { write!(text, " {argument}") } else { write!(text, " '{}'", argument.replace('\'', r"'\''")) };
    }
    text
}
