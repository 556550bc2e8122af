//! `raw_exec`: runs a command of the host as it is, without walls around it.

mod config;
mod lookup;
mod options;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use longshore_driver::{
    AcceptRequest, Capabilities, Driver, DriverError, ExitResult, Fingerprint, KnownAllocation, Recovered,
    StartRequest, Started, TaskHandle,
};
use longshore_model::{AllocId, Timestamp};
use longshore_values::GoDuration;
use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use tokio::sync::RwLock;
use tokio_util::sync::CancellationToken;

use crate::ExecError;
use crate::supervisor::{Answer, Attempt, Command, Exit, Launch, Logs, Request, Supervisor, TaskStatus};
use config::Config;
pub use options::RawExecOptions;

const NAME: &str = "raw_exec";
/// A question is asked again after this when the supervisor went down over it.
const ASK_AGAIN_DELAY: Duration = Duration::from_millis(100);

/// How the driver is set up.
#[derive(Debug, Clone)]
pub struct RawExecSetup {
    /// Absolute; the supervisor's own folder, made when missing.
    pub folder: PathBuf,
    /// The program that has the hidden commands, and what comes before the folder to start the supervisor:
    /// the agent's own binary and `__supervisor`.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Tasks end with the agent, whatever way it ends (`-dev`).
    pub ends_with_agent: bool,
    /// Whether tasks get control groups of their own, where this user may make them.
    pub control_groups: bool,
}

impl RawExecSetup {
    /// The usual setup: the supervisor is this very binary.
    pub fn new(folder: impl Into<PathBuf>, ends_with_agent: bool) -> Self {
        Self {
            folder: folder.into(),
            program: PathBuf::from("/proc/self/exe"),
            arguments: vec!["__supervisor".to_owned()],
            ends_with_agent,
            control_groups: true,
        }
    }
}

/// The driver. Its supervisor is started when the first task needs it.
#[derive(Debug)]
pub struct RawExec {
    supervisor: Arc<Supervisor>,
    control_groups: bool,
    /// Shared by the starts of an allocation under way; its forgetting waits for them.
    turns: Mutex<BTreeMap<AllocId, Arc<RwLock<()>>>>,
}

/// What finds a task again.
#[derive(Debug, Serialize, Deserialize)]
struct HandleState {
    attempt: u64,
}

impl RawExec {
    pub fn new(setup: RawExecSetup) -> Self {
        let launch =
            Launch { program: setup.program, arguments: setup.arguments, ends_with_agent: setup.ends_with_agent };
        let supervisor = Arc::new(Supervisor::new(setup.folder, launch));
        Self { supervisor, control_groups: setup.control_groups, turns: Mutex::default() }
    }

    fn turn(&self, alloc: AllocId) -> Arc<RwLock<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(turns.entry(alloc).or_default())
    }

    /// Starts an attempt, also when nobody waits for it any more: then it is ended again.
    async fn start_attempt(&self, attempt: Attempt, request: Request) -> Result<Answer, ExecError> {
        let turn = self.turn(attempt.alloc).read_owned().await;
        let supervisor = Arc::clone(&self.supervisor);
        let wanted = CancellationToken::new();
        let unwanted = wanted.clone().drop_guard();
        let asked = tokio::spawn(async move {
            let _turn = turn;
            let answer = supervisor.ask(&request).await;
            if wanted.is_cancelled()
                && answer.is_ok()
                && let Err(error) = supervisor.ask(&Request::Destroy { attempt }).await
            {
                tracing::warn!(%error, "could not end a task whose start was called off; forgetting it will");
            }
            answer
        });
        let answer = asked.await;
        drop(unwanted.disarm());
        answer.unwrap_or_else(|error| Err(ExecError::Talk(std::io::Error::other(error))))
    }

    async fn ask(&self, doing: &str, request: &Request) -> Result<Answer, DriverError> {
        self.supervisor.ask(request).await.map_err(|error| failed(doing, error))
    }

    async fn done(&self, doing: &str, request: &Request) -> Result<(), DriverError> {
        match self.ask(doing, request).await? {
            Answer::Done => Ok(()),
            _ => Err(failed(doing, ExecError::Misunderstood)),
        }
    }

    async fn status(&self, doing: &str, request: &Request) -> Result<TaskStatus, DriverError> {
        match self.ask(doing, request).await? {
            Answer::Status(status) => Ok(status),
            _ => Err(failed(doing, ExecError::Misunderstood)),
        }
    }
}

fn failed(doing: &str, error: ExecError) -> DriverError {
    match error {
        // The supervisor's words say all.
        ExecError::Refused(why) => DriverError::retry(format!("could not {doing}: {why}")),
        error => DriverError::retry(format!("could not {doing}")).caused_by(error),
    }
}

fn attempt_of(handle: &TaskHandle) -> Result<Attempt, DriverError> {
    let state = HandleState::deserialize(&handle.state).map_err(|error| {
        DriverError::fatal(format!("the handle of {} is none of raw_exec's", handle.id)).caused_by(error)
    })?;
    Ok(Attempt { alloc: handle.id.alloc, task: handle.id.task.clone(), number: state.attempt })
}

fn signal_number(name: &str, default: Signal) -> Result<i32, DriverError> {
    if name.is_empty() {
        return Ok(default as i32);
    }
    let full = name.to_uppercase();
    let full = if full.starts_with("SIG") { full } else { format!("SIG{full}") };
    full.parse::<Signal>()
        .map(|signal| signal as i32)
        .map_err(|_| DriverError::fatal(format!("`{name}` is no signal")).hint("use a name such as SIGTERM"))
}

