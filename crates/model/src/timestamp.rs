use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

/// An instant: nanoseconds since 1970-01-01 UTC. Zero means "never" where the wire format writes zero times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    pub const NEVER: Self = Self(0);

    pub const fn from_nanoseconds(ns: i64) -> Self {
        Self(ns)
    }
    pub const fn from_seconds(s: i64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }
    pub const fn as_nanoseconds(self) -> i64 {
        self.0
    }
    pub fn is_never(self) -> bool {
        self.0 == 0
    }
    #[must_use]
    pub fn plus(self, span: GoDuration) -> Self {
        Self(self.0.saturating_add(span.as_nanoseconds()))
    }
    #[must_use]
    pub fn minus(self, span: GoDuration) -> Self {
        Self(self.0.saturating_sub(span.as_nanoseconds()))
    }
    /// `self - earlier`; negative when `earlier` is the later one.
    pub fn since(self, earlier: Self) -> GoDuration {
        GoDuration::nanoseconds(self.0.saturating_sub(earlier.0))
    }
}
