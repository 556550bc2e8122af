//! How far a container's output was written, on disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use longshore_engine::LogStreamKind;
use longshore_logs::LogPosition;

use super::lines::Line;

/// How far one output of a container was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    /// The time stamp (nanoseconds since 1970) of the last whole line; 0 for none.
    pub(crate) line_at: i64,
    /// Bytes of the line after it, of which the end has not come.
    pub(crate) begun_bytes: u64,
    /// Where in the task's log files that is.
    pub(crate) position: LogPosition,
}

/// How far a container's outputs were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) stdout: Reached,
    pub(crate) stderr: Reached,
    /// The positions are known.
    pub(crate) is_placed: bool,
    /// The container has exited and all of it was written.
    pub(crate) ended: bool,
}

/// The engine keeps both outputs in one log, where a line may stand this much behind a line of the other output that is
/// younger.
const DISORDER_NANOSECONDS: i64 = 60_000_000_000;

impl Cursor {
    /// Where to read on: one nanosecond after the output that is behind. One that has long been silent is not read from
    /// its last line again.
    pub(crate) fn resume_at(&self) -> Option<i64> {
        let (ahead, behind) = if self.stdout.line_at >= self.stderr.line_at {
            (self.stdout, self.stderr)
        } else {
            (self.stderr, self.stdout)
        };
        let earliest = if behind.begun_bytes == 0 { ahead.line_at - DISORDER_NANOSECONDS } else { 0 };
        let at = behind.line_at.max(earliest);
        (at > 0).then(|| at.saturating_add(1))
    }

    pub(crate) fn of(&mut self, kind: LogStreamKind) -> &mut Reached {
        match kind {
            LogStreamKind::Stdout => &mut self.stdout,
            LogStreamKind::Stderr => &mut self.stderr,
        }
    }
}

impl Reached {
    /// Whether a line, or a piece of one, comes after the last whole line. Without a time stamp it counts as new.
    pub(crate) fn is_before(&self, line: &Line) -> bool {
        line.at > self.line_at || line.at <= 0
    }

    /// Moves past a line, or a piece of one: the pieces of a long line share one time stamp.
    pub(crate) fn pass(&mut self, line: &Line) {
        if line.ends {
            self.line_at = line.at.max(self.line_at);
            self.begun_bytes = 0;
        } else {
            self.begun_bytes = self.begun_bytes.saturating_add(line.bytes.len() as u64);
        }
    }
}

/// The first format had the time stamps alone.
const FIRST_FORMAT: u8 = 1;
const FIRST_SIZE: usize = 1 + 8 + 8 + 1 + 4;
const FORMAT: u8 = 2;
const SIZE: usize = 1 + 2 * 4 * 8 + 1 + 4;
const PLACED: u8 = 1;
const ENDED: u8 = 2;

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
        let length = read_all(&file, &mut record).map_err(fail("read"))?;
        let cursor = record.get(..length).and_then(decode).unwrap_or_default();
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

/// The record from its beginning, as far as there is one.
fn read_all(file: &File, record: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while let Some(rest) = record.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, length as u64) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

fn encode(cursor: Cursor) -> Vec<u8> {
    let mut record = vec![FORMAT];
    for reached in [cursor.stdout, cursor.stderr] {
        record.extend(reached.line_at.to_be_bytes());
        for number in [reached.begun_bytes, reached.position.number, reached.position.size_bytes] {
            record.extend(number.to_be_bytes());
        }
    }
    record.push((u8::from(cursor.is_placed) * PLACED) | (u8::from(cursor.ended) * ENDED));
    record.extend(crc32fast::hash(&record).to_be_bytes());
    record
}

fn decode(record: &[u8]) -> Option<Cursor> {
    let (format, _) = record.split_first()?;
    match *format {
        FIRST_FORMAT => decode_first(checked(record.get(..FIRST_SIZE)?)?),
        FORMAT => decode_second(checked(record.get(..SIZE)?)?),
        _ => None,
    }
}

/// What stands between format and checksum, if that is right.
fn checked(record: &[u8]) -> Option<&[u8]> {
    let (body, checksum) = record.split_last_chunk::<4>()?;
    (crc32fast::hash(body) == u32::from_be_bytes(*checksum)).then(|| body.get(1..)).flatten()
}

fn decode_first(body: &[u8]) -> Option<Cursor> {
    let (stdout, rest) = body.split_first_chunk::<8>()?;
    let (stderr, rest) = rest.split_first_chunk::<8>()?;
    let reached = |bytes| Reached { line_at: i64::from_be_bytes(bytes), ..Reached::default() };
    Some(Cursor { stdout: reached(*stdout), stderr: reached(*stderr), is_placed: false, ended: rest == [1] })
}

