use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

use nix::fcntl::OFlag;

use crate::LogError;
use crate::files::{LogFolder, LogStream};

/// A place in an output's files: all that was written until then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The file's number.
    pub number: u64,
    /// Bytes of that file.
    pub size_bytes: u64,
}

/// Appends one output of one task to its rotated files.
///
/// Nothing is buffered in here: callers write what they have read in one go. After an error the same writer may be used
/// again (a full disk may have room then); what the failed write did not take is lost unless it is written again.
#[derive(Debug)]
pub struct RotatingWriter {
    at: LogFolder,
    max_files: u64,
    max_file_size_bytes: u64,
    open: Option<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    path: PathBuf,
    number: u64,
    size_bytes: u64,
    /// The last write ended with a line's end.
    ends_line: bool,
}

impl RotatingWriter {
    /// Goes on in the newest file that is there, or starts with number 0. `max_files` and the size are at least 1.
    pub fn open(
        folder: impl Into<PathBuf>,
        task: impl Into<String>,
        stream: LogStream,
        max_files: u32,
        max_file_size_bytes: u64,
    ) -> Result<Self, LogError> {
        let at = LogFolder { folder: folder.into(), task: task.into(), stream };
        let mut writer = Self {
            at,
            max_files: u64::from(max_files.max(1)),
            max_file_size_bytes: max_file_size_bytes.max(1),
            open: None,
        };
        writer.current()?;
        Ok(writer)
    }

    /// Appends all of `data`, in as many files as it takes. A file ends at a line's end where that is possible.
    pub fn write(&mut self, mut data: &[u8]) -> Result<(), LogError> {
        while !data.is_empty() {
            let limit = self.max_file_size_bytes;
            let current = self.current()?;
            let room = usize::try_from(limit.saturating_sub(current.size_bytes)).unwrap_or(usize::MAX);
            let line_bytes = data.iter().position(|byte| *byte == b'\n').map_or(data.len(), |at| at + 1);
            let fits_next = current.ends_line && line_bytes > room && line_bytes as u64 <= limit;
            if room == 0 || fits_next {
                self.rotate()?;
                continue;
            }
            let (now, is_full) = take_part(data, room);
            current.append(now)?;
            data = data.get(now.len()..).unwrap_or_default();
            if is_full && !data.is_empty() {
                self.rotate()?;
            }
        }
        Ok(())
    }

    /// Where the next write begins.
    pub fn position(&mut self) -> Result<LogPosition, LogError> {
        let open = self.current()?;
        Ok(LogPosition { number: open.number, size_bytes: open.size_bytes })
    }

    /// Takes back what was written after `position`, so that it can be written again without being there twice. What
    /// had been before it stays, as far as it is still there.
    pub fn go_back(&mut self, position: LogPosition) -> Result<(), LogError> {
        let mut newer = self.at.numbers()?;
        newer.retain(|number| *number >= position.number);
        let Some((first, rest)) = newer.split_first() else { return Ok(()) };
        self.open = None;
        for number in rest.iter().rev() {
            self.at.remove(*number)?;
        }
        // That file may have been rotated away meanwhile: then all of the next one came after it.
        let size_bytes = if *first == position.number { position.size_bytes } else { 0 };
        let mut open = self.open_number(*first)?;
        if open.size_bytes > size_bytes {
            open.file.set_len(size_bytes).map_err(|source| open.failed(source))?;
            open.size_bytes = size_bytes;
        }
        self.open = Some(open);
        Ok(())
    }

    fn current(&mut self) -> Result<&mut OpenFile, LogError> {
        let open = match self.open.take() {
            Some(open) => open,
            None => {
                let number = self.at.numbers()?.last().copied().unwrap_or(0);
                self.open_number(number)?
            }
        };
        Ok(self.open.insert(open))
    }

    fn rotate(&mut self) -> Result<(), LogError> {
        let number = self.current()?.number + 1;
        self.open = Some(self.open_number(number)?);
        self.remove_old(number)
    }

    fn open_number(&self, number: u64) -> Result<OpenFile, LogError> {
        let path = self.at.path(number);
        let file = self.at.open(number, OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT)?;
        let size_bytes = match file.metadata() {
            Ok(metadata) => metadata.len(),
            Err(source) => return Err(LogError::Open { path, source }),
        };
        Ok(OpenFile { file, path, number, size_bytes, ends_line: false })
    }

    fn remove_old(&self, newest: u64) -> Result<(), LogError> {
        for number in self.at.numbers()? {
            if number + self.max_files > newest {
                break;
            }
            self.at.remove(number)?;
        }
        Ok(())
    }
}

impl OpenFile {
    fn append(&mut self, mut data: &[u8]) -> Result<(), LogError> {
        self.ends_line = data.last() == Some(&b'\n');
        while !data.is_empty() {
            match self.file.write(data) {
                Ok(0) => return Err(self.failed(ErrorKind::WriteZero.into())),
                Ok(written) => {
                    self.size_bytes += written as u64;
                    data = data.get(written..).unwrap_or_default();
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(())
    }

    fn failed(&self, source: std::io::Error) -> LogError {
        LogError::Write { path: self.path.clone(), source }
    }
}

/// What of `data` goes into a file with `room` bytes left, and whether the file is finished with it.
fn take_part(data: &[u8], room: usize) -> (&[u8], bool) {
    if data.len() <= room {
        return (data, data.len() == room);
    }
    let fitting = data.get(..room).unwrap_or(data);
    let lines_end = fitting.iter().rposition(|byte| *byte == b'\n').map_or(room, |at| at + 1);
    (fitting.get(..lines_end).unwrap_or(fitting), true)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::Path;

    use super::*;

    fn files(folder: &Path) -> Vec<(String, String)> {
        let mut found: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap())
            })
            .collect();
        found.sort();
        found
    }

