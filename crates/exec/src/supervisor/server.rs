//! The supervisor's own process.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longshore_model::AllocId;
use longshore_values::with_causes;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;
use nix::unistd::{Uid, setsid};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::protocol::{Answer, Attempt, Command, Logs, Request, TaskStatus};
use super::record::Records;
use super::task::{self, Stage, Task};
use super::{control_group, processes};
use crate::ExecError;

/// How long the supervisor stays without tasks and without an agent.
const ALONE_MAX: Duration = Duration::from_secs(60);
/// How long a supervisor waits for its predecessor's end.
const LOCK_MAX: Duration = Duration::from_secs(2);
const REQUEST_BYTES_MAX: u64 = 32 << 20;

pub(crate) const SOCKET: &str = "supervisor.sock";
pub(crate) const LOCK: &str = "supervisor.lock";

/// Runs in `folder` until there is nothing left to supervise.
pub(crate) fn run(folder: &Path) -> Result<(), ExecError> {
    // Out of the agent's session: what ends the agent's terminal does not end this.
    let _ = setsid();
    let files = |doing, path: &Path| {
        let path = path.to_owned();
        move |source| ExecError::Files { doing, path, source }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(files("make", folder))?;
    let lock_path = folder.join(LOCK);
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&lock_path);
    let lock = lock.map_err(files("open", &lock_path))?;
    let Some(_lock) = take_lock(lock) else {
        // Another one is there and stays; whoever started this one will find that one.
        return Ok(());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(files("start the runtime in", folder))?;
    let served = runtime.block_on(serve(folder));
    // What may still block (a log on a disk that hangs) does not hold up the end.
    runtime.shutdown_background();
    served
}

/// Waits a moment for a supervisor that is just ending.
fn take_lock(mut file: File) -> Option<Flock<File>> {
    let until = std::time::Instant::now() + LOCK_MAX;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Some(lock),
            Err((again, _)) if std::time::Instant::now() < until => file = again,
            Err(_) => return None,
        }
        // A lock with a deadline: the kernel offers none.
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A path to a file in `folder` that is short enough for a socket's address, whatever the folder's own path is.
pub(crate) fn short_path(folder: &File, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd()))
}

struct Server {
    records: Records,
    program: PathBuf,
    arguments: Vec<String>,
    state: Mutex<State>,
    /// Something changed that may let the supervisor end.
    changed: Notify,
}

#[derive(Default)]
struct State {
    tasks: BTreeMap<Attempt, Task>,
    /// Attempts that are being started.
    starting: BTreeMap<Attempt, Arc<tokio::sync::Mutex<()>>>,
    agents: usize,
    ending: bool,
}

async fn serve(folder: &Path) -> Result<(), ExecError> {
    let records = Records::at(folder);
    let mut state = State::default();
    for record in records.load()? {
        let attempt = record.attempt.clone();
        state.tasks.insert(attempt, task::end_orphan(&records, record).await?);
    }
    let listener = listen(folder)?;
    let (program, arguments) = first_stage();
    let server = Arc::new(Server { records, program, arguments, state: Mutex::new(state), changed: Notify::new() });
    let fail = |source| ExecError::Files { doing: "watch signals in", path: folder.to_owned(), source };
    let mut terminate = signal(SignalKind::terminate()).map_err(fail)?;
    // A terminal's signals are the agent's business.
    let mut interrupt = signal(SignalKind::interrupt()).map_err(fail)?;
    let mut hang_up = signal(SignalKind::hangup()).map_err(fail)?;
    let mut alone_since = Instant::now();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    tokio::spawn(Arc::clone(&server).talk(stream));
                }
            }
            _ = terminate.recv() => server.state().ending = true,
            _ = interrupt.recv() => {}
            _ = hang_up.recv() => {}
            () = server.changed.notified() => {}
            () = tokio::time::sleep_until(alone_since + ALONE_MAX) => {}
        }
        let (ending, busy) = {
            let state = server.state();
            (state.ending, state.agents > 0 || !state.starting.is_empty() || state.tasks.values().any(Task::runs))
        };
        if ending {
            server.end_all().await;
            break;
        }
        if busy {
            alone_since = Instant::now();
        } else if alone_since.elapsed() >= ALONE_MAX {
            break;
        }
    }
    let socket = folder.join(SOCKET);
    fs::remove_file(&socket).map_err(|source| ExecError::Files { doing: "remove", path: socket, source })
}

