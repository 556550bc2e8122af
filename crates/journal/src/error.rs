use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use longshore_model::LogIndex;

/// Why a journal could not be opened, read or written. Cloned for each of those who wait for one commit.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JournalError {
    #[error(
        "the journal in {folder} is in use by another process; \
         hint: only one agent can work with a data folder, stop the other one or give this one its own `data_dir`"
    )]
    InUse { folder: PathBuf },

    #[error("{file} is no journal of longshore ({why}); hint: move it away, or point `data_dir` elsewhere")]
    Foreign { file: PathBuf, why: String },

    #[error(
        "{file} has format {found}, and this build reads up to {reads}; \
         hint: it was written by longshore {written_by}, use that version or a newer one"
    )]
    TooNew { file: PathBuf, found: u32, reads: u32, written_by: String },

    /// J3: nothing from `index` on was given out.
    #[error(
        "entry {index} of {file} is damaged: {why}; nothing was changed. \
         hint: restore the folder from a copy, or move it away to start empty (jobs must then be run again)"
    )]
    DamagedEntry { file: PathBuf, index: LogIndex, why: String },

    #[error("{file} is damaged: {why}; hint: restore the folder from a copy, or move it away to start empty")]
    DamagedFile { file: PathBuf, why: String },

    #[error("no snapshot in {folder} can be read, the newest because: {newest}")]
    NoGoodSnapshot { folder: PathBuf, newest: Box<JournalError> },

    /// Nothing of the append counts; the same may succeed when there is room again.
    #[error("could not {doing}: no space left for {file}; hint: free space on its file system")]
    DiskFull { doing: &'static str, file: PathBuf },

    #[error("could not {doing} {file}")]
    Store { doing: &'static str, file: PathBuf, source: Arc<rusqlite::Error> },

    #[error("could not {doing} {file}")]
    Io { doing: &'static str, file: PathBuf, source: Arc<io::Error> },

    /// After a commit whose outcome is unknown nothing can be appended before the journal was opened anew.
    #[error("the journal takes no entries after an earlier failure ({why}); hint: mend the disk and restart the agent")]
    Broken { why: String },

    #[error("entry {got} does not follow: the next one is {expected}")]
    OutOfOrder { expected: LogIndex, got: LogIndex },

    #[error("the journal is closed")]
    Closed,
}

impl JournalError {
    pub(crate) fn io(doing: &'static str, file: impl Into<PathBuf>, source: io::Error) -> Self {
        let file = file.into();
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::DiskFull { doing, file };
        }
        Self::Io { doing, file, source: Arc::new(source) }
    }

    pub(crate) fn store(doing: &'static str, file: impl Into<PathBuf>, source: rusqlite::Error) -> Self {
        let file = file.into();
        match source.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => Self::DiskFull { doing, file },
            Some(rusqlite::ErrorCode::NotADatabase) => Self::Foreign { file, why: source.to_string() },
            Some(rusqlite::ErrorCode::DatabaseCorrupt) => Self::DamagedFile { file, why: source.to_string() },
            _ => Self::Store { doing, file, source: Arc::new(source) },
        }
    }

    /// While a store is opened SQLite tells of a file that cannot grow also as an error of input and output; of any other
    /// such error room would not help.
    pub(crate) fn is_full_disk_at_opening(&self) -> bool {
        match self {
            Self::DiskFull { .. } => true,
            Self::Store { source, file, .. } => {
                source.sqlite_error_code() == Some(rusqlite::ErrorCode::SystemIoFailure)
                    && file.parent().is_some_and(longshore_reserve::is_full)
            }
            _ => false,
        }
    }

    pub(crate) fn is_full_disk(&self) -> bool {
        matches!(self, Self::DiskFull { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_disk_is_no_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let failure = |extended| {
            let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(extended), None);
            JournalError::store("open", folder.path().join("journal.db"), source)
        };
        assert!(!failure(rusqlite::ffi::SQLITE_IOERR_READ).is_full_disk_at_opening());
        assert!(failure(rusqlite::ffi::SQLITE_FULL).is_full_disk_at_opening());
        let source =
            rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR_SHMSIZE), None);
        let on_a_full_disk = JournalError::store("open", "/proc/journal.db", source);
        assert!(on_a_full_disk.is_full_disk_at_opening());
    }
}
