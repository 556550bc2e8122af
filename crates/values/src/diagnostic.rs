use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a diagnostic matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Warning,
    Error,
}

/// A place in a text that somebody wrote: lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file's path as the person gave it, or `<input>`.
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// The whole line, for the caret below it; empty when it is not at hand.
    pub line_text: String,
    /// How many characters the caret underlines, at least 1.
    pub width: usize,
}

impl Place {
    /// The place of `start..end` (byte offsets) in `text`. Offsets outside of the text are moved to its end.
    pub fn of_bytes(file: &str, text: &str, start: usize, end: usize) -> Self {
        let mut start = start.min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let end = end.clamp(start, line_end);
        let width = text.get(start..end).map_or(1, |part| part.chars().count()).max(1);
        Self {
            file: file.to_owned(),
            line: text[..line_start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            line_text: text[line_start..line_end].trim_end_matches('\r').to_owned(),
            width,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something to tell a person about what they wrote: what is wrong, where, why, and what to try.
///
/// As JSON, for editors and clients, it has these fields under these names; what is empty is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub severity: Severity,
    /// One line: what is wrong, with the value concerned.
    pub summary: String,
    /// Why it is wrong, when the summary does not say it all; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What to try; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
}

impl Diagnostic {
    pub fn error(summary: impl Into<String>) -> Self {
        Self::new(Severity::Error, summary)
    }

    pub fn warning(summary: impl Into<String>) -> Self {
        Self::new(Severity::Warning, summary)
    }

    fn new(severity: Severity, summary: impl Into<String>) -> Self {
        Self { severity, summary: summary.into(), detail: String::new(), hint: String::new(), place: None }
    }

    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The form that people read: place and summary, the line with a caret, detail and hint.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}", self.summary)?;
        if let Some(place) = self.place.as_ref().filter(|place| !place.line_text.is_empty()) {
            let number = place.line.to_string();
            let gutter = " ".repeat(number.len());
            let before: String =
                place.line_text.chars().take(place.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
            write!(f, "\n{gutter} |\n{number} | {}\n{gutter} | {before}{}", place.line_text, "^".repeat(place.width))?;
        }
        if !self.detail.is_empty() {
            write!(f, "\n{}", self.detail)?;
        }
        if !self.hint.is_empty() {
            write!(f, "\nhint: {}", self.hint)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_at_the_place() {
        let text = "job \"a\" {\n  typ = \"x\"\n}\n";
        let start = text.find("typ").unwrap();
        let told = Diagnostic::error("unknown key \"typ\"")
            .at(Place::of_bytes("a.hcl", text, start, start + 3))
            .hint("did you mean \"type\"?")
            .to_string();
        assert_eq!(
            told,
            "a.hcl:2:3: unknown key \"typ\"\n  |\n2 |   typ = \"x\"\n  |   ^^^\nhint: did you mean \"type\"?"
        );
    }

    #[test]
    fn editors_read_it_as_json() {
        let told = Diagnostic::error("unknown key").at(Place::of_bytes("a.hcl", "typ = 1", 0, 3));
        let json = serde_json::to_string(&told).unwrap();
        assert_eq!(
            json,
            r#"{"severity":"error","summary":"unknown key","place":{"file":"a.hcl","line":1,"column":1,"line_text":"typ = 1","width":3}}"#
        );
        assert_eq!(serde_json::from_str::<Diagnostic>(&json).unwrap(), told);
        assert_eq!(
            serde_json::to_string(&Diagnostic::warning("w")).unwrap(),
            r#"{"severity":"warning","summary":"w"}"#
        );
    }

    #[test]
    fn offsets_outside_of_the_text_are_harmless() {
        let place = Place::of_bytes("a", "é", 900, 950);
        assert_eq!((place.line, place.column, place.width), (1, 2, 1));
        assert_eq!(Place::of_bytes("a", "é", 1, 1).column, 1);
    }
}
