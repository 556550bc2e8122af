use std::fmt;

use longshore_model::{ContentId, ImageRef, Timestamp};
use longshore_values::ByteSize;
use serde::{Deserialize, Serialize};

use crate::{Disk, Owner, Pause, RemovalReason, Short};

/// A line for the log: what an operator would want to know about images, one each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A hold was taken. `before` and `after` count the holds on the name.
    HoldTaken { owner: Owner, name: ImageRef, before: usize, after: usize },
    /// A hold was given back.
    HoldReturned { owner: Owner, name: ImageRef, before: usize, after: usize },
    /// The owner has ended, and its hold stays until its successor has its image (K7).
    HoldLingers { owner: Owner, name: ImageRef },
    /// A hold whose owner the node does not know was dropped by a comparison (K3).
    HoldDropped { owner: Owner, name: ImageRef, before: usize, after: usize },
    /// An owner that lives held nothing: the hold it should have had was taken by the comparison.
    HoldMissed { owner: Owner, name: ImageRef },
    /// An owner that never held anything gave a hold back: the books were wrong somewhere.
    ReleaseWithoutHold { owner: Owner },
    /// A pull or load of ours brought content that was not there.
    Obtained { name: ImageRef, content: ContentId, size_bytes: u64 },
    /// A pull or load that nobody waited for any more brought something all the same.
    ArrivedLate { name: ImageRef, content: ContentId, due_at: Option<Timestamp> },
    /// Nothing needs it any more.
    Idle { name: ImageRef, content: ContentId, due_at: Option<Timestamp> },
    /// Nothing needs a name that others brought, and the settings have it removed.
    ForeignIdle { name: ImageRef, content: ContentId, due_at: Option<Timestamp> },
    /// A removal has its outcome.
    Removal { name: ImageRef, content: ContentId, why: RemovalReason, outcome: RemovalOutcome },
    /// A name of ours points at other content now, or was pulled, loaded or tagged by others: it is theirs from now on.
    MovedByOthers { name: ImageRef, content: ContentId, now_at: ContentId },
    /// A name of ours was removed by others.
    RemovedByOthers { name: ImageRef, content: ContentId },
    /// A person said that it is ours.
    Adopted { name: ImageRef, content: ContentId, who: String },
    /// A pull of ours moved a name that others had brought; their old content is left alone.
    MovedForeign { name: ImageRef, left: ContentId, now_at: ContentId },
    /// Content has no name any more and is not ours to remove.
    LeftNameless { content: ContentId, size_bytes: u64 },
    /// The engine's answer to a removal lists what was not meant.
    UnexpectedRemoval { name: ImageRef, untagged: Vec<ImageRef>, deleted: Vec<ContentId> },
    /// The engine could not be read in full; nothing is removed meanwhile (K6).
    CannotSee { what: String },
    /// A person wants nothing removed for a while.
    Paused(Pause),
    /// Images are removed again: the pause is over, or was ended by somebody.
    Resumed { by: Option<String> },
    /// Nothing is removed before holds, allocations and containers have been compared (K10); now they have.
    Recovered,
    /// Room is short: idle images go from now on, the least worth first (K9).
    Pressed { short: Short, disk: Option<Disk>, taken_bytes: Option<u64> },
    /// It is not any more.
    Eased { short: Short, disk: Option<Disk>, removed: u32 },
    /// Room is short, and nothing can go; told again ever less often.
    NothingCanGo { short: Short, disk: Option<Disk>, images: usize },
    /// Room is short, and this image cannot go; once for each reason.
    CannotGo { image: String, why: String },
}

/// How the removal of a name ended, by the engine's answer and a new look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemovalOutcome {
    /// The name and its content are gone.
    Removed { freed_bytes: u64 },
    /// The name is gone; its content stays under another.
    Untagged,
    /// It was gone already.
    GoneAlready,
    /// The name is somebody else's now.
    Moved,
    /// Something needs it; asked again at `retry_at`.
    InUse { by: String, retry_at: Option<Timestamp> },
    /// The engine refused.
    Refused { message: String, retry_at: Timestamp },
    /// The engine did not answer; looked at again.
    Unanswered { message: String },
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Debug,
    Info,
    /// Unexpected, and healed.
    Warn,
    /// Needs a person.
    Error,
}

