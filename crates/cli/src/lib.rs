//! The commands. They speak only the HTTP API: whatever they show, any other client can ask for.
//!
//! - L1: words, columns, order of lines, streams and exit codes are those of Nomad 1.6; where we go further we add.
//! - L2: what people read is made by functions without I/O from what the API answers.
//! - L3: waiting is by blocking queries, never for a fixed time.
//! - L4: tokens and passwords appear in no output and no error.

mod client;
mod commands;
mod failure;
pub mod flags;
mod help;
mod jobfile;
mod json;
mod monitor;
mod render;
mod resolve;
mod table;
mod template;
#[cfg(test)]
mod tests;
mod ui;
mod version;
mod view;

use std::ffi::OsString;

use longshore_values::{Secret, nearest};

use client::Client;
use commands::table::{COMMANDS, Command, GROUPS};
use commands::{Action, Context, perform};
use failure::Failure;
use flags::{BadFlags, Given};
use ui::Ui;

pub use version::{NOMAD_LEVEL, VERSION};

/// What is exited with when there is no such command, or none was given.
const NO_COMMAND: u8 = 127;
const DEFAULT_ADDRESS: &str = "http://127.0.0.1:4646";

/// How `config validate` tells what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigVerdict {
    /// For people; `effective` asks for the list of what holds, `colour` is for standard error.
    Text { effective: bool, colour: bool },
    /// For editors.
    Json,
}

/// What commands do where this crate cannot go: in the process itself, with what an agent is made of. Each gives back
/// the exit code.
pub trait Local {
    /// `agent`, with the words behind it.
    fn agent(&self, words: &[String]) -> u8;
    /// `config show`, with the words behind it; `colour` is for standard error.
    fn show_config(&self, words: &[String], colour: bool) -> u8;
    /// `config validate`.
    fn validate_config(&self, paths: &[String], form: ConfigVerdict) -> u8;
}

/// Carries out one command line and gives back its exit code.
///
/// `words` are the arguments without the program's own name; `program` is that name, as texts repeat it.
pub fn run(words: &[OsString], program: &str, local: Box<dyn Local>) -> u8 {
    let mut ui = Ui::of_process(is_set("NOMAD_CLI_NO_COLOR") || is_set("NO_COLOR"), is_set("NOMAD_CLI_FORCE_COLOR"));
    let mut texts = Vec::with_capacity(words.len());
    for word in words {
        match word.to_str() {
            Some(text) => texts.push(text.to_owned()),
            None => {
                ui.error(&format!("the argument {word:?} is no UTF-8"));
                return 1;
            }
        }
    }
    let words: Vec<&str> = texts.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["-version" | "--version" | "-v", ..] => {
            version::tell(&mut ui, program);
            0
        }
        ["-h" | "-help" | "--help", ..] => {
            ui.line(&help::root(program));
            0
        }
        ["agent", ..] => local.agent(texts.get(1..).unwrap_or(&[])),
        _ => match find(&words) {
            Found::Command(command, used) => execute(ui, program, command, texts.get(used..).unwrap_or(&[]), local),
            found @ (Found::Group(_) | Found::Nothing) => guide(&mut ui, program, &words, &found),
        },
    }
}

/// Shows what commands there are, after words that are none.
fn guide(ui: &mut Ui, program: &str, words: &[&str], found: &Found) -> u8 {
    let (help, named, code) = match found {
        Found::Group(name) => {
            let asked = matches!(words.get(1), Some(&("-h" | "-help" | "--help")));
            (help::group(program, name), 2, u8::from(!asked))
        }
        Found::Command(..) | Found::Nothing => (help::root(program), 1, NO_COMMAND),
    };
    // Of a page of help alone nobody would learn that the command is missing here, not misspelt.
    match words.get(..named) {
        Some(words) if words.iter().all(|word| !word.starts_with('-')) => {
            let missing = words.join(" ");
            let meant = nearest(&missing, known_words()).map(|meant| format!(" Did you mean \"{meant}\"?"));
            ui.error(&format!("There is no command \"{missing}\" in this build.{}", meant.unwrap_or_default()));
        }
        _ => (),
    }
    ui.line(&help);
    code
}

