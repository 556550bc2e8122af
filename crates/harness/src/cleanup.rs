//! Taking away what a run made, by its name alone, so that it works the same for a run that ends and for one that was killed.
//!
//! A process is ours when it carries the run's mark in its environment, lives in the run's network namespace or control
//! group, or was started on a file of the run's folder.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use nix::mount::{MntFlags, umount2};
use nix::sys::signal::Signal;

use crate::error::Doing;
use crate::run::{LOCK_FILE, MARK, RUN_PREFIX, RUNS_FOLDER};
use crate::wait::eventually_regardless;
use crate::{HarnessError, ProcessIdentity, Result, namespace};

/// Something of a run that is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leftover {
    /// A process, with its command line.
    Process(ProcessIdentity, String),
    /// A mount point.
    Mount(PathBuf),
    /// A folder of a control group.
    ControlGroup(PathBuf),
    /// The run's folder.
    Folder(PathBuf),
    /// The lock of an agent on an engine of the run.
    Lock(PathBuf),
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(identity, command) => write!(f, "process {} ({command})", identity.pid()),
            Self::Mount(path) => write!(f, "mount {}", path.display()),
            Self::ControlGroup(path) => write!(f, "control group {}", path.display()),
            Self::Folder(path) => write!(f, "folder {}", path.display()),
            Self::Lock(path) => write!(f, "lock {}", path.display()),
        }
    }
}

/// Takes away what runs left behind whose owner was killed, and names them. Runs that are under way are left alone.
///
/// # Errors
/// When something would not go; the text names it.
pub fn reap_leftovers() -> Result<Vec<String>> {
    let _turn = take_turn()?;
    let mut reaped = Vec::new();
    reap(&mut reaped)?;
    Ok(reaped)
}

/// One at a time starts a run or takes away leftovers: a run that is just being made has no lock yet.
pub(crate) fn take_turn() -> Result<Flock<File>> {
    let path = Path::new(RUNS_FOLDER).join(".longshore-harness.lock");
    let file = File::options().create(true).append(true).open(&path).doing(|| format!("open `{}`", path.display()))?;
    Flock::lock(file, FlockArg::LockExclusive)
        .map_err(|(_, errno)| HarnessError::refused(format!("lock `{}`", path.display()), errno))
}

pub(crate) fn reap(reaped: &mut Vec<String>) -> Result<()> {
    let entries = fs::read_dir(RUNS_FOLDER).doing(|| format!("list `{RUNS_FOLDER}`"))?;
    for entry in entries.flatten() {
        let Some(id) = entry.file_name().to_str().filter(|name| is_run_name(name)).map(str::to_owned) else { continue };
        if !entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == nix::unistd::geteuid().as_raw()) {
            continue;
        }
        let owner =
            File::open(entry.path().join(LOCK_FILE)).map(|file| Flock::lock(file, FlockArg::LockExclusiveNonblock));
        if matches!(owner, Ok(Err(_))) {
            continue;
        }
        clean(&id)?;
        reaped.push(id);
    }
    Ok(())
}

