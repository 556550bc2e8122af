use std::io;
use std::path::PathBuf;

use longshore_logs::LogError;
use longshore_model::AllocId;
use rusqlite::ErrorCode;

/// Why the node could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("could not {doing} {path}")]
    Files {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} does not hold a node id; restore it, or remove it to give this node a new identity")]
    BadIdentity { path: PathBuf },
    /// The record was written by a later build.
    #[error(
        "the node's record {path} has format {found}, this build reads up to {newest}; \
         it was written by Longshore {written_by}: start that version, or move the file away to forget what ran here"
    )]
    NewerRecord { path: PathBuf, found: i64, newest: i64, written_by: String },
    #[error("could not {doing} the node's record {path}")]
    Record {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("could not put the node's record of {what} into words")]
    Encode {
        what: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("the node's record is closed: the agent is ending")]
    RecordClosed,
    #[error("the system gave no random numbers: {0}")]
    NoRandomness(String),
}

impl ClientError {
    /// What to try, where anything helps.
    pub fn hint(&self) -> Option<&'static str> {
        let Self::Record { source, .. } = self else { return None };
        match source.sqlite_error_code()? {
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => Some(
                "it is damaged: put it back from a copy, with all files that have its name, or move these away; then the node \
                 forgets what ran here, and containers that no allocation knows are removed after \
                 gc.dangling_containers.creation_grace",
            ),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly => {
                Some("start the agent as a user who may write there, or set data_dir to a folder of its own")
            }
            ErrorCode::DiskFull => Some("make room on that file system, or move data_dir to another one"),
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some("another program has it open: end that"),
            _ => None,
        }
    }
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadLogError {
    #[error("unknown allocation {0}")]
    UnknownAllocation(AllocId),
    #[error("unknown task name \"{0}\"")]
    UnknownTask(String),
    #[error("task \"{0}\" not started yet. No logs available")]
    NotStarted(String),
    #[error("could not read the log")]
    Log(#[from] LogError),
}
