use serde::{Deserialize, Serialize};

/// A pattern in which `*` stands for any run of characters (also none, also with `/`), as in Nomad's lists of globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Glob(String);

impl Glob {
    pub fn new(pattern: impl Into<String>) -> Self {
        Self(pattern.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, text: &str) -> bool {
        let mut parts = self.0.split('*');
        let Some(first) = parts.next() else { return text.is_empty() };
        let Some(mut rest) = text.strip_prefix(first) else { return false };
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return rest.is_empty();
        }
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                return rest.len() >= part.len() && rest.ends_with(part);
            }
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: bool) {
        assert_eq!(Glob::new(pattern).matches(text), expected, "{pattern:?} against {text:?}");
    }

    #[test]
    fn stars_stand_for_any_run() {
        check("*", "", true);
        check("*", "dc1", true);
        check("dc1", "dc1", true);
        check("dc1", "dc11", false);
        check("dc*", "dc1", true);
        check("*1", "dc1", true);
        check("d*1", "dc1", true);
        check("d*1", "d", false);
        check("a*a", "a", false);
        check("a*b*c", "a-b-b-c", true);
        check("a*b*c", "a-c", false);
        check("docker.io/*", "docker.io/library/redis:7", true);
        check("", "", true);
        check("", "x", false);
    }
}
