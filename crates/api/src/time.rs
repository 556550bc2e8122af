use std::fmt;

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An instant as Go writes it: RFC 3339 with as many decimals as it needs, in UTC. The zero time is `null`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoTime(i64);

impl GoTime {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// Nanoseconds since 1970-01-01 UTC; 0 is the zero time.
    pub const fn from_nanoseconds(ns: i64) -> Self {
        Self(ns)
    }
    pub const fn as_nanoseconds(self) -> i64 {
        self.0
    }
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for GoTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = DateTime::from_timestamp_nanos(self.0).to_rfc3339_opts(SecondsFormat::Nanos, true);
        let trimmed = text.trim_end_matches('Z').trim_end_matches('0').trim_end_matches('.');
        write!(f, "{trimmed}Z")
    }
}

impl Serialize for GoTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_zero() { serializer.serialize_none() } else { serializer.collect_str(self) }
    }
}

impl<'de> Deserialize<'de> for GoTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(Self::ZERO) };
        let time = DateTime::parse_from_rfc3339(&text)
            .map_err(|why| de::Error::custom(format!("{text:?} is no time in RFC 3339: {why}")))?;
        // Go writes its own zero time, in the year 1, where it does not write `null`: outside of what nanoseconds hold.
        Ok(Self(time.timestamp_nanos_opt().unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wire: &str, back: &str) {
        let time: GoTime = serde_json::from_str(wire).unwrap();
        assert_eq!(serde_json::to_string(&time).unwrap(), back, "{wire}");
    }

    #[test]
    fn reads_and_writes_as_go_does() {
        check("null", "null");
        check("\"0001-01-01T00:00:00Z\"", "null");
        check("\"2026-11-30T17:38:36.297071534Z\"", "\"2026-11-30T17:38:36.297071534Z\"");
        check("\"2026-11-30T17:38:36.5Z\"", "\"2026-11-30T17:38:36.5Z\"");
        check("\"2026-11-30T17:38:30Z\"", "\"2026-11-30T17:38:30Z\"");
        check("\"2026-11-30T17:38:00+02:00\"", "\"2026-11-30T15:38:00Z\"");
        assert!(serde_json::from_str::<GoTime>("\"yesterday\"").is_err());
    }
}
