//! The ordered, durable list of changes from which a server's state can be made again.
//!
//! - J1: what `append` has acknowledged is there after a crash at any moment; all entries of one call, or none.
//! - J2: entries follow each other without a gap, and a journal takes none that would leave one.
//! - J3: a damaged or missing entry stops the reading with its index and file; nothing behind it is ever given out.
//! - J4: the newest two snapshots stay, with every entry after the older one, so that a damaged snapshot loses nothing.
//! - J5: a format that is older is brought up after a copy was made; one that is newer is refused, naming who reads it.
//! - J6: room on the disk is set aside beside it and given up, a piece at a time, when the disk is full: it can be opened,
//!   and the few entries with which somebody makes room can be written.

mod embedded;
mod error;
mod memory;

use std::sync::Arc;

use async_trait::async_trait;
use longshore_model::LogIndex;

pub use embedded::EmbeddedJournal;
pub use error::JournalError;
pub use memory::MemoryJournal;

/// One change, as its owner encodes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub index: LogIndex,
    pub bytes: Vec<u8>,
}

/// The whole state after the entry `index`, as its owner encodes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub index: LogIndex,
    pub bytes: Vec<u8>,
}

/// Where changes become durable.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Returns when all of `entries` are durable; after an error none of them count (J1).
    ///
    /// They continue the journal: the first one's index is the one after the last that was appended.
    async fn append(&self, entries: Vec<Entry>) -> Result<(), JournalError>;

    /// Keeps `snapshot`, and lets go of older ones and of the entries that no kept one needs (J4).
    ///
    /// Appends go on meanwhile.
    async fn save_snapshot(&self, snapshot: Snapshot) -> Result<(), JournalError>;

    /// Finishes what was asked before, tidies up and takes nothing more.
    async fn close(&self) -> Result<(), JournalError>;
}

/// The entries of a journal in their order, read piece by piece. Ends after the first error.
pub type Replay = Box<dyn Iterator<Item = Result<Entry, JournalError>> + Send>;

/// A journal as it was found: the newest good snapshot and the entries after it, to be read before the first append.
pub struct Opened {
    pub journal: Arc<dyn Journal>,
    pub snapshot: Option<Snapshot>,
    pub entries: Replay,
}
