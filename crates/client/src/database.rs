//! The node's record on disk: accepted allocations with their jobs, and where their tasks stand. SQLite, one writer.
//!
//! - N1: a commit is durable when it returns; commits that wait together are made durable together.
//! - N2: the file carries a format number; a newer one is refused, naming who wrote it.
//! - N3: an entry that cannot be read costs that entry, never the others.
//! - N4: room on the disk is set aside beside it and given up when the disk is full, so that the node can start, and
//!   can write down the ends of tasks that make room.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use longshore_model::{AllocId, Allocation, Job};
use longshore_reserve::{Purpose, Reserve};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, params};
use tokio::sync::oneshot;

use crate::ClientError;
use crate::runner::records::{AllocRecord, TaskRecord};

/// The newest format that this build reads, and the one it writes.
const FORMAT: i64 = 1;

const TABLES: &str = "
    CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE allocations (
        id TEXT PRIMARY KEY, allocation TEXT NOT NULL, job TEXT NOT NULL, record TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE tasks (
        allocation TEXT NOT NULL, task TEXT NOT NULL, record TEXT NOT NULL, PRIMARY KEY (allocation, task)
    ) WITHOUT ROWID;
";

/// One allocation as it was found on disk.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) alloc: Arc<Allocation>,
    pub(crate) record: AllocRecord,
    pub(crate) tasks: BTreeMap<String, TaskRecord>,
}

/// A change of the record; texts are JSON.
#[derive(Debug)]
pub(crate) enum Write {
    Allocation { id: AllocId, allocation: String, job: String, record: String },
    Record { id: AllocId, record: String },
    Task { id: AllocId, task: String, record: String },
    Remove { id: AllocId },
}

impl Write {
    pub(crate) fn allocation(alloc: &Allocation, record: &AllocRecord) -> Result<Self, ClientError> {
        Ok(Self::Allocation {
            id: alloc.id,
            allocation: encode(alloc, alloc.id)?,
            job: encode(&*alloc.job_spec, alloc.id)?,
            record: encode(record, alloc.id)?,
        })
    }

    pub(crate) fn record(id: AllocId, record: &AllocRecord) -> Result<Self, ClientError> {
        Ok(Self::Record { id, record: encode(record, id)? })
    }

    pub(crate) fn task(id: AllocId, task: &str, record: &TaskRecord) -> Result<Self, ClientError> {
        Ok(Self::Task { id, task: task.to_owned(), record: encode(record, id)? })
    }
}

fn encode(value: &impl serde::Serialize, id: AllocId) -> Result<String, ClientError> {
    serde_json::to_string(value).map_err(|source| ClientError::Encode { what: format!("allocation {id}"), source })
}

type Answer = oneshot::Sender<Result<(), Arc<ClientError>>>;
type Request = (Vec<Write>, Answer);

pub(crate) struct NodeDatabase {
    sender: Mutex<Option<mpsc::Sender<Request>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl NodeDatabase {
    /// Opens the record, or begins one, and reads all of it. `reserve_bytes` are set aside beside it.
    pub(crate) fn open(path: &Path, version: &str, reserve_bytes: u64) -> Result<(Self, Vec<Stored>), ClientError> {
        let mut reserve = Reserve::at(path.with_extension("reserve"), reserve_bytes);
        let (mut connection, stored) =
            reserve.make_room(Purpose::Open, is_full_disk_at_opening, || open_as_is(path, version))?;
        let (sender, requests) = mpsc::channel();
        let at = path.to_owned();
        let writer = std::thread::Builder::new()
            .name("node-record".to_owned())
            .spawn(move || write_all(&mut connection, &at, &requests, reserve))
            .map_err(|source| ClientError::Files { doing: "start the writer of", path: path.to_owned(), source })?;
        Ok((Self { sender: Mutex::new(Some(sender)), writer: Mutex::new(Some(writer)) }, stored))
    }

    /// Makes the changes durable, all or none.
    pub(crate) async fn commit(&self, writes: Vec<Write>) -> Result<(), Arc<ClientError>> {
        let (answer, outcome) = oneshot::channel();
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = sender.is_some_and(|sender| sender.send((writes, answer)).is_ok());
        if !sent {
            return Err(Arc::new(ClientError::RecordClosed));
        }
        outcome.await.unwrap_or_else(|_| Err(Arc::new(ClientError::RecordClosed)))
    }

    /// Ends the writer after what it has been given.
    pub(crate) fn close(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // A writer that panicked has told so already.
            let _ = writer.join();
        }
    }
}

