//! Control groups of tasks, so that also what has left its session is found and killed. Only root makes them; without
//! root a task is its session alone.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::unistd::Uid;

use super::processes;
use super::protocol::Attempt;

/// Where our groups are, in either version.
const PARENT_V1: &str = "/sys/fs/cgroup/freezer/longshore";
const PARENT_V2: &str = "/sys/fs/cgroup/longshore.slice";

/// Makes the groups of an attempt; none where that is not possible.
pub(crate) fn make(attempt: &Attempt) -> Vec<PathBuf> {
    if !Uid::effective().is_root() {
        return Vec::new();
    }
    let parent = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        Path::new(PARENT_V2)
    } else if Path::new("/sys/fs/cgroup/freezer").exists() {
        Path::new(PARENT_V1)
    } else {
        return Vec::new();
    };
    let group = parent.join(format!("{}.{}.{}", attempt.alloc, attempt.task.replace('/', "_"), attempt.number));
    match fs::create_dir_all(&group) {
        Ok(()) => vec![group],
        Err(error) => {
            eprintln!("could not make the control group {}: {error}", group.display());
            Vec::new()
        }
    }
}

/// Moves the calling process into a group.
pub(crate) fn enter(group: &Path) -> std::io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Kills all processes of the groups and removes these.
pub(crate) async fn kill_and_remove(groups: &[PathBuf]) {
    for group in groups {
        let mut pause = Duration::from_millis(1);
        loop {
            for pid in members(group) {
                processes::send(pid, Signal::SIGKILL);
            }
            match fs::remove_dir(group) {
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                // Busy: what was killed is not gone yet.
                Err(_) if pause < Duration::from_secs(2) => {}
                Err(error) => {
                    eprintln!("could not remove the control group {}: {error}", group.display());
                    break;
                }
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }
}

fn members(group: &Path) -> Vec<i32> {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}
