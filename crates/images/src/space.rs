//! What is judged by when room is short (K9): the settings, the engine's disk as it was measured, and what an idle image
//! is worth.

use std::collections::BTreeMap;
use std::fmt;

use longshore_model::{ContentId, Timestamp};
use longshore_values::{ByteSize, GoDuration};
use serde::{Deserialize, Serialize};

use crate::RemovalReason;

/// The part of the `gc` settings that is about room and age. The default is all off, but for `reclaim`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpacePolicy {
    pub retain: Retain,
    /// How many bytes obtained images may take, each shared layer counted once.
    pub budget_bytes: Option<u64>,
    /// Above this share of the disk, in percent, idle images go …
    pub disk_high: Option<u8>,
    /// … until this one. None: five below.
    pub disk_low: Option<u8>,
    /// With fewer free bytes than this idle images go.
    pub min_free_bytes: Option<u64>,
    /// Since its last use: before that no image goes, whatever the pressure. A person's `image gc` takes it all the same.
    pub min_age: GoDuration,
    /// Since its last use: after that an idle image goes in any case. Zero: never for its age.
    pub max_age: GoDuration,
    /// Whether idle images go when a pull, or another write of ours, met "no space left".
    pub reclaim: bool,
}

impl Default for SpacePolicy {
    fn default() -> Self {
        Self {
            retain: Retain::Delay,
            budget_bytes: None,
            disk_high: None,
            disk_low: None,
            min_free_bytes: None,
            min_age: GoDuration::ZERO,
            max_age: GoDuration::ZERO,
            reclaim: true,
        }
    }
}

/// How long idle images may stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retain {
    /// For `image_delay`.
    #[default]
    Delay,
    /// Until their room is needed.
    Space,
}

/// About so much room takes what is downloaded: each byte is kept until its layer is unpacked, and makes about two unpacked
/// ones. Less than the download itself it never is.
pub const ROOM_PER_DOWNLOADED_BYTE: u64 = 3;
/// So far below the high mark the low one is when it is not given, in percent of the disk.
const LOW_BELOW_HIGH: u8 = 5;
/// After so long a use counts half.
const HALF_LIFE: GoDuration = GoDuration::hours(24);

impl SpacePolicy {
    /// Whether anything was set by which idle images can be in the way.
    pub fn has_marks(&self) -> bool {
        self.budget_bytes.is_some() || self.disk_high.is_some() || self.min_free_bytes.is_some()
    }

    /// The share of the disk, in percent, at which removals for the high mark end.
    pub fn low(&self) -> Option<u8> {
        self.disk_high.map(|high| self.disk_low.unwrap_or(high.saturating_sub(LOW_BELOW_HIGH)))
    }

    pub(crate) fn min_age(&self) -> GoDuration {
        if self.min_age.is_negative() { GoDuration::ZERO } else { self.min_age }
    }

    pub(crate) fn max_age(&self) -> Option<GoDuration> {
        Some(self.max_age).filter(|age| *age > GoDuration::ZERO)
    }
}

/// The room on the engine's disk, and what takes it, as one look found them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// None when it cannot be measured: the engine is on another machine.
    pub disk: Option<Disk>,
    /// The layers of content, as far as they are known; without them content counts with its whole size.
    pub layers: BTreeMap<ContentId, Vec<Layer>>,
}

/// The file system on which an engine keeps its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    pub total_bytes: u64,
    /// What is left for others than root.
    pub free_bytes: u64,
}

/// A layer as the engine stores it: by what it is and all that lies below it. Content shares it that has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    pub id: ContentId,
    pub size_bytes: u64,
}

impl Disk {
    pub fn used_bytes(&self) -> u64 {
        self.total_bytes.saturating_sub(self.free_bytes)
    }

    /// Whether more of it is used than so many percent.
    pub fn is_above(&self, percent: u8) -> bool {
        u128::from(self.used_bytes()) * 100 > u128::from(self.total_bytes) * u128::from(percent)
    }

    /// In percent, rounded down.
    pub fn used_percent(&self) -> u64 {
        let percent = u128::from(self.used_bytes()) * 100 / u128::from(self.total_bytes.max(1));
        u64::try_from(percent).unwrap_or(100)
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (free, total) = (ByteSize(self.free_bytes), ByteSize(self.total_bytes));
        write!(f, "{}% used, {free} of {total} free", self.used_percent())
    }
}

