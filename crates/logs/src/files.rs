use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::str::FromStr;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::LogError;

/// Which of a task's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LogStream {
    Stdout,
    Stderr,
}

impl LogStream {
    /// As file names and the API have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

impl FromStr for LogStream {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "stderr" => Ok(Self::Stderr),
            other => Err(format!("log type `{other}` is neither `stdout` nor `stderr`")),
        }
    }
}

/// `<task>.<stream>.<number>`.
pub fn file_name(task: &str, stream: LogStream, number: u64) -> String {
    format!("{task}.{}.{number}", stream.word())
}

/// The log files of one output of one task.
#[derive(Debug, Clone)]
pub(crate) struct LogFolder {
    pub(crate) folder: PathBuf,
    pub(crate) task: String,
    pub(crate) stream: LogStream,
}

impl LogFolder {
    pub(crate) fn path(&self, number: u64) -> PathBuf {
        self.folder.join(file_name(&self.task, self.stream, number))
    }

    /// The numbers of the files that exist, in order.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>, LogError> {
        let fail = |source| LogError::List { folder: self.folder.clone(), source };
        let prefix = format!("{}.{}.", self.task, self.stream.word());
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(fail)? {
            let name = entry.map_err(fail)?.file_name();
            let digits = name.to_str().and_then(|name| name.strip_prefix(prefix.as_str()));
            if let Some(digits) = digits
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && let Ok(number) = digits.parse()
            {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

impl LogFolder {
    /// Opens a log file without following a link, neither in its own place nor in its folder's, and without waiting for
    /// the other end of a pipe (G3).
    pub(crate) fn open(&self, number: u64, flags: OFlag) -> Result<File, LogError> {
        let path = self.path(number);
        let refused = |error: Errno| match error {
            // A link in the last place, a file instead of the folder, a pipe that nobody reads.
            Errno::ELOOP | Errno::ENOTDIR | Errno::ENXIO => LogError::NotAFile { path: path.clone() },
            other => LogError::Open { path: path.clone(), source: other.into() },
        };
        let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let name = file_name(&self.task, self.stream, number);
        let mode = Mode::S_IRUSR | Mode::S_IWUSR | Mode::S_IRGRP | Mode::S_IROTH;
        let opened = self.folder_itself().and_then(|folder| openat(folder, name.as_str(), flags, mode));
        let file = File::from(opened.map_err(refused)?);
        match file.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(file),
            Ok(_) => Err(LogError::NotAFile { path }),
            Err(source) => Err(LogError::Open { path, source }),
        }
    }

    /// Removes a log file; one that is gone already is as good.
    pub(crate) fn remove(&self, number: u64) -> Result<(), LogError> {
        let name = file_name(&self.task, self.stream, number);
        let removed =
            self.folder_itself().and_then(|folder| unlinkat(folder, name.as_str(), UnlinkatFlags::NoRemoveDir));
        match removed {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(LogError::Remove { path: self.path(number), source: error.into() }),
        }
    }

    fn folder_itself(&self) -> nix::Result<OwnedFd> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        open(&self.folder, flags, Mode::empty())
    }
}
