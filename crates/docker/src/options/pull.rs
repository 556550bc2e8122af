use std::str::FromStr;

/// Whether a start asks the registry for an image that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullChoice {
    /// No: only what is not there is pulled.
    Missing,
    /// Yes; while the registry cannot be asked, what is there does.
    Changed,
    /// Yes; while the registry cannot be asked, the start fails.
    Always,
}

impl PullChoice {
    /// As settings and jobs write them.
    pub(crate) const WORDS: [&str; 3] = ["missing", "changed", "always"];
}

impl FromStr for PullChoice {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "missing" => Ok(Self::Missing),
            "changed" => Ok(Self::Changed),
            "always" => Ok(Self::Always),
            _ => Err(format!("takes one of {}, not {word:?}", Self::WORDS.join(", "))),
        }
    }
}
