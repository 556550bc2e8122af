//! What people ask of allocations that are here: signals, restarts, commands beside their tasks.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::join_all;
use longshore_driver::{ExecRequest, TaskHandle, TaskUsage};
use longshore_model::{AllocId, TaskPhase, TaskState, Timestamp};

use crate::client::Client;
use crate::clock;
use crate::rules::events;
use crate::runner::core::Event;
use crate::runner::shell::View;

/// What can be sent to a task, by name.
const SIGNALS: [&str; 29] = [
    "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGIO", "SIGIOT",
    "SIGKILL", "SIGPIPE", "SIGPROF", "SIGQUIT", "SIGSEGV", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
    "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGXCPU", "SIGXFSZ",
];

/// How long whoever asks for a restart waits for it: that an image is brought anew is within it.
const RESTART_MAX: Duration = Duration::from_secs(300);

const NOT_RUNNING: &str = "Task not running";

/// Why something could not be done to the tasks of an allocation. Texts are those that Nomad's clients know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    #[error("Unknown allocation {:?}", .0.to_string())]
    UnknownAllocation(AllocId),
    #[error("{0}")]
    UnknownTask(String),
    #[error("task {0:?} is not running.")]
    NotRunning(String),
    /// In the driver's words.
    #[error("{0}")]
    Driver(String),
    /// Of one task or several; each with its own text.
    #[error("{}", list(.0))]
    Tasks(Vec<String>),
}

/// What a task uses, with the processor in the node's own measure.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTask {
    pub usage: TaskUsage,
    pub cpu_mhz: f64,
}

fn processors() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64)
}

fn list(errors: &[String]) -> String {
    let head =
        if errors.len() == 1 { "1 error occurred:".to_owned() } else { format!("{} errors occurred:", errors.len()) };
    let lines: String = errors.iter().map(|error| format!("\t* {error}\n")).collect();
    format!("{head}\n{lines}\n")
}