fn is_run_name(name: &str) -> bool {
    name.strip_prefix(RUN_PREFIX).is_some_and(|rest| rest.len() == 8 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// What of the run of that name is there now.
pub(crate) fn leftovers_of(id: &str) -> Vec<Leftover> {
    let mut left: Vec<Leftover> =
        processes_of(id).into_iter().map(|it| Leftover::Process(it, it.command_line())).collect();
    left.extend(mounts_of(id).into_iter().map(Leftover::Mount));
    left.extend(control_groups_of(id).into_iter().map(Leftover::ControlGroup));
    let dir = Path::new(RUNS_FOLDER).join(id);
    if dir.exists() {
        left.push(Leftover::Folder(dir));
    }
    left.extend(locks_of(id).into_iter().map(Leftover::Lock));
    left
}

/// Where agents keep their locks, each with the folder of the engine that it is for.
const LOCKS_FOLDER: &str = "/run/longshore";

/// Locks of agents that were killed: one that ends takes its own with it.
fn locks_of(id: &str) -> Vec<PathBuf> {
    let dir = format!("{RUNS_FOLDER}/{id}/");
    let locks = fs::read_dir(LOCKS_FOLDER).into_iter().flatten().flatten().map(|entry| entry.path());
    locks.filter(|path| fs::read_to_string(path).is_ok_and(|text| text.contains(&dir))).collect()
}

/// Takes away everything of the run of that name.
pub(crate) fn clean(id: &str) -> Result<()> {
    let dir = Path::new(RUNS_FOLDER).join(id);
    let shim_sockets = shim_sockets_below(&dir);
    eventually_regardless(Duration::from_secs(20), format!("the end of the processes of run {id}"), || {
        let living = kill(id);
        if living.is_empty() { Ok(()) } else { Err(format!("{living:?}")) }
    })?;
    for mount in mounts_of(id).iter().rev() {
        if umount2(mount, MntFlags::empty()).is_err() {
            umount2(mount, MntFlags::MNT_DETACH).doing(|| format!("unmount `{}`", mount.display()))?;
        }
    }
    for group in control_groups_of(id).iter().rev() {
        // The kernel needs a moment after the last process of a group has gone.
        eventually_regardless(
            Duration::from_secs(5),
            format!("the end of control group `{}`", group.display()),
            || match fs::remove_dir(group) {
                Err(error) if group.exists() => Err(error.to_string()),
                _ => Ok(()),
            },
        )?;
    }
    for file in shim_sockets.into_iter().chain(locks_of(id)) {
        let _ = fs::remove_file(file);
    }
    if dir.exists() {
        fs::remove_dir_all(&dir).doing(|| format!("remove the folder `{}`", dir.display()))?;
    }
    let left = leftovers_of(id);
    if left.is_empty() {
        return Ok(());
    }
    let list = left.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(HarnessError::refused(format!("take away all of run {id}"), format!("still there: {list}")))
}

/// Kills every process of the run of that name, and says which there were.
pub(crate) fn kill(id: &str) -> Vec<ProcessIdentity> {
    let living = processes_of(id);
    for process in &living {
        process.signal(Signal::SIGKILL);
    }
    living
}

fn processes_of(id: &str) -> Vec<ProcessIdentity> {
    let dir = format!("{RUNS_FOLDER}/{id}");
    let mark = format!("{MARK}={id}");
    let namespace = fs::metadata(namespace::path(id)).map(|it| it.ino()).ok();
    let mut in_groups = BTreeSet::new();
    for group in control_groups_of(id) {
        let list = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
        in_groups.extend(list.lines().filter_map(|line| line.trim().parse::<i32>().ok()));
    }
    let us = i32::try_from(std::process::id()).unwrap_or_default();
    ProcessIdentity::all()
        .into_iter()
        .filter(|process| process.pid() != us)
        .filter(|process| {
            let proc = PathBuf::from(format!("/proc/{}", process.pid()));
            let below = |link: &str| fs::read_link(proc.join(link)).is_ok_and(|path| path.starts_with(&dir));
            in_groups.contains(&process.pid())
                || namespace.is_some_and(|ino| fs::metadata(proc.join("ns/net")).is_ok_and(|it| it.ino() == ino))
                || fs::read(proc.join("environ"))
                    .is_ok_and(|raw| raw.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes()))
                || below("cwd")
                || below("exe")
        })
        .collect()
}

/// Mount points below the run's folder, outer ones first.
fn mounts_of(id: &str) -> Vec<PathBuf> {
    let dir = format!("{RUNS_FOLDER}/{id}");
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    table
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|path| PathBuf::from(path.replace("\\040", " ")))
        .filter(|path| path.starts_with(&dir))
        .collect()
}

/// Folders of the run's control group in every hierarchy, outer ones first.
fn control_groups_of(id: &str) -> Vec<PathBuf> {
    let root = Path::new("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut seen = BTreeSet::new();
    let mut groups = Vec::new();
    for hierarchy in std::iter::once(root.to_owned()).chain(hierarchies) {
        let top = hierarchy.join(id);
        if top.is_dir() && seen.insert(fs::canonicalize(&top).unwrap_or_default()) {
            add_folders(top, &mut groups);
        }
    }
    groups
}

fn add_folders(top: PathBuf, into: &mut Vec<PathBuf>) {
    let inner: Vec<PathBuf> =
        fs::read_dir(&top).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|it| it.is_dir()).collect();
    into.push(top);
    for folder in inner {
        add_folders(folder, into);
    }
}

/// Shims keep their sockets outside the run's folder and leave them there when they are killed.
fn shim_sockets_below(dir: &Path) -> Vec<PathBuf> {
    let tasks = dir.join("containerd/state/io.containerd.runtime.v2.task/moby");
    fs::read_dir(tasks)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.path().join("address")).ok())
        .filter_map(|address| address.trim().strip_prefix("unix://").map(PathBuf::from))
        .filter(|socket| socket.starts_with("/run/containerd/s"))
        .collect()
}
