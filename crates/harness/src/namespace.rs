//! A network namespace for one private engine: its bridge, its registry and its published ports meet nobody else's.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns};

use crate::error::Doing;
use crate::{HarnessError, Result, Run, program};

/// A namespace with its loopback up. It goes with its run.
#[derive(Debug, Clone)]
pub struct Namespace {
    path: PathBuf,
}

/// Where a namespace of that name is bound.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new("/run/netns").join(name)
}

impl Namespace {
    /// Makes the namespace of a run.
    ///
    /// # Errors
    /// When `ip` is not there or refuses (it needs root).
    pub fn create(run: &Run) -> Result<Self> {
        let ip = program("ip", "iproute2")?;
        checked(Command::new(&ip).args(["netns", "add", run.id()]), "make a network namespace")?;
        let namespace = Self { path: path(run.id()) };
        checked(namespace.command(&ip)?.args(["link", "set", "lo", "up"]), "bring up loopback")?;
        Ok(namespace)
    }

    /// The file that stands for it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs inside. Unlike `ip netns exec` this keeps the mounts as they are, control groups included.
    ///
    /// # Errors
    /// When `nsenter` is not there.
    pub fn command(&self, program_path: &Path) -> Result<Command> {
        let mut command = Command::new(program("nsenter", "util-linux")?);
        command.arg(format!("--net={}", self.path.display())).arg("--").arg(program_path);
        Ok(command)
    }

    /// Runs `work` on a thread that has entered the namespace; threads and sockets that it makes stay inside.
    ///
    /// # Errors
    /// When the namespace cannot be entered, or `work` fails or panics.
    pub fn inside<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        thread::scope(|scope| {
            let entered = scope.spawn(|| {
                let doing = || format!("enter the network namespace `{}`", self.path.display());
                let file = File::open(&self.path).doing(doing)?;
                setns(file, CloneFlags::CLONE_NEWNET).doing(doing)?;
                work()
            });
            entered.join().unwrap_or_else(|_| Err(HarnessError::refused("work inside a network namespace", "panicked")))
        })
    }
}

/// Takes the namespace of that name away, if it is there.
pub(crate) fn delete(name: &str) -> Result<()> {
    if !path(name).exists() {
        return Ok(());
    }
    checked(Command::new(program("ip", "iproute2")?).args(["netns", "delete", name]), "remove a network namespace")
}

fn checked(command: &mut Command, doing: &str) -> Result<()> {
    let output = command.output().doing(|| format!("{doing} ({command:?})"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(HarnessError::refused(doing, String::from_utf8_lossy(&output.stderr).trim()))
}
