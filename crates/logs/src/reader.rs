use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use bytes::Bytes;
use nix::fcntl::OFlag;

use crate::LogError;
use crate::files::{LogFolder, LogStream, file_name};

/// The most that one frame carries.
const FRAME_BYTES: usize = 64 * 1024;
const POLL_DELAY_MIN: Duration = Duration::from_millis(5);
const POLL_DELAY_MAX: Duration = Duration::from_millis(200);

/// Where an offset is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogOrigin {
    Start,
    End,
}

impl FromStr for LogOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "start" => Ok(Self::Start),
            "end" => Ok(Self::End),
            other => Err(format!("origin `{other}` is neither `start` nor `end`")),
        }
    }
}

/// A piece of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFrame {
    /// The position in the file after `data`.
    pub offset: u64,
    pub data: Bytes,
    /// The file's name (`web.stdout.3`).
    pub file: String,
}

/// Reads one output of one task across its rotated files.
///
/// Following looks at the files again and again, at first after 5 ms, then ever less often up to 200 ms: the writer is
/// mostly another process, and a look costs two system calls.
#[derive(Debug)]
pub struct LogReader {
    at: LogFolder,
    follow: bool,
    open: Option<OpenFile>,
    /// The next file to open is the first with at least this number.
    next_number: u64,
    /// Bytes to pass over in the next file, and those after it.
    skip_bytes: u64,
    poll_delay: Duration,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    path: PathBuf,
    number: u64,
    offset: u64,
}

impl LogReader {
    /// `offset_bytes` is counted across all files that are there now, forward from the oldest or back from the newest.
    pub fn open(
        folder: impl Into<PathBuf>,
        task: impl Into<String>,
        stream: LogStream,
        origin: LogOrigin,
        offset_bytes: u64,
        follow: bool,
    ) -> Result<Self, LogError> {
        let at = LogFolder { folder: folder.into(), task: task.into(), stream };
        let mut sizes = Vec::new();
        for number in at.numbers()? {
            match std::fs::symlink_metadata(at.path(number)) {
                Ok(metadata) => sizes.push((number, metadata.len())),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(source) => return Err(LogError::Read { path: at.path(number), source }),
            }
        }
        let total_bytes: u64 = sizes.iter().map(|(_, size)| size).sum();
        let mut skip_bytes = match origin {
            LogOrigin::Start => offset_bytes.min(total_bytes),
            LogOrigin::End => total_bytes.saturating_sub(offset_bytes),
        };
        let mut next_number = sizes.first().map_or(0, |(number, _)| *number);
        for (number, size) in &sizes {
            next_number = *number;
            if skip_bytes <= *size {
                break;
            }
            skip_bytes -= size;
        }
        Ok(Self { at, follow, open: None, next_number, skip_bytes, poll_delay: POLL_DELAY_MIN })
    }

    /// The next piece; `None` at the end of the newest file, unless this reader follows. Safe to drop while it waits.
    pub async fn next(&mut self) -> Result<Option<LogFrame>, LogError> {
        loop {
            if let Some(frame) = self.read_now()? {
                self.poll_delay = POLL_DELAY_MIN;
                return Ok(Some(frame));
            }
            if !self.follow {
                return Ok(None);
            }
            tokio::time::sleep(self.poll_delay).await;
            self.poll_delay = (self.poll_delay * 2).min(POLL_DELAY_MAX);
        }
    }

    /// The next piece that is there already.
    pub fn read_now(&mut self) -> Result<Option<LogFrame>, LogError> {
        loop {
            let Some(open) = &mut self.open else {
                if !self.open_next()? {
                    return Ok(None);
                }
                continue;
            };
            let number = open.number;
            if let Some(data) = open.read()? {
                let file = file_name(&self.at.task, self.at.stream, number);
                return Ok(Some(LogFrame { offset: open.offset, data, file }));
            }
            if !self.at.numbers()?.into_iter().any(|other| other > number) {
                return Ok(None);
            }
            // The writer moved on before this look, so what it wrote here before that is readable now.
            if let Some(data) = open.read()? {
                let file = file_name(&self.at.task, self.at.stream, number);
                return Ok(Some(LogFrame { offset: open.offset, data, file }));
            }
            self.next_number = number + 1;
            self.open = None;
        }
    }

