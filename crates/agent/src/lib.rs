//! The composition root: reads files, starts the log, starts the roles asked for and ends them in order, or hands over
//! to the command line.
//!
//! - A1: nothing starts on settings that are not wholly understood.
//! - A2: two agents never share a folder.
//! - A3: SIGINT and SIGTERM end in order; a second one at once. Without `-dev` tasks go on.

mod addresses;
mod arguments;
mod banner;
mod client_options;
#[cfg(test)]
mod corpus;
mod docker;
mod drivers;
mod error;
mod files;
mod folders;
mod left_behind;
mod logging;
mod roles;
mod run;
mod settings;
mod show;
mod shown;
mod signals;
mod validate;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use longshore_cli::ConfigVerdict;

/// Runs what the command line asks for; `words` is the whole of it, program name first.
pub fn run(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut words = words.into_iter();
    let called = words.next().unwrap_or_default();
    // Called as `nomad` it answers as `nomad`.
    let program = Path::new(&called)
        .file_name()
        .map_or_else(|| "longshore".to_owned(), |name| name.to_string_lossy().into_owned());
    let words: Vec<OsString> = words.collect();
    // The supervisor of tasks and the first stage of each task's process are this very binary.
    if words.first().and_then(|word| word.to_str()).is_some_and(|word| longshore_exec::HIDDEN_COMMANDS.contains(&word))
    {
        return longshore_exec::hidden_main(words);
    }
    let commands = Commands { program: program.clone() };
    ExitCode::from(longshore_cli::run(&words, &program, Box::new(commands)))
}

/// The commands that are carried out here.
struct Commands {
    program: String,
}

impl longshore_cli::Local for Commands {
    fn agent(&self, words: &[String]) -> u8 {
        run::agent(&self.program, words)
    }

    fn show_config(&self, words: &[String], colour: bool) -> u8 {
        show::show(&self.program, words, colour)
    }

    fn validate_config(&self, paths: &[String], form: ConfigVerdict) -> u8 {
        validate::validate(paths, form)
    }
}