fn decode_second(body: &[u8]) -> Option<Cursor> {
    let (numbers, _) = body.as_chunks::<8>();
    let reached = |from: usize| {
        let [line_at, begun, number, size] = *numbers.get(from..from + 4)?.first_chunk::<4>()?;
        let position = LogPosition { number: u64::from_be_bytes(number), size_bytes: u64::from_be_bytes(size) };
        Some(Reached { line_at: i64::from_be_bytes(line_at), begun_bytes: u64::from_be_bytes(begun), position })
    };
    let flags = *body.last()?;
    Some(Cursor { stdout: reached(0)?, stderr: reached(4)?, is_placed: flags & PLACED != 0, ended: flags & ENDED != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(at: i64, ends: bool, length: usize) -> Line {
        Line { kind: LogStreamKind::Stdout, at, ends, continues: false, bytes: bytes::Bytes::from(vec![b'x'; length]) }
    }

    fn reached(line_at: i64, begun_bytes: u64) -> Reached {
        Reached { line_at, begun_bytes, position: LogPosition { number: 3, size_bytes: 99 } }
    }

    #[test]
    fn whole_lines_move_the_time_and_pieces_are_counted() {
        let mut at = Reached::default();
        for (piece, expected) in [
            (line(10, false, 5), (0, 5)),
            (line(10, false, 5), (0, 10)),
            (line(10, true, 1), (10, 0)),
            (line(12, false, 7), (10, 7)),
        ] {
            assert!(at.is_before(&piece));
            at.pass(&piece);
            assert_eq!((at.line_at, at.begun_bytes), expected);
        }
        assert!(!at.is_before(&line(10, true, 1)));
        assert!(!at.is_before(&line(9, false, 1)));
        assert!(at.is_before(&line(0, true, 1)), "without a time nothing says that it is old");
    }

    #[track_caller]
    fn check_resume(stdout: (i64, u64), stderr: (i64, u64), expected: Option<i64>) {
        let cursor = |stdout: (i64, u64), stderr: (i64, u64)| Cursor {
            stdout: reached(stdout.0, stdout.1),
            stderr: reached(stderr.0, stderr.1),
            ..Cursor::default()
        };
        assert_eq!(cursor(stdout, stderr).resume_at(), expected);
        assert_eq!(cursor(stderr, stdout).resume_at(), expected);
    }

    #[test]
    fn reading_goes_on_at_the_output_that_is_behind() {
        const HOUR: i64 = 3_600_000_000_000;
        check_resume((0, 0), (0, 0), None);
        check_resume((10, 0), (5, 0), Some(6));
        check_resume((10, 7), (0, 0), None);
        check_resume((HOUR, 0), (0, 0), Some(HOUR - DISORDER_NANOSECONDS + 1));
        check_resume((HOUR, 9), (HOUR - 5, 0), Some(HOUR - 4));
        // What has begun may be as old as it likes.
        check_resume((HOUR, 0), (7, 1), Some(8));
        check_resume((HOUR, 0), (0, 1), None);
    }

    #[test]
    fn kept_on_disk_and_damage_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/c.cursor");
        let cursor = Cursor {
            stdout: reached(1_796_040_000_123_456_789, 5),
            stderr: Reached::default(),
            is_placed: true,
            ended: true,
        };
        let mut file = CursorFile::open(&path).unwrap();
        assert_eq!(file.get(), Cursor::default());
        file.set(cursor).unwrap();
        assert_eq!(CursorFile::open(&path).unwrap().get(), cursor);
        for damaged in [vec![1; SIZE], vec![1; 3], vec![FORMAT; SIZE], vec![9; SIZE + 5]] {
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(CursorFile::open(&path).unwrap().get(), Cursor::default(), "{damaged:?}");
        }
    }

    #[test]
    fn the_first_format_is_read_and_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.cursor");
        let mut old = vec![FIRST_FORMAT];
        old.extend(12_i64.to_be_bytes());
        old.extend(7_i64.to_be_bytes());
        old.push(1);
        old.extend(crc32fast::hash(&old).to_be_bytes());
        std::fs::write(&path, &old).unwrap();
        let mut file = CursorFile::open(&path).unwrap();
        let at = |line_at| Reached { line_at, ..Reached::default() };
        let read = Cursor { stdout: at(12), stderr: at(7), is_placed: false, ended: true };
        assert_eq!(file.get(), read);
        file.set(Cursor { is_placed: true, ..read }).unwrap();
        assert_eq!(CursorFile::open(&path).unwrap().get(), Cursor { is_placed: true, ..read });
    }
}