impl Notice {
    pub fn level(&self) -> Level {
        match self {
            Self::Recovered | Self::Idle { .. } => Level::Debug,
            Self::HoldTaken { .. }
            | Self::HoldReturned { .. }
            | Self::HoldLingers { .. }
            | Self::Obtained { .. }
            | Self::ArrivedLate { .. }
            | Self::MovedForeign { .. }
            | Self::LeftNameless { .. }
            | Self::RemovedByOthers { .. }
            | Self::MovedByOthers { .. }
            | Self::Adopted { .. }
            | Self::ForeignIdle { .. }
            | Self::Paused(_)
            | Self::Resumed { .. } => Level::Info,
            Self::Removal { outcome, .. } => match outcome {
                RemovalOutcome::Refused { .. } | RemovalOutcome::Unanswered { .. } => Level::Warn,
                _ => Level::Info,
            },
            Self::Eased { .. } | Self::CannotGo { .. } => Level::Info,
            Self::HoldDropped { .. }
            | Self::HoldMissed { .. }
            | Self::CannotSee { .. }
            | Self::Pressed { .. }
            | Self::NothingCanGo { .. } => Level::Warn,
            Self::ReleaseWithoutHold { .. } | Self::UnexpectedRemoval { .. } => Level::Error,
        }
    }

