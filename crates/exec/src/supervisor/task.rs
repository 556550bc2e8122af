//! One task's process: started, its output written to its logs, its end recorded.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use longshore_logs::{LogStream, RotatingWriter};
use longshore_model::Timestamp;
use longshore_values::with_causes;
use nix::sys::signal::Signal;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command as Process};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::protocol::{Attempt, Command, Exit, Logs, TaskStatus};
use super::record::{Record, Records};
use super::{control_group, processes};
use crate::ExecError;

/// How long output may still come after everything of a task has been killed.
const LAST_OUTPUT_MAX: Duration = Duration::from_secs(1);
const PIPE_BYTES: usize = 64 * 1024;
const EXIT_SIGNAL_BASE: i32 = 128;

/// A task that runs, or ran.
#[derive(Debug, Clone)]
pub(crate) struct Task {
    pub(crate) record: Record,
    /// Follows its status.
    pub(crate) status: watch::Receiver<TaskStatus>,
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    Timestamp::from_nanoseconds(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// How the first stage of a task's process is started.
pub(crate) struct Stage<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
}

/// Starts a task's command, once its process is on record.
pub(crate) async fn start(
    records: &Records,
    stage: &Stage<'_>,
    attempt: Attempt,
    mut command: Command,
    logs: &Logs,
    with_control_groups: bool,
) -> Result<Task, ExecError> {
    if with_control_groups {
        command.control_groups = control_group::make(&attempt);
    }
    let stdout = open_log(logs, &attempt, LogStream::Stdout)?;
    let stderr = open_log(logs, &attempt, LogStream::Stderr)?;
    let (ours, theirs) = UnixStream::pair().map_err(ExecError::Talk)?;
    let output = |wanted: bool| if wanted { Stdio::piped() } else { Stdio::null() };
    let mut child = Process::new(stage.program)
        .arg0("longshore")
        .args(stage.arguments)
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(output(stdout.is_some()))
        .stderr(output(stderr.is_some()))
        .spawn()
        .map_err(|source| ExecError::Launch { program: stage.program.to_owned(), source })?;
    let pid = child.id().and_then(|pid| i32::try_from(pid).ok()).unwrap_or_default();
    let start_ticks = processes::stat(pid).map_or(0, |found| found.start_ticks);
    let groups = command.control_groups.clone();
    let mut record = Record::new(attempt, pid, start_ticks, processes::boot_id(), now(), groups);
    // The process waits until it is on record; dropping our end of the socket calls it off.
    records.save(&record)?;
    if let Err(why) = hand_over(ours, &command).await {
        // It ends by itself: its command has not started.
        let _ = child.wait().await;
        control_group::kill_and_remove(&record.control_groups).await;
        records.remove(&record.attempt)?;
        return Err(ExecError::Refused(why));
    }
    record.started_at = now();
    let (sender, status) = watch::channel(TaskStatus::Running { pid, started_at: record.started_at });
    let pumps = [
        stdout.zip(child.stdout.take()).map(|(log, pipe)| tokio::spawn(pump(pipe, log))),
        stderr.zip(child.stderr.take()).map(|(log, pipe)| tokio::spawn(pump(pipe, log))),
    ];
    let task = Task { record: record.clone(), status };
    tokio::spawn(see_through(child, pumps, record, records.clone(), sender));
    Ok(task)
}

fn open_log(logs: &Logs, attempt: &Attempt, stream: LogStream) -> Result<Option<RotatingWriter>, ExecError> {
    if logs.config.disabled {
        return Ok(None);
    }
    let size_bytes = u64::from(logs.config.max_file_size_mb) << 20;
    RotatingWriter::open(&logs.folder, &attempt.task, stream, logs.config.max_files, size_bytes)
        .map(Some)
        .map_err(|error| ExecError::Refused(with_causes(&error)))
}

/// Tells the first stage what to become, and waits until it has. `Err`: why it could not.
async fn hand_over(socket: UnixStream, command: &Command) -> Result<(), String> {
    let text = serde_json::to_vec(command).map_err(|error| error.to_string())?;
    let told = tokio::task::spawn_blocking(move || {
        let mut socket = socket;
        socket.write_all(&(text.len() as u64).to_be_bytes())?;
        socket.write_all(&text)?;
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut socket, &mut answer)?;
        Ok::<_, std::io::Error>(answer)
    });
    match told.await {
        Ok(Ok(answer)) if answer.is_empty() => Ok(()),
        Ok(Ok(answer)) => Err(answer),
        Ok(Err(error)) => Err(format!("could not talk to the task's process: {error}")),
        Err(error) => Err(error.to_string()),
    }
}

/// Writes what comes out of a pipe to the log, to its end. A log that cannot be written never stops the task: what does
/// not fit is dropped, and the supervisor's own log says so once in a row.
async fn pump(mut pipe: impl AsyncRead + Unpin, mut log: RotatingWriter) {
    let mut buffer = vec![0; PIPE_BYTES];
    let mut failing = false;
    while let Ok(count) = pipe.read(&mut buffer).await {
        let Some(data) = buffer.get(..count).filter(|data| !data.is_empty()) else { return };
        match log.write(data) {
            Ok(()) => failing = false,
            Err(error) if !failing => {
                failing = true;
                eprintln!("output of a task is lost: {}", with_causes(&error));
            }
            Err(_) => {}
        }
    }
}

/// Waits for the end of the main process, kills what it left, and records and tells the exit.
async fn see_through(
    mut child: Child,
    pumps: [Option<JoinHandle<()>>; 2],
    mut record: Record,
    records: Records,
    sender: watch::Sender<TaskStatus>,
) {
    let ended = child.wait().await;
    processes::kill_session(record.pid, record.start_ticks).await;
    control_group::kill_and_remove(&record.control_groups).await;
    for mut pump in pumps.into_iter().flatten() {
        if tokio::time::timeout(LAST_OUTPUT_MAX, &mut pump).await.is_err() {
            pump.abort();
        }
    }
    let exit = match ended {
        Ok(status) => exit_of(status),
        Err(error) => Exit {
            exit_code: 0,
            signal: 0,
            oom_killed: false,
            message: format!("could not learn how the process ended: {error}"),
            at: now(),
        },
    };
    record.exit = Some(exit.clone());
    if let Err(error) = records.save(&record) {
        eprintln!("the exit of {} is not on disk: {}", record.attempt, with_causes(&error));
    }
    sender.send_replace(TaskStatus::Exited(exit));
}

fn exit_of(status: ExitStatus) -> Exit {
    let signal = status.signal().unwrap_or(0);
    let exit_code = status.code().unwrap_or(EXIT_SIGNAL_BASE + signal);
    Exit { exit_code, signal, oom_killed: false, message: String::new(), at: now() }
}

/// An attempt of an earlier supervisor that was running when that died: what is left of it is killed.
pub(crate) async fn end_orphan(records: &Records, mut record: Record) -> Result<Task, ExecError> {
    if record.exit.is_none() {
        if record.boot_id == processes::boot_id() {
            processes::kill_session(record.pid, record.start_ticks).await;
        }
        control_group::kill_and_remove(&record.control_groups).await;
        record.exit = Some(Exit {
            exit_code: EXIT_SIGNAL_BASE + Signal::SIGKILL as i32,
            signal: Signal::SIGKILL as i32,
            oom_killed: false,
            message: "the supervisor of tasks or the machine went down, and the task with it".to_owned(),
            at: now(),
        });
        records.save(&record)?;
    }
    let exit = record.exit.clone().map_or(TaskStatus::Unknown, TaskStatus::Exited);
    let (_, status) = watch::channel(exit);
    Ok(Task { record, status })
}
