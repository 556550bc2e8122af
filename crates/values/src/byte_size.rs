use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A number of bytes, as people write and read it.
///
/// Read: a whole number of bytes, or a number with a unit. `kB`, `MB`, `GB` and `TB` count in thousands, `KiB`, `MiB`,
/// `GiB` and `TiB` in 1024s, and a lone `k`, `M`, `G` or `T` is the one in thousands; capitals do not matter. Shown: in
/// 1024s, with one digit after the point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteSize(pub u64);

/// Why a text is no number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadByteSize {
    #[error("no number of bytes: write it as in \"20GB\", \"512MiB\" or \"1073741824\"")]
    Form,
    #[error("unknown unit {unit:?}: units are B, kB, MB, GB, TB, KiB, MiB, GiB and TiB")]
    Unit { unit: String },
    #[error("more bytes than can be counted")]
    TooMany,
}

impl FromStr for ByteSize {
    type Err = BadByteSize;

    fn from_str(text: &str) -> Result<Self, BadByteSize> {
        let text = text.trim();
        let split = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        let factor = factor(unit.trim())?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(whole) || number.contains('.') && !digits(fraction) {
            return Err(BadByteSize::Form);
        }
        let whole: u64 = whole.parse().map_err(|_| BadByteSize::TooMany)?;
        let (mut part, mut of) = (0, 1);
        for digit in fraction.bytes().take(15) {
            part = part * 10 + u128::from(digit - b'0');
            of *= 10;
        }
        let bytes = u128::from(whole) * u128::from(factor) + part * u128::from(factor) / of;
        u64::try_from(bytes).map(Self).map_err(|_| BadByteSize::TooMany)
    }
}

fn factor(unit: &str) -> Result<u64, BadByteSize> {
    Ok(match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err(BadByteSize::Unit { unit: unit.to_owned() }),
    })
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut value = self.0 as f64;
        let mut units = ["KiB", "MiB", "GiB", "TiB"].into_iter();
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut unit = "B";
        while value >= 1024.0
            && let Some(next) = units.next()
        {
            value /= 1024.0;
            unit = next;
        }
        write!(f, "{value:.1} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_for_people() {
        for (bytes, text) in
            [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (5 << 20, "5.0 MiB"), (3 << 40, "3.0 TiB")]
        {
            assert_eq!(ByteSize(bytes).to_string(), text);
        }
    }

    #[test]
    fn bytes_of_people() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("1073741824", Some(1 << 30)),
            ("20GB", Some(20_000_000_000)),
            ("20 gb", Some(20_000_000_000)),
            ("20G", Some(20_000_000_000)),
            ("1.5GiB", Some(3 << 29)),
            ("0.25kB", Some(250)),
            ("512MiB", Some(512 << 20)),
            ("16TiB", Some(16 << 40)),
            ("", None),
            ("GB", None),
            ("1.GB", None),
            (".5GB", None),
            ("1.2.3GB", None),
            ("-1GB", None),
            ("20GiBi", None),
            ("20 %", None),
            ("99999999999999999999", None),
            ("99999999999TiB", None),
        ] {
            assert_eq!(text.parse::<ByteSize>().ok().map(|size| size.0), bytes, "{text}");
        }
    }
}
