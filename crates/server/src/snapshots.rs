//! Takes snapshots of the state beside the writing loop, so that a restart reads little and the journal stays small.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use longshore_journal::{Journal, JournalError, Snapshot};
use longshore_model::LogIndex;
use longshore_state::State;

pub(crate) struct SnapshotKeeper {
    journal: Arc<dyn Journal>,
    after_bytes: usize,
    appended_bytes: usize,
    /// The entry that the newest snapshot was taken at.
    newest: LogIndex,
    /// The newest one that is written.
    written: Arc<AtomicU64>,
    under_way: Arc<AtomicBool>,
    /// The size of the newest one: a large state is not written more often than its journal grows by as much.
    last_bytes: Arc<AtomicUsize>,
}

#[derive(Debug, thiserror::Error)]
enum SnapshotError {
    #[error("could not encode the state")]
    Encode(#[source] serde_json::Error),
    #[error("the encoding was cut short")]
    Cancelled,
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl SnapshotKeeper {
    pub(crate) fn new(journal: Arc<dyn Journal>, after_bytes: usize, newest: LogIndex, last_bytes: usize) -> Self {
        Self {
            journal,
            after_bytes,
            appended_bytes: 0,
            newest,
            written: Arc::new(AtomicU64::new(newest.0)),
            under_way: Arc::default(),
            last_bytes: Arc::new(AtomicUsize::new(last_bytes)),
        }
    }

    /// The entry of the newest one that is written, from now on.
    pub(crate) fn written(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.written)
    }

    /// Counts what was appended, and starts a snapshot when it is time.
    pub(crate) fn note(&mut self, state: &Arc<State>, appended_bytes: usize) {
        self.appended_bytes += appended_bytes;
        let threshold = self.after_bytes.max(self.last_bytes.load(Ordering::Relaxed));
        if self.appended_bytes < threshold || self.under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        self.appended_bytes = 0;
        self.newest = state.index();
        let (journal, state) = (Arc::clone(&self.journal), Arc::clone(state));
        let (under_way, last_bytes) = (Arc::clone(&self.under_way), Arc::clone(&self.last_bytes));
        let (written, index) = (Arc::clone(&self.written), self.newest.0);
        tokio::spawn(async move {
            told(save(journal, state).await.map(|bytes| {
                last_bytes.store(bytes, Ordering::Relaxed);
                written.store(index, Ordering::Relaxed);
            }));
            under_way.store(false, Ordering::Release);
        });
    }

    /// The one at the end, so that the next start has nothing to repeat.
    pub(crate) async fn last(&mut self, state: &Arc<State>) {
        if state.index() > self.newest {
            told(save(Arc::clone(&self.journal), Arc::clone(state)).await.map(|_| ()));
            self.newest = state.index();
        }
    }
}

/// Returns the size.
async fn save(journal: Arc<dyn Journal>, state: Arc<State>) -> Result<usize, SnapshotError> {
    let index = state.index();
    let encoded = tokio::task::spawn_blocking(move || state.to_image()).await;
    let bytes = encoded.map_err(|_| SnapshotError::Cancelled)?.map_err(SnapshotError::Encode)?;
    let size_bytes = bytes.len();
    journal.save_snapshot(Snapshot { index, bytes }).await?;
    tracing::debug!(%index, size_bytes, "snapshot taken");
    Ok(size_bytes)
}

fn told(outcome: Result<(), SnapshotError>) {
    if let Err(why) = outcome {
        let cause = std::error::Error::source(&why).map(ToString::to_string);
        tracing::error!(%why, cause, "no snapshot was taken; entries stay in the journal");
    }
}
