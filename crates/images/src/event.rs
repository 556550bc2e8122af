use std::fmt;

use longshore_model::{AllocId, ContentId, ImageRef, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{Archive, Owner, Pause, Pin, Policy, Seen};

/// The format of events as they are written down; goes up when an older reader could misread them.
pub const EVENT_FORMAT: u32 = 1;

/// Names one look at the engine. Later looks have greater ids.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LookId(pub u64);

/// Names one pull or load. Unique within a run of the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FetchId(pub u64);

/// Names one removal of a name or one tagging. Unique within a run of the keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActId(pub u64);

/// What happened.
///
/// What the shell owes the keeper: each `Look`, `Pull`, `Load`, `Tag`, `RemoveName` and `RemoveDead` is answered by exactly one event
/// that carries its id, whatever happens to the engine, unless the agent ends first. A lost answer is an answer; a look that
/// hangs has to be given up, because only one is out at a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The node accepts an allocation; the records of this step belong in the transaction that accepts it. Repeating it
    /// changes nothing.
    Accepted {
        alloc: AllocId,
        needs: Vec<Need>,
        /// The allocation on this node that it takes over from.
        replaces: Option<AllocId>,
    },
    /// A start attempt of an owner asks for its image. Answered by `Grant` or `Refuse`, unless it gives up or ends first;
    /// asking again replaces the question.
    Wanted(Want),
    /// The attempt was cancelled or ran into its time limit. The hold stays.
    GaveUp { owner: Owner },
    /// The owner's container exists and was made from this content: what it held before under other names or of other
    /// content can go.
    ContainerMade { owner: Owner, name: ImageRef, content: ContentId },
    /// A server wishes for a name before anything that needs it is placed here, or a person asks for it; the hold ends by
    /// itself at `expires_at`.
    /// Repeating it changes at most that time. The question for it is a `Wanted`, as of a start attempt.
    Wished { owner: Owner, name: ImageRef, expires_at: Timestamp },
    /// All owners of such holds that somebody still wishes for: what others of them hold is given back.
    StillWished { owners: Vec<Owner> },
    /// All versions that jobs may go back to, with their images: what is here of them is kept, now and when it comes; holds
    /// of others are given back. Repeating it changes nothing.
    VersionsKept { needs: Vec<Need> },
    /// All names that the agent's own settings need from now on: the infra image, when there is one. A name that is not
    /// among them any more is kept until the last network on it is gone. Repeating it changes nothing.
    AgentNeeds { names: Vec<ImageRef> },
    /// The owner can never need its image again. `at` is when it ended: after a restart, in the past.
    Ended { owner: Owner, at: Timestamp },
    /// Allocations are restored: the owners in the node's own record that may still start or run, and those that have
    /// ended, with the time. Holds of others are dropped (K3), and said.
    Restored { live: Vec<Owner>, ended: Vec<(Owner, Timestamp)> },
    /// Said from time to time: all owners of the node's allocations that have not ended, and what they need as far as that
    /// is known. A difference from the holds that two in a row show alike is repaired (K3): holds of others are dropped,
    /// missing ones are taken. One alone may have met an acceptance or an end on its way.
    Compared { live: Vec<Owner>, needs: Vec<Need> },
    /// The answer to `Action::Look`.
    Looked { look: LookId, seen: Seen },
    /// The look could not be had: the engine is silent or refuses.
    LookFailed { look: LookId, message: String },
    /// The end of a pull or load.
    Fetched { fetch: FetchId, result: Result<(), FetchFailure> },
    /// The answer to `Action::RemoveName`.
    Removed { act: ActId, answer: RemovalAnswer },
    /// The answer to `Action::Tag`.
    Tagged { act: ActId, answer: TagAnswer },
    /// The answer to `Action::RemoveDead`.
    DeadRemoved { act: ActId, removed: u32 },
    /// A write of ours to the engine's disk, other than a pull or load, met "no space left". Answered by `RoomMade`.
    NoSpace,
    /// The engine's event stream shows something; ours and others' alike, possibly late, possibly not at all.
    EngineSaw { at: Timestamp, news: EngineNews },
    /// The engine no longer answers.
    EngineLost,
    /// The engine answers (again): after the agent's start, and after each `EngineLost`.
    EngineBack,
    /// The settings are others now.
    PolicyChanged(Policy),
    /// A person asks to remove whatever is idle now (`image gc`), also when `gc.image` is false.
    CollectNow,
    /// A person pins a pattern.
    Pinned(Pin),
    /// A person takes back as ours what is foreign and matches a pattern: after the ledger was lost, or because it is so.
    Adopted { pattern: String, who: String },
    /// A person takes a pin back.
    Unpinned { pattern: String },
    /// A person wants nothing removed until then; what was sent to the engine already may still go. Replaces an earlier one.
    Paused(Pause),
    /// A person ends the pause.
    Resumed { who: String },
    /// Time has passed: sent at the time of the last `Action::WakeAt`, or at any other.
    Tick,
}