/// An error that does not know the file's path yet.
enum OpenError {
    Sqlite(rusqlite::Error),
    Newer { found: i64, written_by: String },
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl OpenError {
    fn at(self, doing: &'static str, path: &Path) -> ClientError {
        match self {
            Self::Sqlite(source) => ClientError::Record { doing, path: path.to_owned(), source },
            Self::Newer { found, written_by } => {
                ClientError::NewerRecord { path: path.to_owned(), found, newest: FORMAT, written_by }
            }
        }
    }
}

fn open_as_is(path: &Path, version: &str) -> Result<(Connection, Vec<Stored>), ClientError> {
    if !path.exists() {
        make(path, version)?;
    }
    let mut connection = open_connection(path, version).map_err(|error| error.at("open", path))?;
    let stored = read_all(&mut connection).map_err(|error| error.at("read", path))?;
    Ok((connection, stored))
}

/// While the record is opened SQLite tells of a file that cannot grow also as an error of input and output; of any other
/// such error room would not help.
fn is_full_disk_at_opening(error: &ClientError) -> bool {
    match error {
        ClientError::Record { source, path, .. } => match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => true,
            Some(ErrorCode::SystemIoFailure) => path.parent().is_some_and(longshore_reserve::is_full),
            _ => false,
        },
        ClientError::Files { source, .. } => source.kind() == io::ErrorKind::StorageFull,
        _ => false,
    }
}

/// Of other failures nobody knows what a crash would show afterwards: a full disk leaves the transaction undone.
fn is_full_disk(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Makes a whole record under another name first, and waits for the disk once: a crash leaves none, or a good one.
fn make(path: &Path, version: &str) -> Result<(), ClientError> {
    let unfinished = path.with_extension("db.new");
    let failed = |source| ClientError::Files { doing: "make", path: path.to_owned(), source };
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    // Nobody else can read it at any moment.
    let file = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&unfinished).map_err(failed)?;
    fill(&unfinished, version).map_err(|error| OpenError::Sqlite(error).at("make", path))?;
    file.sync_all().map_err(failed)?;
    fs::rename(&unfinished, path).map_err(failed)?;
    path.parent().map_or(Ok(()), |folder| fs::File::open(folder)?.sync_all()).map_err(failed)
}

fn fill(path: &Path, version: &str) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "journal_mode", "MEMORY")?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(TABLES)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.execute("INSERT INTO about VALUES ('written_by', ?1)", [version])?;
    transaction.commit()?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error)
}

fn open_connection(path: &Path, version: &str) -> Result<Connection, OpenError> {
    let connection = Connection::open(path)?;
    // Said first: then SQLite keeps the index of the write-ahead log in memory. In a file shared with others the kernel
    // kills a process that writes to it when the disk is full and its blocks are smaller than pages.
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let written_by: Option<String> =
        connection.query_row("SELECT value FROM about WHERE name = 'written_by'", [], |row| row.get(0)).optional()?;
    if found > FORMAT {
        return Err(OpenError::Newer { found, written_by: written_by.unwrap_or_else(|| "(unknown)".to_owned()) });
    }
    if written_by.as_deref() != Some(version) {
        connection.execute("INSERT OR REPLACE INTO about VALUES ('written_by', ?1)", [version])?;
    }
    Ok(connection)
}

fn read_all(connection: &mut Connection) -> Result<Vec<Stored>, OpenError> {
    let mut tasks: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut statement = connection.prepare("SELECT allocation, task, record FROM tasks")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    for row in rows {
        let (alloc, task, record): (String, String, String) = row?;
        tasks.entry(alloc).or_default().insert(task, record);
    }
    let mut statement = connection.prepare("SELECT id, allocation, job, record FROM allocations")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let mut stored = Vec::new();
    for row in rows {
        let (id, alloc, job, record): (String, String, String, String) = row?;
        match decode(&alloc, &job, &record, tasks.remove(&id).unwrap_or_default()) {
            Ok(entry) => stored.push(entry),
            Err(error) => tracing::error!(alloc.id = id, %error, "an entry of the node's record cannot be read"),
        }
    }
    Ok(stored)
}

fn decode(alloc: &str, job: &str, record: &str, tasks: BTreeMap<String, String>) -> Result<Stored, serde_json::Error> {
    let mut alloc: Allocation = serde_json::from_str(alloc)?;
    alloc.job_spec = Arc::new(serde_json::from_str::<Job>(job)?);
    let tasks = tasks.into_iter().map(|(name, text)| Ok((name, serde_json::from_str(&text)?)));
    Ok(Stored {
        alloc: Arc::new(alloc),
        record: serde_json::from_str(record)?,
        tasks: tasks.collect::<Result<_, serde_json::Error>>()?,
    })
}

