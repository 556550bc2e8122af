use std::collections::BTreeMap;

/// One transition of the life of names and contents: what can happen, named once.
///
/// The keeper counts how often it took each; a test that runs long enough has to have taken all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Row {
    /// Nothing → pulling: wanted, and absent.
    WantedAbsent,
    /// Nothing → foreign with a hold: wanted, and present.
    WantedForeign,
    /// Any → pulling: wanted fresh, though present.
    WantedFresh,
    /// Pulling → held: done, and the name moved.
    PullMoved,
    /// Pulling → as before: done, and nothing new.
    PullSame,
    /// Pulling → as before: failed.
    PullFailed,
    /// Pulling → as before: the registry could not be asked, and what is present does.
    PullFailedLocal,
    /// Pulling → as before: the last waiter left.
    PullLeft,
    /// Late → idle: what nobody waited for arrived all the same.
    PullLate,
    /// Held → idle: the last need ended.
    NeedEnded,
    /// Idle → held: wanted.
    IdleWanted,
    /// Idle → removing: due.
    IdleDue,
    /// Idle → removing: a person asked.
    IdleAsked,
    /// Idle → removing: older than the greatest age.
    IdleAged,
    /// Idle → removing: room is short, and it is worth least.
    IdlePressed,
    /// A removal for want of room, called off: the look showed that room is not short any more.
    PressureOver,
    /// A mark is passed.
    MarkPassed,
    /// A pull, or another write, met "no space left", and waits for room.
    RoomWanted,
    /// It is tried once more.
    RoomMade,
    /// It fails: nothing could go.
    NoRoomMade,
    /// Containers that are over go, before any image.
    DeadRemoved,
    /// Room is short and nothing can go: told.
    NothingCanGo,
    /// Idle → held: pinned.
    IdlePinned,
    /// Idle → held: matched by `keep`.
    IdleKept,
    /// Idle → held: a container of others, or another need that is no hold on the name.
    IdleInUse,
    /// Removing → nothing: done, and absent.
    RemovedGone,
    /// Removing → idle or held: the look found a need.
    RemovalNeedFound,
    /// Removing → idle: 409.
    RemovalInUse,
    /// Removing → nothing: 404.
    RemovalNotFound,
    /// Removing → unsure: no answer.
    RemovalLost,
    /// Removing, and wanted: the wanter waits.
    RemovalWanted,
    /// Unsure → idle: a look shows it where it was.
    UnsureStill,
    /// Unsure → nothing: a look shows that it is gone.
    UnsureGone,
    /// Ours → foreign: at other content, not by us.
    MovedByOthers,
    /// Ours → foreign: at the same content, brought again by others.
    TakenOver,
    /// Ours → nothing: absent, not by us.
    RemovedByOthers,
    /// Content: named → nameless, by a pull or load of ours.
    ContentNameless,
    /// Content: nameless → marked: due.
    ContentMarked,
    /// Content: marked → gone.
    ContentGone,
    /// Content: nameless or marked → named: a name points at it again.
    ContentNamedAgain,
    /// Content: marked → nameless: the look found a need.
    ContentNeedFound,
    /// A removal that was under way at a crash: looked at, never repeated blindly.
    RecoveredRemoval,
    /// A pull that was under way at a crash, and brought what it was to bring.
    RecoveredPull,
    /// A hold whose owner ended while the agent was down: released, dated by that end.
    RecoveredRelease,
    /// A hold whose owner nobody knows: dropped, and said.
    RecoveredDrop,
    /// A hold whose owner the node has not known for two comparisons: dropped, and said.
    ComparedDrop,
    /// An owner that lives and held nothing at two comparisons: its hold is taken, and said.
    ComparedTake,
    /// A hold of what a server wished for: given back, nobody wishes for it any more.
    PrefetchOver,
    /// The same: nobody has let go of it in time.
    PrefetchExpired,
    /// The agent's settings need a name: held.
    AgentNeeds,
    /// They do not any more, and no network stands on it: given back.
    AgentNeedOver,
    /// Foreign → ours: a person takes it back.
    Adopted,
    /// Idle → held: a version that can be gone back to needs it.
    VersionKept,
    /// Given back: so many newer versions are stable, or the job is gone.
    VersionOver,
    /// Foreign → idle: nothing needs it, and the settings have it removed.
    ForeignIdle,
    /// Back: something needs it, or the settings leave it alone again.
    ForeignBack,
    /// A person pauses all removals.
    Paused,
    /// The pause ends by itself.
    PauseOver,
    /// A predecessor's hold lingers for its successor.
    HandoverLingers,
    /// It is let go: the successor has its image, or has ended.
    HandoverDone,
}

/// Rows of the life cycle that belong to features which this build does not have: each with the feature.
pub const ROWS_OF_LATER_FEATURES: &[(&str, &str)] = &[
    ("crash 13, swap engines", "books that move to another engine"),
    ("a mirror's name, with the job's own name tagged on", "mirrors"),
];

impl Row {
    /// Every row.
    pub const ALL: &[Self] = &[
        Self::WantedAbsent,
        Self::WantedForeign,
        Self::WantedFresh,
        Self::PullMoved,
        Self::PullSame,
        Self::PullFailed,
        Self::PullFailedLocal,
        Self::PullLeft,
        Self::PullLate,
        Self::NeedEnded,
        Self::IdleWanted,
        Self::IdleDue,
        Self::IdleAsked,
        Self::IdleAged,
        Self::IdlePressed,
        Self::PressureOver,
        Self::MarkPassed,
        Self::RoomWanted,
        Self::RoomMade,
        Self::NoRoomMade,
        Self::DeadRemoved,
        Self::NothingCanGo,
        Self::IdlePinned,
        Self::IdleKept,
        Self::IdleInUse,
        Self::RemovedGone,
        Self::RemovalNeedFound,
        Self::RemovalInUse,
        Self::RemovalNotFound,
        Self::RemovalLost,
        Self::RemovalWanted,
        Self::UnsureStill,
        Self::UnsureGone,
        Self::MovedByOthers,
        Self::TakenOver,
        Self::RemovedByOthers,
        Self::ContentNameless,
        Self::ContentMarked,
        Self::ContentGone,
        Self::ContentNamedAgain,
        Self::ContentNeedFound,
        Self::RecoveredRemoval,
        Self::RecoveredPull,
        Self::RecoveredRelease,
        Self::RecoveredDrop,
        Self::ComparedDrop,
        Self::ComparedTake,
        Self::PrefetchOver,
        Self::PrefetchExpired,
        Self::AgentNeeds,
        Self::AgentNeedOver,
        Self::Adopted,
        Self::VersionKept,
        Self::VersionOver,
        Self::ForeignIdle,
        Self::ForeignBack,
        Self::Paused,
        Self::PauseOver,
        Self::HandoverLingers,
        Self::HandoverDone,
    ];
}

/// How often each row was taken.
pub type RowCounts = BTreeMap<Row, u64>;