impl Client {
    /// Sends a signal to one task, or to all of the allocation's.
    ///
    /// # Errors
    /// When the allocation is not here, has no such task, or a task did not get the signal; the others did.
    pub async fn signal(&self, alloc: AllocId, task: Option<&str>, signal: &str) -> Result<(), AskError> {
        let view = self.asked(alloc)?;
        let names = names(&view, task, |_| "Task not found".to_owned())?;
        let word = signal.to_uppercase();
        let mut errors = Vec::new();
        for name in names {
            let outcome = match (SIGNALS.contains(&word.as_str()), view.running.get(&name)) {
                (_, None) => Err(NOT_RUNNING.to_owned()),
                (false, _) => Err(format!("failed to parse signal: {}", no_signal(signal))),
                (true, Some(handle)) => self.send(alloc, &name, handle, &word).await,
            };
            if let Err(why) = outcome {
                errors.push(format!("Failed to signal task: {name}, err: {why}"));
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(AskError::Tasks(errors)) }
    }

    async fn send(&self, alloc: AllocId, name: &str, handle: &TaskHandle, signal: &str) -> Result<(), String> {
        let driver = self.driver_of(handle).ok_or_else(|| format!("driver `{}` is not on this node", handle.driver))?;
        if !driver.capabilities().send_signals {
            return Err(format!("driver `{}` sends no signals", handle.driver));
        }
        self.tell(alloc, Event::Told { task: name.to_owned(), event: events::signaling(clock::now(), signal) });
        driver.signal(handle, signal).await.map_err(|error| error.full_text())
    }

    /// Ends a task, or all that run, and has them start again whatever their restart policy; with `ended_too` also those that
    /// have ended, beside what runs. Returns when they run again, could not be started, or some minutes have passed.
    ///
    /// # Errors
    /// When the allocation is not here, has no such task, nothing of it runs, or a task does not run again.
    pub async fn restart(&self, alloc: AllocId, task: Option<&str>, ended_too: bool) -> Result<(), AskError> {
        let view = self.asked(alloc)?;
        let mut tasks = names(&view, task, |name| format!("Could not find task runner for task: {name}"))?;
        let runs = |name: &String| view.running.contains_key(name);
        match (tasks.iter().any(runs), task) {
            (false, Some(_)) => return Err(AskError::UnknownTask(NOT_RUNNING.to_owned())),
            (false, None) => return Err(AskError::Tasks(vec![NOT_RUNNING.to_owned()])),
            (true, _) => tasks.retain(|name| runs(name) || (ended_too && view.startable.contains(name))),
        }
        self.restart_all(alloc, &view, tasks, ended_too).await
    }

    async fn restart_all(
        &self,
        alloc: AllocId,
        before: &View,
        tasks: Vec<String>,
        ended_too: bool,
    ) -> Result<(), AskError> {
        let asked_at = clock::now();
        self.tell(alloc, Event::Restart { tasks: tasks.clone(), ended_too });
        let outcomes = join_all(tasks.iter().map(|name| async move {
            let restarts = before.report.task_states.get(name).map_or(0, |state| state.restarts);
            let ran = before.running.contains_key(name);
            let ended = |view: Option<&View>| {
                let goes_on = view.is_some_and(|view| !view.has_ended);
                // One that had ended stays so until the order is taken.
                let not_yet = |state: &TaskState| state.phase == TaskPhase::Dead && state.restarts == restarts;
                let state = view.and_then(|view| view.report.task_states.get(name));
                if !ran && goes_on && state.is_some_and(not_yet) {
                    return None;
                }
                restart_ended(view, name, restarts, asked_at)
            };
            match tokio::time::timeout(RESTART_MAX, self.wait_for_view(alloc, ended)).await {
                Ok(Ok(())) => None,
                Ok(Err(why)) => Some(format!("Failed to restart task: {name}, err: {why}")),
                Err(_) => Some(format!(
                    "Failed to restart task: {name}, err: it does not run again after {} s, and goes on trying; \
                     `alloc status` shows what it waits for",
                    RESTART_MAX.as_secs()
                )),
            }
        }));
        let errors: Vec<String> = outcomes.await.into_iter().flatten().collect();
        if errors.is_empty() { Ok(()) } else { Err(AskError::Tasks(errors)) }
    }

    /// What the running tasks of an allocation use, or one of them. Those that cannot be measured are left out.
    ///
    /// # Errors
    /// When the allocation is not here.
    pub async fn usage(&self, alloc: AllocId, task: Option<&str>) -> Result<BTreeMap<String, MeasuredTask>, AskError> {
        let view = self.asked(alloc)?;
        let mhz_of_one = self.node().resources.cpu_mhz as f64 / processors();
        let running = view.running.iter().filter(|(name, _)| task.is_none_or(|task| task == *name));
        let measured = join_all(running.map(|(name, handle)| async move {
            let usage = self.driver_of(handle)?.usage(handle).await;
            let usage = usage.inspect_err(|error| {
                tracing::warn!(task = %handle.id, error = error.full_text(), "the task cannot be measured");
            });
            let usage = usage.ok()??;
            let cpu_mhz = usage.cpu.percent / 100.0 * mhz_of_one;
            Some((name.clone(), MeasuredTask { usage, cpu_mhz }))
        }));
        Ok(measured.await.into_iter().flatten().collect())
    }

    /// Runs a command beside a task; returns its exit code. Dropping the future ends the command.
    ///
    /// # Errors
    /// When the allocation is not here, its task does not run, or the driver cannot do it.
    pub async fn exec(&self, alloc: AllocId, task: &str, request: ExecRequest) -> Result<i32, AskError> {
        let view = self.asked(alloc)?;
        if self.exec_disabled() {
            let why = "commands in tasks are disabled on this node (client { disable_remote_exec = true })";
            return Err(AskError::Driver(why.to_owned()));
        }
        names(&view, Some(task), |_| "task not found".to_owned())?;
        let Some(handle) = view.running.get(task) else { return Err(AskError::NotRunning(task.to_owned())) };
        let absent = || AskError::Driver(format!("driver `{}` is not on this node", handle.driver));
        let driver = self.driver_of(handle).ok_or_else(absent)?;
        if !driver.capabilities().exec {
            return Err(AskError::Driver(format!("driver `{}` runs no commands in tasks", handle.driver)));
        }
        tracing::info!(task = %handle.id, "a person runs a command in a task");
        driver.exec(handle, request).await.map_err(|error| AskError::Driver(error.full_text()))
    }

    /// Whether an allocation is here, running or over.
    pub fn has_allocation(&self, alloc: AllocId) -> bool {
        self.view(alloc).is_some()
    }

    fn asked(&self, alloc: AllocId) -> Result<View, AskError> {
        self.view(alloc).ok_or(AskError::UnknownAllocation(alloc))
    }
}

/// How the restart of a task that had been restarted `restarts` times ended; `None` while it goes on.
fn restart_ended(view: Option<&View>, name: &str, restarts: u32, asked_at: Timestamp) -> Option<Result<(), String>> {
    let Some(state) = view.and_then(|view| view.report.task_states.get(name)) else {
        return Some(Err("the allocation is not on this node any more".to_owned()));
    };
    let newest = |kinds: &[&str]| {
        let since = state.events.iter().rev().take_while(|event| event.at >= asked_at);
        since.map(|event| (event.kind.as_str(), &event.message)).find(|(kind, _)| kinds.contains(kind))
    };
    if state.restarts > restarts && (state.phase == TaskPhase::Running || state.started_at >= asked_at) {
        // Whatever became of it since.
        return Some(Ok(()));
    }
    match state.phase {
        TaskPhase::Dead => {
            let why = newest(&START_FAILURES).map(|(_, why)| format!(": {why}")).unwrap_or_default();
            Some(Err(format!("it ended and does not start again{why}")))
        }
        // It is tried again, as the policy says: that is not what was asked for.
        TaskPhase::Pending if state.restarts > restarts => newest(&START_FAILURES).map(|(_, why)| Err(why.clone())),
        TaskPhase::Running | TaskPhase::Pending => None,
    }
}

/// The events that tell that an attempt came to nothing.
const START_FAILURES: [&str; 3] = ["Driver Failure", "Failed Validation", "Setup Failure"];

/// The task that is meant, or all of them.
fn names(view: &View, task: Option<&str>, unknown: impl Fn(&str) -> String) -> Result<Vec<String>, AskError> {
    let all = &view.report.task_states;
    match task {
        None => Ok(all.keys().cloned().collect()),
        Some(name) if all.contains_key(name) => Ok(vec![name.to_owned()]),
        Some(name) => Err(AskError::UnknownTask(unknown(name))),
    }
}

fn no_signal(name: &str) -> String {
    let known: Vec<String> = SIGNALS.iter().map(|signal| format!("{signal:?}")).collect();
    format!("invalid signal {name:?} - valid signals are [{}]", known.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_listed_as_clients_know_them() {
        let one = AskError::Tasks(vec![NOT_RUNNING.to_owned()]);
        assert_eq!(one.to_string(), "1 error occurred:\n\t* Task not running\n\n");
        let two = AskError::Tasks(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(two.to_string(), "2 errors occurred:\n\t* a\n\t* b\n\n");
    }
}