    #[track_caller]
    fn check(max_files: u32, size: u64, writes: &[&str], expected: &[(&str, &str)]) {
        let folder = tempfile::tempdir().unwrap();
        for write in writes {
            // Opened anew each time: a restart between any two writes changes nothing.
            let mut writer = RotatingWriter::open(folder.path(), "web", LogStream::Stdout, max_files, size).unwrap();
            writer.write(write.as_bytes()).unwrap();
        }
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(files(folder.path()), expected);
    }

    #[test]
    fn files_are_filled_in_order_and_the_oldest_go() {
        check(3, 10, &[""], &[("web.stdout.0", "")]);
        check(3, 10, &["one\n", "two\n"], &[("web.stdout.0", "one\ntwo\n")]);
        check(3, 8, &["one\ntwo\n", "x\n"], &[("web.stdout.0", "one\ntwo\n"), ("web.stdout.1", "x\n")]);
        check(3, 6, &["one\ntwo\n"], &[("web.stdout.0", "one\n"), ("web.stdout.1", "two\n")]);
        check(3, 4, &["0123456789"], &[("web.stdout.0", "0123"), ("web.stdout.1", "4567"), ("web.stdout.2", "89")]);
        check(2, 4, &["0123", "4567", "89ab", "c"], &[("web.stdout.2", "89ab"), ("web.stdout.3", "c")]);
        check(1, 2, &["abcdefg"], &[("web.stdout.3", "g")]);
    }

    #[test]
    fn a_line_that_would_be_cut_goes_to_the_next_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = RotatingWriter::open(folder.path(), "web", LogStream::Stdout, 9, 6).unwrap();
        for write in ["one\n", "two\n", "no end", "and on\n", "x\n", "too long for any\n"] {
            writer.write(write.as_bytes()).unwrap();
        }
        let texts: Vec<_> = files(folder.path()).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["one\n", "two\n", "no end", "and on", "\nx\ntoo", " long ", "for an", "y\n"]);
    }

    #[test]
    fn another_output_and_another_task_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for other in ["web.stderr.7", "web2.stdout.9", "web.stdout.x", "web.stdout."] {
            fs::write(folder.path().join(other), "").unwrap();
        }
        let mut writer = RotatingWriter::open(folder.path(), "web", LogStream::Stdout, 1, 1).unwrap();
        writer.write(b"ab").unwrap();
        let names: Vec<_> = files(folder.path()).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["web.stderr.7", "web.stdout.", "web.stdout.1", "web.stdout.x", "web2.stdout.9"]);
    }

    #[track_caller]
    fn check_back(max_files: u32, before: &str, after: &str, expected: &[(&str, &str)]) {
        let folder = tempfile::tempdir().unwrap();
        let open = || RotatingWriter::open(folder.path(), "web", LogStream::Stdout, max_files, 4).unwrap();
        let mut writer = open();
        writer.write(before.as_bytes()).unwrap();
        let position = writer.position().unwrap();
        writer.write(after.as_bytes()).unwrap();
        // Anew, as after a crash.
        let mut writer = open();
        writer.go_back(position).unwrap();
        writer.write(b"!").unwrap();
        let expected: Vec<_> = expected.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        assert_eq!(files(folder.path()), expected);
    }

    #[test]
    fn what_came_after_a_position_can_be_taken_back() {
        check_back(3, "ab", "", &[("web.stdout.0", "ab!")]);
        check_back(3, "ab", "c", &[("web.stdout.0", "ab!")]);
        check_back(3, "ab", "cdef", &[("web.stdout.0", "ab!")]);
        check_back(3, "abcd", "efghi", &[("web.stdout.0", "abcd"), ("web.stdout.1", "!")]);
        check_back(1, "ab", "cdef", &[("web.stdout.1", "!")]);
        check_back(2, "ab", "cdefghijk", &[("web.stdout.1", "!")]);
        check_back(3, "", "ab", &[("web.stdout.0", "!")]);
    }

    #[test]
    fn a_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        fs::write(&victim, "").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join("web.stdout.0")).unwrap();
        let error = RotatingWriter::open(folder.path(), "web", LogStream::Stdout, 3, 100).unwrap_err();
        assert!(matches!(error, LogError::NotAFile { .. }), "{error}");
        assert_eq!(fs::read_to_string(victim).unwrap(), "");
    }

    #[test]
    fn nor_is_a_link_in_the_place_of_the_folder() {
        let base = tempfile::tempdir().unwrap();
        let (logs, elsewhere) = (base.path().join("logs"), base.path().join("elsewhere"));
        fs::create_dir(&logs).unwrap();
        let mut writer = RotatingWriter::open(&logs, "web", LogStream::Stdout, 1, 2).unwrap();
        fs::rename(&logs, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &logs).unwrap();
        // What is open stays open; the next file is not made behind the link, and nothing is removed there.
        let error = writer.write(b"abcd").unwrap_err();
        assert!(matches!(error, LogError::NotAFile { .. }), "{error}");
        assert_eq!(files(&elsewhere), [("web.stdout.0".to_owned(), "ab".to_owned())]);
    }
}
