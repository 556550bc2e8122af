//! Room set aside on a disk beside a store, so that the store can still be opened and written when the disk is full.
//!
//! - V1: the room is real: its blocks are allocated, so nobody else can take them. Where a file system cannot do that
//!   there is none, and that is said once.
//! - V2: it is given up a piece at a time. Whoever else fills the disk gets what a write leaves of a piece, not all of it.
//! - V3: writes leave [`FOR_OPENING_BYTES`] of it: a store that could not be opened could not make room either.
//! - V4: it is made whole again only when that leaves as much room free as it takes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::statvfs::Statvfs;

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
    /// The file system sets no room aside.
    is_unsupported: bool,
    allocate: fn(&File, i64) -> nix::Result<()>,
}

/// Whether a file system has no more room than what the opening of a store may take. Not, when it does not tell.
pub fn is_full(path: &Path) -> bool {
    nix::sys::statvfs::statvfs(path).is_ok_and(|about| free_bytes(&about) < FOR_OPENING_BYTES)
}

/// The call itself: the C library's own would write zeroes where the file system cannot do it.
fn allocate(file: &File, size_bytes: i64) -> nix::Result<()> {
    nix::fcntl::fallocate(file, nix::fcntl::FallocateFlags::empty(), 0, size_bytes)
}

impl Reserve {
    /// The reserve at `path`, as it is. Nothing is made before [`Reserve::restore`].
    pub fn at(path: impl Into<PathBuf>, size_bytes: u64) -> Self {
        Self { path: path.into(), size_bytes, is_whole: false, is_unsupported: false, allocate }
    }

    /// Nothing is left for [`Reserve::restore`] to do, as far as is known.
    pub fn is_settled(&self) -> bool {
        self.is_whole || self.is_unsupported || self.size_bytes == 0
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
        if self.is_settled() {
            return;
        }
        match self.fill() {
            Ok(is_whole) => self.is_whole = is_whole,
            Err(error) if is_unsupported(&error) => {
                self.is_unsupported = true;
                tracing::warn!(
                    file = %self.path.display(),
                    %error,
                    "this file system sets no room aside: when it is full, nothing more can be recorded until there is room"
                );
            }
            Err(error) => tracing::debug!(file = %self.path.display(), %error, "the reserve could not be made"),
        }
    }

    fn fill(&self) -> io::Result<bool> {
        let missing = self.size_bytes.saturating_sub(self.length());
        if missing == 0 {
            return Ok(true);
        }
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&self.path)?;
        if free_bytes(&nix::sys::statvfs::fstatvfs(&file)?) < missing.saturating_add(self.size_bytes) {
            return Ok(false);
        }
        let size = i64::try_from(self.size_bytes).map_err(io::Error::other)?;
        if let Err(error) = (self.allocate)(&file, size) {
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

fn is_unsupported(error: &io::Error) -> bool {
    [Errno::EOPNOTSUPP, Errno::ENOSYS].iter().any(|errno| error.raw_os_error() == Some(*errno as i32))
}

fn free_bytes(about: &Statvfs) -> u64 {
    about.blocks_available().saturating_mul(about.fragment_size())
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
    fn a_file_system_that_sets_no_room_aside_is_asked_once() {
        use std::sync::atomic::{AtomicU32, Ordering};
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), WHOLE);
        reserve.allocate = |_, _| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            Err(Errno::EOPNOTSUPP)
        };
        reserve.restore();
        reserve.restore();
        assert_eq!((ASKED.load(Ordering::Relaxed), reserve.length()), (1, 0));
        assert!(reserve.is_settled());
        // What may pass by itself is tried again.
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), WHOLE);
        reserve.allocate = |_, _| Err(Errno::EINTR);
        reserve.restore();
        assert!(!reserve.is_settled());
        reserve.allocate = allocate;
        reserve.restore();
        assert!(reserve.is_settled() && reserve.length() == WHOLE);
    }

    #[test]
    fn full_is_what_has_no_room_for_an_opening() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_full(folder.path()));
        assert!(!is_full(&folder.path().join("none")), "unknown is not full");
        assert!(is_full(Path::new("/proc")), "which has no room at all");
    }

    #[test]
    fn more_than_the_disk_has_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let mut reserve = Reserve::at(folder.path().join("store.reserve"), 1 << 60);
        reserve.restore();
        assert_eq!(reserve.length(), 0);
    }
}
