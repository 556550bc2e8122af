//! Whether a text is a cron expression as Nomad reads them: 5 fields, 6 with the year at the end, or 7 with seconds
//! first.

/// What a field may hold.
struct Field {
    least: u32,
    most: u32,
    names: &'static [&'static str],
    /// Marks that stand for days: `L`, `W`, `#`, `?`.
    marks: Marks,
}

#[derive(PartialEq, Eq)]
enum Marks {
    None,
    DayOfMonth,
    DayOfWeek,
}

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
const WORDS: [&str; 6] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@hourly"];

const fn numbers(least: u32, most: u32) -> Field {
    Field { least, most, names: &[], marks: Marks::None }
}

/// Seconds, minutes, hours, days of the month, months, days of the week, years.
const FIELDS: [Field; 7] = [
    numbers(0, 59),
    numbers(0, 59),
    numbers(0, 23),
    Field { least: 1, most: 31, names: &[], marks: Marks::DayOfMonth },
    Field { least: 1, most: 12, names: &MONTHS, marks: Marks::None },
    Field { least: 0, most: 7, names: &DAYS, marks: Marks::DayOfWeek },
    numbers(1970, 2099),
];

pub(super) fn is_expression(text: &str) -> bool {
    let text = text.trim();
    if WORDS.contains(&text) {
        return true;
    }
    let parts: Vec<&str> = text.split_whitespace().collect();
    let fields = match parts.len() {
        5 => FIELDS.get(1..6),
        6 => FIELDS.get(1..7),
        7 => FIELDS.get(0..7),
        _ => None,
    };
    fields.is_some_and(|fields| fields.iter().zip(parts).all(|(field, part)| field.takes(part)))
}

impl Field {
    fn takes(&self, part: &str) -> bool {
        part.split(',').all(|one| self.takes_one(one))
    }

    fn takes_one(&self, one: &str) -> bool {
        match (&self.marks, one) {
            (_, "*") => return true,
            (Marks::DayOfMonth | Marks::DayOfWeek, "?") | (Marks::DayOfMonth, "L" | "LW") => return true,
            (Marks::DayOfMonth, _) if one.strip_suffix('W').is_some_and(|day| self.number(day).is_some()) => {
                return true;
            }
            (Marks::DayOfWeek, _) => {
                let last = one.strip_suffix('L').is_some_and(|day| self.number(day).is_some());
                let nth = one
                    .split_once('#')
                    .is_some_and(|(day, nth)| self.number(day).is_some() && matches!(nth.parse::<u32>(), Ok(1..=5)));
                if last || nth {
                    return true;
                }
            }
            _ => {}
        }
        let (range, step) = match one.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (one, None),
        };
        if step.is_some_and(|step| !step.parse::<u32>().is_ok_and(|step| step > 0 && step <= self.most)) {
            return false;
        }
        match range.split_once('-') {
            _ if range == "*" => true,
            Some((from, to)) => matches!((self.number(from), self.number(to)), (Some(from), Some(to)) if from <= to),
            None => self.number(range).is_some(),
        }
    }

    fn number(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let number = match named {
            Some(at) => u32::try_from(at).ok()? + self.least,
            None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok()?,
            None => return None,
        };
        (self.least..=self.most).contains(&number).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: bool) {
        assert_eq!(is_expression(text), expected, "{text}");
    }

    #[test]
    fn expressions() {
        check("*/15 * * * *", true);
        check("0 0 1 1 * 2030", true);
        check("*/15 * * * * * *", true);
        check("0 22 * * MON-FRI", true);
        check("0 0 L * ?", true);
        check("0 0 LW,15W * *", true);
        check("0 0 * * 5#2,6L", true);
        check("1,2,30-40/5 0 * jan,Dec 7", true);
        check("@daily", true);
        check("@every 5m", false);
        check("60 * * * *", false);
        check("* 24 * * *", false);
        check("* * 0 * *", false);
        check("* * * 13 *", false);
        check("* * * * 8", false);
        check("*/0 * * * *", false);
        check("5-1 * * * *", false);
        check("* * * *", false);
        check("", false);
        check("a b c d e", false);
        check("* * * * 5#6", false);
        check("* * * * * 1969", false);
    }
}