/// How the first stage of a task is started: this very program.
fn first_stage() -> (PathBuf, Vec<String>) {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    // The folder goes; the command's name changes. In the binary that is all there is.
    arguments.pop();
    for argument in &mut arguments {
        *argument = argument.replace("__supervisor", "__task");
    }
    // Also right when the file has been replaced by a newer one since.
    (PathBuf::from("/proc/self/exe"), arguments)
}

fn listen(folder: &Path) -> Result<UnixListener, ExecError> {
    let socket = folder.join(SOCKET);
    let fail = |source| ExecError::Files { doing: "listen at", path: socket.clone(), source };
    match fs::remove_file(&socket) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(fail(error)),
        _ => {}
    }
    let opened = File::open(folder).map_err(fail)?;
    // Nobody but the owner of the folder (0700) can reach it in the moment before its own rights are set.
    let listener = UnixListener::bind(short_path(&opened, SOCKET)).map_err(fail)?;
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o600)).map_err(fail)?;
    Ok(listener)
}

impl Task {
    fn runs(&self) -> bool {
        matches!(*self.status.borrow(), TaskStatus::Running { .. })
    }

    async fn ended(&self) -> TaskStatus {
        let mut status = self.status.clone();
        // The sender goes only after it has told the exit.
        let _ = status.wait_for(|status| !matches!(status, TaskStatus::Running { .. })).await;
        status.borrow().clone()
    }

    async fn kill(&self) {
        if self.runs() {
            processes::kill_session(self.record.pid, self.record.start_ticks).await;
            control_group::kill_and_remove(&self.record.control_groups).await;
            self.ended().await;
        }
    }
}

impl Server {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn task(&self, attempt: &Attempt) -> Option<Task> {
        self.state().tasks.get(attempt).cloned()
    }

    fn tasks_where(&self, wanted: impl Fn(&Attempt) -> bool) -> Vec<Task> {
        self.state().tasks.iter().filter(|(attempt, _)| wanted(attempt)).map(|(_, task)| task.clone()).collect()
    }

    async fn talk(self: Arc<Self>, stream: UnixStream) {
        let allowed = stream.peer_cred().is_ok_and(|peer| peer.uid() == 0 || peer.uid() == Uid::effective().as_raw());
        if !allowed {
            return;
        }
        let (read, mut write) = stream.into_split();
        let mut read = BufReader::new(read).take(REQUEST_BYTES_MAX);
        let mut line = String::new();
        if read.read_line(&mut line).await.is_err() {
            return;
        }
        let answer = match serde_json::from_str(&line) {
            Ok(Request::Attach { ends_with_agent }) => {
                self.state().agents += 1;
                let greeted = write.write_all(&encode(&Answer::Done)).await;
                if greeted.is_ok() {
                    // Ends when the agent does, whatever way it does.
                    let _ = read.read_line(&mut line).await;
                }
                let mut state = self.state();
                state.agents -= 1;
                state.ending |= ends_with_agent;
                drop(state);
                self.changed.notify_one();
                return;
            }
            Ok(request) => self.answer(request).await,
            Err(error) => Answer::Refused(format!("the supervisor does not understand this: {error}")),
        };
        // An agent that has gone meanwhile asks again when it is back.
        let _ = write.write_all(&encode(&answer)).await;
        self.changed.notify_one();
    }