    fn open_next(&mut self) -> Result<bool, LogError> {
        let numbers = match self.at.numbers() {
            // The allocation was removed while its log was read.
            Err(error) if error.is_not_found() => return Ok(false),
            other => other?,
        };
        for number in numbers {
            if number < self.next_number {
                continue;
            }
            let path = self.at.path(number);
            let file = match self.at.open(number, OFlag::O_RDONLY) {
                // Rotated away between the two looks.
                Err(error) if error.is_not_found() => continue,
                other => other?,
            };
            let mut open = OpenFile { file, path, number, offset: 0 };
            if number == self.next_number {
                open.seek(self.skip_bytes)?;
            }
            self.skip_bytes = 0;
            self.open = Some(open);
            return Ok(true);
        }
        Ok(false)
    }
}

impl OpenFile {
    fn seek(&mut self, offset: u64) -> Result<(), LogError> {
        let seek = self.file.seek(SeekFrom::Start(offset));
        self.offset = seek.map_err(|source| LogError::Read { path: self.path.clone(), source })?;
        Ok(())
    }

    fn read(&mut self) -> Result<Option<Bytes>, LogError> {
        let mut buffer = vec![0; FRAME_BYTES];
        loop {
            match self.file.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => {
                    buffer.truncate(count);
                    self.offset += count as u64;
                    return Ok(Some(Bytes::from(buffer)));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(LogError::Read { path: self.path.clone(), source }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::RotatingWriter;

    fn writer(folder: &std::path::Path, size: u64) -> RotatingWriter {
        RotatingWriter::open(folder, "web", LogStream::Stdout, 3, size).unwrap()
    }

    fn rest(reader: &mut LogReader) -> String {
        let mut text = String::new();
        while let Some(frame) = reader.read_now().unwrap() {
            text.push_str(std::str::from_utf8(&frame.data).unwrap());
        }
        text
    }

    #[track_caller]
    fn check(origin: LogOrigin, offset: u64, expected: &str) {
        let folder = tempfile::tempdir().unwrap();
        writer(folder.path(), 4).write(b"0123456789ab").unwrap();
        let mut reader = LogReader::open(folder.path(), "web", LogStream::Stdout, origin, offset, false).unwrap();
        assert_eq!(rest(&mut reader), expected);
    }

    #[test]
    fn offsets_are_counted_across_files() {
        check(LogOrigin::Start, 0, "0123456789ab");
        check(LogOrigin::Start, 3, "3456789ab");
        check(LogOrigin::Start, 4, "456789ab");
        check(LogOrigin::Start, 12, "");
        check(LogOrigin::Start, 99, "");
        check(LogOrigin::End, 0, "");
        check(LogOrigin::End, 1, "b");
        check(LogOrigin::End, 5, "789ab");
        check(LogOrigin::End, 99, "0123456789ab");
    }

    #[test]
    fn frames_tell_file_and_position() {
        let folder = tempfile::tempdir().unwrap();
        writer(folder.path(), 4).write(b"0123456").unwrap();
        let mut reader = LogReader::open(folder.path(), "web", LogStream::Stdout, LogOrigin::Start, 1, false).unwrap();
        let first = reader.read_now().unwrap().unwrap();
        assert_eq!((first.offset, first.file.as_str(), &first.data[..]), (4, "web.stdout.0", &b"123"[..]));
        let second = reader.read_now().unwrap().unwrap();
        assert_eq!((second.offset, second.file.as_str(), &second.data[..]), (3, "web.stdout.1", &b"456"[..]));
        assert_eq!(reader.read_now().unwrap(), None);
    }

    #[test]
    fn a_reader_at_the_end_sees_what_comes_across_rotation_and_removal() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = writer(folder.path(), 4);
        writer.write(b"01").unwrap();
        let mut reader = LogReader::open(folder.path(), "web", LogStream::Stdout, LogOrigin::Start, 0, true).unwrap();
        assert_eq!(rest(&mut reader), "01");
        writer.write(b"2345").unwrap();
        assert_eq!(rest(&mut reader), "2345");
        // Files 2 and 3 are removed before the reader comes to them: it goes on with the oldest that is there.
        writer.write(b"67........abcdefgh!").unwrap();
        assert_eq!(rest(&mut reader), "67abcdefgh!");
    }

    #[tokio::test]
    async fn following_waits_for_the_first_file_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let mut reader = LogReader::open(&path, "web", LogStream::Stderr, LogOrigin::Start, 0, true).unwrap();
        let writing = tokio::task::spawn_blocking(move || {
            RotatingWriter::open(&path, "web", LogStream::Stderr, 1, 10).unwrap().write(b"late\n").unwrap();
        });
        let frame = reader.next().await.unwrap().unwrap();
        assert_eq!(&frame.data[..], b"late\n");
        writing.await.unwrap();
    }
}
