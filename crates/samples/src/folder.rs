//! A folder for a test that may leave allocations as they are.

use std::path::Path;

use nix::mount::{MntFlags, umount2};

/// A folder that goes with what is mounted below it: secrets of allocations are in memory, and removing a folder ends no mount.
#[derive(Debug)]
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// A new, empty folder.
    ///
    /// # Panics
    /// When there is no place for one.
    #[must_use]
    #[expect(clippy::expect_used, reason = "only for tests")]
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for a test"))
    }
    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        for mounted in mounts.lines().filter_map(|line| line.split(' ').nth(4)).map(Path::new) {
            if mounted.starts_with(self.0.path())
                && let Err(why) = umount2(mounted, MntFlags::MNT_DETACH)
            {
                eprintln!("{} stays mounted: {why}", mounted.display());
            }
        }
    }
}
