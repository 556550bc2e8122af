use longshore_values::GoDuration;

use super::{Function, function};

pub(super) const FUNCTIONS: &[Function] = &[
    function("formatdate", 2, 2, |context, a| {
        let text = format_date(&a.text(0)?, &Moment::read(&a.text(1)?)?)?;
        context.budget.charge(text.len())?;
        Ok(text.into())
    }),
    function("timeadd", 2, 2, |_, a| {
        let mut moment = Moment::read(&a.text(0)?)?;
        let span: GoDuration = a.text(1)?.parse().map_err(|why| format!("{why}"))?;
        let nanoseconds = i128::from(moment.nanosecond) + i128::from(span.as_nanoseconds());
        let seconds = i64::try_from(nanoseconds.div_euclid(1_000_000_000)).map_err(|_| "the span is too long")?;
        moment.second += seconds;
        moment.nanosecond = u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0);
        Ok(moment.rfc3339().into())
    }),
];

/// An instant with the offset that it was written in.
struct Moment {
    /// Seconds since 1970-01-01 in the local time of `offset`.
    second: i64,
    nanosecond: u32,
    /// Minutes east of UTC.
    offset: i64,
    utc_letter: bool,
}

impl Moment {
    /// Reads RFC 3339, such as `2026-11-30T18:00:00Z` or `…+01:00`.
    fn read(text: &str) -> Result<Self, String> {
        Self::try_read(text).ok_or_else(|| format!("{text:?} is no RFC 3339 time such as 2006-01-02T15:04:05Z"))
    }

    fn try_read(text: &str) -> Option<Self> {
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = text.get(from..to)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
        };
        let mark = |at: usize, allowed: &[&str]| text.get(at..at + 1).is_some_and(|c| allowed.contains(&c));
        if !(mark(4, &["-"]) && mark(7, &["-"]) && mark(10, &["T", "t", " "]) && mark(13, &[":"]) && mark(16, &[":"])) {
            return None;
        }
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        let valid = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 60;
        if !valid {
            return None;
        }
        let mut rest = text.get(19..)?;
        let mut nanosecond = 0;
        if let Some(fraction) = rest.strip_prefix('.') {
            let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
            let digits = fraction.get(..length)?;
            nanosecond = format!("{digits:0<9}").get(..9)?.parse().ok()?;
            rest = fraction.get(length..)?;
        }
        let (offset, utc_letter) = match rest {
            "Z" | "z" => (0, true),
            _ => {
                let sign = match rest.get(..1)? {
                    "+" => 1,
                    "-" => -1,
                    _ => return None,
                };
                let (hours, minutes) = rest.get(1..)?.split_once(':')?;
                if hours.len() != 2 || minutes.len() != 2 {
                    return None;
                }
                (sign * (hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?), false)
            }
        };
        let days = days_from_civil(year, month, day);
        Some(Self { second: days * 86_400 + hour * 3_600 + minute * 60 + second, nanosecond, offset, utc_letter })
    }

    fn date(&self) -> (i64, usize, i64) {
        civil_from_days(self.second.div_euclid(86_400))
    }

    fn clock(&self) -> (i64, i64, i64) {
        let second = self.second.rem_euclid(86_400);
        (second / 3_600, second / 60 % 60, second % 60)
    }

    fn zone(&self, colon: &str) -> String {
        let sign = if self.offset < 0 { '-' } else { '+' };
        format!("{sign}{:02}{colon}{:02}", self.offset.abs() / 60, self.offset.abs() % 60)
    }

    fn rfc3339(&self) -> String {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.clock());
        let zone = if self.utc_letter { "Z".to_owned() } else { self.zone(":") };
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}")
    }
}

/// Days since 1970-01-01 of a date in the Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

fn civil_from_days(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, usize::try_from(month).unwrap_or(1), day_of_year - (153 * shifted + 2) / 5 + 1)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn format_date(spec: &str, moment: &Moment) -> Result<String, String> {
    let ((year, month, day), (hour, minute, second)) = (moment.date(), moment.clock());
    let weekday = usize::try_from((moment.second.div_euclid(86_400) + 4).rem_euclid(7)).unwrap_or(0);
    let month_name = MONTHS.get(month.saturating_sub(1)).copied().unwrap_or("");
    let weekday_name = WEEKDAYS.get(weekday).copied().unwrap_or("");
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let mut out = String::new();
    let mut rest = spec;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            rest = rest.get(1..).unwrap_or("");
            loop {
                let Some((quoted, after)) = rest.split_once('\'') else {
                    return Err("a quote does not end".to_owned());
                };
                out.push_str(quoted);
                rest = after;
                // Two quotes within a quote are one of the text.
                match rest.strip_prefix('\'') {
                    Some(after) => {
                        out.push('\'');
                        rest = after;
                    }
                    None => break,
                }
            }
            continue;
        }
        let length = rest.len() - rest.trim_start_matches(c).len();
        let (run, after) = rest.split_at(length);
        rest = after;
        out.push_str(&match run {
            "YYYY" => format!("{year:04}"),
            "YY" => format!("{:02}", year.rem_euclid(100)),
            "MMMM" => month_name.to_owned(),
            "MMM" => month_name.chars().take(3).collect(),
            "MM" => format!("{month:02}"),
            "M" => month.to_string(),
            "DD" => format!("{day:02}"),
            "D" => day.to_string(),
            "EEEE" => weekday_name.to_owned(),
            "EEE" => weekday_name.chars().take(3).collect(),
            "hh" => format!("{hour:02}"),
            "h" => hour.to_string(),
            "HH" => format!("{twelve:02}"),
            "H" => twelve.to_string(),
            "AA" => (if hour < 12 { "AM" } else { "PM" }).to_owned(),
            "aa" => (if hour < 12 { "am" } else { "pm" }).to_owned(),
            "mm" => format!("{minute:02}"),
            "m" => minute.to_string(),
            "ss" => format!("{second:02}"),
            "s" => second.to_string(),
            "ZZZZZ" => moment.zone(":"),
            "ZZZZ" => moment.zone(""),
            "ZZZ" if moment.offset == 0 => "UTC".to_owned(),
            "ZZZ" => moment.zone(""),
            "Z" if moment.offset == 0 => "Z".to_owned(),
            "Z" => moment.zone(":"),
            other if c.is_alphabetic() => return Err(format!("there is no part {other:?} of a time")),
            other => other.to_owned(),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_agree() {
        for days in -800_000..800_000 {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month as i64, day), days);
        }
    }
}
