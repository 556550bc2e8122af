use std::ops::Range;

use longshore_values::Place;

/// One text with its name, ready to say where a byte of it stands.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) text: String,
    /// Byte offsets at which lines begin; never empty.
    line_starts: Vec<usize>,
}

impl Source {
    pub(crate) fn new(file: &str, text: &str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file: file.to_owned(), text: text.to_owned(), line_starts: std::iter::once(0).chain(starts).collect() }
    }

    /// The place of a span, its caret cut at the end of the line.
    pub(crate) fn place(&self, span: Range<usize>) -> Place {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let line = self.line_starts.partition_point(|line_start| *line_start <= start).max(1);
        let line_start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let line_end = self.line_starts.get(line).map_or(self.text.len(), |next| next - 1).max(start);
        let end = span.end.clamp(start, line_end);
        let characters = |from: usize, to: usize| self.text.get(from..to).map_or(0, |part| part.chars().count());
        Place {
            file: self.file.clone(),
            line,
            column: characters(line_start, start) + 1,
            line_text: self.text.get(line_start..line_end).unwrap_or("").trim_end_matches('\r').to_owned(),
            width: characters(start, end).max(1),
        }
    }

    /// The byte at which a line begins, counted from 1.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len())
    }

    pub(crate) fn slice(&self, span: Range<usize>) -> Option<&str> {
        self.text.get(span)
    }
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
}
