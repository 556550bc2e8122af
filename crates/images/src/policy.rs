use longshore_model::{ImageRef, Timestamp};
use longshore_values::{Glob, GoDuration};
use serde::{Deserialize, Serialize};

use crate::{Retain, SpacePolicy};

/// When images go: the part of the `gc` settings that is about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// `gc.image`: whether the agent removes images at all. When false, only a person's `image gc` does.
    pub image: bool,
    /// `gc.image_delay`: how long an image stays after its last need. Zero or less: at once.
    pub image_delay: GoDuration,
    /// `gc.keep`: names that are never removed, matched against the full and the familiar form.
    pub keep: Vec<Glob>,
    /// `gc.foreign`: what becomes of names that others brought.
    pub foreign: Foreign,
    /// Another agent keeps the images of this engine: whatever is brought is not ours to remove.
    pub kept_by_others: bool,
    /// What is about room and age.
    pub space: SpacePolicy,
}

/// What becomes of names that others brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Foreign {
    /// They are left alone.
    #[default]
    Keep,
    /// They go like ours, when nothing needs any name of their content and no container uses it. Content that others left
    /// without a name stays.
    Collect,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            image: true,
            image_delay: GoDuration::minutes(3),
            keep: Vec::new(),
            foreign: Foreign::Keep,
            kept_by_others: false,
            space: SpacePolicy::default(),
        }
    }
}

impl Policy {
    /// The pattern of `keep` that a name matches.
    pub fn kept_by(&self, name: &ImageRef) -> Option<&Glob> {
        self.keep.iter().find(|glob| matches_name(glob, name))
    }

    /// Whether names that others brought are removed when nothing needs them.
    pub(crate) fn collects_foreign(&self) -> bool {
        self.foreign == Foreign::Collect && !self.kept_by_others
    }

    /// The delay without a sign: a negative one means at once, as in Nomad.
    pub fn delay(&self) -> GoDuration {
        if self.image_delay.is_negative() { GoDuration::ZERO } else { self.image_delay }
    }

    /// How long something may stay idle when nothing presses; none when only pressure ends it.
    pub fn idle_span(&self) -> Option<GoDuration> {
        let delay = Some(self.delay().max(self.space.min_age())).filter(|_| self.space.retain == Retain::Delay);
        delay.into_iter().chain(self.space.max_age()).min()
    }

    /// When something that is idle since then goes, if nothing presses.
    pub fn due_at(&self, idle_since: Timestamp) -> Option<Timestamp> {
        self.idle_span().map(|span| idle_since.plus(span))
    }

    /// From when on pressure may take something that is idle since then.
    pub fn may_be_pressed_at(&self, idle_since: Timestamp) -> Timestamp {
        idle_since.plus(self.space.min_age())
    }
}

/// Whether a pattern matches a name in either form that people write.
pub(crate) fn matches_name(glob: &Glob, name: &ImageRef) -> bool {
    glob.matches(name.full()) || glob.matches(name.familiar())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_given_policy_keeps_its_other_defaults() {
        let policy: Policy = serde_json::from_str(r#"{"image": false}"#).unwrap();
        assert_eq!(policy, Policy { image: false, ..Policy::default() });
        assert_eq!(policy.image_delay, GoDuration::seconds(180));
    }

    #[test]
    fn when_idle_images_go() {
        let (s, zero) = (GoDuration::seconds, GoDuration::ZERO);
        for (retain, delay, min_age, max_age, expected) in [
            (Retain::Delay, s(180), zero, zero, Some(180)),
            (Retain::Delay, s(-5), zero, zero, Some(0)),
            (Retain::Delay, s(180), s(600), zero, Some(600)),
            (Retain::Delay, s(180), zero, s(60), Some(60)),
            (Retain::Delay, s(180), zero, s(900), Some(180)),
            (Retain::Space, s(180), s(600), zero, None),
            (Retain::Space, s(180), s(600), s(900), Some(900)),
        ] {
            let space = SpacePolicy { retain, min_age, max_age, ..SpacePolicy::default() };
            let policy = Policy { image_delay: delay, space, ..Policy::default() };
            let due_at = policy.due_at(Timestamp::from_seconds(1_000));
            let expected = expected.map(|after| Timestamp::from_seconds(1_000 + after));
            assert_eq!(due_at, expected, "{policy:?}");
        }
    }

    #[test]
    fn keep_matches_both_forms() {
        for (pattern, name, expected) in [
            ("redis:*", "redis:7", true),
            ("docker.io/library/redis:7", "redis:7", true),
            ("docker.io/*", "redis:7", true),
            ("redis", "redis:7", false),
            ("acme/*", "redis:7", false),
        ] {
            let policy = Policy { keep: vec![Glob::new(pattern)], ..Policy::default() };
            assert_eq!(policy.kept_by(&name.parse().unwrap()).is_some(), expected, "{pattern} against {name}");
        }
    }
}
