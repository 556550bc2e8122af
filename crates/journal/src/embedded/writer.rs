//! The one thread that writes: it takes all appends that wait and commits them together, so that the price of a
//! durable commit is shared. Letting go of old entries and tidying up happen between appends, a piece at a time.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use longshore_model::LogIndex;
use longshore_reserve::{Purpose, Reserve};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::replay::checksum;
use super::{Store, locked};
use crate::{Entry, JournalError};

/// One commit takes no more than this, so that the first waiter is not held up by the last.
const GROUP_ENTRIES: usize = 8_192;
const GROUP_BYTES: usize = 16 << 20;
/// Entries let go of in one commit: short enough for an append that comes meanwhile.
const PRUNE_PIECE: u32 = 500;
/// How long nothing comes before tidying up begins.
pub(super) const IDLE: Duration = Duration::from_secs(2);
/// What could not be tidied up, for want of room on the disk, say, is tried again after so many times that.
const IDLE_AFTER_A_FAILURE: u32 = 15;

pub(super) type Reply = oneshot::Sender<Result<(), JournalError>>;

pub(super) enum Command {
    Append {
        entries: Vec<Entry>,
        reply: Reply,
    },
    /// Entries up to and including this one may go.
    Prune {
        up_to: LogIndex,
    },
    Close {
        reply: Reply,
    },
}

pub(super) struct Writer {
    pub store: Store,
    pub file: PathBuf,
    /// The last durable entry.
    pub last: LogIndex,
    pub commands: Receiver<Command>,
    pub prune_up_to: LogIndex,
    /// Why no more entries are taken, once that is so.
    pub broken: Option<String>,
    /// Whether the write-ahead log has anything to fold back.
    pub dirty: bool,
    /// The last try to fold it back failed.
    pub folding_failed: bool,
    /// Given up when the disk is full.
    pub reserve: Reserve,
    /// See [`IDLE`].
    pub idle: Duration,
}

impl Writer {
    pub(super) fn run(mut self) {
        let mut put_back = None;
        loop {
            let command = match put_back.take().map_or_else(|| self.next_command(), Ok) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => {
                    self.tidy();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match command {
                Command::Append { entries, reply } => put_back = self.commit_group(entries, reply),
                Command::Prune { up_to } => self.prune_up_to = self.prune_up_to.max(up_to),
                Command::Close { reply } => {
                    self.fold_back();
                    let _ = reply.send(Ok(()));
                    return;
                }
            }
        }
        self.fold_back();
    }

    /// Times out when there is time for tidying: at once while old entries wait to be let go of.
    fn next_command(&self) -> Result<Command, RecvTimeoutError> {
        if self.prune_up_to > LogIndex::default() {
            return self.commands.try_recv().map_err(|why| match why {
                TryRecvError::Empty => RecvTimeoutError::Timeout,
                TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
            });
        }
        if self.dirty && !self.folding_failed {
            return self.commands.recv_timeout(self.idle);
        }
        if self.dirty || !self.reserve.is_settled() {
            return self.commands.recv_timeout(self.idle * IDLE_AFTER_A_FAILURE);
        }
        self.commands.recv().map_err(|_| RecvTimeoutError::Disconnected)
    }

    /// Commits an append with all that wait behind it; returns the first command that is none.
    fn commit_group(&mut self, entries: Vec<Entry>, reply: Reply) -> Option<Command> {
        let (mut count, mut size) = (0, 0);
        let mut last = self.last;
        let mut group = Vec::new();
        let mut next = Some(Command::Append { entries, reply });
        while let Some(Command::Append { entries, reply }) = next {
            count += entries.len();
            size += entries.iter().map(|entry| entry.bytes.len()).sum::<usize>();
            match follows(last, &entries) {
                Ok(new_last) => {
                    last = new_last;
                    group.push((entries, reply));
                }
                Err(why) => {
                    let _ = reply.send(Err(why));
                }
            }
            let full = count >= GROUP_ENTRIES || size >= GROUP_BYTES;
            next = if full { None } else { self.commands.try_recv().ok() };
        }
        let outcome = self.commit(&group);
        if outcome.is_ok() {
            self.last = last;
        }
        for (_, reply) in group {
            let _ = reply.send(outcome.clone());
        }
        next
    }

    fn commit(&mut self, group: &[(Vec<Entry>, Reply)]) -> Result<(), JournalError> {
        if group.is_empty() {
            return Ok(());
        }
        if let Some(why) = &self.broken {
            return Err(JournalError::Broken { why: why.clone() });
        }
        self.dirty = true;
        let (store, file) = (&mut *locked(&self.store), &self.file);
        let outcome = self.reserve.make_room(Purpose::Write, JournalError::is_full_disk, || {
            insert_all(store, group).map_err(|why| JournalError::store("append to", file, why))
        });
        outcome.inspect_err(|why| {
            // A full disk leaves the transaction undone, for sure; of other failures nobody knows what a crash
            // would show afterwards.
            if !matches!(why, JournalError::DiskFull { .. }) {
                self.broken = Some(why.to_string());
            }
            tracing::error!(%why, "append failed");
        })
    }

    /// One piece of what can wait.
    fn tidy(&mut self) {
        if self.prune_up_to > LogIndex::default() {
            match prune_piece(&mut locked(&self.store), self.prune_up_to) {
                Ok(0) => self.prune_up_to = LogIndex::default(),
                Ok(_) => self.dirty = true,
                Err(why) => {
                    tracing::warn!(%why, "old entries stay until the next snapshot");
                    self.prune_up_to = LogIndex::default();
                }
            }
        } else {
            self.fold_back();
            self.reserve.restore();
        }
    }

    fn fold_back(&mut self) {
        let folded = locked(&self.store).query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()));
        (self.dirty, self.folding_failed) = (folded.is_err(), folded.is_err());
        if let Err(why) = folded {
            tracing::warn!(%why, "the write-ahead log stays until the next tidying");
        }
    }
}

fn follows(last: LogIndex, entries: &[Entry]) -> Result<LogIndex, JournalError> {
    let mut last = last;
    for entry in entries {
        if entry.index != last.next() {
            return Err(JournalError::OutOfOrder { expected: last.next(), got: entry.index });
        }
        last = entry.index;
    }
    Ok(last)
}

fn insert_all(store: &mut Connection, group: &[(Vec<Entry>, Reply)]) -> rusqlite::Result<()> {
    let transaction = store.transaction()?;
    {
        let mut insert = transaction.prepare_cached("INSERT INTO entries VALUES (?1, ?2, ?3)")?;
        for entry in group.iter().flat_map(|(entries, _)| entries) {
            insert.execute((entry.index.0, checksum(entry.index, &entry.bytes), &entry.bytes))?;
        }
    }
    transaction.commit()
}

/// Returns how many went.
fn prune_piece(store: &mut Connection, up_to: LogIndex) -> rusqlite::Result<usize> {
    let transaction = store.transaction()?;
    let gone = transaction
        .prepare_cached(
            "DELETE FROM entries WHERE log_index IN
             (SELECT log_index FROM entries WHERE log_index <= ?1 ORDER BY log_index LIMIT ?2)",
        )?
        .execute((up_to.0, PRUNE_PIECE))?;
    transaction.commit()?;
    // Gives the pages back to the file system; without it the file never shrinks.
    let mut vacuum = store.prepare_cached("PRAGMA incremental_vacuum(2000)")?;
    let mut rows = vacuum.query(())?;
    while rows.next()?.is_some() {}
    Ok(gone)
}
