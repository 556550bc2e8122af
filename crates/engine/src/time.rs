//! Times as the engine writes and reads them.

/// Nanoseconds since 1970 of a time in RFC 3339; `None` for what is none and for the engine's "never" (year 1).
pub fn parse_rfc3339_nanoseconds(text: &str) -> Option<i64> {
    let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    time.timestamp_nanos_opt().filter(|ns| *ns > 0)
}

/// `since` and `until` as the engine wants them: seconds with nine decimals.
pub fn unix_seconds_text(nanoseconds: i64) -> String {
    let nanoseconds = nanoseconds.max(0);
    format!("{}.{:09}", nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(parse_rfc3339_nanoseconds("2026-11-30T12:00:00.1Z"), Some(1_796_040_000_100_000_000));
        assert_eq!(parse_rfc3339_nanoseconds("2026-11-30T13:00:00.000000001+01:00"), Some(1_796_040_000_000_000_001));
        assert_eq!(parse_rfc3339_nanoseconds("0001-01-01T00:00:00Z"), None);
        assert_eq!(parse_rfc3339_nanoseconds("yesterday"), None);
        assert_eq!(unix_seconds_text(1_796_040_000_100_000_000), "1796040000.100000000");
        assert_eq!(unix_seconds_text(-5), "0.000000000");
    }
}