fn exit_result(exit: Exit) -> ExitResult {
    ExitResult {
        exit_code: exit.exit_code,
        signal: exit.signal,
        oom_killed: exit.oom_killed,
        by_engine: false,
        message: exit.message,
    }
}

#[async_trait]
impl Driver for RawExec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            send_signals: true,
            exec: false,
            image_isolation: false,
            group_networks: false,
            dies_with_agent: false,
        }
    }

    async fn fingerprint(&self) -> Fingerprint {
        Fingerprint { detected: true, healthy: true, description: "Healthy".to_owned(), attributes: BTreeMap::new() }
    }

    async fn fingerprint_changed(&self) {
        std::future::pending().await
    }

    fn check_config(&self, config: &serde_json::Value) -> Result<(), DriverError> {
        Config::parse(config).map(|_| ())
    }

    /// Processes of the host need nothing to be held for them.
    async fn accept(&self, _request: AcceptRequest) -> Result<(), DriverError> {
        Ok(())
    }

    async fn start(&self, request: StartRequest) -> Result<Started, DriverError> {
        let config = Config::parse(&request.config)?;
        let program = lookup::find(&config.command, &request.dirs, &request.env)?;
        let attempt = Attempt { alloc: request.id.alloc, task: request.id.task.clone(), number: request.attempt };
        let command = Command {
            program,
            arguments: config.args,
            env: request.env,
            folder: request.dirs.task,
            user: request.user,
            control_groups: Vec::new(),
        };
        let logs = Logs { folder: request.logs.folder, config: request.logs.config };
        let with_control_groups = self.control_groups;
        let asked = Request::Start { attempt: attempt.clone(), command, logs, with_control_groups };
        let answer = self.start_attempt(attempt, asked).await.map_err(|error| failed("start the task", error))?;
        let started_at = match answer {
            Answer::Status(TaskStatus::Running { started_at, .. }) => started_at,
            // It was over before anybody looked; waiting tells how.
            Answer::Status(TaskStatus::Exited(exit)) => exit.at,
            _ => return Err(failed("start the task", ExecError::Misunderstood)),
        };
        let state = serde_json::json!({ "attempt": request.attempt });
        let handle = TaskHandle { id: request.id, driver: NAME.to_owned(), state };
        Ok(Started { handle, address: None, started_at })
    }

    async fn recover(&self, handle: &TaskHandle, _request: StartRequest) -> Result<Recovered, DriverError> {
        let attempt = attempt_of(handle)?;
        Ok(match self.status("find the task again", &Request::Status { attempt }).await? {
            TaskStatus::Running { started_at, .. } => Recovered::Running { started_at },
            TaskStatus::Exited(exit) => Recovered::Exited(exit_result(exit)),
            TaskStatus::Unknown => Recovered::Gone,
        })
    }

    async fn wait(&self, handle: &TaskHandle) -> Result<ExitResult, DriverError> {
        let attempt = attempt_of(handle)?;
        match self.status("wait for the task's end", &Request::Wait { attempt }).await {
            Ok(TaskStatus::Exited(exit)) => Ok(exit_result(exit)),
            Ok(_) => Err(DriverError::fatal("the supervisor of tasks does not know the task any more")),
            Err(error) => {
                // Its successor, if it went down, knows that the task went with it.
                tokio::time::sleep(ASK_AGAIN_DELAY).await;
                Err(error)
            }
        }
    }

    async fn stop(&self, handle: &TaskHandle, signal: &str, timeout: GoDuration) -> Result<(), DriverError> {
        let attempt = attempt_of(handle)?;
        let signal = signal_number(signal, Signal::SIGINT)?;
        let timeout_ms = u64::try_from(timeout.to_std().as_millis()).unwrap_or(u64::MAX);
        self.done("stop the task", &Request::Stop { attempt, signal, timeout_ms }).await
    }

    async fn destroy(&self, handle: &TaskHandle) -> Result<(), DriverError> {
        let attempt = attempt_of(handle)?;
        self.done("remove what is left of the task", &Request::Destroy { attempt }).await
    }

    async fn signal(&self, handle: &TaskHandle, signal: &str) -> Result<(), DriverError> {
        let attempt = attempt_of(handle)?;
        let signal = signal_number(signal, Signal::SIGKILL)?;
        self.done("send the signal", &Request::Signal { attempt, signal }).await
    }

    async fn forget(&self, alloc: AllocId, _ended_at: Timestamp) -> Result<(), DriverError> {
        drop(self.turn(alloc).write().await);
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).remove(&alloc);
        if !self.supervisor.has_left_something() {
            return Ok(());
        }
        self.done("forget the allocation", &Request::Forget { alloc }).await
    }

    async fn restore(&self, known: Vec<KnownAllocation>) -> Result<(), DriverError> {
        if !self.supervisor.has_left_something() {
            return Ok(());
        }
        let living = known.into_iter().filter(|entry| entry.ended_at.is_none());
        let allocs = living.map(|entry| entry.alloc).collect();
        self.done("tell the supervisor of tasks what is known", &Request::Keep { allocs }).await
    }

    async fn shutdown(&self) {
        self.supervisor.detach().await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_of_signals() {
        for (name, number) in [("", 2), ("SIGTERM", 15), ("term", 15), ("SIGHUP", 1), ("sigusr1", 10)] {
            assert_eq!(signal_number(name, Signal::SIGINT).unwrap(), number, "{name}");
        }
        let error = signal_number("SIGNOTHING", Signal::SIGINT).unwrap_err();
        assert_eq!(error.full_text(), "`SIGNOTHING` is no signal (hint: use a name such as SIGTERM)");
    }
}
