use longshore_model::ImageRef;
use longshore_values::{Glob, GoDuration};
use serde::{Deserialize, Serialize};

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
