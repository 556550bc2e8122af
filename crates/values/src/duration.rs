use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A span of time as Go writes and reads it (`1h30m0s`, `500ms`, `-1.5h`), in nanoseconds.
///
/// On the wire it is an integer of nanoseconds; a text in Go's form is read too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoDuration(i64);

/// Why a text is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDuration {
    #[error("time: invalid duration {0:?}")]
    Form(String),
    #[error("time: missing unit in duration {0:?}")]
    MissingUnit(String),
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit { unit: String, text: String },
}

const MICROSECOND: i64 = 1_000;
const MILLISECOND: i64 = 1_000 * MICROSECOND;
const SECOND: i64 = 1_000 * MILLISECOND;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

impl GoDuration {
    pub const ZERO: Self = Self(0);

    pub const fn nanoseconds(n: i64) -> Self {
        Self(n)
    }
    pub const fn milliseconds(n: i64) -> Self {
        Self(n.saturating_mul(MILLISECOND))
    }
    pub const fn seconds(n: i64) -> Self {
        Self(n.saturating_mul(SECOND))
    }
    pub const fn minutes(n: i64) -> Self {
        Self(n.saturating_mul(MINUTE))
    }
    pub const fn hours(n: i64) -> Self {
        Self(n.saturating_mul(HOUR))
    }
    pub const fn as_nanoseconds(self) -> i64 {
        self.0
    }
    pub fn as_seconds_f64(self) -> f64 {
        self.0 as f64 / SECOND as f64
    }
    /// As the standard library's type; a negative span becomes zero.
    pub fn to_std(self) -> std::time::Duration {
        std::time::Duration::from_nanos(self.0.max(0).unsigned_abs())
    }
    pub fn from_std(span: std::time::Duration) -> Self {
        Self(i64::try_from(span.as_nanos()).unwrap_or(i64::MAX))
    }
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
    pub fn is_negative(self) -> bool {
        self.0 < 0
    }
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
    #[must_use]
    pub fn saturating_mul(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

impl FromStr for GoDuration {
    type Err = BadDuration;

    fn from_str(text: &str) -> Result<Self, BadDuration> {
        let bad = || BadDuration::Form(text.to_owned());
        let (negative, mut rest) = match text.as_bytes().first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Ok(Self::ZERO);
        }
        if rest.is_empty() {
            return Err(bad());
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (whole, after) = rest.split_at(digits);
            let (fraction, after) = match after.strip_prefix('.') {
                Some(after) => after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())),
                None => ("", after),
            };
            if whole.is_empty() && fraction.is_empty() {
                return Err(bad());
            }
            let unit_len = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
            let (unit, after) = after.split_at(unit_len);
            let scale = match unit {
                "ns" => 1,
                "us" | "µs" | "μs" => MICROSECOND,
                "ms" => MILLISECOND,
                "s" => SECOND,
                "m" => MINUTE,
                "h" => HOUR,
                "" => return Err(BadDuration::MissingUnit(text.to_owned())),
                _ => return Err(BadDuration::UnknownUnit { unit: unit.to_owned(), text: text.to_owned() }),
            };
            let scale = i128::from(scale);
            let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| bad())? };
            total += whole.checked_mul(scale).ok_or_else(bad)?;
            let mut place = scale;
            for digit in fraction.bytes().take(20) {
                place /= 10;
                total += i128::from(digit - b'0') * place;
            }
            if total > i128::from(i64::MAX) + i128::from(negative) {
                return Err(bad());
            }
            rest = after;
        }
        let total = if negative { -total } else { total };
        i64::try_from(total).map(Self).map_err(|_| bad())
    }
}

impl fmt::Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0.unsigned_abs();
        if ns == 0 {
            return f.write_str("0s");
        }
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let (second, minute, hour) = (SECOND.unsigned_abs(), MINUTE.unsigned_abs(), HOUR.unsigned_abs());
        if ns < second {
            let (unit, name) = match ns {
                0..1_000 => (1, "ns"),
                1_000..1_000_000 => (1_000, "µs"),
                _ => (1_000_000, "ms"),
            };
            return write!(f, "{}{name}", decimal(ns, unit));
        }
        if ns >= hour {
            write!(f, "{}h", ns / hour)?;
        }
        if ns >= minute {
            write!(f, "{}m", ns % hour / minute)?;
        }
        write!(f, "{}s", decimal(ns % minute, second))
    }
}

/// `value / unit` with as many decimals as it needs.
fn decimal(value: u64, unit: u64) -> String {
    let (whole, mut part, mut place) = (value / unit, value % unit, unit);
    let mut text = whole.to_string();
    if part > 0 {
        text.push('.');
    }
    while part > 0 {
        place /= 10;
        text.push_str(&(part / place).to_string());
        part %= place;
    }
    text
}

impl Serialize for GoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.0)
    }
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = GoDuration;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration: nanoseconds, or a text such as \"30s\"")
            }
            fn visit_i64<E: de::Error>(self, n: i64) -> Result<GoDuration, E> {
                Ok(GoDuration(n))
            }
            fn visit_u64<E: de::Error>(self, n: u64) -> Result<GoDuration, E> {
                i64::try_from(n).map(GoDuration).map_err(|_| E::custom("duration out of range"))
            }
            fn visit_f64<E: de::Error>(self, n: f64) -> Result<GoDuration, E> {
                if n.fract() == 0.0 && n.abs() < 9.2e18 {
                    Ok(GoDuration(n as i64))
                } else {
                    Err(E::custom("a duration is a whole number of nanoseconds"))
                }
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<GoDuration, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let got = match text.parse::<GoDuration>() {
            Ok(span) => span.to_string(),
            Err(why) => format!("error: {why}"),
        };
        assert_eq!(got, expected, "{text:?}");
    }

    #[test]
    fn reads_and_prints_as_go_does() {
        check("0", "0s");
        check("0s", "0s");
        check("90s", "1m30s");
        check("1h", "1h0m0s");
        check("96h", "96h0m0s");
        check("1.5h", "1h30m0s");
        check("-1.5h", "-1h30m0s");
        check("1µs", "1µs");
        check("1500us", "1.5ms");
        check(".5s", "500ms");
        check("1h2m3.004s", "1h2m3.004s");
        check("", "error: time: invalid duration \"\"");
        check("3", "error: time: missing unit in duration \"3\"");
        check("1d", "error: time: unknown unit \"d\" in duration \"1d\"");
        check("-", "error: time: invalid duration \"-\"");
        check("s", "error: time: invalid duration \"s\"");
        check("9999999999h", "error: time: invalid duration \"9999999999h\"");
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(ns in any::<i64>()) {
            let span = GoDuration::nanoseconds(ns);
            prop_assert_eq!(span.to_string().parse::<GoDuration>(), Ok(span));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<GoDuration>();
        }
    }
}
