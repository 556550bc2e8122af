//! The embedded journal: entries in one SQLite file, snapshots in files beside it.

mod format;
mod replay;
mod snapshots;
mod writer;

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use longshore_model::LogIndex;
use longshore_reserve::{Purpose, Reserve};
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{Entry, Journal, JournalError, Opened, Snapshot};
use replay::Reader;
use snapshots::SnapshotFolder;
use writer::{Command, Writer};

const FILE: &str = "journal.db";
const LOCK: &str = "journal.lock";
const RESERVE: &str = "journal.reserve";
/// Enough for the writes with which a person makes room: stopping jobs.
const RESERVE_BYTES: u64 = 8 << 20;

/// A journal in a folder of this machine. Its writer thread ends when it is closed or dropped.
pub struct EmbeddedJournal {
    /// `None` only while it is dropped.
    commands: Option<mpsc::Sender<Command>>,
    snapshots: Arc<SnapshotFolder>,
    writer: Option<JoinHandle<()>>,
    /// Held as long as anybody may write to the folder.
    _lock: File,
}

impl EmbeddedJournal {
    /// Opens the journal in `folder`, or creates one.
    pub fn open(folder: &Path) -> Result<Opened, JournalError> {
        open(folder, None).map(|(opened, _)| opened)
    }

    fn send(&self, command: Command) -> Result<(), JournalError> {
        let commands = self.commands.as_ref().ok_or(JournalError::Closed)?;
        commands.send(command).map_err(|_| JournalError::Closed)
    }
}

impl Drop for EmbeddedJournal {
    /// Waits for the writer, so that the folder is free when the journal is gone.
    fn drop(&mut self) {
        self.commands = None;
        if let Some(writer) = self.writer.take()
            && writer.join().is_err()
        {
            tracing::error!("the journal's writer ended by a panic");
        }
    }
}

#[async_trait]
impl Journal for EmbeddedJournal {
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Append { entries, reply })?;
        answer.await.map_err(|_| JournalError::Closed)?
    }

    async fn save_snapshot(&self, snapshot: Snapshot) -> Result<(), JournalError> {
        let snapshots = Arc::clone(&self.snapshots);
        let saved = tokio::task::spawn_blocking(move || snapshots.save(&snapshot)).await;
        let up_to = saved.map_err(|_| JournalError::Closed)??;
        self.send(Command::Prune { up_to })
    }

    async fn close(&self) -> Result<(), JournalError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Close { reply })?;
        answer.await.map_err(|_| JournalError::Closed)?
    }
}

/// The one connection to the journal's file. The writer has it for each commit; whoever reads has it for each piece, and
/// does so before there is anything to write.
pub(super) type Store = Arc<Mutex<Connection>>;

fn open(folder: &Path, pages_max: Option<u32>) -> Result<(Opened, Store), JournalError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|why| JournalError::io("create the folder", folder, why))?;
    let lock = lock(folder)?;
    let snapshots = SnapshotFolder::open(folder)?;
    let file = folder.join(FILE);
    let mut reserve = Reserve::at(folder.join(RESERVE), RESERVE_BYTES);
    let store = reserve
        .make_room(Purpose::Open, JournalError::is_full_disk_at_opening, || open_store(folder, &file, pages_max))?;

    let snapshot = match snapshots.newest() {
        // Nothing was let go of yet: the entries alone make the whole state.
        Err(why @ JournalError::NoGoodSnapshot { .. }) if begins_with_the_first(&store, &file)? => {
            tracing::error!(%why, "every entry is read instead");
            snapshots.set_all_aside()?;
            None
        }
        newest => newest?,
    };
    let after = snapshot.as_ref().map(|it| it.index).unwrap_or_default();
    let last = store
        .query_row("SELECT coalesce(max(log_index), 0) FROM entries", (), |row| row.get(0))
        .map(LogIndex)
        .map_err(|why| JournalError::store("read the end of", &file, why))?;
    let store = Arc::new(Mutex::new(store));
    let (commands, inbox) = mpsc::channel();
    let writer = Writer {
        store: Arc::clone(&store),
        file: file.clone(),
        last: last.max(after),
        commands: inbox,
        prune_up_to: LogIndex::default(),
        broken: None,
        dirty: true,
        folding_failed: false,
        reserve,
        idle: writer::IDLE,
    };
    let writer = thread::Builder::new()
        .name("journal".to_owned())
        .spawn(move || writer.run())
        .map_err(|why| JournalError::io("start the writer of", &file, why))?;
    let opened = Opened {
        journal: Arc::new(EmbeddedJournal {
            commands: Some(commands),
            snapshots: Arc::new(snapshots),
            writer: Some(writer),
            _lock: lock,
        }),
        snapshot,
        entries: Box::new(Reader::new(Arc::clone(&store), file, after)),
    };
    Ok((opened, store))
}

fn open_store(folder: &Path, file: &Path, pages_max: Option<u32>) -> Result<Connection, JournalError> {
    if !file.exists() {
        format::make(file)?;
    }
    let mut store = Connection::open(file).map_err(|why| JournalError::store("open", file, why))?;
    // Said first: then SQLite keeps the index of the write-ahead log in memory. In a file shared with others the kernel
    // kills a process that writes to it when the disk is full and its blocks are smaller than pages.
    store
        .pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))
        .map_err(|why| JournalError::store("set up", file, why))?;
    format::prepare(&mut store, file, format::FORMAT, format::UPGRADES)?;
    // A file whose name a power loss forgets would take its entries with it.
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|why| JournalError::io("sync the folder", folder, why))?;
    configure(&store, pages_max).map_err(|why| JournalError::store("set up", file, why))?;
    Ok(store)
}

fn locked(store: &Store) -> std::sync::MutexGuard<'_, Connection> {
    // A panic in the middle of a transaction has rolled it back.
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

fn begins_with_the_first(store: &Connection, file: &Path) -> Result<bool, JournalError> {
    store
        .query_row("SELECT min(log_index) = 1 FROM entries", (), |row| row.get::<_, Option<bool>>(0))
        .map(|begins| begins == Some(true))
        .map_err(|why| JournalError::store("read the beginning of", file, why))
}

fn lock(folder: &Path) -> Result<File, JournalError> {
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(|why| JournalError::io("create", &path, why))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(why)) => Err(JournalError::io("lock", path, why)),
    }
}

fn configure(store: &Connection, pages_max: Option<u32>) -> rusqlite::Result<()> {
    store.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    store.pragma_update(None, "synchronous", "FULL")?;
    store.pragma_update_and_check(None, "wal_autocheckpoint", 8_000, |_| Ok(()))?;
    store.pragma_update_and_check(None, "journal_size_limit", 64 << 20, |_| Ok(()))?;
    if let Some(pages) = pages_max {
        store.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
