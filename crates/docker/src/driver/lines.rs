//! Log entries without their time stamps, and the files that they go to.

use bytes::{Buf as _, Bytes, BytesMut};
use longshore_driver::LogFiles;
use longshore_engine::{Frame, LogStreamKind, parse_rfc3339_nanoseconds};
use longshore_logs::{LogError, LogPosition, LogStream, RotatingWriter};

/// A line, or a piece of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: LogStreamKind,
    /// Nanoseconds since 1970; 0 when the engine told none.
    pub(crate) at: i64,
    /// Whether the line ends here.
    pub(crate) ends: bool,
    /// It is known to go on with a line that began in another entry of the engine's log.
    pub(crate) continues: bool,
    pub(crate) bytes: Bytes,
}

/// Makes lines of what the engine sends.
pub(crate) struct Splitter {
    /// With a terminal the engine sends bytes without frames: lines have to be found.
    raw: Option<Raw>,
}

/// Entries of a terminal's log, one after another: a time stamp and a line. A line that is longer than the engine's
/// buffer (16 KiB) comes in several entries with the same time stamp and no end of line between them.
#[derive(Default)]
struct Raw {
    bytes: BytesMut,
    /// The line that has begun.
    line: Option<RawLine>,
}

struct RawLine {
    at: i64,
    /// Its time stamp as it came, with the blank; empty when there was none.
    stamp: Bytes,
    /// It came with that once more.
    continues: bool,
}

/// The longest time stamp and the blank behind it.
const STAMP_MAX: usize = 40;

impl Line {
    pub(crate) fn splitter(tty: bool) -> Splitter {
        Splitter { raw: tty.then(Raw::default) }
    }

    fn of_stamped(kind: LogStreamKind, mut bytes: Bytes) -> Self {
        let ends = bytes.last() == Some(&b'\n');
        let (at, length) = stamp_of(&bytes).unwrap_or_default();
        bytes.advance(length);
        Self { kind, at, ends, continues: false, bytes }
    }

    /// The end of a line that came in pieces, and nothing else.
    pub(crate) fn end(kind: LogStreamKind, at: i64) -> Self {
        Self { kind, at, ends: true, continues: true, bytes: Bytes::from_static(b"\n") }
    }

    /// The same line without its first bytes.
    pub(crate) fn without(mut self, length: usize) -> Self {
        self.bytes.advance(length.min(self.bytes.len()));
        self
    }
}

/// The time that bytes begin with, and the length of its text and the blank behind it.
fn stamp_of(bytes: &[u8]) -> Option<(i64, usize)> {
    let end = bytes.iter().take(STAMP_MAX).position(|byte| *byte == b' ')?;
    let at = parse_rfc3339_nanoseconds(std::str::from_utf8(bytes.get(..end)?).ok()?)?;
    Some((at, end + 1))
}

impl Splitter {
    pub(crate) fn take(&mut self, frame: Frame) -> Vec<Line> {
        match &mut self.raw {
            Some(raw) => raw.take(frame.kind, &frame.bytes),
            None => vec![Line::of_stamped(frame.kind, frame.bytes)],
        }
    }

    /// What has come since the last line's end, once the stream is over.
    pub(crate) fn rest(&mut self) -> Option<Line> {
        let raw = self.raw.as_mut()?;
        let bytes = raw.bytes.split().freeze();
        let line = match raw.line.take() {
            Some(RawLine { at, continues, .. }) => {
                Line { kind: LogStreamKind::Stdout, at, ends: false, continues, bytes }
            }
            None => Line::of_stamped(LogStreamKind::Stdout, bytes),
        };
        (!line.bytes.is_empty()).then_some(line)
    }
}

impl Raw {
    fn take(&mut self, kind: LogStreamKind, bytes: &[u8]) -> Vec<Line> {
        self.bytes.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(RawLine { at, stamp, continues }) = self.begun() {
            let (at, stamp, continues) = (*at, stamp.clone(), *continues);
            let end = self.bytes.iter().position(|byte| *byte == b'\n');
            let in_line = self.bytes.get(..end.unwrap_or(self.bytes.len())).unwrap_or_default();
            let again = (!stamp.is_empty()).then(|| find(in_line, &stamp)).flatten();
            // A time stamp that has come in part only is left for the next time.
            let (length, ends, waits) = match (again, end) {
                (Some(again), _) => (again, false, false),
                (None, Some(end)) => (end + 1, true, false),
                (None, None) => (self.bytes.len().saturating_sub(stamp.len()), false, true),
            };
            let bytes = self.bytes.split_to(length).freeze();
            if !bytes.is_empty() {
                lines.push(Line { kind, at, ends, continues, bytes });
            }
            if again.is_some() {
                self.bytes.advance(stamp.len());
                self.line = Some(RawLine { at, stamp, continues: true });
            }
            if ends {
                self.line = None;
            }
            if waits {
                break;
            }
        }
        lines
    }

