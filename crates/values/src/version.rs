use std::cmp::Ordering;

/// A version as people write them: numbers with dots, then perhaps a pre-release and metadata (`v1.2`, `1.6.3-beta.1+ent`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    segments: Vec<u64>,
    /// How many segments were written; the rest are zeros.
    written: usize,
    prerelease: String,
}

/// How strictly a constraint is read: Nomad's `version` and `semver` operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionRule {
    /// Any number of segments; a pre-release counts only against a constraint with a pre-release of the same numbers.
    Lenient,
    /// Three segments; a pre-release is simply lower than its release.
    Semver,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    /// `~>`: at least this, and equal in all but the last written segment.
    Pessimistic,
}

/// A list of comparisons that must all hold: `>= 1.2, < 2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionConstraint {
    parts: Vec<(Comparison, Version)>,
    rule: VersionRule,
}

impl Version {
    /// `None` for a text that is no version under `rule`.
    pub fn parse(text: &str, rule: VersionRule) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_prefix('v').filter(|_| rule == VersionRule::Lenient).unwrap_or(text);
        let without_metadata = text.split_once('+').map_or(text, |(version, _)| version);
        let numbers_end =
            without_metadata.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(without_metadata.len());
        let (numbers, rest) = without_metadata.split_at(numbers_end);
        let prerelease = match (rest.strip_prefix('-'), rule) {
            (Some(prerelease), _) if !prerelease.is_empty() => prerelease,
            (None, VersionRule::Lenient) => rest,
            (None, VersionRule::Semver) if rest.is_empty() => rest,
            _ => return None,
        };
        if !prerelease.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '~')) {
            return None;
        }
        let segments: Option<Vec<u64>> = numbers.split('.').map(|part| part.parse().ok()).collect();
        let mut segments = segments?;
        let written = segments.len();
        if rule == VersionRule::Semver && written != 3 {
            return None;
        }
        segments.resize(written.max(3), 0);
        Some(Self { segments, written, prerelease: prerelease.to_owned() })
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let longest = self.segments.len().max(other.segments.len());
        let padded = |version: &Self, at: usize| version.segments.get(at).copied().unwrap_or(0);
        for at in 0..longest {
            let order = padded(self, at).cmp(&padded(other, at));
            if order != Ordering::Equal {
                return order;
            }
        }
        match (self.prerelease.is_empty(), other.prerelease.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_prereleases(&self.prerelease, &other.prerelease),
        }
    }
}

/// Part by part; numbers by value and below words; the shorter one first when all else is equal.
fn compare_prereleases(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (a.parse::<u64>(), b.parse::<u64>()) {
                (Ok(a), Ok(b)) => a.cmp(&b),
                (Ok(_), Err(_)) => Ordering::Less,
                (Err(_), Ok(_)) => Ordering::Greater,
                (Err(_), Err(_)) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

impl VersionConstraint {
    /// `None` for a text that is no constraint under `rule`.
    pub fn parse(text: &str, rule: VersionRule) -> Option<Self> {
        let parts: Option<Vec<_>> = text.split(',').map(|part| parse_part(part.trim(), rule)).collect();
        Some(Self { parts: parts?, rule })
    }

    pub fn allows(&self, version: &Version) -> bool {
        self.parts.iter().all(|(comparison, bound)| self.holds(*comparison, version, bound))
    }

    fn holds(&self, comparison: Comparison, version: &Version, bound: &Version) -> bool {
        let prerelease_fits = self.rule == VersionRule::Semver
            || match (version.prerelease.is_empty(), bound.prerelease.is_empty()) {
                (true, _) => true,
                (false, true) => false,
                (false, false) => version.segments == bound.segments,
            };
        match comparison {
            Comparison::Equal => version == bound || version.cmp(bound) == Ordering::Equal,
            Comparison::NotEqual => version.cmp(bound) != Ordering::Equal,
            Comparison::Greater => prerelease_fits && version > bound,
            Comparison::GreaterOrEqual => prerelease_fits && version >= bound,
            Comparison::Less => prerelease_fits && version < bound,
            Comparison::LessOrEqual => prerelease_fits && version <= bound,
            Comparison::Pessimistic => {
                let fixed = bound.written.saturating_sub(1).max(1);
                prerelease_fits
                    && version >= bound
                    && version.segments.iter().take(fixed).eq(bound.segments.iter().take(fixed))
            }
        }
    }
}

fn parse_part(text: &str, rule: VersionRule) -> Option<(Comparison, Version)> {
    const WORDS: [(&str, Comparison); 8] = [
        (">=", Comparison::GreaterOrEqual),
        ("<=", Comparison::LessOrEqual),
        ("!=", Comparison::NotEqual),
        ("~>", Comparison::Pessimistic),
        (">", Comparison::Greater),
        ("<", Comparison::Less),
        ("=", Comparison::Equal),
        ("", Comparison::Equal),
    ];
    let (word, comparison) = WORDS.iter().find(|(word, _)| text.starts_with(word))?;
    if *comparison == Comparison::Pessimistic && rule == VersionRule::Semver {
        return None;
    }
    Some((*comparison, Version::parse(text.get(word.len()..)?, rule)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: VersionRule, version: &str, constraint: &str, expected: Option<bool>) {
        let got = VersionConstraint::parse(constraint, rule)
            .and_then(|constraint| Some(constraint.allows(&Version::parse(version, rule)?)));
        assert_eq!(got, expected, "{version:?} against {constraint:?}");
    }

    #[test]
    fn lenient_constraints() {
        let lenient = |version, constraint, expected| check(VersionRule::Lenient, version, constraint, expected);
        lenient("1.2.3", ">= 1.2", Some(true));
        lenient("v1.2", "= 1.2.0", Some(true));
        lenient("1.2.3", ">= 1.0, < 1.2", Some(false));
        lenient("1.3.0-beta1", ">= 1.2", Some(false));
        lenient("1.3.0-beta1", ">= 1.3.0-alpha", Some(true));
        lenient("1.2.9", "~> 1.2.3", Some(true));
        lenient("1.3.0", "~> 1.2.3", Some(false));
        lenient("1.9", "~> 1.2", Some(true));
        lenient("2.0", "~> 1.2", Some(false));
        lenient("20.10.24+dfsg1", ">= 20.10", Some(true));
        lenient("x", ">= 1", None);
        lenient("1", "oops", None);
        lenient("1", "", None);
    }

    #[test]
    fn semver_constraints() {
        let semver = |version, constraint, expected| check(VersionRule::Semver, version, constraint, expected);
        semver("1.3.0-beta1", ">= 1.2.0", Some(true));
        semver("1.3.0-beta1", ">= 1.3.0", Some(false));
        semver("1.3.0-beta.2", "> 1.3.0-beta.1", Some(true));
        semver("1.3", ">= 1.2.0", None);
        semver("1.3.0", "~> 1.2.0", None);
    }
}
