use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};

use crate::client::Answer;
use crate::error::Error;
use crate::frames::{Frame, FrameDecoder, LogStreamKind};
use crate::lines::LineDecoder;
use crate::model::event::EngineEvent;
use crate::model::progress::PullMessage;

/// A stream of JSON lines.
struct Lines {
    answer: Answer,
    decoder: LineDecoder,
    over: bool,
}

impl Lines {
    fn new(answer: Answer) -> Self {
        Self { answer, decoder: LineDecoder::default(), over: false }
    }

    async fn next(&mut self) -> Result<Option<bytes::Bytes>, Error> {
        loop {
            match self.decoder.next_line() {
                Ok(Some(line)) => return Ok(Some(line)),
                Ok(None) if self.over => return Ok(self.decoder.rest()),
                Ok(None) => {}
                Err(limit) => return Err(Error::TooLarge { doing: self.answer.doing.clone(), limit }),
            }
            match self.answer.piece().await? {
                Some(piece) => self.decoder.push(&piece),
                None => self.over = true,
            }
        }
    }
}

/// The progress of a pull, a load or a push. Dropping it before its end cancels a pull; the engine keeps nothing of it.
#[must_use = "dropping the stream cancels the pull"]
pub struct PullStream {
    lines: Lines,
}

impl PullStream {
    pub(crate) fn new(answer: Answer) -> Self {
        Self { lines: Lines::new(answer) }
    }

    /// The next message; `None` when it is done and went well. A failure, also one that the engine tells inside of the
    /// stream, is an error and the end.
    pub async fn next(&mut self) -> Result<Option<PullMessage>, Error> {
        let Some(line) = self.lines.next().await? else { return Ok(None) };
        let doing = &self.lines.answer.doing;
        let message: PullMessage = serde_json::from_slice(&line).map_err(|why| Error::unreadable(doing, why))?;
        match message.failure() {
            Some(failure) => Err(Error::answered(self.lines.answer.asked, doing, None, failure.to_owned())),
            None => Ok(Some(message)),
        }
    }
}

/// What happens on the engine, from now on or from a time that was given. Tells too little to act on: a reason to look.
pub struct EventStream {
    lines: Lines,
}

impl EventStream {
    pub(crate) fn new(answer: Answer) -> Self {
        Self { lines: Lines::new(answer) }
    }

    /// The next event; `None` when the engine ended the stream. A line that cannot be read comes as an event without
    /// kind: something happened.
    pub async fn next(&mut self) -> Result<Option<EngineEvent>, Error> {
        let line = self.lines.next().await?;
        Ok(line.map(|line| serde_json::from_slice(&line).unwrap_or_default()))
    }
}

/// A container's output.
pub struct LogStream {
    answer: Answer,
    frames: FrameDecoder,
    /// With a terminal there are no frames: all is standard output.
    raw: bool,
    ready: VecDeque<Frame>,
}

impl LogStream {
    pub(crate) fn new(answer: Answer, raw: bool) -> Self {
        Self { answer, frames: FrameDecoder::default(), raw, ready: VecDeque::new() }
    }

    /// The next entry; `None` at the end of what there is (when following: when the container has exited).
    pub async fn next(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Some(frame));
            }
            let Some(piece) = self.answer.piece().await? else {
                return if self.frames.is_empty() {
                    Ok(None)
                } else {
                    Err(Error::Cut { doing: self.answer.doing.clone(), source: None })
                };
            };
            if self.raw {
                return Ok(Some(Frame { kind: LogStreamKind::Stdout, bytes: piece }));
            }
            self.frames.push(&piece);
            loop {
                match self.frames.next_frame() {
                    Ok(Some(frame)) => self.ready.push_back(frame),
                    Ok(None) => break,
                    Err(why) => return Err(Error::unreadable(&self.answer.doing, why)),
                }
            }
        }
    }
}

/// The streams of a command that runs in a container.
pub struct ExecStreams {
    pub input: ExecInputStream,
    pub output: ExecOutputStream,
}

/// What the command reads.
pub struct ExecInputStream(WriteHalf<TokioIo<Upgraded>>);

/// What the command writes.
pub struct ExecOutputStream {
    doing: String,
    half: ReadHalf<TokioIo<Upgraded>>,
    frames: FrameDecoder,
    raw: bool,
}

const EXEC_PIECE_BYTES: usize = 32 * 1024;

impl ExecStreams {
    pub(crate) fn new(doing: String, connection: Upgraded, raw: bool) -> Self {
        let (read, write) = tokio::io::split(TokioIo::new(connection));
        let output = ExecOutputStream { doing, half: read, frames: FrameDecoder::default(), raw };
        Self { input: ExecInputStream(write), output }
    }
}

impl ExecInputStream {
    /// # Errors
    /// When the command reads no more.
    pub async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes).await
    }

    /// The command comes to the end of its input.
    ///
    /// # Errors
    /// When it reads no more.
    pub async fn end(&mut self) -> std::io::Result<()> {
        self.0.shutdown().await
    }
}

impl ExecOutputStream {
    /// The next piece; `None` when the command and all that wrote with it have ended.
    pub async fn next(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            match self.frames.next_frame() {
                Ok(Some(frame)) => return Ok(Some(frame)),
                Ok(None) => {}
                Err(why) => return Err(Error::unreadable(&self.doing, why)),
            }
            let Some(piece) = self.piece().await? else {
                return if self.frames.is_empty() {
                    Ok(None)
                } else {
                    Err(Error::Cut { doing: self.doing.clone(), source: None })
                };
            };
            if self.raw {
                return Ok(Some(Frame { kind: LogStreamKind::Stdout, bytes: piece }));
            }
            self.frames.push(&piece);
        }
    }

    async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        let mut piece = BytesMut::with_capacity(EXEC_PIECE_BYTES);
        match self.half.read_buf(&mut piece).await {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(piece.freeze())),
            Err(source) => Err(Error::Cut { doing: self.doing.clone(), source: Some(Box::new(source)) }),
        }
    }
}