    /// The line that has begun, its time stamp taken off; `None` as long as that has not come.
    fn begun(&mut self) -> Option<&RawLine> {
        if self.line.is_none() {
            let has_stamp = self.bytes.iter().take(STAMP_MAX).any(|byte| matches!(byte, b' ' | b'\n'));
            if !has_stamp && self.bytes.len() < STAMP_MAX {
                return None;
            }
            let (at, length) = stamp_of(&self.bytes).unwrap_or_default();
            self.line = Some(RawLine { at, stamp: self.bytes.split_to(length).freeze(), continues: false });
        }
        self.line.as_ref()
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The two rotated logs of a task.
pub(crate) struct Lines {
    stdout: RotatingWriter,
    stderr: RotatingWriter,
}

impl Lines {
    pub(crate) fn open(files: &LogFiles) -> Result<Self, LogError> {
        let size_bytes = u64::from(files.config.max_file_size_mb) << 20;
        let open = |stream| {
            RotatingWriter::open(files.folder.clone(), files.task.clone(), stream, files.config.max_files, size_bytes)
        };
        Ok(Self { stdout: open(LogStream::Stdout)?, stderr: open(LogStream::Stderr)? })
    }

    /// Where each output stands: standard output, standard error.
    pub(crate) fn positions(&mut self) -> Result<[LogPosition; 2], LogError> {
        Ok([self.stdout.position()?, self.stderr.position()?])
    }

    /// Takes back what was written after these positions.
    pub(crate) fn go_back(&mut self, [stdout, stderr]: [LogPosition; 2]) -> Result<(), LogError> {
        self.stdout.go_back(stdout)?;
        self.stderr.go_back(stderr)
    }

    pub(crate) fn write(&mut self, line: &Line) -> Result<(), LogError> {
        match line.kind {
            LogStreamKind::Stdout => self.stdout.write(&line.bytes),
            LogStreamKind::Stderr => self.stderr.write(&line.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Frame {
        Frame { kind: LogStreamKind::Stdout, bytes: Bytes::copy_from_slice(text.as_bytes()) }
    }

    #[track_caller]
    fn check(tty: bool, frames: &[&str], expected: &[(bool, bool, &str)]) {
        let mut splitter = Line::splitter(tty);
        let mut lines: Vec<Line> = frames.iter().flat_map(|text| splitter.take(frame(text))).collect();
        lines.extend(splitter.rest());
        let got: Vec<_> =
            lines.iter().map(|line| (line.at > 0, line.ends, std::str::from_utf8(&line.bytes).unwrap())).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn stamps_are_taken_off() {
        const AT: &str = "2026-11-30T12:00:00.000000001Z";
        check(false, &[&format!("{AT} one two\n")], &[(true, true, "one two\n")]);
        check(false, &[&format!("{AT} \n")], &[(true, true, "\n")]);
        check(false, &[&format!("{AT} piece")], &[(true, false, "piece")]);
        check(
            false,
            &["no stamp\n", "\n", ""],
            &[(false, true, "no stamp\n"), (false, true, "\n"), (false, false, "")],
        );
        let raw = format!("{AT} a\r\n{AT} b\r\n{AT} $ ");
        let expected = [(true, true, "a\r\n"), (true, true, "b\r\n"), (true, false, "$ ")];
        check(true, &[&raw], &expected);
        for cut in 0..raw.len() {
            let (head, tail) = raw.split_at(cut);
            check(true, &[head, tail], &expected);
        }
        check(true, &["no stamp\n", "\n"], &[(false, true, "no stamp\n"), (false, true, "\n")]);
    }

    #[test]
    fn a_long_line_of_a_terminal_is_put_together_again() {
        const AT: &str = "2026-11-30T12:00:00.12Z ";
        let long = "0123456789".repeat(100);
        let raw = format!("{AT}{long}{AT}{long}{AT}end\r\n{AT}\r\n");
        for piece in [1, 7, 24, 1000, 9999] {
            let mut splitter = Line::splitter(true);
            let pieces: Vec<_> = raw.as_bytes().chunks(piece).map(|it| std::str::from_utf8(it).unwrap()).collect();
            let mut lines: Vec<Line> = pieces.iter().flat_map(|text| splitter.take(frame(text))).collect();
            lines.extend(splitter.rest());
            let text: Vec<u8> = lines.iter().flat_map(|line| line.bytes.to_vec()).collect();
            assert_eq!(String::from_utf8(text).unwrap(), format!("{long}{long}end\r\n\r\n"), "{piece}");
            assert!(lines.iter().all(|line| line.at == lines[0].at && line.at > 0));
            let ends: Vec<_> = lines.iter().filter(|line| line.ends).map(|line| line.bytes.len()).collect();
            assert_eq!(ends.len(), 2, "{piece}: {ends:?}");
        }
    }
}
