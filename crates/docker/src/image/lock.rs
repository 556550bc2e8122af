//! One keeper an engine: a lock named after the engine's id and its data root (two engines of one host can share an id).

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use sha2::{Digest as _, Sha256};

use crate::error::LockError;

/// Held for as long as it lives; the kernel gives it back when the process ends. Its file goes with it, unless that is
/// killed.
pub(crate) struct KeeperLock {
    file: Flock<File>,
    path: PathBuf,
}

impl Drop for KeeperLock {
    fn drop(&mut self) {
        // Still held: whoever has opened this file sees that it is not the one at its place any more.
        if is_at(&self.file, &self.path)
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            tracing::debug!(lock = %self.path.display(), %error, "the lock's file cannot be removed");
        }
    }
}

/// More of what stands in a lock file is not shown.
const HOLDER_BYTES_MAX: u64 = 200;

/// What the files about one engine are named after.
pub(crate) fn engine_key(id: &str, data_root: &str) -> String {
    let digest = Sha256::new().chain_update(id).chain_update([0]).chain_update(data_root).finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl KeeperLock {
    /// `holder`: who is to be told to others that come later.
    pub(crate) fn take(folder: &Path, engine_key: &str, holder: &str) -> Result<Self, LockError> {
        let path = folder.join(format!("engine-{engine_key}.lock"));
        let open = || {
            std::fs::create_dir_all(folder)?;
            OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).open(&path)
        };
        loop {
            let file = open().map_err(|source| LockError::Open { path: path.clone(), source })?;
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                // Its last holder took the file away meanwhile, and another one may have been made.
                Ok(file) if !is_at(&file, &path) => {}
                Ok(mut file) => {
                    // Only told to people: that it cannot be written costs them the name.
                    if let Err(error) = file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())) {
                        tracing::debug!(lock = %path.display(), %error, "who holds it cannot be written down");
                    }
                    return Ok(Self { file, path });
                }
                Err((file, Errno::EWOULDBLOCK)) => return Err(LockError::Taken { holder: holder_of(&file), path }),
                Err((_, errno)) => return Err(LockError::Open { path, source: errno.into() }),
            }
        }
    }
}

/// Whether that is the file at this path.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |it: std::fs::Metadata| (it.dev(), it.ino());
    let of_file = file.metadata().map(identity);
    let at_path = std::fs::metadata(path).map(identity);
    matches!((of_file, at_path), (Ok(file), Ok(path)) if file == path)
}

fn holder_of(file: &File) -> String {
    let mut text = Vec::new();
    let read = file.take(HOLDER_BYTES_MAX).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    match (read, text.trim()) {
        (Err(_), _) | (Ok(_), "") => "it does not say who".to_owned(),
        (Ok(_), text) => text.chars().filter(|c| !c.is_control()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let key = engine_key("AB:CD", "/var/lib/docker");
        assert_ne!(key, engine_key("AB:CD", "/srv/docker"));
        let first = KeeperLock::take(folder.path(), &key, "process 7 of old, with a long name").unwrap();
        drop(first);
        let first = KeeperLock::take(folder.path(), &key, "process 8").unwrap();
        match KeeperLock::take(folder.path(), &key, "process 9") {
            Err(LockError::Taken { holder, .. }) => assert_eq!(holder, "process 8"),
            other => panic!("{:?}", other.err()),
        }
        KeeperLock::take(folder.path(), "other", "process 9").unwrap();
        drop(first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "what nobody holds is not left there");
        KeeperLock::take(folder.path(), &key, "process 9").unwrap();
    }

    /// Whoever had it open when its holder took it away must not hold what nobody else would look at.
    #[test]
    fn never_two_holders_however_they_come_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let held = std::sync::atomic::AtomicUsize::new(0);
        let taken = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while taken.load(Ordering::SeqCst) < 2_000 {
                        let Ok(lock) = KeeperLock::take(folder.path(), "key", "somebody") else { continue };
                        assert_eq!(held.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        held.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
    }
}
