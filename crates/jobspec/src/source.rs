use std::ops::Range;

use longshore_values::Place;

/// Of a line that is longer than this many bytes (JSON without line breaks, say) only the number is shown: each of
/// thousands of places would carry all of it.
const LINE_BYTES_SHOWN_MAX: usize = 2_000;
/// How many bytes lie between two known counts of characters.
const COUNT_EVERY: usize = 1_024;

/// One text with its name, ready to say where a byte of it stands.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
    /// Byte offsets at which lines begin; never empty.
    line_starts: Vec<usize>,
    /// How many characters stand before every `COUNT_EVERY`th byte.
    counts: Vec<usize>,
    /// The text that people wrote, where it is not this one.
    original: Option<Box<Original>>,
}

/// What a text was made from.
#[derive(Debug, Clone)]
struct Original {
    source: Source,
    /// From which byte of the text on it comes from which bytes of the original, in ascending order.
    origins: Vec<(usize, Range<usize>)>,
}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        let count = |before: &mut usize, part: &[u8]| {
            *before += characters_of(part);
            Some(*before)
        };
        // The last one is of the end of the text, which may be a place, too.
        let counts = std::iter::once(0).chain(text.as_bytes().chunks(COUNT_EVERY).scan(0, count)).collect();
        Self { file: file.to_owned(), text: text.to_owned(), line_starts, counts, original: None }
    }

    /// A text that was made from this one; its places are those of this one.
    pub(crate) fn written_as(&self, text: String, origins: Vec<(usize, Range<usize>)>) -> Self {
        let original = Some(Box::new(Original { source: self.clone(), origins }));
        Self { file: self.file.clone(), text, line_starts: vec![0], counts: Vec::new(), original }
    }

    /// The place of a span, its caret cut at the end of the line.
    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        if let Some(original) = &self.original {
            let next = original.origins.partition_point(|(at, _)| *at <= span.start);
            let origin = next.checked_sub(1).and_then(|at| original.origins.get(at));
            return original.source.place(origin.map_or(0..1, |(_, origin)| origin.clone()));
        }
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let line = self.line_starts.partition_point(|line_start| *line_start <= start).max(1);
        let line_start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let line_end = self.line_starts.get(line).map_or(self.text.len(), |next| next - 1).max(start);
        let end = span.end.clamp(start, line_end);
        let line_text = match line_end - line_start {
            0..=LINE_BYTES_SHOWN_MAX => self.text.get(line_start..line_end).unwrap_or(""),
            _ => "",
        };
        Place {
            file: self.file.clone(),
            line,
            column: self.characters_before(start) - self.characters_before(line_start) + 1,
            line_text: line_text.trim_end_matches('\r').to_owned(),
            width: (self.characters_before(end) - self.characters_before(start)).max(1),
        }
    }

    /// Whether it was made from another text.
    pub(crate) fn is_made(&self) -> bool {
        self.original.is_some()
    }

    /// How many characters begin before a byte.
    fn characters_before(&self, at: usize) -> usize {
        let counted = at / COUNT_EVERY;
        let since = self.text.as_bytes().get(counted * COUNT_EVERY..at).unwrap_or_default();
        self.counts.get(counted).copied().unwrap_or_default() + characters_of(since)
    }

    /// The byte at which a line begins, counted from 1.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    /// The byte at a line and a byte within it, both counted from 1.
    pub(crate) fn offset(&self, line: usize, column: usize) -> usize {
        self.line_start(line) + column.saturating_sub(1)
    }

    pub(crate) fn slice(&self, span: Range<usize>) -> Option<&str> {
        self.text.get(span)
    }
}

/// How many characters of UTF-8 begin in these bytes.
fn characters_of(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_agree_with_the_plain_search() {
        let text = "a = 1\r\n\n  bé = \"x\"\nlast";
        let source = Source::new("f", text);
        for start in 0..=text.len() + 2 {
            for end in [start, start + 1, start + 7] {
                let end = (end..).find(|at| *at >= text.len() || text.is_char_boundary(*at)).unwrap_or(end);
                assert_eq!(source.place(start..end), Place::of_bytes("f", text, start, end), "{start}..{end}");
            }
        }
    }

    /// Found by random texts.
    #[test]
    fn the_end_of_a_text_is_a_place() {
        for length in [0, 1, COUNT_EVERY - 1, COUNT_EVERY, COUNT_EVERY + 1, 2 * COUNT_EVERY] {
            let place = Source::new("f", &"x".repeat(length)).place(length..length + 1);
            assert_eq!((place.line, place.column, place.width), (1, length + 1, 1), "{length}");
        }
    }

    #[test]
    fn long_lines_are_counted_and_not_carried() {
        let text = format!("é\n{}x", "é".repeat(5_000));
        let source = Source::new("f", &text);
        let place = source.place(text.len() - 1..text.len());
        assert_eq!((place.line, place.column, place.width), (2, 5_001, 1));
        assert_eq!(place.line_text, "");
    }
}
