//! Log entries without their time stamps, and the files that they go to.

use bytes::{Buf as _, Bytes, BytesMut};
use longshore_driver::LogFiles;
use longshore_engine::{Frame, LogStreamKind, parse_rfc3339_nanoseconds};
use longshore_logs::{LogError, LogStream, RotatingWriter};

/// A line, or a piece of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) kind: LogStreamKind,
    /// Nanoseconds since 1970; 0 when the engine told none.
    pub(crate) at: i64,
    /// Whether the line ends here.
    pub(crate) ends: bool,
    pub(crate) bytes: Bytes,
}

/// Makes lines of what the engine sends.
pub(crate) struct Splitter {
    /// With a terminal the engine sends bytes without frames: lines have to be found.
    raw: Option<BytesMut>,
}

/// Without an end a line of a terminal is passed on in pieces of this size.
const RAW_LINE_MAX: usize = 1 << 20;

impl Line {
    pub(crate) fn splitter(tty: bool) -> Splitter {
        Splitter { raw: tty.then(BytesMut::new) }
    }

    fn of_stamped(kind: LogStreamKind, mut bytes: Bytes) -> Self {
        let ends = bytes.last() == Some(&b'\n');
        let stamp = bytes.iter().take(40).position(|byte| *byte == b' ');
        let at = stamp.and_then(|end| std::str::from_utf8(bytes.get(..end)?).ok()).and_then(parse_rfc3339_nanoseconds);
        match (at, stamp) {
            (Some(at), Some(end)) => {
                bytes.advance(end + 1);
                Self { kind, at, ends, bytes }
            }
            _ => Self { kind, at: 0, ends, bytes },
        }
    }
}

impl Splitter {
    pub(crate) fn take(&mut self, frame: Frame) -> Vec<Line> {
        let Some(raw) = &mut self.raw else { return vec![Line::of_stamped(frame.kind, frame.bytes)] };
        raw.extend_from_slice(&frame.bytes);
        let mut lines = Vec::new();
        while let Some(end) = raw.iter().position(|byte| *byte == b'\n') {
            lines.push(Line::of_stamped(frame.kind, raw.split_to(end + 1).freeze()));
        }
        if raw.len() > RAW_LINE_MAX {
            lines.push(Line::of_stamped(frame.kind, raw.split().freeze()));
        }
        lines
    }

    /// What has come since the last line's end, once the stream is over.
    pub(crate) fn rest(&mut self) -> Option<Line> {
        let raw = self.raw.as_mut()?.split().freeze();
        (!raw.is_empty()).then(|| Line::of_stamped(LogStreamKind::Stdout, raw))
    }
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
        let (head, tail) = raw.split_at(20);
        check(true, &[head, tail], &[(true, true, "a\r\n"), (true, true, "b\r\n"), (true, false, "$ ")]);
    }
}
