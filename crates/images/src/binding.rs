use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef, Timestamp};
use serde::{Deserialize, Serialize};

/// What is on record about one name. No record: not ours, and nobody has touched what was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameRecord {
    pub name: ImageRef,
    pub state: NameState,
    /// How often the name was granted.
    pub uses: u64,
    /// The last grant or the last end of a need.
    pub last_used_at: Option<Timestamp>,
}

/// A name's place in its life:
///
/// ```text
///              wanted                    done                      last need ended
///   (none) ───────────────▶ Pulling ───────────────▶ Held ◀──────────────────────▶ Idle ──due──▶ Removing ──▶ (none)
///      ▲                       │ failed, left             wanted, pinned, kept       ▲  409, need  │  │ answer lost
///      └───────────────────────┴─▶ what it was before                                └─────────────┴──┴──▶ Unsure
///
///   Held, Idle, Unsure ──others pull, load, tag or move it──▶ Foreign
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameState {
    /// Others brought it, or took it over after us.
    Foreign(Foreign),
    /// A pull or load of ours is to bring it, or may still bring it late.
    Pulling(Intent),
    /// Obtained by us and needed.
    Held { content: ContentId },
    /// Obtained by us; nothing has needed it since `idle_since`.
    Idle { content: ContentId, idle_since: Timestamp },
    /// About to be removed, or being removed: nothing of it is granted until the outcome is known.
    Removing { content: ContentId, idle_since: Timestamp, why: RemovalReason },
    /// The outcome of a removal is not known.
    Unsure { content: ContentId, idle_since: Timestamp },
}

impl NameState {
    /// The content of a binding that a pull or load of ours made.
    pub fn obtained(&self) -> Option<ContentId> {
        match self {
            Self::Held { content }
            | Self::Idle { content, .. }
            | Self::Removing { content, .. }
            | Self::Unsure { content, .. } => Some(*content),
            Self::Pulling(Intent { before: Before::Obtained { content, .. }, .. }) => Some(*content),
            Self::Foreign(_) | Self::Pulling(_) => None,
        }
    }
}

/// A name that others brought or took over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Foreign {
    pub content: ContentId,
    pub since: Timestamp,
    pub why: ForeignReason,
}

/// How we know that a name is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignReason {
    /// It was there before anything of ours.
    Found,
    /// The engine's events showed that others pulled, loaded or tagged it after us.
    TakenOver,
    /// It points at other content than ours did.
    Moved,
    /// Where it pointed before our pull was not known, so that we cannot show that we brought it.
    Unproven,
}

/// A pull or load that is to happen, on disk before it is sent: tells afterwards what was brought by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// Where the name pointed.
    pub before: Before,
    /// Content that was on the engine and is not on record as obtained: what arrives and is not among it, we brought.
    pub present_before: BTreeSet<ContentId>,
    /// Digest names of the same repository that stood before.
    pub digests_before: BTreeSet<ImageRef>,
    pub started_at: Timestamp,
    /// The archive, when it is a load.
    pub archive: Option<Archive>,
    /// Set when nobody waits any more, or it failed: what still arrives before then was brought by it.
    pub late_until: Option<Timestamp>,
}

/// Where a name pointed before a pull or load of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// Nowhere.
    Absent,
    /// At content of a binding of ours; `idle_since` when nothing needed it.
    Obtained { content: ContentId, idle_since: Option<Timestamp> },
    /// At content that others had brought under this name.
    Foreign { content: ContentId, why: ForeignReason, since: Timestamp },
    /// The engine could not be read in full.
    Unknown,
}

impl Before {
    /// Where the name pointed, if anywhere.
    pub fn content(&self) -> Option<ContentId> {
        match self {
            Self::Obtained { content, .. } | Self::Foreign { content, .. } => Some(*content),
            Self::Absent | Self::Unknown => None,
        }
    }
}

/// An image archive that a task brings along, for the engine to load.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Archive {
    /// Tells archives apart: the digest of the file.
    pub digest: String,
}

/// Why an image goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalReason {
    /// Nothing has needed it for the configured delay.
    Due,
    /// A person asked for collection now.
    Asked,
}
