//! What a `-dev` agent keeps in the system's folder for temporary files. It goes with the agent; what a killed one left goes at
//! the start of the next, and never what another one uses.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

/// What the names of such folders begin with; the id of the agent's process follows.
pub(crate) const PREFIX: &str = "longshore-dev-";

/// The folder of a run that leaves nothing behind: goes when this is dropped.
#[derive(Debug)]
pub(crate) struct Temporary(pub(crate) Option<PathBuf>);

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(folder) = &self.0 {
            remove(folder);
        }
    }
}

/// Removes what agents of this user left in `temporary` that have ended: their process is gone, and nobody holds the lock
/// (`locked` within the folder).
pub(crate) fn remove_ended(temporary: &Path, locked: &str) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u32>().ok()) else {
            continue;
        };
        let is_ours = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw());
        if !is_ours || Path::new("/proc").join(process.to_string()).exists() {
            continue;
        }
        // Held until all is removed.
        let lock = File::open(entry.path().join(locked)).map(|file| file.try_lock().is_ok().then_some(file));
        if matches!(lock, Ok(None)) {
            continue;
        }
        tracing::info!(folder = %entry.path().display(), "removing what an ended -dev agent left");
        remove(&entry.path());
    }
}

fn remove(folder: &Path) {
    if let Err(error) = longshore_client::remove_folder(folder) {
        tracing::warn!(folder = %folder.display(), %error, "the temporary folder could not be removed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ended_agents_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        // No process has an id that large.
        let ended = u32::MAX;
        let place = |name: String| {
            let place = folder.path().join(name);
            fs::create_dir_all(place.join("client")).unwrap();
            fs::write(place.join("client/agent.lock"), "").unwrap();
            place
        };
        let (left, held) = (place(format!("{PREFIX}{ended}")), place(format!("{PREFIX}{}", ended - 1)));
        let (living, other) = (place(format!("{PREFIX}{}", std::process::id())), place(format!("{PREFIX}x")));
        let unlocked = place(format!("{PREFIX}{}", ended - 2));
        fs::remove_file(unlocked.join("client/agent.lock")).unwrap();
        let lock = File::open(held.join("client/agent.lock")).unwrap();
        lock.try_lock().unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join(format!("{PREFIX}{}", ended - 3))).unwrap();

        remove_ended(folder.path(), "client/agent.lock");
        assert_eq!([&left, &unlocked].map(|it| it.exists()), [false, false]);
        assert_eq!([&held, &living, &other].map(|it| it.exists()), [true, true, true]);
        drop(Temporary(Some(living.clone())));
        assert!(!living.exists());
    }
}
