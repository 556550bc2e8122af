//! One keeper an engine: a lock named after the engine's id and its data root (two engines of one host can share an id).

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use sha2::{Digest as _, Sha256};

use crate::error::LockError;

/// Held for as long as it lives; the kernel gives it back when the process ends.
pub(crate) struct KeeperLock {
    _file: Flock<File>,
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
        let file = open().map_err(|source| LockError::Open { path: path.clone(), source })?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut file) => {
                // Only told to people: that it cannot be written costs them the name.
                if let Err(error) = file.set_len(0).and_then(|()| file.write_all(holder.as_bytes())) {
                    tracing::debug!(lock = %path.display(), %error, "who holds it cannot be written down");
                }
                Ok(Self { _file: file })
            }
            Err((file, Errno::EWOULDBLOCK)) => Err(LockError::Taken { holder: holder_of(&file), path }),
            Err((_, errno)) => Err(LockError::Open { path, source: errno.into() }),
        }
    }
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
        KeeperLock::take(folder.path(), &key, "process 9").unwrap();
    }
}
