//! A network namespace for one private engine: its bridge, its registry and its published ports meet nobody else's.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns};

use crate::error::Doing;
use crate::run::RUNS_FOLDER;
use crate::{HarnessError, Result, Run, program};

/// A namespace with its loopback up. It goes with its run.
#[derive(Debug, Clone)]
pub struct Namespace {
    path: PathBuf,
}

/// Where the namespace of that run is bound: in the run's own folder, because `ip netns` would leave its folder mounted.
pub(crate) fn path(id: &str) -> PathBuf {
    Path::new(RUNS_FOLDER).join(id).join("net")
}

impl Namespace {
    /// Makes the namespace of a run.
    ///
    /// # Errors
    /// When `unshare` or `ip` is not there or refuses (they need root).
    pub fn create(run: &Run) -> Result<Self> {
        let ip = program("ip", "iproute2")?;
        let path = path(run.id());
        File::create(&path).doing(|| format!("make `{}`", path.display()))?;
        let mut unshare = Command::new(program("unshare", "util-linux")?);
        unshare.arg(format!("--net={}", path.display())).arg("true");
        checked(&mut unshare, "make a network namespace")?;
        let namespace = Self { path };
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

fn checked(command: &mut Command, doing: &str) -> Result<()> {
    let output = command.output().doing(|| format!("{doing} ({command:?})"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(HarnessError::refused(doing, String::from_utf8_lossy(&output.stderr).trim()))
}
