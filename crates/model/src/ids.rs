use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Where fresh ids come from: the system's randomness in the agent, 1, 2, 3… in tests.
pub trait IdSource {
    /// 128 bits that no earlier call gave.
    fn next_id(&mut self) -> u128;
}

/// Ids in counting order, for tests and worlds: repeatable and readable.
#[derive(Debug, Clone, Default)]
pub struct SequentialIds(u128);

impl IdSource for SequentialIds {
    fn next_id(&mut self) -> u128 {
        self.0 += 1;
        self.0
    }
}

/// A text that is no id of the form `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")]
pub struct BadId(pub String);

fn parse_hyphenated(text: &str) -> Option<u128> {
    let bytes = text.as_bytes();
    if bytes.len() != 36 {
        return None;
    }
    let mut value: u128 = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 8 | 13 | 18 | 23) {
            if *byte != b'-' {
                return None;
            }
            continue;
        }
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        value = value << 4 | u128::from(digit);
    }
    Some(value)
}

macro_rules! id_types {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u128);

        impl $name {
            pub fn fresh(ids: &mut dyn IdSource) -> Self {
                Self(ids.next_id())
            }
            pub const fn from_u128(value: u128) -> Self {
                Self(value)
            }
            pub const fn as_u128(self) -> u128 {
                self.0
            }
            /// The first eight characters, as people are shown.
            pub fn short(self) -> String {
                format!("{:08x}", self.0 >> 96)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let v = self.0;
                write!(
                    f,
                    "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
                    v >> 96,
                    (v >> 80) & 0xffff,
                    (v >> 64) & 0xffff,
                    (v >> 48) & 0xffff,
                    v & 0xffff_ffff_ffff
                )
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }

        impl FromStr for $name {
            type Err = BadId;
            fn from_str(text: &str) -> Result<Self, BadId> {
                parse_hyphenated(text).map(Self).ok_or_else(|| BadId(text.to_owned()))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

id_types! {
    /// One placement of a task group on one node.
    AllocId,
    /// One look at what a job should have.
    EvalId,
    /// One machine that runs tasks.
    NodeId,
    /// One roll-out of a job version.
    DeploymentId,
}

/// A job's name within its namespace. Sorted by namespace, then id, as lists are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobKey {
    pub namespace: String,
    pub id: String,
}

impl JobKey {
    pub fn new(namespace: impl Into<String>, id: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), id: id.into() }
    }
}

impl fmt::Display for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.id, self.namespace)
    }
}

/// A place in the journal; what clients see as `X-Nomad-Index`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LogIndex(pub u64);

impl LogIndex {
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for LogIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_back_what_they_print() {
        let id = AllocId::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(id.to_string(), "01234567-89ab-cdef-0123-456789abcdef");
        assert_eq!(id.short(), "01234567");
        assert_eq!(id.to_string().parse(), Ok(id));
        for bad in ["", "01234567", "01234567-89ab-cdef-0123-456789abcdeg", "01234567089ab-cdef-0123-456789abcdef"] {
            assert_eq!(bad.parse::<AllocId>(), Err(BadId(bad.to_owned())));
        }
    }
}
