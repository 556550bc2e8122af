//! Output that is read as it grows: of tasks' logs and of files.

use std::time::Duration;

use base64::Engine;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::Incoming;
use longshore_api::StreamFrame;

use crate::commands::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// How many lines `-tail` shows when `-n` does not say.
const TAIL_LINES: i64 = 10;
/// How many bytes a line is taken to have at most, when lines are looked for from the end.
const LINE_BYTES: i64 = 120;
/// A stream that is silent for this long has delivered what there was.
const SETTLED: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

impl Stream {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Out => "stdout",
            Self::Err => "stderr",
        }
    }
}

/// Which part of what there is people want to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) follow: bool,
    /// Bytes from the end to begin at; `None` begins at the start.
    pub(super) from_end: Option<i64>,
    /// How many lines from the end are shown, of what lies behind that place.
    pub(super) lines: Option<usize>,
}

impl Part {
    /// What `-f`, `-tail`, `-n` and `-c` say.
    pub(super) fn of(context: &Context) -> Self {
        let bytes = context.given.integer("c").filter(|bytes| *bytes >= 0);
        let lines = context.given.integer("n").filter(|lines| *lines >= 0);
        let (from_end, lines) = match (context.given.switch("tail"), bytes, lines) {
            (false, _, _) => (None, None),
            (true, Some(bytes), _) => (Some(bytes), None),
            (true, None, lines) => {
                let lines = lines.unwrap_or(TAIL_LINES);
                (Some(lines.saturating_mul(LINE_BYTES)), usize::try_from(lines).ok())
            }
        };
        Self { follow: context.given.switch("f"), from_end, lines }
    }
}

pub(super) fn write(ui: &mut Ui, stream: Stream, bytes: &[u8]) -> Result<(), Failure> {
    let written = match stream {
        Stream::Out => ui.raw(bytes),
        Stream::Err => ui.raw_error(bytes),
    };
    // Whoever read along has gone: nothing is left to be done.
    written.map_err(|_| Failure::Silent(0))
}

/// Everything that there is, and what comes, until the streams of frames end or somebody interrupts.
pub(super) async fn follow(
    ui: &mut Ui,
    answers: Vec<(Stream, Response<Incoming>)>,
    lines: Option<usize>,
) -> Result<(), Failure> {
    let (sender, mut pieces) = tokio::sync::mpsc::channel(16);
    for (stream, answer) in answers {
        tokio::spawn(forward(answer, stream, lines, sender.clone()));
    }
    drop(sender);
    while let Some((stream, piece)) = pieces.recv().await {
        let bytes = piece.map_err(|why| Failure::told(format!("Error reading file: {why}")))?;
        write(ui, stream, &bytes)?;
    }
    Ok(())
}

type Piece = (Stream, Result<Vec<u8>, String>);

/// Reads frames and hands their bytes on. With `lines`, what is there at first is cut to its last lines.
async fn forward(
    answer: Response<Incoming>,
    stream: Stream,
    lines: Option<usize>,
    to: tokio::sync::mpsc::Sender<Piece>,
) {
    let mut body = answer.into_body();
    let mut frames = Frames::default();
    let mut first = lines.map(|lines| (lines, Vec::new()));
    loop {
        let next = match first.take() {
            None => body.frame().await,
            Some((lines, kept)) => match tokio::time::timeout(SETTLED, body.frame()).await {
                Ok(next) => {
                    first = Some((lines, kept));
                    next
                }
                Err(_) => {
                    if to.send((stream, Ok(last_lines(&kept, lines).to_vec()))).await.is_err() {
                        return;
                    }
                    continue;
                }
            },
        };
        let data = match next {
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(why)) => {
                let _ = to.send((stream, Err(why.to_string()))).await;
                return;
            }
            None => {
                if let Some((lines, kept)) = first {
                    let _ = to.send((stream, Ok(last_lines(&kept, lines).to_vec()))).await;
                }
                return;
            }
        };
        match (frames.take(&data), &mut first) {
            (Err(why), _) => {
                let _ = to.send((stream, Err(why))).await;
                return;
            }
            (Ok(bytes), Some((_, kept))) => kept.extend_from_slice(&bytes),
            (Ok(bytes), None) if bytes.is_empty() => {}
            (Ok(bytes), None) => {
                if to.send((stream, Ok(bytes))).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Frames of a log as they come: JSON objects one after the other, cut anywhere.
#[derive(Debug, Default)]
struct Frames {
    rest: Vec<u8>,
}

impl Frames {
    /// The log's bytes in the frames that are whole by now.
    fn take(&mut self, data: &[u8]) -> Result<Vec<u8>, String> {
        self.rest.extend_from_slice(data);
        let mut bytes = Vec::new();
        let mut objects = serde_json::Deserializer::from_slice(&self.rest).into_iter::<StreamFrame>();
        let mut read = 0;
        while let Some(frame) = objects.next() {
            match frame {
                Ok(frame) => {
                    let piece = base64::engine::general_purpose::STANDARD.decode(&frame.data);
                    bytes.extend(piece.map_err(|why| format!("a frame's data is no base64: {why}"))?);
                    read = objects.byte_offset();
                }
                Err(why) if why.is_eof() => break,
                Err(why) => return Err(format!("not a frame of a log: {why}")),
            }
        }
        self.rest.drain(..read);
        Ok(bytes)
    }
}

/// The last `count` lines of a text; a line break at its end begins no further line.
pub(super) fn last_lines(text: &[u8], count: usize) -> &[u8] {
    if count == 0 {
        return &[];
    }
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let breaks = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match breaks.map(|(at, _)| at).nth(count - 1) {
        Some(at) => text.get(at + 1..).unwrap_or(text),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_from_the_end() {
        let check = |text: &str, count, expected: &str| {
            assert_eq!(String::from_utf8_lossy(last_lines(text.as_bytes(), count)), expected, "{text:?} {count}");
        };
        check("a\nb\nc\n", 2, "b\nc\n");
        check("a\nb\nc", 2, "b\nc");
        check("a\nb\n", 9, "a\nb\n");
        check("a\n\n", 1, "\n");
        check("a\nb", 0, "");
        check("", 3, "");
    }

    #[test]
    fn frames_may_be_cut_anywhere() {
        let text = br#"{"Data":"bGluZSAxCg==","File":"alloc/logs/x.stdout.0","Offset":7}{}{"Data":"bGluZSAyCg==","Offset":14}"#;
        for cut in 0..text.len() {
            let mut frames = Frames::default();
            let (head, tail) = text.split_at(cut);
            let mut got = frames.take(head).unwrap();
            got.extend(frames.take(tail).unwrap());
            assert_eq!(got, b"line 1\nline 2\n", "cut at {cut}");
        }
        assert!(Frames::default().take(b"nonsense").unwrap_err().starts_with("not a frame of a log"));
    }
}
