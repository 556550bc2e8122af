//! A run: one folder that owns everything which a test or the demo starts.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nix::fcntl::{Flock, FlockArg};

use crate::error::Doing;
use crate::{HarnessError, Leftover, ProcessIdentity, Result, cleanup, program};

/// Short, because the paths of sockets have 108 bytes at most; on disk, because layers need room that a tmpfs may not have.
pub(crate) const RUNS_FOLDER: &str = "/var/tmp";
pub(crate) const RUN_PREFIX: &str = "lsh-";
/// In the environment of every process of a run.
pub(crate) const MARK: &str = "LONGSHORE_HARNESS_RUN";
/// Held by the process that owns the run; the kernel lets go of it whatever way that process ends.
pub(crate) const LOCK_FILE: &str = "lock";
const PROCESSES_FILE: &str = "processes";

/// One folder with all that was started below it. Cheap to clone; cleaned when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Run(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    dir: PathBuf,
    lock: Mutex<Option<Flock<File>>>,
    /// Gone when the run is being taken away: then nothing more is started.
    processes: Mutex<Option<File>>,
    keep_logs: AtomicBool,
}

impl Run {
    /// Starts a run, after taking away what killed runs have left.
    ///
    /// # Errors
    /// When the folder cannot be made, or leftovers cannot be taken away.
    pub fn start() -> Result<Self> {
        let _turn = cleanup::take_turn()?;
        cleanup::reap(&mut Vec::new())?;
        let id = format!("{RUN_PREFIX}{}", random_hex(4)?);
        let dir = Path::new(RUNS_FOLDER).join(&id);
        // Others may pass, so that an agent of another user reaches what is given to it, and list nothing.
        fs::DirBuilder::new().mode(0o711).create(&dir).doing(|| format!("make the folder `{}`", dir.display()))?;
        let lock_path = dir.join(LOCK_FILE);
        let file = File::create(&lock_path).doing(|| format!("make `{}`", lock_path.display()))?;
        let lock = Flock::lock(file, FlockArg::LockExclusiveNonblock)
            .map_err(|(_, errno)| HarnessError::refused(format!("lock `{}`", lock_path.display()), errno))?;
        let logs = dir.join("logs");
        fs::create_dir(&logs).doing(|| format!("make the folder `{}`", logs.display()))?;
        let processes = File::options()
            .create(true)
            .append(true)
            .open(dir.join(PROCESSES_FILE))
            .doing(|| format!("make the list of processes in `{}`", dir.display()))?;
        Ok(Self(Arc::new(Inner {
            id,
            dir,
            lock: Mutex::new(Some(lock)),
            processes: Mutex::new(Some(processes)),
            keep_logs: AtomicBool::new(true),
        })))
    }

    /// Its name, unique on the machine; also the name of its network namespace and its control group.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Its folder.
    pub fn dir(&self) -> &Path {
        &self.0.dir
    }

    /// The file that takes the output of the process of that name.
    pub fn log_path(&self, name: &str) -> PathBuf {
        self.0.dir.join("logs").join(format!("{name}.log"))
    }