/// Whatever may stand where a command is named, `agent` included.
fn known_words() -> impl Iterator<Item = &'static str> {
    let commands = COMMANDS.iter().flat_map(|it| std::iter::once(it.name).chain(it.aliases.iter().copied()));
    commands.chain(GROUPS.iter().map(|group| group.name)).chain(["agent"])
}

enum Found {
    /// And how many words named it.
    Command(&'static Command, usize),
    Group(&'static str),
    Nothing,
}

/// The command that the first words name; two words go before one.
fn find(words: &[&str]) -> Found {
    for count in [2, 1] {
        let Some(name) = words.get(..count).map(|words| words.join(" ")) else { continue };
        if let Some(command) = COMMANDS.iter().find(|it| it.name == name || it.aliases.contains(&name.as_str())) {
            return Found::Command(command, count);
        }
    }
    let group = words.first().and_then(|first| GROUPS.iter().find(|group| group.name == *first));
    group.map_or(Found::Nothing, |group| Found::Group(group.name))
}

fn execute(mut ui: Ui, program: &str, command: &'static Command, words: &[String], local: Box<dyn Local>) -> u8 {
    let read = match command.action {
        // The agent knows its own flags.
        Action::ConfigShow => Ok(Given::of_arguments(words)),
        _ => flags::read(words, &command.all_flags()),
    };
    let given = match read {
        Ok(given) => given,
        Err(BadFlags::Help) => {
            ui.line(&help::command(program, command));
            return 0;
        }
        Err(why) => {
            ui.error(&why.to_string());
            ui.line(&help::command(program, command));
            return 1;
        }
    };
    ui.colour = (ui.colour && !given.switch("no-color")) || given.switch("force-color");
    // Whoever asks no agent does not mind what is said about one.
    let client = if command.general { client(&given) } else { default_client() };
    let client = match client {
        Ok(client) => client,
        Err(why) => {
            ui.error(&format!("Error initializing client: {why}"));
            return if command.name == "job validate" { 255 } else { 1 };
        }
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(why) => {
            ui.error(&format!("starting the input and output of this process: {why}"));
            return 1;
        }
    };
    let mut context = Context { ui, client, given, program: program.to_owned(), local };
    let outcome = runtime.block_on(perform(command.action, &mut context));
    let outcome = match context.ui.failed() {
        Some(why) => Err(Failure::told(format!("Error writing the output: {why}"))),
        None => outcome,
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            let message = failure.message();
            if !message.is_empty() {
                context.ui.error(&message);
            }
            if matches!(failure, Failure::Usage { .. }) {
                context.ui.note(&format!("For additional help try '{program} {} -help'", command.name));
            }
            failure.code()
        }
    }
}

/// The client that flags and variables describe; flags go before variables.
fn client(given: &Given) -> Result<Client, client::ClientError> {
    let text = |flag: &str, variable: &str| match given.text(flag).filter(|text| !text.is_empty()) {
        Some(text) => text.to_owned(),
        None => std::env::var(variable).unwrap_or_default(),
    };
    let address = match text("address", "NOMAD_ADDR") {
        address if address.is_empty() => DEFAULT_ADDRESS.to_owned(),
        address => address,
    };
    let token = Secret::new(text("token", "NOMAD_TOKEN"));
    let basic_auth = Secret::new(std::env::var("NOMAD_HTTP_AUTH").unwrap_or_default());
    Client::new(&address, token, basic_auth, &text("region", "NOMAD_REGION"), &text("namespace", "NOMAD_NAMESPACE"))
}

fn default_client() -> Result<Client, client::ClientError> {
    Client::new(DEFAULT_ADDRESS, Secret::default(), Secret::default(), "", "")
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty())
}
