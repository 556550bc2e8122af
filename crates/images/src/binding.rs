use std::collections::BTreeSet;

use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::Short;

/// What is on record about one name. No record: not ours, and nobody has taken it from us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameRecord {
    pub name: ImageRef,
    /// Where it stands and whose doing that is. None: absent, or foreign since before us.
    pub binding: Option<Binding>,
    /// A pull or load of ours that is under way, or may still bring something late.
    pub intent: Option<Intent>,
    /// Others brought it, and it is in line for removal all the same because `gc.foreign` says so: idle, or being removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
    /// How often the name was granted.
    pub uses: u64,
    /// The last grant or the last end of a need.
    pub last_used_at: Option<Timestamp>,
    /// How long it took to bring it, the last time that something was brought.
    #[serde(default)]
    pub took: Option<GoDuration>,
}

/// A name at a content, and its place in its life.
///
/// ```text
///           wanted                done; it moved             last need ended
///   none ──────────▶ (an intent) ────────────────▶ Held ◀────────────────────▶ Idle ───due───▶ Removing ───▶ none
///     ▲                   │ failed, left                 wanted, pinned, kept   ▲ ▲   need, 409  │  │ no answer
///     └───────────────────┴─▶ what it was before                                │ └──────────────┘  ▼
///                                                                               └────────────── Unsure
///   Held, Idle, Unsure ──others pull, load, tag or move it──▶ Foreign
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Binding {
    /// Others brought it, or took it over after us.
    Foreign { content: ContentId, since: Timestamp, why: ForeignReason },
    /// Obtained by us and needed.
    Held { content: ContentId },
    /// Obtained by us; nothing has needed it since `idle_since`.
    Idle { content: ContentId, idle_since: Timestamp },
    /// About to be removed, or being removed: nothing of it is granted until the outcome is known.
    Removing { content: ContentId, idle_since: Timestamp, why: RemovalReason },
    /// The outcome of a removal is not known.
    Unsure { content: ContentId, idle_since: Timestamp, why: RemovalReason },
}

impl Binding {
    pub fn content(&self) -> ContentId {
        match self {
            Self::Foreign { content, .. }
            | Self::Held { content }
            | Self::Idle { content, .. }
            | Self::Removing { content, .. }
            | Self::Unsure { content, .. } => *content,
        }
    }

    /// Whether a pull or load of ours made it.
    pub fn is_obtained(&self) -> bool {
        !matches!(self, Self::Foreign { .. })
    }

    /// Something needed it until then: it is idle since then, if it is.
    pub(crate) fn not_idle_before(&mut self, at: Timestamp) {
        if let Self::Idle { idle_since, .. } | Self::Removing { idle_since, .. } | Self::Unsure { idle_since, .. } =
            self
        {
            *idle_since = at.max(*idle_since);
        }
    }

    /// Since when nothing has needed it.
    pub fn idle_since(&self) -> Option<Timestamp> {
        match self {
            Self::Idle { idle_since, .. } | Self::Removing { idle_since, .. } | Self::Unsure { idle_since, .. } => {
                Some(*idle_since)
            }
            Self::Foreign { .. } | Self::Held { .. } => None,
        }
    }
}

/// How we know that a name is not ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignReason {
    /// It stood on its own before our pull.
    Found,
    /// The engine's events showed that others pulled, loaded or tagged it after us.
    TakenOver,
    /// It points at other content than ours did, or stands again after we removed it.
    Moved,
    /// Where it pointed before our pull was not known, so that we cannot show that we brought it.
    Unproven,
    /// Another agent keeps the images of this engine.
    KeptByOthers,
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
    /// Until when an earlier pull or load of the name may still bring something late, after this one has ended.
    pub earlier_until: Option<Timestamp>,
}

/// Where a name pointed before a pull or load of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// Nowhere.
    Absent,
    At(ContentId),
    /// The engine could not be read in full.
    Unknown,
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
    /// Nothing has needed it for the greatest age that was set.
    Aged,
    /// Room was short, and it was worth least (K9).
    Room(Short),
}

impl RemovalReason {
    /// Whether it goes for want of room.
    pub fn is_room(self) -> bool {
        matches!(self, Self::Room(_))
    }
}
