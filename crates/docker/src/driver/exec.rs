//! Commands that people run in the container of a task.
//!
//! The engine lets a command go on when whoever asked for it has gone, and has no call to end one. So it is ended here by
//! its process, where the engine runs on this machine and the process is seen to be of that very container.

use std::sync::Arc;
use std::time::Duration;

use futures_channel::mpsc;
use futures_util::{SinkExt as _, StreamExt as _};
use longshore_driver::{DriverError, ExecInput, ExecOutput, ExecRequest, TaskHandle};
use longshore_engine::{Class, CreateExec, Error as EngineError, ExecInputStream, ExecOutputStream, LogStreamKind};
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio_util::sync::CancellationToken;

use super::handle::HandleState;
use super::shared::{Shared, closing};
use crate::error::of_engine;

const LOOK_AGAIN_MIN: Duration = Duration::from_millis(5);
const LOOK_AGAIN_MAX: Duration = Duration::from_millis(200);
/// How long a command may take to end after it was hung up on.
const HANG_UP_MAX: Duration = Duration::from_secs(2);

/// Runs a command to its end. Dropping the future ends the command.
pub(crate) async fn exec(shared: &Arc<Shared>, handle: &TaskHandle, request: ExecRequest) -> Result<i32, DriverError> {
    let container = HandleState::of(handle)?.container_id;
    let gone = CancellationToken::new();
    let _gone_on_drop = gone.clone().drop_guard();
    let at_work = shared.clone();
    // A task of its own, so that the command is ended also when nobody waits for this any more.
    let session = shared.execs.spawn(async move { session(&at_work, &container, request, &gone).await });
    session.await.unwrap_or_else(|error| Err(DriverError::retry("the command ended unexpectedly").caused_by(error)))
}

async fn session(
    shared: &Shared,
    container: &str,
    request: ExecRequest,
    gone: &CancellationToken,
) -> Result<i32, DriverError> {
    let ExecRequest { command, tty, input, output } = request;
    let body = CreateExec { attach_stdin: true, attach_stdout: true, attach_stderr: true, tty, cmd: command };
    let created = shared.engine.create_exec(container, &body).await.map_err(not_begun)?;
    if gone.is_cancelled() || shared.closing.is_cancelled() {
        return Err(closing());
    }
    let streams = shared.engine.start_exec(&created.id, tty).await.map_err(not_begun)?;
    let told = tokio::select! {
        told = streamed(shared, &created.id, streams.output, output, streams.input, input) => told,
        () = gone.cancelled() => Err(DriverError::cancelled("nobody waits for the command any more")),
        () = shared.closing.cancelled() => Err(closing()),
    };
    match told {
        Ok(()) => tokio::select! {
            code = exit_code(shared, &created.id) => code,
            () = gone.cancelled() => {
                end(shared, &created.id, container).await;
                Err(DriverError::cancelled("nobody waits for the command any more"))
            }
            () = shared.closing.cancelled() => Err(closing()),
        },
        Err(error) => {
            end(shared, &created.id, container).await;
            Err(error)
        }
    }
}

/// Carries input and output until the output ends.
async fn streamed(
    shared: &Shared,
    id: &str,
    from_command: ExecOutputStream,
    output: mpsc::Sender<ExecOutput>,
    to_command: ExecInputStream,
    input: mpsc::Receiver<ExecInput>,
) -> Result<(), DriverError> {
    let outcome = tokio::select! {
        outcome = take_output(from_command, output) => outcome,
        never = give_input(shared, id, to_command, input) => match never {},
    };
    outcome.map_err(of_engine)
}

async fn take_output(
    mut from_command: ExecOutputStream,
    mut output: mpsc::Sender<ExecOutput>,
) -> Result<(), EngineError> {
    while let Some(frame) = from_command.next().await? {
        let piece = match frame.kind {
            LogStreamKind::Stdout => ExecOutput::Stdout(frame.bytes.to_vec()),
            LogStreamKind::Stderr => ExecOutput::Stderr(frame.bytes.to_vec()),
        };
        if output.send(piece).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Never returns: a command goes on after the end of its input.
async fn give_input(
    shared: &Shared,
    id: &str,
    mut to_command: ExecInputStream,
    mut input: mpsc::Receiver<ExecInput>,
) -> std::convert::Infallible {
    let mut reads = true;
    loop {
        let piece = input.next().await;
        let nobody_types = piece.is_none();
        let given = match piece {
            Some(ExecInput::Stdin(bytes)) if reads => to_command.write(&bytes).await,
            Some(ExecInput::StdinEnd) | None if reads => {
                let ended = to_command.end().await;
                reads = false;
                ended
            }
            Some(ExecInput::Resize { rows, columns }) => {
                if let Err(error) = shared.engine.resize_exec(id, rows, columns).await {
                    tracing::debug!(%error, "the terminal of a command keeps its size");
                }
                Ok(())
            }
            Some(ExecInput::Stdin(_) | ExecInput::StdinEnd) | None => Ok(()),
        };
        // It reads no more; what it says still counts.
        reads &= given.is_ok();
        if nobody_types {
            std::future::pending::<()>().await;
        }
    }
}

async fn exit_code(shared: &Shared, id: &str) -> Result<i32, DriverError> {
    let mut pause = LOOK_AGAIN_MIN;
    loop {
        let exec = shared.engine.exec(id).await.map_err(|error| match error.class() {
            Class::NotFound => DriverError::retry("the task ended, and the command with it"),
            _ => of_engine(error),
        })?;
        if let (false, Some(code)) = (exec.running, exec.exit_code) {
            return Ok(i32::try_from(code).unwrap_or(-1));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_AGAIN_MAX);
    }
}

fn not_begun(error: EngineError) -> DriverError {
    match error.class() {
        Class::NotFound | Class::WrongState => {
            DriverError::retry("the command cannot run: the task's container does not run").caused_by(error)
        }
        _ => of_engine(error),
    }
}

/// Hangs up on a command whose caller has gone, and kills it if it stays.
async fn end(shared: &Shared, id: &str, container: &str) {
    let Ok(Some(pid)) = tokio::time::timeout(HANG_UP_MAX, process(shared, id)).await else { return };
    if !tell(pid, container, Signal::SIGHUP) {
        tracing::info!(command = id, "a command goes on in its container: its process cannot be reached from here");
        return;
    }
    let ended = async {
        while shared.engine.exec(id).await.is_ok_and(|exec| exec.running) {
            tokio::time::sleep(LOOK_AGAIN_MAX).await;
        }
    };
    if tokio::time::timeout(HANG_UP_MAX, ended).await.is_err() {
        tell(pid, container, Signal::SIGKILL);
    }
}

/// The process of a command; `None` when it has ended. One that has only just been started is waited for: the engine
/// knows its process a moment later.
async fn process(shared: &Shared, id: &str) -> Option<i32> {
    loop {
        let exec = shared.engine.exec(id).await.ok()?;
        match (exec.running, exec.exit_code) {
            (true, _) if exec.pid > 0 => return Some(exec.pid),
            (false, Some(_)) => return None,
            _ => tokio::time::sleep(LOOK_AGAIN_MIN).await,
        }
    }
}

/// Signals the group that a command leads; `false` when its process is not seen to be of the container.
fn tell(pid: i32, container: &str, signal: Signal) -> bool {
    let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    groups.contains(container) && matches!(killpg(Pid::from_raw(pid), signal), Ok(()) | Err(Errno::ESRCH))
}
