use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

/// A version of the engine's API, such as `1.41`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    pub major: u16,
    pub minor: u16,
}

impl ApiVersion {
    /// The oldest dialect that this client reads: that of engine 20.10.
    pub const OLDEST: Self = Self { major: 1, minor: 41 };
    /// The newest dialect that this client reads.
    pub const NEWEST: Self = Self { major: 1, minor: 53 };

    /// The version to speak with an engine that speaks up to `newest` and no longer anything below `oldest`.
    /// `None` when there is none in common.
    pub fn agree(newest: Self, oldest: Option<Self>) -> Option<Self> {
        let version = newest.min(Self::NEWEST);
        (version >= Self::OLDEST && oldest.is_none_or(|oldest| version >= oldest)).then_some(version)
    }
}

impl fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for ApiVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is no version of the engine's API");
        let (major, minor) = text.split_once('.').ok_or_else(bad)?;
        Ok(Self { major: major.parse().map_err(|_| bad())?, minor: minor.parse().map_err(|_| bad())? })
    }
}

impl<'de> Deserialize<'de> for ApiVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(newest: &str, oldest: Option<&str>, expected: Option<&str>) {
        let oldest = oldest.map(|text| text.parse().unwrap());
        let got = ApiVersion::agree(newest.parse().unwrap(), oldest).map(|version| version.to_string());
        assert_eq!(got.as_deref(), expected, "{newest} {oldest:?}");
    }

    #[test]
    fn a_version_in_common() {
        check("1.41", Some("1.12"), Some("1.41"));
        check("1.47", Some("1.24"), Some("1.47"));
        check("1.60", Some("1.44"), Some("1.53"));
        check("1.60", None, Some("1.53"));
        check("1.40", Some("1.12"), None);
        check("1.70", Some("1.54"), None);
        check("2.0", Some("1.44"), Some("1.53"));
        for bad in ["", "1", "1.", "a.b", "1.41.0"] {
            assert!(bad.parse::<ApiVersion>().is_err(), "{bad:?}");
        }
    }
}
