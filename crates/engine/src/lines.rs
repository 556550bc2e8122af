use bytes::{Buf, Bytes, BytesMut};

use crate::error::Limit;

/// Cuts a stream of bytes into lines, whatever pieces it comes in. Empty lines are left out.
#[derive(Debug, Default)]
pub struct LineDecoder {
    buffer: BytesMut,
    /// How far the buffer has been searched for a line's end.
    searched: usize,
}

impl LineDecoder {
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line, without its end. `Err` when a line is longer than [`Limit::LINE`].
    pub fn next_line(&mut self) -> Result<Option<Bytes>, Limit> {
        loop {
            let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
            match unsearched.iter().position(|byte| *byte == b'\n') {
                Some(at) => {
                    let line = self.buffer.split_to(self.searched + at).freeze();
                    self.buffer.advance(1);
                    self.searched = 0;
                    if line.len() > Limit::LINE.bytes {
                        return Err(Limit::LINE);
                    }
                    let line = trimmed(line);
                    if !line.is_empty() {
                        return Ok(Some(line));
                    }
                }
                None if self.buffer.len() > Limit::LINE.bytes => return Err(Limit::LINE),
                None => {
                    self.searched = self.buffer.len();
                    return Ok(None);
                }
            }
        }
    }

    /// What is left after the last line's end, once the stream is over.
    pub fn rest(&mut self) -> Option<Bytes> {
        self.searched = 0;
        Some(trimmed(self.buffer.split().freeze())).filter(|rest| !rest.is_empty())
    }
}

fn trimmed(line: Bytes) -> Bytes {
    let end = line.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |at| at + 1);
    line.slice(..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pieces: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let (mut decoder, mut lines) = (LineDecoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece);
            while let Some(line) = decoder.next_line().unwrap() {
                lines.push(line.to_vec());
            }
        }
        lines.extend(decoder.rest().map(|line| line.to_vec()));
        lines
    }

    #[test]
    fn ends_of_all_kinds() {
        assert_eq!(all(&[b"a\r\n\r\nb\nc".to_vec()]), [b"a", b"b", b"c"]);
        assert_eq!(all(&[]), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut decoder = LineDecoder::default();
        decoder.push(&vec![b'x'; Limit::LINE.bytes]);
        assert_eq!(decoder.next_line(), Ok(None));
        decoder.push(b"yy");
        assert_eq!(decoder.next_line(), Err(Limit::LINE));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(pieces in proptest::collection::vec(proptest::collection::vec(
            prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..12), 0..12)) {
            let whole = vec![pieces.concat()];
            prop_assert_eq!(all(&pieces), all(&whole));
        }
    }
}
