//! Room set aside on a disk beside a store, so that the store can still be opened and written when the disk is full.
//!
//! - V1: the room is real: its blocks are allocated, so nobody else can take them.
//! - V2: it is given up a piece at a time. Whoever else fills the disk gets what a write leaves of a piece, not all of it.
//! - V3: writes leave [`FOR_OPENING_BYTES`] of it: a store that could not be opened could not make room either.
//! - V4: it is made whole again only when that leaves as much room free as it takes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// What one giving up frees.
pub const PIECE_BYTES: u64 = 256 << 10;
/// What only the opening of a store may take.
pub const FOR_OPENING_BYTES: u64 = 1 << 20;

/// What room is needed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A store is being opened: it may have to be mended or brought up to a newer format first.
    Open,
    /// Something is being written to an open store.
    Write,
}

/// A file that only takes up room.
#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
    size_bytes: u64,
    /// Whether all of it stands, as far as is known.
    is_whole: bool,
}

impl Reserve {
    /// The reserve at `path`, as it is. Nothing is made before [`Reserve::restore`].
    pub fn at(path: impl Into<PathBuf>, size_bytes: u64) -> Self {
        Self { path: path.into(), size_bytes, is_whole: false }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Frees one piece. `false`: there is none left for this purpose, or it cannot be freed.
    pub fn give_up(&mut self, purpose: Purpose) -> bool {
        self.is_whole = false;
        let keep = match purpose {
            Purpose::Open => 0,
            Purpose::Write => FOR_OPENING_BYTES,
        };
        let length = self.length();
        if length <= keep {
            return false;
        }
        let left = length.saturating_sub(PIECE_BYTES).max(keep);
        // Synced, because a file system may hand out freed blocks only after its own journal has the truncation.
        let freed = OpenOptions::new().write(true).open(&self.path).and_then(|file| {
            file.set_len(left)?;
            file.sync_all()
        });
        match freed {
            Ok(()) => {
                tracing::warn!(file = %self.path.display(), left_bytes = left, "disk full: a piece of the reserve was given up");
                true
            }
            Err(error) => {
                tracing::error!(file = %self.path.display(), %error, "disk full, and the reserve cannot be given up");
                false
            }
        }
    }

    /// Runs `act`, and again after each piece that could be given up, for as long as it finds the disk full.
    ///
    /// # Errors
    /// What `act` said last.
    pub fn make_room<T, E>(
        &mut self,
        purpose: Purpose,
        is_full: impl Fn(&E) -> bool,
        mut act: impl FnMut() -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            match act() {
                Err(error) if is_full(&error) && self.give_up(purpose) => {}
                outcome => return outcome,
            }
        }
    }

    /// Makes it whole, if it is not and there is room enough. Cheap when it is whole.
    pub fn restore(&mut self) {
        if self.is_whole || self.size_bytes == 0 {
            return;
        }
        match self.fill() {
            Ok(is_whole) => self.is_whole = is_whole,
            Err(error) => tracing::debug!(file = %self.path.display(), %error, "the reserve could not be made"),
        }
    }

    fn fill(&self) -> io::Result<bool> {
        let missing = self.size_bytes.saturating_sub(self.length());
        if missing == 0 {
            return Ok(true);
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&self.path)?;
        if free_bytes(&file)? < missing.saturating_add(self.size_bytes) {
            return Ok(false);
        }
        let size = i64::try_from(self.size_bytes).map_err(io::Error::other)?;
        let made = nix::fcntl::posix_fallocate(&file, 0, size);
        if let Err(error) = made {
            // What was allocated on the way is of more use to others.
            file.set_len(self.size_bytes - missing)?;
            return Err(error.into());
        }
        Ok(true)
    }

    fn length(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |about| about.len())
    }
}

fn free_bytes(file: &File) -> io::Result<u64> {
    let about = nix::sys::statvfs::fstatvfs(file)?;
    Ok(about.blocks_available().saturating_mul(about.fragment_size()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: u64 = 2 << 20;

    fn pieces(reserve: &mut Reserve, purpose: Purpose) -> u64 {
        let mut pieces = 0;
        while reserve.give_up(purpose) {
            pieces += 1;
        }
        pieces
    }

    #[test]
    fn writes_leave_what_an_opening_needs() {
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), WHOLE);
        assert!(!reserve.give_up(Purpose::Write), "there is none yet");
        reserve.restore();
        assert_eq!(reserve.length(), WHOLE);
        assert_eq!(pieces(&mut reserve, Purpose::Write), 4);
        assert_eq!(reserve.length(), FOR_OPENING_BYTES);
        assert_eq!(pieces(&mut reserve, Purpose::Open), 4);
        assert_eq!(reserve.length(), 0);
        reserve.restore();
        assert_eq!(reserve.length(), WHOLE);
    }

    #[test]
    fn the_room_is_allocated() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), WHOLE);
        reserve.restore();
        let about = std::fs::metadata(reserve.path()).unwrap();
        assert!(about.blocks() * 512 >= WHOLE, "{} blocks", about.blocks());
    }

    #[test]
    fn what_finds_no_room_is_tried_again_piece_by_piece() {
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), WHOLE);
        reserve.restore();
        let path = reserve.path().to_owned();
        let length = || std::fs::metadata(&path).unwrap().len();
        let enough = WHOLE - 2 * PIECE_BYTES;
        let done = reserve.make_room(
            Purpose::Write,
            |_: &&str| true,
            || {
                if length() <= enough { Ok(length()) } else { Err("full") }
            },
        );
        assert_eq!(done, Ok(enough));
        assert_eq!(reserve.make_room(Purpose::Write, |_: &&str| true, || Err::<(), _>("full")), Err("full"));
        assert_eq!(length(), FOR_OPENING_BYTES);
        assert_eq!(reserve.make_room(Purpose::Open, |_: &&str| false, || Err::<(), _>("broken")), Err("broken"));
        assert_eq!(length(), FOR_OPENING_BYTES, "only a full disk costs a piece");
    }

    #[test]
    fn more_than_the_disk_has_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), 1 << 60);
        reserve.restore();
        assert_eq!(reserve.length(), 0);
    }
}