    /// Writes a file of the run and returns its path.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.0.dir.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).doing(|| format!("make the folder `{}`", parent.display()))?;
        }
        fs::write(&path, contents).doing(|| format!("write `{}`", path.display()))?;
        Ok(path)
    }

    /// Mounts a file system of its own, of so many bytes, at a path of the run: for tests of a full disk. It goes with the run.
    ///
    /// # Errors
    /// When it cannot be made or mounted.
    pub fn mount_disk(&self, name: &str, bytes: u64) -> Result<PathBuf> {
        let file = self.write(&format!("disks/{}.ext4", name.replace('/', "-")), "")?;
        let doing = || format!("mount a file system of {bytes} bytes at `{name}`");
        File::options().write(true).open(&file).and_then(|file| file.set_len(bytes)).doing(doing)?;
        let place = self.0.dir.join(name);
        fs::create_dir_all(&place).doing(doing)?;
        let mut make = Command::new(program("mkfs.ext4", "e2fsprogs")?);
        make.args(["-q", "-F", "-m", "0"]).arg(&file);
        let mut mount = Command::new(program("mount", "mount")?);
        mount.args(["-o", "loop"]).arg(&file).arg(&place);
        for command in [&mut make, &mut mount] {
            let output = command.output().doing(doing)?;
            if !output.status.success() {
                return Err(HarnessError::refused(doing(), String::from_utf8_lossy(&output.stderr).trim()));
            }
        }
        Ok(place)
    }

    /// Puts the mark of this run into the environment of a command, so that whatever it starts can be told as ours.
    pub fn mark(&self, command: &mut Command) {
        command.env(MARK, &self.0.id);
    }

    /// Starts a command that carries the mark of this run.
    ///
    /// # Errors
    /// When it cannot be started, or the run is ending.
    pub fn spawn(&self, command: &mut Command) -> Result<Child> {
        self.mark(command);
        let processes = self.0.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if processes.is_none() {
            return Err(HarnessError::Ending { what: format!("{:?}", command.get_program()) });
        }
        command.spawn().doing(|| format!("start {:?}", command.get_program()))
    }

    /// Notes a process, for the one who takes away leftovers.
    pub(crate) fn record(&self, name: &str, identity: ProcessIdentity) -> Result<()> {
        match self.0.processes.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(file) => {
                writeln!(file, "{name} {identity:?}").doing(|| format!("note {name} in the list of processes"))
            }
            None => Ok(()),
        }
    }

    /// From now on nothing more is started in this run, and what runs is killed; the rest is left to [`Run::clean`].
    /// For the one who is told to end everything while others are still at work.
    pub fn end(&self) {
        self.0.processes.lock().unwrap_or_else(PoisonError::into_inner).take();
        cleanup::kill(&self.0.id);
    }

    /// Keeps no logs when a panic ends this run; a test does, to be read.
    pub fn keep_no_logs(&self) {
        self.0.keep_logs.store(false, Ordering::Relaxed);
    }

    /// Copies the logs to where they outlast the run, and says where.
    ///
    /// # Errors
    /// When they cannot be copied.
    pub fn save_logs(&self) -> Result<PathBuf> {
        let kept = Path::new(RUNS_FOLDER).join(format!("longshore-failed-{}", self.0.id));
        copy_logs(&self.0.dir.join("logs"), &kept).doing(|| format!("copy logs to `{}`", kept.display()))?;
        Ok(kept)
    }

    /// What of this run is there now: processes, mounts, namespace, control groups, folder.
    pub fn leftovers(&self) -> Vec<Leftover> {
        cleanup::leftovers_of(&self.0.id)
    }

    /// Takes everything away now instead of when dropped, and says what would not go.
    ///
    /// # Errors
    /// When something of the run is still there afterwards.
    pub fn clean(&self) -> Result<()> {
        cleanup::clean(&self.0.id)?;
        self.0.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(())
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if std::thread::panicking() && self.keep_logs.load(Ordering::Relaxed) {
            let kept = Path::new(RUNS_FOLDER).join(format!("longshore-failed-{}", self.id));
            if copy_logs(&self.dir.join("logs"), &kept).is_ok() {
                eprintln!("the logs of this run are in {}", kept.display());
            }
        }
        if let Err(error) = cleanup::clean(&self.id) {
            eprintln!("{error}");
        }
    }
}

fn copy_logs(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Random bytes of the system as hex digits.
///
/// # Errors
/// When the system has none to give.
pub fn random_hex(bytes: usize) -> Result<String> {
    Ok(random_bytes(bytes)?.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn random_bytes(count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .doing(|| "read /dev/urandom".to_owned())?;
    Ok(bytes)
}

/// A TCP port on loopback that is free at this moment.
///
/// # Errors
/// When the system has none.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).doing(|| "find a free port".to_owned())?;
    Ok(listener.local_addr().doing(|| "find a free port".to_owned())?.port())
}
