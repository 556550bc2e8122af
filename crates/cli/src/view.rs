use chrono::{DateTime, Local, SecondsFormat, Utc};

/// In which zone times are shown; tests do not depend on the machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Zone {
    Local,
    #[cfg(test)]
    Utc,
}

/// How things are to be shown: everything that rendering needs beside the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct View {
    /// Nanoseconds since 1970.
    pub(crate) now: i64,
    pub(crate) zone: Zone,
    /// Whole ids and absolute times.
    pub(crate) verbose: bool,
    pub(crate) colour: bool,
}

/// The codes of the colours and weights that are used.
pub(crate) const COLOURS: [&str; 8] = ["0", "1", "91", "32", "33", "34", "36", "1;32"];
const SHORT_ID: usize = 8;
const SECOND: i64 = 1_000_000_000;

impl View {
    /// An id: its first eight characters, or all of them.
    pub(crate) fn id<'a>(&self, id: &'a str) -> &'a str {
        if self.verbose { id } else { id.get(..SHORT_ID).unwrap_or(id) }
    }

    /// A time in RFC 3339 to the second; nothing for the zero time.
    pub(crate) fn time(&self, ns: i64) -> String {
        if ns == 0 {
            return String::new();
        }
        let utc = DateTime::<Utc>::from_timestamp_nanos(ns);
        match self.zone {
            #[cfg(test)]
            Zone::Utc => utc.to_rfc3339_opts(SecondsFormat::Secs, true),
            Zone::Local => utc.with_timezone(&Local).to_rfc3339_opts(SecondsFormat::Secs, true),
        }
    }

    /// A time as people see it in lists: how long ago, or the time itself when all is to be shown.
    pub(crate) fn ago(&self, ns: i64) -> String {
        if self.verbose { self.time(ns) } else { self.relative(ns) }
    }

    /// `1h5m ago`, `10s from now`.
    pub(crate) fn relative(&self, ns: i64) -> String {
        if ns == 0 {
            return String::new();
        }
        let apart = self.now.saturating_sub(ns);
        let rounded = apart.unsigned_abs().saturating_add(SECOND.unsigned_abs() / 2) / SECOND.unsigned_abs();
        let span = two_units(rounded);
        if apart < 0 && rounded > 0 { format!("{span} from now") } else { format!("{span} ago") }
    }

    /// The time of now, for lines of a monitor.
    pub(crate) fn clock(&self) -> String {
        self.time(self.now)
    }

    /// With `codes` of [`COLOURS`].
    fn paint(&self, codes: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{codes}m{text}\x1b[0m") } else { text.to_owned() }
    }
    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }
    pub(crate) fn red(&self, text: &str) -> String {
        self.paint("91", text)
    }
    pub(crate) fn green(&self, text: &str) -> String {
        self.paint("32", text)
    }
    pub(crate) fn yellow(&self, text: &str) -> String {
        self.paint("33", text)
    }
    pub(crate) fn blue(&self, text: &str) -> String {
        self.paint("34", text)
    }
    pub(crate) fn cyan(&self, text: &str) -> String {
        self.paint("36", text)
    }
    pub(crate) fn bold_green(&self, text: &str) -> String {
        self.paint("1;32", text)
    }
}

/// The two largest units of a span in seconds, glued: `3d2h`, `1m7s`, `0s`.
fn two_units(mut seconds: u64) -> String {
    const UNITS: [(&str, u64); 6] =
        [("y", 365 * 86_400), ("mo", 30 * 86_400), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let mut shown = String::new();
    let mut left = 2;
    for (name, size) in UNITS {
        let count = seconds / size;
        seconds %= size;
        if count > 0 {
            shown.push_str(&format!("{count}{name}"));
        }
        if !shown.is_empty() {
            left -= 1;
            if left == 0 {
                break;
            }
        }
    }
    if shown.is_empty() { "0s".to_owned() } else { shown }
}

/// A size in IEC units: `256 MiB`, `8.8 GiB`, `0 B`.
pub(crate) fn bytes(size: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size < 10 {
        return format!("{size} B");
    }
    let mut value = size as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or("B");
    let value = (value * 10.0 + 0.5).floor() / 10.0;
    if value < 10.0 { format!("{value:.1} {name}") } else { format!("{value:.0} {name}") }
}

/// Mebibytes as a size.
pub(crate) fn mebibytes(size: i64) -> String {
    bytes(u64::try_from(size).unwrap_or(0).saturating_mul(1 << 20))
}

/// A number with three significant digits, as `%.3g` prints it.
pub(crate) fn three_digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { format!("{value}") };
    }
    let scientific = format!("{value:.2e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-5..3).contains(&exponent) && exponent >= -4 {
        let decimals = usize::try_from(2 - exponent).unwrap_or(0);
        trim(&format!("{value:.decimals$}"))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_ago(seconds: i64, expected: &str) {
        let view = View { now: 2_000_000_000 * SECOND, zone: Zone::Utc, verbose: false, colour: false };
        assert_eq!(view.relative(view.now - seconds * SECOND), expected, "{seconds} s");
    }

    #[test]
    fn spans_have_two_units() {
        check_ago(0, "0s ago");
        check_ago(1, "1s ago");
        check_ago(67, "1m7s ago");
        check_ago(60, "1m ago");
        check_ago(3_900, "1h5m ago");
        check_ago(3_600 + 7, "1h ago");
        check_ago(3 * 86_400 + 7_200, "3d2h ago");
        check_ago(40 * 86_400, "1mo10d ago");
        check_ago(400 * 86_400, "1y1mo ago");
        check_ago(-10, "10s from now");
    }

    #[test]
    fn sizes() {
        let got: Vec<String> = [0, 9, 100, 1024, 48 << 10, 32 << 20, 9_000 << 20, 25_276_510_208].map(bytes).to_vec();
        assert_eq!(got, ["0 B", "9 B", "100 B", "1.0 KiB", "48 KiB", "32 MiB", "8.8 GiB", "24 GiB"]);
    }

    #[test]
    fn three_significant_digits() {
        let got: Vec<String> =
            [0.0, 0.018, -0.4826, 0.034_71, 1.0, -1.0, 18.0, 123.4, 1234.0, 0.00001, 0.5].map(three_digits).to_vec();
        assert_eq!(got, ["0", "0.018", "-0.483", "0.0347", "1", "-1", "18", "123", "1.23e+03", "1e-05", "0.5"]);
    }

    #[test]
    fn times_and_ids() {
        let mut view = View { now: 0, zone: Zone::Utc, verbose: false, colour: false };
        assert_eq!(view.time(1_796_060_312_914_421_225), "2026-11-30T17:38:32Z");
        assert_eq!((view.time(0).as_str(), view.id("0123456789"), view.id("abc")), ("", "01234567", "abc"));
        view.verbose = true;
        assert_eq!(view.id("0123456789"), "0123456789");
    }
}
