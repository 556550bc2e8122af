//! `longshore agent`: from the command line to the last line of the log.

use std::io::Write;
use std::time::Duration;

use longshore_settings::{Effective, reference};
use longshore_values::Diagnostic;

use crate::addresses::{self, Listeners};
use crate::arguments::{self, Arguments};
use crate::error::AgentError;
use crate::folders::{Folders, Surroundings};
use crate::logging::LogLevel;
use crate::roles::{Roles, Setup, host_name};
use crate::settings::{self, Settings};
use crate::signals::{End, Said, Signals};
use crate::{banner, docker, files, logging};

const SUCCESS: u8 = 0;
const FAILURE: u8 = 1;
/// How long the end of an agent may take whose tasks go on.
const END_MAX: Duration = Duration::from_secs(5);
/// How long tasks of the runtime that block may hold up the end.
const RUNTIME_END_MAX: Duration = Duration::from_secs(5);

/// The exit code of `agent`.
pub(crate) fn agent(program: &str, words: &[String]) -> u8 {
    let arguments = match arguments::parse(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\nFor the flags that there are try '{program} agent -help'");
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

/// What the command line and the files that it names say now, and the names of these files.
fn look(arguments: &Arguments) -> Result<(Settings, Vec<String>), String> {
    let files = files::read(&arguments.configs).map_err(|error| error.to_string())?;
    for path in &files.empty {
        println!("==> WARNING: No configuration loaded from {path}");
    }
    let names = files.texts.iter().map(|(name, _)| name.clone()).collect();
    let settings = Settings::examine(&settings::inputs(arguments, files.texts));
    if settings.is_good() {
        return Ok((settings, names));
    }
    // What would be told at a start is told beside the errors, so that both are mended in one go.
    for warning in settings.warnings() {
        println!("==> WARNING: {warning}");
    }
    let errors: Vec<String> = settings.errors().map(Diagnostic::to_string).collect();
    Err(errors.join("\n==> "))
}

fn start_and_run(arguments: Arguments) -> Result<u8, String> {
    let (settings, names) = look(&arguments)?;
    for notice in settings.config.start_notices() {
        println!("==> {notice}");
    }
    for warning in settings.warnings() {
        println!("==> WARNING: {warning}");
    }
    if names.is_empty() {
        println!("==> No configuration files loaded");
    } else {
        println!("==> Loaded configuration from {}", names.join(", "));
    }
    let effective = settings.effective.clone();
    let listeners = addresses::listeners(&settings.config, &addresses::interfaces())
        .map_err(|bad| bad.told(&effective).to_string())?;
    if let Some(notice) = banner::open_to_others(&listeners) {
        println!("==> WARNING: {notice}");
    }
    println!("==> Starting Longshore agent...");
    let setup = setup(settings, listeners, names).map_err(|error| error.full_text())?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(|error| format!("could not start the runtime: {error}"))?;
    let ended = runtime.block_on(run(setup, arguments, effective));
    match ended {
        Ok(Ended::AtOnce) => runtime.shutdown_background(),
        Ok(Ended::InOrder(_)) | Err(_) => runtime.shutdown_timeout(RUNTIME_END_MAX),
    }
    match ended {
        Ok(Ended::InOrder(code)) => Ok(code),
        Ok(Ended::AtOnce) => Ok(FAILURE),
        Err(error) => Err(error.full_text()),
    }
}

fn setup(settings: Settings, listeners: Listeners, files: Vec<String>) -> Result<Setup, AgentError> {
    let Settings { config, docker, raw_exec, mock, told: _, effective: _ } = settings;
    let docker_host = std::env::var("DOCKER_HOST").ok();
    let docker_endpoint = docker::endpoint(&docker, docker_host.as_deref()).map_err(AgentError::Endpoint)?;
    let api_version = std::env::var("DOCKER_API_VERSION").ok();
    let docker_api_version = docker::api_version(&docker, api_version.as_deref()).map_err(AgentError::Endpoint)?;
    let folders = Folders::of(&config, &Surroundings::look());
    let name = config.name.clone().unwrap_or_else(host_name);
    Ok(Setup { config, listeners, folders, docker, docker_endpoint, docker_api_version, raw_exec, mock, name, files })
}

#[derive(Debug, Clone, Copy)]
enum Ended {
    /// With this exit code.
    InOrder(u8),
    AtOnce,
}

async fn run(setup: Setup, arguments: Arguments, effective: Vec<Effective>) -> Result<Ended, AgentError> {
    let mut signals = Signals::listen(&setup.config)?;
    let log_level = logging::start(&setup.config.log);
    let (config, listeners) = (setup.config.clone(), setup.listeners.clone());
    // What has begun to start is started to its end and then ended in order; a second signal waits for neither.
    let mut end = None;
    let mut starting = std::pin::pin!(Roles::start(setup));
    let roles = loop {
        tokio::select! {
            started = &mut starting => break started.inspect_err(|_| logging::open())?,
            said = signals.next_end() => match end {
                None => {
                    println!("==> Caught signal: {}", said.name);
                    end = Some(said);
                }
                Some(_) => return Ok(at_once(said)),
            },
        }
    };
    let end = match end {
        Some(end) => end,
        None => {
            let node_id = roles.node_id().map(|id| id.to_string());
            print!("{}", banner::text(&config, &listeners, node_id.as_deref(), &roles.notes().await));
            let _ = std::io::stdout().flush();
            logging::open();
            tracing::info!(http = %listeners.http.bind, "ready");
            let end = until_end(&mut signals, &Reload { arguments, effective, log_level }).await;
            println!("==> Caught signal: {}", end.name);
            end
        }
    };
    logging::open();
    if end.leave {
        println!("==> Gracefully shutting down agent...");
    }
    let limited = !config.dev;
    tokio::select! {
        () = roles.shutdown() => Ok(Ended::InOrder(if end.leave { SUCCESS } else { FAILURE })),
        said = signals.next_end() => Ok(at_once(said)),
        () = tokio::time::sleep(END_MAX), if limited => {
            println!("==> The end took longer than {} s: ending at once", END_MAX.as_secs());
            Ok(Ended::AtOnce)
        }
    }
}

fn at_once(said: End) -> Ended {
    println!("==> Caught signal: {}: ending at once", said.name);
    Ended::AtOnce
}

async fn until_end(signals: &mut Signals, reload: &Reload) -> End {
    loop {
        match signals.next().await {
            Said::End(end) => return end,
            Said::Reload => reload.reload(),
        }
    }
}

/// What SIGHUP needs: the log's level is the one setting that can change while an agent runs.
struct Reload {
    arguments: Arguments,
    /// What the agent was started with.
    effective: Vec<Effective>,
    log_level: LogLevel,
}

impl Reload {
    fn reload(&self) {
        println!("==> Caught signal: hangup\n==> Reloading configuration...");
        let settings = match look(&self.arguments) {
            Ok((settings, _)) => settings,
            Err(why) => {
                println!("==> Failed to reload configs: {why}");
                return;
            }
        };
        self.log_level.set(&settings.config.log.level);
        println!("==> Log level: {}", settings.config.log.level);
        let mut waiting = settings::changed(&self.effective, &settings.effective);
        waiting.retain(|path| !reference::reloads(path));
        if !waiting.is_empty() {
            println!("==> WARNING: changed, but in force from the next start on only: {}", waiting.join(", "));
        }
    }
}
