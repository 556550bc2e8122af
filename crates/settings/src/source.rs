use std::fmt;
use std::sync::{Arc, OnceLock};

use longshore_values::{Place, holds_a_login};

/// Longest line that a message repeats below its place; a longer one (JSON on one line) is left out.
const SHOWN_LINE_MAX: usize = 160;

/// The text of one agent file, and the name by which messages speak of it.
pub struct Source {
    /// The path as the person gave it.
    pub name: String,
    pub text: String,
    /// Where each line begins, once somebody asked for a place: a file may have as many of them as settings.
    line_starts: OnceLock<Vec<usize>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.text) == (&other.name, &other.text)
    }
}

impl Eq for Source {}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into(), line_starts: OnceLock::new() })
    }

    /// The number of the line that `at` lies on, counted from 0, and where it begins.
    fn line_of(&self, at: usize) -> (usize, usize) {
        let starts = self.line_starts.get_or_init(|| {
            let breaks = self.text.match_indices('\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(breaks).collect()
        });
        let line = starts.partition_point(|start| *start <= at).saturating_sub(1);
        (line, starts.get(line).copied().unwrap_or(0))
    }
}

/// The name alone: an agent file may carry secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({:?})", self.name)
    }
}

/// A run of bytes of a source.
#[derive(Clone, PartialEq, Eq)]
pub struct Span {
    pub source: Arc<Source>,
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// Line, column and text of the line, for a message.
    pub fn place(&self) -> Place {
        let (line, line_start) = self.source.line_of(self.start.min(self.source.text.len()));
        let from = self.source.text.get(line_start..).unwrap_or("");
        let text = from.split_inclusive('\n').next().unwrap_or("");
        let within = |at: usize| at.saturating_sub(line_start);
        let mut place = Place::of_bytes(&self.source.name, text, within(self.start), within(self.end));
        place.line = line + 1;
        if place.line_text.chars().count() > SHOWN_LINE_MAX || may_hold_a_secret(&place.line_text) {
            place.line_text.clear();
        }
        place
    }
}

/// Whether a line had better not be repeated in a message: it names something that is kept secret.
fn may_hold_a_secret(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    // `auth = "user:password"`, but not the block `auth { config = "/path" }`.
    let login = line.split("auth").skip(1).any(|after| {
        let after = after.trim_start_matches(['"', ' ', '\t']);
        after.starts_with('=') || after.starts_with(':')
    });
    names_a_secret(&line) || login || holds_a_login(&line)
}

/// Whether a name, or a line with one, says that it is of something secret.
pub fn names_a_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["token", "secret", "password", "encrypt"].iter().any(|word| text.contains(word))
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place())
    }
}

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody gave it: the built-in default.
    Default,
    /// The defaults of `-dev`.
    Dev,
    /// A flag of the command line, with its leading dash.
    Flag(String),
    /// A variable of the agent's environment.
    Environment(String),
    /// A key of an agent file.
    File(Span),
    /// A key of `client { options { … } }` that stands for the setting.
    ClientOption { key: String, span: Option<Span> },
}

impl Origin {
    /// The place in a file, where there is one.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::File(span) | Self::ClientOption { span: Some(span), .. } => Some(span.place()),
            Self::Default
            | Self::Dev
            | Self::Flag(_)
            | Self::Environment(_)
            | Self::ClientOption { span: None, .. } => None,
        }
    }

    /// The file's name, where there is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(span) | Self::ClientOption { span: Some(span), .. } => Some(&span.source.name),
            Self::Default
            | Self::Dev
            | Self::Flag(_)
            | Self::Environment(_)
            | Self::ClientOption { span: None, .. } => None,
        }
    }
}

/// `a.hcl:3`, `flag -bind`, `default`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::Dev => f.write_str("default of -dev"),
            Self::Flag(name) => write!(f, "flag {name}"),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::File(span) => {
                let place = span.place();
                write!(f, "{}:{}", place.file, place.line)
            }
            Self::ClientOption { key, span: Some(span) } => {
                let place = span.place();
                write!(f, "client option {key:?} at {}:{}", place.file, place.line)
            }
            Self::ClientOption { key, span: None } => write!(f, "client option {key:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        let span = Span { source: Source::new("a.hcl", text), start: 0, end: 1 };
        assert_eq!(span.place().line_text, shown);
    }

    #[test]
    fn places_are_those_of_the_whole_text() {
        for text in ["", "a", "a\n", "é = 1\r\nbb\n\ncc = \"x\"", "\n\n"] {
            for start in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                for end in start..=text.len() + 1 {
                    let span = Span { source: Source::new("a.hcl", text), start, end };
                    let mut expected = Place::of_bytes("a.hcl", text, start, end);
                    if may_hold_a_secret(&expected.line_text) {
                        expected.line_text.clear();
                    }
                    assert_eq!(span.place(), expected, "{text:?} {start}..{end}");
                }
            }
        }
    }

    #[test]
    fn lines_that_may_hold_a_secret_are_not_repeated() {
        check("vault { enabled = true }", "vault { enabled = true }");
        check("vault { enabled = true token = \"s.123\" }", "");
        check("server { Encrypt = \"abc\" }", "");
        check("consul { auth = \"a:b\" }", "");
        check("{\"consul\": {\"auth\": \"a:b\"}}", "");
        check("auth { config = \"/x\" }", "auth { config = \"/x\" }");
        check(&"x".repeat(161), "");
    }
}