/// What room is short for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Short {
    /// A pull, or another write of ours, met "no space left".
    NoSpace,
    /// The disk is used above `disk_high`, or not yet below `disk_low` since.
    DiskHigh,
    /// Less is free than `min_free`.
    MinFree,
    /// Obtained images take more than `budget`.
    Budget,
}

impl Short {
    pub const ALL: [Self; 4] = [Self::NoSpace, Self::DiskHigh, Self::MinFree, Self::Budget];

    /// As metrics label it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSpace => "no_space",
            Self::DiskHigh => "disk_high",
            Self::MinFree => "min_free",
            Self::Budget => "budget",
        }
    }
}

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSpace => "no space left on the engine's disk",
            Self::DiskHigh => "over the disk mark gc.disk_high",
            Self::MinFree => "less free on the disk than gc.min_free",
            Self::Budget => "images take more than gc.budget",
        })
    }
}

impl fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Due => f.write_str("nothing has needed it for gc.image_delay"),
            Self::Asked => f.write_str("a person asked for it"),
            Self::Aged => f.write_str("nothing has needed it for gc.max_age"),
            Self::Room(short) => short.fmt(f),
        }
    }
}

/// What having an image here is worth, per byte that it takes: its uses, which count half after each day that has passed
/// since the last one, times the seconds that bringing it took.
pub(crate) fn worth(uses: u64, unused_for: GoDuration, took: Option<GoDuration>, bytes: u64) -> f64 {
    let half_lives = unused_for.as_seconds_f64().max(0.0) / HALF_LIFE.as_seconds_f64();
    let cost_seconds = took.map_or(1.0, |took| took.as_seconds_f64().max(1.0));
    uses as f64 * (-half_lives).exp2() * cost_seconds / bytes.max(1) as f64
}

/// An idle image that could go, and how little would be lost with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rank {
    pub(crate) worth: f64,
    pub(crate) last_used_at: Timestamp,
}

impl Rank {
    /// The one to go first comes first.
    pub(crate) fn compare(&self, other: &Self) -> std::cmp::Ordering {
        self.worth.total_cmp(&other.worth).then(self.last_used_at.cmp(&other.last_used_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn shares_of_a_disk() {
        let disk = |free_bytes| Disk { total_bytes: 20 * GIB, free_bytes };
        for (free, percent, above) in
            [(2 * GIB, 90, false), (2 * GIB - 1, 90, true), (0, 100, false), (30 * GIB, 0, false), (20 * GIB, 0, false)]
        {
            assert_eq!(disk(free).is_above(percent), above, "{free} free, {percent}%");
        }
        assert!(!Disk { total_bytes: 0, free_bytes: 0 }.is_above(0));
        assert_eq!(disk(3 * GIB).to_string(), "85% used, 3.0 GiB of 20.0 GiB free");
    }

    #[test]
    fn the_low_mark() {
        for (high, low, expected) in
            [(None, None, None), (Some(85), None, Some(80)), (Some(85), Some(60), Some(60)), (Some(3), None, Some(0))]
        {
            assert_eq!(SpacePolicy { disk_high: high, disk_low: low, ..SpacePolicy::default() }.low(), expected);
        }
    }

    #[test]
    fn what_goes_first() {
        let (hours, seconds) = (GoDuration::hours, GoDuration::seconds);
        // Each is worth less than the next.
        let ranks = [
            worth(0, hours(0), Some(seconds(500)), 1),
            worth(1, hours(480), None, GIB),
            worth(1, hours(24), None, GIB),
            worth(1, hours(0), None, GIB),
            worth(2, hours(0), None, GIB),
            worth(9, hours(48), Some(seconds(1)), GIB),
            worth(2, hours(0), Some(seconds(60)), GIB),
            worth(2, hours(0), Some(seconds(60)), GIB / 2),
        ];
        assert!(ranks.is_sorted_by(|one, other| one < other), "{ranks:?}");
        assert_eq!(worth(1, hours(-5), None, 0), worth(1, hours(0), Some(seconds(0)), 1));
        let rank = |worth, at| Rank { worth, last_used_at: Timestamp::from_seconds(at) };
        assert!(rank(0.0, 1).compare(&rank(0.0, 2)).is_lt() && rank(0.5, 1).compare(&rank(0.0, 2)).is_gt());
    }
}
