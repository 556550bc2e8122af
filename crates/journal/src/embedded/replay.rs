//! Reads entries back, a piece at a time, and trusts none whose checksum or place is wrong (J3).

use std::collections::VecDeque;
use std::path::PathBuf;

use super::{Store, locked};
use crate::{Entry, JournalError};
use longshore_model::LogIndex;

/// Entries to a piece: no reader stays open between two of them, so that none holds back the write-ahead log.
const PIECE: u32 = 1_000;

pub(super) struct Reader {
    store: Store,
    file: PathBuf,
    piece: VecDeque<Result<Entry, JournalError>>,
    last: LogIndex,
    ended: bool,
}

impl Reader {
    /// Gives the entries after `after`.
    pub(super) fn new(store: Store, file: PathBuf, after: LogIndex) -> Self {
        Self { store, file, piece: VecDeque::new(), last: after, ended: false }
    }

    fn fill(&mut self) -> Result<(), rusqlite::Error> {
        let store = locked(&self.store);
        let mut select = store.prepare_cached(
            "SELECT log_index, checksum, bytes FROM entries WHERE log_index > ?1 ORDER BY log_index LIMIT ?2",
        )?;
        let mut rows = select.query((self.last.0, PIECE))?;
        while let Some(row) = rows.next()? {
            let (index, stored): (u64, u32) = (row.get(0)?, row.get(1)?);
            let bytes = row.get_ref(2)?.as_blob().unwrap_or_default();
            let expected = self.last.next();
            let why = if index != expected.0 {
                Some("it is missing, and later ones are there")
            } else if stored != checksum(LogIndex(index), bytes) {
                Some("its checksum differs")
            } else {
                None
            };
            if let Some(why) = why {
                let file = self.file.clone();
                self.piece.push_back(Err(JournalError::DamagedEntry { file, index: expected, why: why.to_owned() }));
                return Ok(());
            }
            self.piece.push_back(Ok(Entry { index: expected, bytes: bytes.to_vec() }));
            self.last = expected;
        }
        Ok(())
    }
}

impl Iterator for Reader {
    type Item = Result<Entry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if self.piece.is_empty()
            && let Err(why) = self.fill()
        {
            self.piece.push_back(Err(JournalError::store("read the entries of", &self.file, why)));
        }
        let item = self.piece.pop_front();
        self.ended = !matches!(item, Some(Ok(_)));
        item
    }
}

/// Covers the index too: an entry in the wrong place is as wrong as one with wrong bytes.
pub(super) fn checksum(index: LogIndex, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&index.0.to_le_bytes());
    hasher.update(bytes);
    hasher.finalize()
}
