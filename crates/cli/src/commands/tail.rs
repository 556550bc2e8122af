//! Output that is read as it grows: of tasks' logs and of files.

use std::time::Duration;

use base64::Engine;
use http_body_util::BodyExt;
use hyper::Response;
use hyper::body::{Body, Bytes, Incoming};
use longshore_api::StreamFrame;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::commands::Context;
use crate::failure::Failure;
use crate::ui::Ui;

/// How many lines `-tail` shows when `-n` does not say.
const TAIL_LINES: i64 = 10;
/// How many bytes a line is taken to have at most, when lines are looked for from the end.
const LINE_BYTES: i64 = 120;
/// A stream has delivered what there was this long after its first byte, or when none has come.
const SETTLED: Duration = Duration::from_millis(500);
/// So much of what there was is kept at most, beside the lines that were asked for.
const KEPT_BYTES_MAX: usize = 1 << 20;

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
    part: &Part,
) -> Result<(), Failure> {
    let (sender, mut pieces) = tokio::sync::mpsc::channel(16);
    for (stream, answer) in answers {
        let (beginning, sender) = (part.lines.map(|lines| Beginning::new(lines, part.follow)), sender.clone());
        tokio::spawn(async move { forward(answer.into_body(), stream, beginning, &sender).await });
    }
    drop(sender);
    while let Some((stream, piece)) = pieces.recv().await {
        let bytes = piece.map_err(|why| Failure::told(format!("Error reading file: {why}")))?;
        write(ui, stream, &bytes)?;
    }
    Ok(())
}

type Piece = (Stream, Result<Vec<u8>, String>);

/// What there was when the reading began, of which only the last lines are shown. A stream that never rests ends it too.
struct Beginning {
    lines: usize,
    kept: Vec<u8>,
    /// When it is over; `None` when that is the stream's end.
    until: Option<Instant>,
}

impl Beginning {
    fn new(lines: usize, follow: bool) -> Self {
        Self { lines, kept: Vec::new(), until: follow.then(|| Instant::now() + SETTLED) }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.kept.is_empty() && self.until.is_some() {
            self.until = Some(Instant::now() + SETTLED);
        }
        self.kept.extend_from_slice(bytes);
        let enough = self.lines.saturating_mul(LINE_BYTES.unsigned_abs() as usize).saturating_add(KEPT_BYTES_MAX);
        if self.until.is_some() && self.kept.len() > enough {
            self.until = Some(Instant::now());
        }
    }

    fn shown(&self) -> Vec<u8> {
        last_lines(&self.kept, self.lines).to_vec()
    }
}

/// Comes when the beginning is over.
async fn is_over(beginning: Option<&Beginning>) {
    match beginning.and_then(|beginning| beginning.until) {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// Reads frames and hands their bytes on, with a beginning cut to its last lines. Ends when nobody listens.
async fn forward<B>(mut body: B, stream: Stream, mut beginning: Option<Beginning>, to: &mpsc::Sender<Piece>)
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let mut frames = Frames::default();
    loop {
        let next = tokio::select! {
            biased;
            () = is_over(beginning.as_ref()) => {
                let shown = beginning.take().map(|beginning| beginning.shown()).unwrap_or_default();
                if to.send((stream, Ok(shown))).await.is_err() {
                    return;
                }
                continue;
            }
            next = body.frame() => next,
        };
        let piece = match next {
            Some(Ok(frame)) => frames.take(&frame.into_data().unwrap_or_default()),
            Some(Err(why)) => Err(why.to_string()),
            None => {
                if let Some(beginning) = beginning {
                    let _ = to.send((stream, Ok(beginning.shown()))).await;
                }
                return;
            }
        };
        match (piece, &mut beginning) {
            (Ok(bytes), Some(beginning)) => beginning.take(&bytes),
            (Ok(bytes), None) if bytes.is_empty() => {}
            (piece, _) => {
                let failed = piece.is_err();
                if to.send((stream, piece)).await.is_err() || failed {
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

    /// A task that writes a line each 100 ms, for ever: what is shown, and when.
    #[tokio::test]
    async fn a_stream_that_never_rests_is_shown_all_the_same() {
        let lines = futures_util::stream::unfold(0_u32, |count| async move {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let data = base64::engine::general_purpose::STANDARD.encode(format!("line {count}\n"));
            let frame = hyper::body::Frame::data(Bytes::from(format!("{{\"Data\":\"{data}\"}}")));
            Some((Ok::<_, std::convert::Infallible>(frame), count + 1))
        });
        let body = http_body_util::StreamBody::new(Box::pin(lines));
        let (sender, mut pieces) = mpsc::channel(16);
        let reading =
            tokio::spawn(async move { forward(body, Stream::Out, Some(Beginning::new(2, true)), &sender).await });
        let mut shown = Vec::new();
        for _ in 0..3 {
            shown.push(String::from_utf8(pieces.recv().await.unwrap().1.unwrap()).unwrap());
        }
        assert_eq!(shown[0].lines().count(), 2, "{shown:?}");
        let numbers: Vec<u32> = shown.concat().lines().map(|line| line[5..].parse().unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{shown:?}");
        drop(pieces);
        reading.await.unwrap();
    }

    #[test]
    fn what_there_was_is_not_kept_without_an_end() {
        let mut beginning = Beginning::new(1, true);
        let later = beginning.until;
        beginning.take(&vec![b'x'; KEPT_BYTES_MAX + 200]);
        assert!(beginning.until < later, "it ends at once");
        let mut whole = Beginning::new(1, false);
        whole.take(&vec![b'x'; KEPT_BYTES_MAX + 200]);
        assert_eq!(whole.until, None, "a stream that ends by itself is read to its end");
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
