//! Processes that we start, and the ones that they left: known by id **and** start time, so that a number that the system
//! has given to somebody else meanwhile is never signalled.

use std::fmt;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::Doing;
use crate::run::Run;
use crate::{HarnessError, Result, eventually};

/// One process, for as long as it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProcessIdentity {
    pid: i32,
    /// In clock ticks since the machine started.
    started: u64,
}

impl ProcessIdentity {
    /// The process that has this id now.
    pub fn of(pid: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold anything; what follows the last one is regular.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        if state == "Z" || state == "X" {
            return None;
        }
        Some(Self { pid, started: fields.nth(18)?.parse().ok()? })
    }

    /// The process id.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether this very process still runs (a zombie does not).
    pub fn is_alive(&self) -> bool {
        Self::of(self.pid) == Some(*self)
    }

    /// Sends a signal, if this very process still runs.
    pub fn signal(&self, signal: Signal) {
        if self.is_alive() {
            // It may end between the look and the signal; then there is nothing left to do.
            let _ = kill(Pid::from_raw(self.pid), signal);
        }
    }

    /// Its command line, arguments separated by spaces.
    pub fn command_line(&self) -> String {
        let raw = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        raw.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ").trim().to_owned()
    }

    /// Every process of the machine.
    pub fn all() -> Vec<Self> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(Self::of).collect()
    }
}

impl fmt::Display for ProcessIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.command_line())
    }
}

/// Where a program lies, looked for in the `PATH` and in the folders of system programs.
///
/// # Errors
/// [`HarnessError::Missing`] with the package that has it.
pub fn program(name: &str, package: &'static str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| HarnessError::Missing { program: name.to_owned(), package })
}

/// A process of a run, killed when dropped. Its output goes to a file of the run.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    identity: Option<ProcessIdentity>,
    log: PathBuf,
}

impl Process {
    /// Starts it in a process group of its own (a Ctrl-C at the terminal reaches only us, who end things in order).
    ///
    /// # Errors
    /// When its log cannot be opened or it cannot be started.
    pub fn spawn(run: &Run, name: &str, mut command: Command) -> Result<Self> {
        let log = run.log_path(name);
        let open = || {
            File::options().create(true).append(true).open(&log).doing(|| format!("open the log `{}`", log.display()))
        };
        command.stdin(Stdio::null()).stdout(open()?).stderr(open()?).process_group(0);
        let child = run.spawn(&mut command)?;
        let identity = i32::try_from(child.id()).ok().and_then(ProcessIdentity::of);
        if let Some(identity) = identity {
            run.record(name, identity)?;
        }
        Ok(Self { name: name.to_owned(), child, identity, log })
    }

    /// The process id.
    pub fn pid(&self) -> i32 {
        self.identity.map_or(0, |identity| identity.pid())
    }

    /// The process itself, to be watched after this guard is gone.
    pub fn identity(&self) -> Option<ProcessIdentity> {
        self.identity
    }

    /// The file with its output.
    pub fn log_path(&self) -> &Path {
        &self.log
    }

    /// Its output so far.
    pub fn log(&self) -> String {
        fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// The last lines of its output, for messages.
    pub fn log_tail(&self, lines: usize) -> String {
        let log = self.log();
        let all: Vec<&str> = log.lines().collect();
        all[all.len().saturating_sub(lines)..].join("\n")
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    /// When the system cannot tell.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().doing(|| format!("ask whether {} has ended", self.name))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) {
        if let Some(identity) = self.identity {
            identity.signal(signal);
        }
    }

    /// Kills it (9) and waits until it is gone.
    pub fn kill9(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to end (SIGTERM or SIGINT) and waits for it.
    ///
    /// # Errors
    /// When it has not ended in time; it is killed then.
    pub fn end(&mut self, signal: Signal, within: Duration) -> Result<ExitStatus> {
        self.signal(signal);
        let waited = eventually(within, format!("the end of {} after {signal}", self.name), || {
            self.child.try_wait().map_err(|error| error.to_string())?.ok_or_else(|| "still running".to_owned())
        });
        if waited.is_err() {
            self.kill9();
        }
        waited
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill9();
    }
}
