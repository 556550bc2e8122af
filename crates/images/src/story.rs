use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::{RemovalOutcome, RemovalReason};

/// How an image went: for those who ask when it is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Story {
    /// Content that had no name by its id.
    pub name: ImageRef,
    pub content: ContentId,
    /// When it was seen to be gone.
    pub at: Timestamp,
    pub end: End,
    /// Since when nothing had needed it.
    pub idle_since: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// How often it had been granted.
    pub uses: u64,
}

/// Whose doing it was that it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// We removed it: nothing had needed it for `delay`, or a person asked. `foreign`: others had brought it, and the
    /// settings had it removed.
    Removed { why: RemovalReason, delay: GoDuration, foreign: bool, outcome: RemovalOutcome },
    /// Others removed it.
    ByOthers,
}
