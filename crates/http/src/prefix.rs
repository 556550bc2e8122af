//! Ids that are given in part, with Nomad's rules and words.

use crate::error::{ApiError, Result};

/// A full id of a `noun` (`alloc`, `eval`, `node`, `deployment`).
pub(crate) fn full_id<T: std::str::FromStr>(noun: &str, text: &str) -> Result<T> {
    if text.len() != 36 {
        return Err(ApiError::server(format!("{noun} lookup failed: index error: UUID must be 36 characters")));
    }
    text.parse().map_err(|_| {
        let why = invalid_digit(&text.replace('-', "")).unwrap_or_else(|| "Invalid UUID".to_owned());
        ApiError::server(format!("{noun} lookup failed: index error: {why}"))
    })
}

/// The beginning of an id, as `?prefix=` has it: hex digits of an even number, hyphens left out of account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdPrefix(String);

impl IdPrefix {
    pub(crate) fn parse(noun: &str, text: &str) -> Result<Self> {
        let fail = |why: &str| ApiError::server(format!("{noun} lookup failed: index error: {why}"));
        let digits = text.replace('-', "");
        if !digits.len().is_multiple_of(2) {
            return Err(fail("Input (without hyphens) must be even length"));
        }
        match invalid_digit(&digits) {
            Some(why) => Err(fail(&why)),
            None => Ok(Self(digits.to_ascii_lowercase())),
        }
    }

    /// The same without the rule about even numbers.
    pub(crate) fn of_any_length(noun: &str, text: &str) -> Result<Self> {
        let digits = text.replace('-', "");
        match invalid_digit(&digits) {
            Some(why) => Err(ApiError::server(format!("{noun} lookup failed: index error: {why}"))),
            None => Ok(Self(digits.to_ascii_lowercase())),
        }
    }

    /// For search: an odd number of digits is rounded down; `None` when it cannot be the beginning of an id.
    pub(crate) fn lenient(text: &str) -> Option<Self> {
        let mut digits = text.replace('-', "").to_ascii_lowercase();
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) || digits.len() > 32 {
            return None;
        }
        if !digits.len().is_multiple_of(2) {
            digits.pop();
        }
        Some(Self(digits))
    }

    pub(crate) fn begins(&self, id: u128) -> bool {
        self.0.is_empty() || format!("{id:032x}").starts_with(&self.0)
    }
}

fn invalid_digit(digits: &str) -> Option<String> {
    let bad = digits.chars().find(|c| !c.is_ascii_hexdigit())?;
    Some(format!("Invalid UUID: encoding/hex: invalid byte: U+{:04X} {bad:?}", u32::from(bad)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use longshore_model::AllocId;

    #[track_caller]
    fn check(text: &str, expected: Result<bool, &str>) {
        let id = 0x3ed6_628d_d73f_72df_cb54_1f4a_51da_766b_u128;
        let got = IdPrefix::parse("alloc", text).map(|prefix| prefix.begins(id)).map_err(|error| error.message);
        assert_eq!(got, expected.map_err(|why| format!("alloc lookup failed: index error: {why}")), "{text}");
    }

    #[test]
    fn prefixes() {
        check("", Ok(true));
        check("3ed6628d", Ok(true));
        check("3ED6628D-d7", Ok(true));
        check("3ed6628e", Ok(false));
        check("3ed6628d-d73f-72df-cb54-1f4a51da766b", Ok(true));
        check("3ed6628", Err("Input (without hyphens) must be even length"));
        check("zz", Err("Invalid UUID: encoding/hex: invalid byte: U+007A 'z'"));
    }

    #[test]
    fn ids() {
        assert!(full_id::<AllocId>("alloc", "3ed6628d-d73f-72df-cb54-1f4a51da766b").is_ok());
        let short = full_id::<AllocId>("alloc", "3ed6628d").unwrap_err();
        assert_eq!(short.message, "alloc lookup failed: index error: UUID must be 36 characters");
        let bad = full_id::<AllocId>("alloc", "3ed6628d-d73f-72df-cb54-1f4a51da766x").unwrap_err();
        assert_eq!(
            bad.message,
            "alloc lookup failed: index error: Invalid UUID: encoding/hex: invalid byte: U+0078 'x'"
        );
    }
}
