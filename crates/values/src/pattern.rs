use regex::{Error, Regex, RegexBuilder};

/// The most that a compiled pattern may take, in bytes. A few characters can ask for far more: `(a{1,500}){1,20}`.
const COMPILED_BYTES_MAX: usize = 1 << 20;

/// A regular expression as people write it in job files; one whose compiled form would be too large is refused.
///
/// # Errors
/// When it is none, or too large.
pub fn regular_expression(pattern: &str) -> Result<Regex, Error> {
    RegexBuilder::new(pattern).size_limit(COMPILED_BYTES_MAX).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_grow_is_refused() {
        assert!(regular_expression("^web-[0-9]+(\\.\\w+)*$").unwrap().is_match("web-12.a"));
        assert!(regular_expression("(").is_err());
        let why = regular_expression("(a{1,500}){1,200}").unwrap_err().to_string();
        assert!(why.contains("exceeds size limit"), "{why}");
    }
}
