use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use longshore_model::LogIndex;

use crate::{Entry, Journal, JournalError, Opened, Snapshot};

/// A journal that lasts as long as the process: for `-dev` and for tests.
///
/// What it holds stays bounded by the snapshots that are saved to it.
#[derive(Debug, Clone, Default)]
pub struct MemoryJournal {
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    snapshot: Option<Snapshot>,
    entries: Vec<Entry>,
    last: LogIndex,
}

impl MemoryJournal {
    /// The same content once more, as if the process had been restarted.
    pub fn open(&self) -> Opened {
        let (snapshot, entries) = {
            let kept = self.lock();
            (kept.snapshot.clone(), kept.entries.clone())
        };
        Opened { journal: Arc::new(self.clone()), snapshot, entries: Box::new(entries.into_iter().map(Ok)) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Journal for MemoryJournal {
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError> {
        let mut kept = self.lock();
        let mut last = kept.last;
        for entry in &entries {
            if entry.index != last.next() {
                return Err(JournalError::OutOfOrder { expected: last.next(), got: entry.index });
            }
            last = entry.index;
        }
        kept.last = last;
        kept.entries.extend(entries);
        Ok(())
    }

    async fn save_snapshot(&self, snapshot: Snapshot) -> Result<(), JournalError> {
        let mut kept = self.lock();
        kept.entries.retain(|entry| entry.index > snapshot.index);
        kept.snapshot = Some(snapshot);
        Ok(())
    }

    async fn close(&self) -> Result<(), JournalError> {
        Ok(())
    }
}
