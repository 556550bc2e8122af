/// One thing that a keeper does wrong on purpose: tests show with it that what they check can fail.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    None,
    /// Images go at once, whatever the delay.
    ZeroDelay,
    /// A hold that is given back while others stand on the same name is forgotten.
    UnpairedRelease,
    /// A removal that was under way at a crash is sent again without a look.
    BlindRepeat,
    /// Images are removed before holds, allocations and containers were compared.
    RemovalBeforeRecovery,
    /// Removals go by what was known, not by a fresh look.
    NoFreshLook,
    /// Content is handed out while it is being removed.
    GrantDuringRemoval,
    /// A predecessor's hold does not wait for its successor.
    NoHandover,
    /// Who asks for fresh content joins a pull that began before.
    FreshJoinsOld,
    /// Every waiter begins a pull of its own.
    NoJoining,
    /// A name that others moved is still taken to be ours.
    KeepsMoved,
    /// What a cancelled pull brings is nobody's.
    ForgetsLate,
    /// The private name of nameless content goes before its digest names.
    PrivateNameFirst,
    /// What could not be read is taken to be absent.
    UnknownIsNo,
    /// An image is looked for, and only what is found is held.
    CheckBeforeHold,
    /// The end of an attempt gives the hold back.
    ReleasePerAttempt,
    /// Images are removed by id.
    RemovalById,
    /// A tag goes without regard for a digest name of its repository that is needed.
    DigestNeedIgnored,
    /// What was idle at a restart has no time of removal any more.
    DueTimeLost,
    /// After one image that could not be removed no other is.
    OneBadImageStopsTheSweep,
    /// Images go during a pause.
    PauseIgnored,
    /// What others brought is collected though a container uses it.
    CollectsUsedForeign,
    /// What is collected of others' becomes ours when the settings leave it alone again.
    CollectedBecomesOurs,
    /// An adoption is told and not recorded.
    AdoptionForgotten,
    /// The image of a version that can be gone back to is let go.
    KeptVersionForgotten,
    /// Images go for want of room although no mark was set.
    PressesWithoutMark,
    /// Images go for want of room although they were used just now.
    IgnoresMinAge,
    /// Images go for want of room when there is enough of it.
    OvershootsTheMark,
    /// The image that is worth most goes first.
    WorthiestFirst,
}