    async fn answer(&self, request: Request) -> Answer {
        match request {
            Request::Attach { .. } => Answer::Done,
            Request::Start { attempt, command, logs, with_control_groups } => {
                let turn = Arc::clone(self.state().starting.entry(attempt.clone()).or_default());
                let in_turn = turn.lock().await;
                let answer = self.start(&attempt, command, &logs, with_control_groups).await;
                drop(in_turn);
                let mut state = self.state();
                // The map's and this one: nobody else waits for a turn.
                if Arc::strong_count(&turn) <= 2 {
                    state.starting.remove(&attempt);
                }
                answer
            }
            Request::Status { attempt } => {
                let found = self.task(&attempt).map(|task| task.status.borrow().clone());
                Answer::Status(found.unwrap_or(TaskStatus::Unknown))
            }
            Request::Wait { attempt } => match self.task(&attempt) {
                Some(task) => Answer::Status(task.ended().await),
                None => Answer::Status(TaskStatus::Unknown),
            },
            Request::Signal { attempt, signal } => match (self.task(&attempt), Signal::try_from(signal)) {
                (Some(task), Ok(signal)) if task.runs() => {
                    processes::send(task.record.pid, signal);
                    Answer::Done
                }
                (_, Err(error)) => Answer::Refused(format!("{signal} is no signal: {error}")),
                _ => Answer::Refused(format!("{attempt} does not run")),
            },
            Request::Stop { attempt, signal, timeout_ms } => {
                self.stop(&attempt, signal, Duration::from_millis(timeout_ms)).await
            }
            Request::Destroy { attempt } => self.remove(|other| *other == attempt).await,
            Request::Forget { alloc } => self.remove(|other| other.alloc == alloc).await,
            Request::Keep { allocs } => self.keep(&allocs).await,
            Request::End => {
                self.state().ending = true;
                Answer::Done
            }
        }
    }

    async fn start(&self, attempt: &Attempt, command: Command, logs: &Logs, with_control_groups: bool) -> Answer {
        if let Some(found) = self.task(attempt) {
            return Answer::Status(found.status.borrow().clone());
        }
        let rivals = self.tasks_where(|other| other.alloc == attempt.alloc && other.task == attempt.task);
        if let Some(rival) = rivals.iter().find(|rival| rival.runs()) {
            return Answer::Refused(format!("{} still runs", rival.record.attempt));
        }
        let stage = Stage { program: &self.program, arguments: &self.arguments };
        match task::start(&self.records, &stage, attempt.clone(), command, logs, with_control_groups).await {
            Ok(task) => {
                let status = task.status.borrow().clone();
                self.state().tasks.insert(attempt.clone(), task);
                Answer::Status(status)
            }
            Err(error) => Answer::Refused(with_causes(&error)),
        }
    }

    async fn stop(&self, attempt: &Attempt, signal: i32, timeout: Duration) -> Answer {
        let Some(task) = self.task(attempt) else { return Answer::Done };
        let Ok(signal) = Signal::try_from(signal) else {
            return Answer::Refused(format!("{signal} is no signal"));
        };
        if task.runs() {
            processes::send(task.record.pid, signal);
            if tokio::time::timeout(timeout, task.ended()).await.is_err() {
                task.kill().await;
            }
        }
        Answer::Done
    }

    /// Kills and forgets attempts.
    async fn remove(&self, wanted: impl Fn(&Attempt) -> bool) -> Answer {
        let turns: Vec<_> = {
            let state = self.state();
            let starting = state.starting.iter().filter(|(attempt, _)| wanted(attempt));
            starting.map(|(_, turn)| Arc::clone(turn)).collect()
        };
        for turn in turns {
            drop(turn.lock().await);
        }
        for task in self.tasks_where(wanted) {
            task.kill().await;
            if let Err(error) = self.records.remove(&task.record.attempt) {
                return Answer::Refused(with_causes(&error));
            }
            self.state().tasks.remove(&task.record.attempt);
        }
        Answer::Done
    }

    async fn keep(&self, allocs: &[AllocId]) -> Answer {
        self.remove(|attempt| !allocs.contains(&attempt.alloc)).await
    }

    async fn end_all(&self) {
        for task in self.tasks_where(|_| true) {
            task.kill().await;
        }
    }
}

fn encode(answer: &Answer) -> Vec<u8> {
    let mut line = serde_json::to_vec(answer).unwrap_or_default();
    line.push(b'\n');
    line
}
