use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use nix::fcntl::OFlag;

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

/// Opens a log file without following a link and without waiting for the other end of a pipe (G3).
pub(crate) fn open_plain(path: &Path, options: &mut OpenOptions) -> Result<File, LogError> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = match options.custom_flags(flags.bits()).open(path) {
        Ok(file) => file,
        Err(error) if is_link_error(&error) => return Err(LogError::NotAFile { path: path.to_owned() }),
        Err(source) => return Err(LogError::Open { path: path.to_owned(), source }),
    };
    match file.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(file),
        Ok(_) => Err(LogError::NotAFile { path: path.to_owned() }),
        Err(source) => Err(LogError::Open { path: path.to_owned(), source }),
    }
}

/// A link in the last place, or a pipe that nobody reads.
fn is_link_error(error: &io::Error) -> bool {
    let code = error.raw_os_error();
    code == Some(nix::errno::Errno::ELOOP as i32) || code == Some(nix::errno::Errno::ENXIO as i32)
}
