//! What the supervisor keeps on disk of each attempt: one small file, replaced whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use longshore_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::protocol::{Attempt, Exit};
use crate::ExecError;

/// The newest form that this build reads, and the one it writes.
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    pub(crate) attempt: Attempt,
    pub(crate) pid: i32,
    /// Of the process, in clock ticks since the machine started.
    pub(crate) start_ticks: u64,
    pub(crate) boot_id: String,
    pub(crate) started_at: Timestamp,
    pub(crate) control_groups: Vec<PathBuf>,
    pub(crate) exit: Option<Exit>,
}

impl Record {
    pub(crate) fn new(
        attempt: Attempt,
        pid: i32,
        start_ticks: u64,
        boot_id: String,
        started_at: Timestamp,
        control_groups: Vec<PathBuf>,
    ) -> Self {
        Self { format: FORMAT, attempt, pid, start_ticks, boot_id, started_at, control_groups, exit: None }
    }
}

/// The folder of the records.
#[derive(Debug, Clone)]
pub(crate) struct Records(PathBuf);

impl Records {
    pub(crate) fn at(folder: &Path) -> Self {
        Self(folder.join("tasks"))
    }

    /// Whether there is any.
    pub(crate) fn is_empty(&self) -> bool {
        fs::read_dir(&self.0).map_or(true, |mut entries| entries.next().is_none())
    }

    fn path(&self, attempt: &Attempt) -> PathBuf {
        // Names of tasks may hold what names of files may not.
        let task: String = attempt.task.bytes().map(|byte| format!("{byte:02x}")).collect();
        self.0.join(format!("{}.{task}.{}.json", attempt.alloc, attempt.number))
    }

    /// Durable when it returns.
    pub(crate) fn save(&self, record: &Record) -> Result<(), ExecError> {
        let path = self.path(&record.attempt);
        let text = serde_json::to_vec(record).map_err(io::Error::from);
        let saved = text.and_then(|text| replace(&self.0, &path, &text));
        saved.map_err(|source| ExecError::Files { doing: "write the record", path, source })
    }

    pub(crate) fn remove(&self, attempt: &Attempt) -> Result<(), ExecError> {
        let path = self.path(attempt);
        match fs::remove_file(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(source) => Err(ExecError::Files { doing: "remove the record", path, source }),
        }
    }

    /// All records; one that cannot be read is told and left where it is.
    pub(crate) fn load(&self) -> Result<Vec<Record>, ExecError> {
        let fail = |source| ExecError::Files { doing: "read the records in", path: self.0.clone(), source };
        fs::create_dir_all(&self.0).map_err(fail)?;
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.0).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            match fs::read(&path).and_then(|text| Ok(serde_json::from_slice::<Record>(&text)?)) {
                Ok(record) if record.format <= FORMAT => found.push(record),
                Ok(record) => eprintln!("{}: format {} is newer than this build", path.display(), record.format),
                Err(error) => eprintln!("{}: {error}", path.display()),
            }
        }
        Ok(found)
    }
}

fn replace(folder: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(text)?;
    file.sync_data()?;
    fs::rename(&beside, path)?;
    fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use longshore_model::AllocId;

    use super::*;

    #[test]
    fn records_are_read_back_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::at(folder.path());
        assert!(records.is_empty());
        assert!(records.load().unwrap().is_empty());
        let attempt = Attempt { alloc: AllocId::from_u128(1), task: "../we b".to_owned(), number: 3 };
        let record = Record::new(attempt.clone(), 7, 8, "boot".to_owned(), Timestamp::from_seconds(9), Vec::new());
        records.save(&record).unwrap();
        fs::write(folder.path().join("tasks/other.json"), "{").unwrap();
        assert_eq!(records.load().unwrap(), [record]);
        records.remove(&attempt).unwrap();
        records.remove(&attempt).unwrap();
        assert!(records.load().unwrap().is_empty());
    }
}