/// An image that an owner will need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    pub owner: Owner,
    pub name: ImageRef,
}

/// A start attempt's question for its image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Want {
    pub owner: Owner,
    pub name: ImageRef,
    /// What the name points at in the registry now, not what is present: `force_pull`, and the tag `latest`.
    pub fresh: bool,
    /// When the registry cannot be asked for what is to be fresh, what is present will do.
    #[serde(default)]
    pub local_copy: bool,
    /// Pulls are joined only when this is equal. A keyed hash of the credentials, never they themselves.
    pub access: String,
    /// `linux/arm64`, when the task asks for one.
    pub platform: Option<String>,
    /// Load the image from this archive instead of pulling it.
    pub archive: Option<Archive>,
}

/// Why a pull or load brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct FetchFailure {
    pub kind: FailureKind,
    /// For people: image, registry, cause and what to try; no secrets.
    pub message: String,
    /// With `NoSpace`: about how many free bytes it would take, `ROOM_PER_DOWNLOADED_BYTE` for each that is downloaded.
    #[serde(default)]
    pub needed_bytes: Option<u64>,
}

/// What a caller might do differently after a failed pull or load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The registry could not be reached.
    Unreachable,
    /// The registry does not have it.
    NotFound,
    /// The registry refused the credentials or their absence.
    Denied,
    /// The registry asks for patience.
    RateLimited,
    /// The engine's disk is full.
    NoSpace,
    /// No image for the platform asked for.
    WrongPlatform,
    /// The archive cannot be used.
    BadArchive,
    /// Cancelled by `Action::CancelFetch`.
    Cancelled,
    /// The time limit passed.
    TimedOut,
    /// The engine went away.
    EngineLost,
    /// Anything else.
    Other,
}

impl FailureKind {
    /// Whether the registry could not be asked at all; else it has answered, and the answer counts.
    pub const fn is_registry_away(self) -> bool {
        matches!(self, Self::Unreachable | Self::RateLimited | Self::TimedOut)
    }

    /// In a word or a few.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreachable => "registry unreachable",
            Self::NotFound => "the registry has no such image",
            Self::Denied => "access denied",
            Self::RateLimited => "the registry limits requests",
            Self::NoSpace => "no space left on the engine's disk",
            Self::WrongPlatform => "not for this platform",
            Self::BadArchive => "the archive cannot be loaded",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed out",
            Self::EngineLost => "the Docker engine went away",
            Self::Other => "failed",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the engine said to the removal of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalAnswer {
    /// 200, with the names it says that it untagged and the ids it says that it deleted (layers included).
    Done { untagged: Vec<ImageRef>, deleted: Vec<ContentId> },
    /// 409: a container uses it.
    InUse { message: String },
    /// 404.
    NotFound,
    /// Any other refusal.
    Refused { message: String },
    /// 5xx, time limit, connection lost: it may have happened, or may still happen.
    Lost { message: String },
}

/// What the engine said to the giving of a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagAnswer {
    Done,
    /// 404: the content is gone.
    NotFound,
    /// It was refused, or the answer was lost.
    Failed {
        message: String,
    },
}

/// What an engine's event stream tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineNews {
    /// Somebody's pull of this name ended well, also when it brought nothing new.
    Pulled { name: ImageRef },
    /// Somebody gave the content this name.
    Tagged { name: ImageRef, content: ContentId },
    /// Somebody loaded an archive with this content; its names are not told.
    Loaded { content: ContentId },
    /// Somebody took a name from this content, deleted it, or pruned: which name is not told.
    ImagesChanged,
    /// A container came or went.
    ContainersChanged,
}
