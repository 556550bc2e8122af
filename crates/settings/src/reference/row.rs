/// What stands on the right of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A text that nothing shows.
    Secret,
    Bool,
    /// A whole number between the two, both included.
    Whole(i64, i64),
    Number,
    /// As Go writes them: `"1h30m"`.
    Duration,
    /// `"1M"`: bytes, or with B, K, M or G.
    Size,
    Texts,
    /// Names and texts.
    Map,
    /// A block whose keys have a table of their own.
    Block,
    /// Blocks with a name whose keys have a table of their own.
    NamedBlocks,
    /// Whatever there is: nothing here reads it.
    Any,
}

/// A whole number that is not negative.
pub(super) const COUNT: Kind = Kind::Whole(0, i64::MAX);

/// What a setting does in this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Holds,
    /// Accepted, and named in one warning when it is given; why, where there is more to say.
    Nothing(&'static str),
    /// Stops the start when it asks for something that this build has not, and that must not be missed silently.
    Refused,
}

/// Who has a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// Nomad 1.6.
    Nomad,
    /// A later Nomad.
    LaterNomad,
    /// Nobody else.
    Longshore,
}

/// One key of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// A name, or the beginning of names with `*` behind it.
    pub key: &'static str,
    pub kind: Kind,
    /// As it is written; empty when there is none.
    pub default: &'static str,
    pub meaning: &'static str,
    pub effect: Effect,
    pub since: Since,
    /// Whether a change holds after SIGHUP, without a new start.
    pub reloads: bool,
}

/// A block and its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Dotted, without names: `client.host_volume`.
    pub path: &'static str,
    pub meaning: &'static str,
    pub rows: &'static [Row],
}

/// A setting that this build acts on.
pub(super) const fn row(key: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Row {
    Row { key, kind, default, meaning, effect: Effect::Holds, since: Since::Nomad, reloads: false }
}

/// A setting that this build takes and leaves aside.
pub(super) const fn aside(key: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Row {
    Row { effect: Effect::Nothing(""), ..row(key, kind, default, meaning) }
}

/// Of every block that tells whom to join.
pub(super) const RETRY_MAX: Row = aside("retry_max", COUNT, "0", "How often to try; 0 for without end.");
pub(super) const RETRY_INTERVAL: Row = aside("retry_interval", Kind::Duration, "30s", "Time between attempts.");

impl Row {
    pub(super) const fn because(self, why: &'static str) -> Self {
        Self { effect: Effect::Nothing(why), ..self }
    }

    pub(super) const fn refused(self) -> Self {
        Self { effect: Effect::Refused, ..self }
    }

    pub(super) const fn later(self) -> Self {
        Self { since: Since::LaterNomad, ..self }
    }

    pub(super) const fn ours(self) -> Self {
        Self { since: Since::Longshore, ..self }
    }

    pub(super) const fn reloads(self) -> Self {
        Self { reloads: true, ..self }
    }
}