    /// The name concerned, where there is one.
    pub fn name(&self) -> Option<&ImageRef> {
        match self {
            Self::HoldTaken { name, .. }
            | Self::HoldReturned { name, .. }
            | Self::HoldLingers { name, .. }
            | Self::HoldDropped { name, .. }
            | Self::HoldMissed { name, .. }
            | Self::Obtained { name, .. }
            | Self::ArrivedLate { name, .. }
            | Self::Idle { name, .. }
            | Self::ForeignIdle { name, .. }
            | Self::Removal { name, .. }
            | Self::MovedByOthers { name, .. }
            | Self::RemovedByOthers { name, .. }
            | Self::Adopted { name, .. }
            | Self::MovedForeign { name, .. }
            | Self::UnexpectedRemoval { name, .. } => Some(name),
            Self::ReleaseWithoutHold { .. }
            | Self::LeftNameless { .. }
            | Self::CannotSee { .. }
            | Self::Paused(_)
            | Self::Resumed { .. }
            | Self::Recovered
            | Self::Pressed { .. }
            | Self::Eased { .. }
            | Self::NothingCanGo { .. }
            | Self::CannotGo { .. } => None,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HoldTaken { owner, name, before, after } => {
                write!(f, "hold taken: {owner} on {}, holds {before} -> {after}", name.familiar())
            }
            Self::HoldReturned { owner, name, before, after } => {
                write!(f, "hold given back: {owner} on {}, holds {before} -> {after}", name.familiar())
            }
            Self::HoldLingers { owner, name } => {
                write!(f, "hold kept for the successor: {owner} on {}", name.familiar())
            }
            Self::HoldMissed { owner, name } => {
                write!(f, "a hold of {owner} on {} was missing, and is taken", name.familiar())
            }
            Self::HoldDropped { owner, name, before, after } => write!(
                f,
                "hold dropped, its owner is not known to this node: {owner} on {}, holds {before} -> {after}",
                name.familiar()
            ),
            Self::ReleaseWithoutHold { owner } => write!(f, "{owner} gave back a hold that it never had"),
            Self::Obtained { name, content, size_bytes } => {
                write!(f, "obtained {} ({}, {size_bytes} bytes)", name.familiar(), content.short())
            }
            Self::ArrivedLate { name, content, .. } => write!(
                f,
                "{} ({}) arrived after nobody waited for it any more; it goes when its delay has passed",
                name.familiar(),
                content.short()
            ),
            Self::ForeignIdle { name, .. } => {
                write!(f, "nothing needs {}, which others brought: gc.foreign has it removed", name.familiar())
            }
            Self::Idle { name, .. } => write!(f, "nothing needs {} any more", name.familiar()),
            Self::Removal { name, content, outcome, why } => {
                write!(f, "{} ({}): {outcome} ({why})", name.familiar(), content.short())
            }
            Self::MovedByOthers { name, content, now_at } if content == now_at => write!(
                f,
                "{} ({}) was pulled, loaded or tagged by others; it is theirs from now on",
                name.familiar(),
                content.short()
            ),
            Self::MovedByOthers { name, content, now_at } => write!(
                f,
                "{} was moved from {} to {} by others; it is theirs from now on",
                name.familiar(),
                content.short(),
                now_at.short()
            ),
            Self::RemovedByOthers { name, content } => {
                write!(f, "{} ({}) was removed by others", name.familiar(), content.short())
            }
            Self::Adopted { name, content, who } => {
                write!(f, "{} ({}) was adopted by {who}: it is ours from now on", name.familiar(), content.short())
            }
            Self::MovedForeign { name, left, now_at } => write!(
                f,
                "{} pointed at {}, which others brought, and now points at {}; the old content is left alone",
                name.familiar(),
                left.short(),
                now_at.short()
            ),
            Self::LeftNameless { content, size_bytes } => {
                write!(f, "{} ({size_bytes} bytes) has no name any more and is not ours to remove", content.short())
            }
            Self::UnexpectedRemoval { name, untagged, deleted } => {
                write!(f, "removing {} took more than was meant:", name.familiar())?;
                untagged.iter().try_for_each(|name| write!(f, " {}", name.familiar()))?;
                deleted.iter().try_for_each(|id| write!(f, " {}", id.short()))
            }
            Self::CannotSee { what } => {
                write!(f, "the engine could not be read in full ({what}); no image is removed meanwhile")
            }
            Self::Paused(Pause { who, at, until }) => {
                write!(f, "{who} pauses removals: no image is removed for {}", until.since(*at))
            }
            Self::Resumed { by: None } => f.write_str("the pause of removals is over"),
            Self::Resumed { by: Some(who) } => write!(f, "{who} ends the pause of removals"),
            Self::Recovered => f.write_str("holds, allocations and containers have been compared"),
            Self::Pressed { short, disk, taken_bytes } => {
                write!(f, "room is short: {short}{}", room(*disk, *taken_bytes))?;
                f.write_str("; images that nothing needs go now, the least worth first")
            }
            Self::Eased { short, disk, removed } => {
                write!(f, "room is not short any more ({short}){}; {removed} images went for it", room(*disk, None))
            }
            Self::NothingCanGo { short, disk, images } => write!(
                f,
                "room is short and none of {images} images can go: {short}{}; what else is on the disk is not ours to remove",
                room(*disk, None)
            ),
            Self::CannotGo { image, why } => write!(f, "{image} cannot make room: {why}"),
        }
    }
}

/// What was measured, after the sentence that it belongs to.
fn room(disk: Option<Disk>, taken_bytes: Option<u64>) -> String {
    let disk = disk.map(|disk| format!(" (the engine's disk: {disk})")).unwrap_or_default();
    let taken = taken_bytes.map(|bytes| format!(" (images take {})", ByteSize(bytes))).unwrap_or_default();
    disk + &taken
}

impl fmt::Display for RemovalOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed { freed_bytes } => write!(f, "removed, about {freed_bytes} bytes freed"),
            Self::Untagged => f.write_str("untagged, its content stays under another name"),
            Self::GoneAlready => f.write_str("gone already"),
            Self::Moved => f.write_str("not removed, the name is somebody else's now"),
            Self::InUse { by, .. } => write!(f, "not removed, in use by {by}"),
            Self::Refused { message, .. } => write!(f, "not removed, the engine refused: {message}"),
            Self::Unanswered { message } => write!(f, "removal without an answer, looking again: {message}"),
        }
    }
}
