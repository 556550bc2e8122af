//! One keeper an engine: a lock named after the engine's id and its data root (two engines of one host can share an id).

use std::fs::{File, OpenOptions};
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

/// What the files about one engine are named after.
pub(crate) fn engine_key(id: &str, data_root: &str) -> String {
    let digest = Sha256::new().chain_update(id).chain_update([0]).chain_update(data_root).finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

impl KeeperLock {
    pub(crate) fn take(folder: &Path, engine_key: &str) -> Result<Self, LockError> {
        let path = folder.join(format!("engine-{engine_key}.lock"));
        let open = || {
            std::fs::create_dir_all(folder)?;
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)
        };
        let file = open().map_err(|source| LockError::Open { path: path.clone(), source })?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => Ok(Self { _file: file }),
            Err((_, Errno::EWOULDBLOCK)) => Err(LockError::Taken { path }),
            Err((_, errno)) => Err(LockError::Open { path, source: errno.into() }),
        }
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
        let first = KeeperLock::take(folder.path(), &key).unwrap();
        assert!(matches!(KeeperLock::take(folder.path(), &key), Err(LockError::Taken { .. })));
        KeeperLock::take(folder.path(), "other").unwrap();
        drop(first);
        KeeperLock::take(folder.path(), &key).unwrap();
    }
}
