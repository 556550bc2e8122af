use std::fmt;

use longshore_model::{ContentId, ImageRef, Provenance, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{FetchFailure, Hold, Owner, Pause, Policy, Story};

/// What people are told about one name, or about content that has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageStatus {
    /// None for nameless content.
    pub name: Option<ImageRef>,
    /// None while it is not on the engine, as far as is known.
    pub content: Option<ContentId>,
    pub size_bytes: Option<u64>,
    pub provenance: Provenance,
    pub state: StateWord,
    /// Who holds the name.
    pub holders: Vec<Hold>,
    /// Ids of containers that need it.
    pub containers: Vec<String>,
    /// How many hold the name.
    pub holds: usize,
    /// How many hold the content, under whatever name.
    pub content_holds: usize,
    /// Why it stays.
    pub why: String,
    /// Since when nothing has needed it.
    pub idle_since: Option<Timestamp>,
    /// When it goes, if nothing comes between. Never with `gc.image = false`.
    pub due_at: Option<Timestamp>,
    /// When its removal is tried again, after it was refused.
    pub retry_at: Option<Timestamp>,
    pub last_used_at: Option<Timestamp>,
    /// How often it was granted.
    pub uses: u64,
}

/// Everything that bears on one name, for the one who asks why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    pub status: ImageStatus,
    /// Other names of the same content.
    pub other_names: Vec<ImageRef>,
    /// What the engine said to the last attempt to remove it.
    pub last_refusal: Option<String>,
    /// How the last pull or load of it failed; none when it ended well, or there was none since the keeper's start.
    pub last_failure: Option<LastFailure>,
    /// The tag of ours that this digest name goes with.
    pub goes_with: Option<ImageRef>,
    /// Start attempts that wait for it now.
    pub waiters: Vec<Owner>,
    /// How it went the last time, when it did.
    pub last_story: Option<Story>,
    /// The pause of removals that holds.
    pub paused: Option<Pause>,
    /// Whether anything may be removed at all: the engine answers, and has been compared with the allocations.
    pub removals_allowed: bool,
    /// The settings in force.
    pub policy: Policy,
}

/// The last failure of a pull or load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    pub failure: FetchFailure,
    pub at: Timestamp,
    /// How many have failed in a row.
    pub times: u32,
}

impl fmt::Display for LastFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the last pull failed ({})", self.failure.kind)
    }
}

/// The state in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateWord {
    /// Wanted by a hold, not on the engine.
    Absent,
    Pulling,
    Held,
    Idle,
    Removing,
    Unsure,
    Foreign,
    Nameless,
}

impl StateWord {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Pulling => "pulling",
            Self::Held => "held",
            Self::Idle => "idle",
            Self::Removing => "removing",
            Self::Unsure => "unsure",
            Self::Foreign => "foreign",
            Self::Nameless => "nameless",
        }
    }
}

impl fmt::Display for StateWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
