use std::io;
use std::path::PathBuf;

/// Why a log could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error("could not list the log files in {folder}")]
    List {
        folder: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not open the log file {path}")]
    Open {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not write to the log file {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not read the log file {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("could not remove the old log file {path}")]
    Remove {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Somebody put a link, a pipe or a folder where a log file belongs.
    #[error("{path} is not a plain file; remove it, logs are neither written to nor read from it")]
    NotAFile { path: PathBuf },
}

impl LogError {
    /// The file or folder is not there (any more).
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::List { source, .. }
            | Self::Open { source, .. }
            | Self::Write { source, .. }
            | Self::Read { source, .. }
            | Self::Remove { source, .. } => source.kind() == io::ErrorKind::NotFound,
            Self::NotAFile { .. } => false,
        }
    }
}
