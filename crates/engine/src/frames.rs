use bytes::{Buf, Bytes, BytesMut};

use crate::error::Limit;

/// Which of a container's outputs a piece of log came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogStreamKind {
    Stdout,
    Stderr,
}

/// One entry of a log as the engine sent it: a line, or a piece of at most 16 KiB of a longer one (only the last
/// piece ends in a newline).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub kind: LogStreamKind,
    pub bytes: Bytes,
}

/// Takes the engine's framing of logs apart: a header of eight bytes (stream, three zeros, length), then the entry.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: BytesMut,
}

/// Why bytes are no log frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    #[error("not a log frame: stream {0}")]
    Stream(u8),
    #[error("{0}")]
    TooLarge(Limit),
}

const HEADER: usize = 8;

impl FrameDecoder {
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole frame. An error is final: nothing that follows can be made sense of.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, BadFrame> {
        let Some(&[stream, _, _, _, a, b, c, d]) = self.buffer.first_chunk::<HEADER>() else { return Ok(None) };
        let kind = match stream {
            // 0 is the input echoed, which the engine sends with the output.
            0 | 1 => LogStreamKind::Stdout,
            2 => LogStreamKind::Stderr,
            other => return Err(BadFrame::Stream(other)),
        };
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if length > Limit::FRAME.bytes {
            return Err(BadFrame::TooLarge(Limit::FRAME));
        }
        if self.buffer.len() < HEADER + length {
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        Ok(Some(Frame { kind, bytes: self.buffer.split_to(length).freeze() }))
    }

    /// Whether the stream ended inside of a frame.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(frames: &[(bool, Vec<u8>)]) -> Vec<u8> {
        let mut wire = Vec::new();
        for (is_stderr, bytes) in frames {
            wire.extend([if *is_stderr { 2 } else { 1 }, 0, 0, 0]);
            wire.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
            wire.extend(bytes);
        }
        wire
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in(
            frames in proptest::collection::vec((any::<bool>(), proptest::collection::vec(any::<u8>(), 0..40)), 0..8),
            piece in 1usize..30,
        ) {
            let (mut decoder, mut got) = (FrameDecoder::default(), Vec::new());
            for bytes in encode(&frames).chunks(piece) {
                decoder.push(bytes);
                while let Some(frame) = decoder.next_frame().unwrap() {
                    got.push((frame.kind == LogStreamKind::Stderr, frame.bytes.to_vec()));
                }
            }
            prop_assert_eq!(got, frames);
            prop_assert!(decoder.is_empty());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let mut decoder = FrameDecoder::default();
            decoder.push(&bytes);
            while let Ok(Some(_)) = decoder.next_frame() {}
        }
    }

    #[test]
    fn lies_about_length_are_refused() {
        let mut decoder = FrameDecoder::default();
        decoder.push(&[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(decoder.next_frame(), Err(BadFrame::TooLarge(Limit::FRAME)));
        let mut decoder = FrameDecoder::default();
        decoder.push(b"HTTP/1.1 500");
        assert_eq!(decoder.next_frame(), Err(BadFrame::Stream(b'H')));
    }
}
