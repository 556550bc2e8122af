//! How far a container's output was written, on disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use longshore_engine::LogStreamKind;

use super::lines::Line;

/// The time stamps (nanoseconds since 1970) of the last whole line that was written, of each output; 0 for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) stdout: i64,
    pub(crate) stderr: i64,
    /// The container has exited and all of it was written.
    pub(crate) ended: bool,
}

impl Cursor {
    /// Where to read on: one nanosecond after the output that is behind.
    pub(crate) fn resume_at(&self) -> Option<i64> {
        let at = self.stdout.min(self.stderr);
        (at > 0).then(|| at.saturating_add(1))
    }

    /// The time stamp of the output that is ahead.
    pub(crate) fn newer(&self) -> Option<i64> {
        let at = self.stdout.max(self.stderr);
        (at > 0).then_some(at)
    }

    /// Moves past a line. Whether the line is new.
    pub(crate) fn take(&mut self, line: &Line) -> bool {
        let new = self.is_before(line);
        // The pieces of a long line share one time stamp.
        if new && line.ends {
            self.reach(line);
        }
        new
    }

    pub(crate) fn is_before(&self, line: &Line) -> bool {
        let at = match line.kind {
            LogStreamKind::Stdout => self.stdout,
            LogStreamKind::Stderr => self.stderr,
        };
        line.at > at || line.at <= 0
    }

    /// Moves up to a line, or to a piece of one.
    pub(crate) fn reach(&mut self, line: &Line) {
        let at = match line.kind {
            LogStreamKind::Stdout => &mut self.stdout,
            LogStreamKind::Stderr => &mut self.stderr,
        };
        *at = line.at.max(*at);
    }
}

const FORMAT: u8 = 1;
const SIZE: usize = 1 + 8 + 8 + 1 + 4;

/// A cursor's file: one small record that is written over in place, with a checksum.
pub(crate) struct CursorFile {
    file: File,
    cursor: Cursor,
}

/// Why a cursor could not be kept.
#[derive(Debug, thiserror::Error)]
#[error("the log cursor {path} could not be {doing}")]
pub(crate) struct CursorError {
    path: PathBuf,
    doing: &'static str,
    #[source]
    source: io::Error,
}

impl CursorFile {
    /// One that cannot be read counts as none: lines twice are better than lines lost.
    pub(crate) fn open(path: &Path) -> Result<Self, CursorError> {
        let fail = |doing| move |source| CursorError { path: path.to_owned(), doing, source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(fail("put into its folder"))?;
        }
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(fail("opened"))?;
        let mut record = [0; SIZE];
        let cursor = match file.read_exact_at(&mut record, 0) {
            Ok(()) => decode(&record).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Cursor::default(),
            Err(source) => return Err(fail("read")(source)),
        };
        Ok(Self { file, cursor })
    }

    pub(crate) fn get(&self) -> Cursor {
        self.cursor
    }

    pub(crate) fn set(&mut self, cursor: Cursor) -> Result<(), io::Error> {
        if cursor != self.cursor {
            self.file.write_all_at(&encode(cursor), 0)?;
            self.cursor = cursor;
        }
        Ok(())
    }
}

fn encode(cursor: Cursor) -> [u8; SIZE] {
    let mut record = [0; SIZE];
    let fields = [FORMAT]
        .into_iter()
        .chain(cursor.stdout.to_be_bytes())
        .chain(cursor.stderr.to_be_bytes())
        .chain([u8::from(cursor.ended)]);
    for (place, byte) in record.iter_mut().zip(fields) {
        *place = byte;
    }
    let checksum = crc32fast::hash(record.get(..SIZE - 4).unwrap_or_default());
    for (place, byte) in record.iter_mut().skip(SIZE - 4).zip(checksum.to_be_bytes()) {
        *place = byte;
    }
    record
}

fn decode(record: &[u8; SIZE]) -> Option<Cursor> {
    let (body, checksum) = record.split_last_chunk::<4>()?;
    if crc32fast::hash(body) != u32::from_be_bytes(*checksum) {
        return None;
    }
    let (format, rest) = body.split_first()?;
    let (stdout, rest) = rest.split_first_chunk::<8>()?;
    let (stderr, rest) = rest.split_first_chunk::<8>()?;
    (*format == FORMAT).then(|| Cursor {
        stdout: i64::from_be_bytes(*stdout),
        stderr: i64::from_be_bytes(*stderr),
        ended: rest == [1],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(kind: LogStreamKind, at: i64, ends: bool) -> Line {
        Line { kind, at, ends, bytes: bytes::Bytes::new() }
    }

    #[test]
    fn old_lines_are_dropped_and_pieces_are_not() {
        use LogStreamKind::{Stderr, Stdout};
        let mut cursor = Cursor::default();
        assert_eq!(cursor.resume_at(), None);
        assert!(cursor.take(&line(Stdout, 10, false)));
        assert!(cursor.take(&line(Stdout, 10, false)));
        assert!(cursor.take(&line(Stdout, 10, true)));
        assert!(!cursor.take(&line(Stdout, 10, true)));
        assert!(cursor.take(&line(Stderr, 5, true)));
        assert!(!cursor.take(&line(Stderr, 4, true)));
        assert_eq!((cursor, cursor.resume_at()), (Cursor { stdout: 10, stderr: 5, ended: false }, Some(6)));
        assert_eq!((cursor.newer(), Cursor::default().newer()), (Some(10), None));
    }

    #[test]
    fn kept_on_disk_and_damage_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/c.cursor");
        let cursor = Cursor { stdout: 1_796_040_000_123_456_789, stderr: 7, ended: true };
        let mut file = CursorFile::open(&path).unwrap();
        assert_eq!(file.get(), Cursor::default());
        file.set(cursor).unwrap();
        assert_eq!(CursorFile::open(&path).unwrap().get(), cursor);
        std::fs::write(&path, [1; SIZE]).unwrap();
        assert_eq!(CursorFile::open(&path).unwrap().get(), Cursor::default());
        std::fs::write(&path, [1; 3]).unwrap();
        assert_eq!(CursorFile::open(&path).unwrap().get(), Cursor::default());
    }
}
