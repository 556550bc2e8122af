//! Who this node is, over all its starts.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use longshore_model::{IdSource, NodeId};

use crate::ClientError;
use crate::directories::make_folder;

/// Ids from the system's randomness, in the form of a random UUID.
pub(crate) struct SystemIds;

impl IdSource for SystemIds {
    fn next_id(&mut self) -> u128 {
        let mut bytes = [0; 16];
        // Without randomness the system is beyond help; `identity` has checked it once before.
        if getrandom::fill(&mut bytes).is_err() {
            tracing::error!("the system gave no random numbers");
        }
        let value = u128::from_be_bytes(bytes);
        value & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62)
    }
}

/// A number between 0 and 1.
pub(crate) fn chance() -> f64 {
    let mut bytes = [0; 4];
    // Only spreads retries in time: no chance is as good as any.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX)
}

/// The id of the node whose state folder this is: read from `client-id`, or made so that it stays. (`secret-id` beside it
/// is for the day when servers ask for it.) The folder is made when missing.
pub(crate) fn node_id(state_dir: &Path) -> Result<NodeId, ClientError> {
    make_folder(state_dir, 0o700)?;
    getrandom::fill(&mut [0; 1]).map_err(|error| ClientError::NoRandomness(error.to_string()))?;
    read_or_make(&state_dir.join("secret-id"))?;
    read_or_make(&state_dir.join("client-id"))
}

fn read_or_make(path: &Path) -> Result<NodeId, ClientError> {
    match fs::read_to_string(path) {
        Ok(text) => text.trim().parse().map_err(|_| ClientError::BadIdentity { path: path.to_owned() }),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let id = NodeId::fresh(&mut SystemIds);
            write(path, &id.to_string()).map_err(|source| ClientError::Files {
                doing: "write",
                path: path.to_owned(),
                source,
            })?;
            Ok(id)
        }
        Err(source) => Err(ClientError::Files { doing: "read", path: path.to_owned(), source }),
    }
}

/// Whole or not at all, also when the machine dies.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    match path.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_identity_stays() {
        let folder = tempfile::tempdir().unwrap();
        let id = node_id(folder.path()).unwrap();
        assert_eq!(id.to_string().as_bytes()[14], b'4', "a random UUID: {id}");
        assert_eq!(node_id(folder.path()).unwrap(), id);
        fs::write(folder.path().join("client-id"), "mine").unwrap();
        assert!(matches!(node_id(folder.path()), Err(ClientError::BadIdentity { .. })));
    }
}
