//! Paths and queries, percent-encoded.

use std::fmt::Write as _;

/// A path with its query, without the version in front.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    text: String,
    query: bool,
}

impl Path {
    pub(crate) fn new(text: &'static str) -> Self {
        Self { text: text.to_owned(), query: false }
    }

    /// Adds `/segment`. Slashes, colons and `@` of image names stay as they are: the engine's routes expect it.
    #[must_use]
    pub(crate) fn then(mut self, segment: &str) -> Self {
        self.text.push('/');
        encode(&mut self.text, segment, b"/:@");
        self
    }

    #[must_use]
    pub(crate) fn query(mut self, key: &str, value: &str) -> Self {
        self.text.push(if self.query { '&' } else { '?' });
        self.query = true;
        encode(&mut self.text, key, b"");
        self.text.push('=');
        encode(&mut self.text, value, b"");
        self
    }

    #[must_use]
    pub(crate) fn flag(self, key: &str, on: bool) -> Self {
        if on { self.query(key, "1") } else { self }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }
}

fn encode(into: &mut String, text: &str, keep: &[u8]) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep.contains(&byte) {
            into.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(into, "%{byte:02X}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_encoded() {
        let path = Path::new("/images").then("r:5000/a b?:1@sha256:ab").then("json").query("filters", r#"{"a":["b"]}"#);
        assert_eq!(
            path.flag("x", true).flag("y", false).as_str(),
            "/images/r:5000/a%20b%3F:1@sha256:ab/json?filters=%7B%22a%22%3A%5B%22b%22%5D%7D&x=1"
        );
    }
}