/// The writer: everything that waits goes into one transaction.
fn write_all(connection: &mut Connection, path: &Path, requests: &mpsc::Receiver<Request>, mut reserve: Reserve) {
    // Here, so that the start does not wait for it.
    reserve.restore();
    while let Ok(first) = requests.recv() {
        let mut batch = vec![first];
        batch.extend(requests.try_iter());
        let written = reserve.make_room(Purpose::Write, is_full_disk, || write_batch(connection, &batch));
        if written.is_ok() {
            reserve.restore();
        }
        let outcome = written.map_err(|source| {
            let path: PathBuf = path.to_owned();
            Arc::new(ClientError::Record { doing: "write", path, source })
        });
        for (_, answer) in batch {
            // Whoever asked may be gone.
            let _ = answer.send(outcome.clone());
        }
    }
}

fn write_batch(connection: &mut Connection, batch: &[Request]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for write in batch.iter().flat_map(|(writes, _)| writes) {
        apply(&transaction, write)?;
    }
    transaction.commit()
}

fn apply(transaction: &Transaction<'_>, write: &Write) -> rusqlite::Result<()> {
    match write {
        Write::Allocation { id, allocation, job, record } => transaction
            .prepare_cached("INSERT OR REPLACE INTO allocations VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![id.to_string(), allocation, job, record])?,
        Write::Record { id, record } => transaction
            .prepare_cached("UPDATE allocations SET record = ?2 WHERE id = ?1")?
            .execute(params![id.to_string(), record])?,
        Write::Task { id, task, record } => transaction
            .prepare_cached("INSERT OR REPLACE INTO tasks VALUES (?1, ?2, ?3)")?
            .execute(params![id.to_string(), task, record])?,
        Write::Remove { id } => {
            let id = id.to_string();
            transaction.prepare_cached("DELETE FROM tasks WHERE allocation = ?1")?.execute([&id])?;
            transaction.prepare_cached("DELETE FROM allocations WHERE id = ?1")?.execute([&id])?
        }
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use longshore_model::Timestamp;

    use super::*;
    use crate::testing;

    fn open(path: &Path) -> (NodeDatabase, Vec<Stored>) {
        NodeDatabase::open(path, "0.1.0", 0).unwrap()
    }

    fn accept(id: u128) -> Vec<Write> {
        let alloc = testing::allocation(id, vec![testing::task("web")]);
        let now = Timestamp::from_seconds(1);
        vec![
            Write::allocation(&alloc, &AllocRecord::accepted(None, now)).unwrap(),
            Write::task(alloc.id, "web", &TaskRecord::received(now)).unwrap(),
        ]
    }

    #[tokio::test]
    async fn what_was_committed_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.db");
        let (database, stored) = open(&path);
        assert!(stored.is_empty());
        database.commit(accept(1)).await.unwrap();
        database.commit(accept(2)).await.unwrap();
        database.commit(vec![Write::Remove { id: AllocId::from_u128(2) }]).await.unwrap();
        database.close();
        assert!(matches!(*database.commit(accept(3)).await.unwrap_err(), ClientError::RecordClosed));

        let (_database, stored) = open(&path);
        assert_eq!(stored.len(), 1);
        assert_eq!(*stored[0].alloc, testing::allocation(1, vec![testing::task("web")]));
        assert_eq!(stored[0].tasks["web"], TaskRecord::received(Timestamp::from_seconds(1)));
    }

    #[tokio::test]
    async fn a_bad_entry_costs_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.db");
        let (database, _) = open(&path);
        database.commit(accept(1)).await.unwrap();
        database.commit(accept(2)).await.unwrap();
        database.close();
        let connection = Connection::open(&path).unwrap();
        let bad = AllocId::from_u128(1).to_string();
        connection.execute("UPDATE allocations SET job = '{' WHERE id = ?1", [bad]).unwrap();
        drop(connection);
        let (_database, stored) = open(&path);
        let ids: Vec<_> = stored.iter().map(|entry| entry.alloc.id.as_u128()).collect();
        assert_eq!(ids, [2]);
    }

    #[test]
    fn a_newer_format_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.db");
        open(&path).0.close();
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", 7).unwrap();
        connection.execute("UPDATE about SET value = '9.9.9'", []).unwrap();
        drop(connection);
        let error = NodeDatabase::open(&path, "0.1.0", 0).err().unwrap().to_string();
        let error = error.replace(&path.display().to_string(), "PATH");
        insta::assert_snapshot!(error, @"the node's record PATH has format 7, this build reads up to 1; it was written by Longshore 9.9.9: start that version, or move the file away to forget what ran here");
    }
}
