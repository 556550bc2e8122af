//! `longshore agent`: from the command line to the last line of the log.

use std::io::Write;

use longshore_settings::{AgentConfig, Inputs};
use longshore_values::Diagnostic;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::addresses;
use crate::arguments::{self, Arguments};
use crate::error::AgentError;
use crate::folders::{Folders, Surroundings};
use crate::roles::{Roles, Setup, host_name};
use crate::{banner, docker, drivers, files, logging};

const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;
/// How long tasks of the runtime that block may hold up the end.
const RUNTIME_END_MAX: std::time::Duration = std::time::Duration::from_secs(5);

/// The exit code of `agent`.
pub(crate) fn agent(program: &str, words: &[String]) -> u8 {
    let arguments = match arguments::parse(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n\n{}", arguments::help(program));
            return FAILURE;
        }
    };
    if arguments.help {
        print!("{}", arguments::help(program));
        return SUCCESS;
    }
    match start_and_run(arguments) {
        Ok(code) => code,
        Err(text) => {
            eprintln!("==> {text}");
            FAILURE
        }
    }
}

fn start_and_run(arguments: Arguments) -> Result<u8, String> {
    let files = files::read(&arguments.configs).map_err(|error| error.to_string())?;
    for path in &files.empty {
        println!("==> WARNING: No configuration loaded from {path}");
    }
    let names: Vec<String> = files.texts.iter().map(|(name, _)| name.clone()).collect();
    let inputs = Inputs { dev: arguments.dev, files: files.texts, flags: arguments.flags };
    let config = AgentConfig::read(&inputs).map_err(|refusal| refused(&refusal.diagnostics))?;
    let (options, docker_warnings) = docker::options(&config).map_err(|refusal| refused(&refusal.diagnostics))?;
    let (raw_exec, raw_exec_warnings) = drivers::raw_exec(&config).map_err(|refusal| refused(&refusal.diagnostics))?;
    for notice in config.start_notices() {
        println!("==> {notice}");
    }
    for warning in config.warnings.iter().chain(&docker_warnings).chain(&raw_exec_warnings) {
        println!("==> WARNING: {warning}");
    }
    if names.is_empty() {
        println!("==> No configuration files loaded");
    } else {
        println!("==> Loaded configuration from {}", names.join(", "));
    }
    println!("==> Starting Longshore agent...");
    let setup = setup(config, options, raw_exec).map_err(|error| error.full_text())?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(|error| format!("could not start the runtime: {error}"))?;
    let outcome = runtime.block_on(run(setup));
    runtime.shutdown_timeout(RUNTIME_END_MAX);
    outcome.map_err(|error| error.full_text())
}

fn refused(diagnostics: &[Diagnostic]) -> String {
    let errors: Vec<String> = diagnostics.iter().filter(|told| told.is_error()).map(ToString::to_string).collect();
    errors.join("\n==> ")
}

fn setup(
    config: AgentConfig,
    options: longshore_docker::Options,
    raw_exec: longshore_exec::RawExecOptions,
) -> Result<Setup, AgentError> {
    if config.client.enabled && !config.server.enabled {
        return Err(AgentError::ClientAlone);
    }
    if config.server.bootstrap_expect > 1 {
        return Err(AgentError::SeveralServers(config.server.bootstrap_expect));
    }
    let listeners = addresses::listeners(&config, &addresses::interfaces())?;
    let docker_host = std::env::var("DOCKER_HOST").ok();
    let docker_endpoint = docker::endpoint(&options, docker_host.as_deref()).map_err(AgentError::Endpoint)?;
    let folders = Folders::of(&config, &Surroundings::look());
    let name = config.name.clone().unwrap_or_else(host_name);
    Ok(Setup { config, listeners, folders, docker: options, docker_endpoint, raw_exec, name })
}

async fn run(setup: Setup) -> Result<u8, AgentError> {
    let mut signals = Signals::listen()?;
    logging::start(&setup.config.log);
    let leave = Leave { interrupt: setup.config.leave_on_interrupt, terminate: setup.config.leave_on_terminate };
    let (config, listeners) = (setup.config.clone(), setup.listeners.clone());
    let started = Roles::start(setup).await;
    let roles = started.inspect_err(|_| logging::open())?;
    let node_id = roles.node_id().map(|id| id.to_string());
    print!("{}", banner::text(&config, &listeners, node_id.as_deref(), &[]));
    let _ = std::io::stdout().flush();
    logging::open();
    tracing::info!(http = %listeners.http.bind, "ready");

    let (name, code) = signals.next(leave).await;
    println!("==> Caught signal: {name}");
    let ended = roles.shutdown();
    tokio::select! {
        () = ended => {}
        (name, _) = signals.next(leave) => {
            println!("==> Caught signal: {name}: ending at once");
            return Ok(FAILURE);
        }
    }
    Ok(code)
}

/// Whether a signal means leaving in good order (exit code 0) or not (1), as the agent file says.
#[derive(Clone, Copy)]
struct Leave {
    interrupt: bool,
    terminate: bool,
}

struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> Result<Self, AgentError> {
        let listen = |kind| signal(kind).map_err(|source| AgentError::System { doing: "listen for signals", source });
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// The next signal that ends the agent: its name and the exit code that follows.
    async fn next(&mut self, leave: Leave) -> (&'static str, u8) {
        let code = |graceful| if graceful { SUCCESS } else { FAILURE };
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return ("interrupt", code(leave.interrupt)),
                _ = self.terminate.recv() => return ("terminated", code(leave.terminate)),
                _ = self.hangup.recv() => tracing::warn!("SIGHUP: settings are read at the start only in this build"),
            }
        }
    }
}
