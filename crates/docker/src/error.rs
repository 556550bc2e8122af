use std::io;
use std::path::PathBuf;

use longshore_driver::DriverError;
use longshore_engine::{Class, Error as EngineError};

/// Why the driver's own books could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    #[error("the image ledger {path} could not be opened")]
    Open {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the image ledger {path} could not be {doing}")]
    File {
        path: PathBuf,
        doing: &'static str,
        #[source]
        source: io::Error,
    },
    #[error(
        "the image ledger {path} has format {found}; this version reads up to {known}: start the version that wrote it"
    )]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the image ledger {path} could not be read")]
    Read {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error("the image ledger {path} could not be written")]
    Write {
        path: PathBuf,
        #[source]
        source: rusqlite::Error,
    },
    #[error(
        "the image ledger {path} is damaged: entry {key:?} does not match its checksum; restore the file, or move it away (all images then count as brought by others)"
    )]
    Damaged { path: PathBuf, key: String },
    #[error("the image ledger {path}: entry {key:?} cannot be used")]
    Entry {
        path: PathBuf,
        key: String,
        #[source]
        source: longshore_images::BadEntry,
    },
}

/// Why the engine's keeper lock is not ours.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("another agent ({holder}) keeps the images of this Docker engine, by the lock {path}")]
    Taken { holder: String, path: PathBuf },
    #[error("the lock file {path} could not be opened")]
    Open {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// A call of the engine that failed, as the node is told about it.
pub(crate) fn of_engine(error: EngineError) -> DriverError {
    let class = error.class();
    let message = match &error {
        EngineError::Answered { .. } => error.to_string(),
        other => format!("{other}"),
    };
    let told = if class.may_pass() { DriverError::retry(message) } else { DriverError::fatal(message) };
    let told = told.hint(class.hint());
    match std::error::Error::source(&error) {
        // The text says it already; the cause below it is what is worth keeping.
        Some(source) => told.caused_by(Cause(source.to_string())),
        None => told,
    }
}

/// A cause of which only the text is left.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Cause(pub(crate) String);

/// An engine that cannot be reached at all, in words.
pub(crate) fn is_unreachable(error: &EngineError) -> bool {
    matches!(error.class(), Class::EngineUnreachable | Class::Cut | Class::Timeout)
}
