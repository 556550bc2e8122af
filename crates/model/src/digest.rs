use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is no content id or digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no digest such as sha256: and 64 lower-case hex digits")]
pub struct BadDigest(pub String);

/// What an engine calls the content of an image: the sha256 of its configuration. Prints as `sha256:` and 64 hex digits;
/// reads the same with or without `sha256:`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId([u8; 32]);

impl ContentId {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The 64 hex digits alone.
    pub fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The first twelve hex digits, as people are shown.
    pub fn short(&self) -> String {
        self.0.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.short())
    }
}

impl FromStr for ContentId {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let bad = || BadDigest(text.to_owned());
        let hex = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        if hex.len() != 64 {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            for digit in pair {
                let digit = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return Err(bad()),
                };
                *byte = *byte << 4 | digit;
            }
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ContentId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The digest of a manifest, by which a registry serves it: an algorithm that Docker accepts and its hex digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(Arc<str>);

impl Digest {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = BadDigest;

    fn from_str(text: &str) -> Result<Self, BadDigest> {
        let length = match text.split_once(':') {
            Some(("sha256", _)) => 64,
            Some(("sha384", _)) => 96,
            Some(("sha512", _)) => 128,
            _ => return Err(BadDigest(text.to_owned())),
        };
        let hex = text.get(7..).unwrap_or_default();
        if hex.len() != length || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(BadDigest(text.to_owned()));
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ids_read_back_what_they_print() {
        let hex = "0123456789abcdef".repeat(4);
        let id: ContentId = hex.parse().unwrap();
        assert_eq!(id.to_string(), format!("sha256:{hex}"));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!((id.hex(), id.short()), (hex.clone(), "0123456789ab".to_owned()));
        assert_eq!(serde_json::from_str::<ContentId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        for bad in ["", "sha256:", "sha256:01", "sha512:0123", &hex.to_uppercase(), &format!("{hex}0")] {
            assert_eq!(bad.parse::<ContentId>(), Err(BadDigest(bad.to_owned())));
        }
    }

    #[test]
    fn digests_are_of_algorithms_that_docker_accepts() {
        for (text, good) in [
            (format!("sha256:{}", "a".repeat(64)), true),
            (format!("sha384:{}", "a".repeat(96)), true),
            (format!("sha512:{}", "a".repeat(128)), true),
            (format!("sha256:{}", "a".repeat(63)), false),
            (format!("sha256:{}", "A".repeat(64)), false),
            (format!("sha1:{}", "a".repeat(40)), false),
            ("a".repeat(64), false),
        ] {
            assert_eq!(text.parse::<Digest>().is_ok(), good, "{text}");
        }
    }
}
