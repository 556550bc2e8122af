//! The log pumps: containers' output, read from the engine and written to the tasks' rotated files, inside the agent.
//!
//! - P1: a cursor per output lies on disk, with the place in the log files that belongs to it; what was written past it
//!   when something was killed is taken back, so that nothing is there twice, and reading goes on at the cursor, also
//!   within a line.
//! - P2: lines at or before the cursor are dropped: an engine repeats some when it rotates its own files.
//!   Within a line that is longer than the engine's buffer only the count of its bytes tells; where one of its pieces may
//!   be a repeated one, what there is is read anew without following, which repeats nothing.
//! - P3: what was written just before the end is not lost: an engine that is followed may leave it out, so the rest is
//!   read once more when the container has ended, and the end of the task waits for it as long as it moves.
//! - P4: output that cannot be read back (log drivers of the engine that only send away) is told to the task's watchers.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longshore_driver::{EventSink, LogFiles};
use longshore_engine::{Class, Container, Engine, Error as EngineError, LogOptions, LogStreamKind};
use longshore_model::TaskEvent;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::ask::DRIVER_EVENT;
use super::cursor::{Cursor, CursorFile, Reached};
use super::lines::{Line, Lines};
use crate::image::{now, with_causes};
use crate::options::Options;

/// All pumps of this driver.
pub(crate) struct Pumps {
    folder: PathBuf,
    running: Mutex<BTreeMap<String, Running>>,
}

struct Running {
    pump: AbortOnDropHandle<()>,
    signs: Arc<Signs>,
}

impl Running {
    /// Returns when it has ended, which may be in the middle of what it writes (P1): nothing is written after this.
    async fn end(self) {
        self.pump.abort();
        if let Err(error) = self.pump.await
            && error.is_panic()
        {
            tracing::error!(%error, "collecting the output of a container ended unexpectedly");
        }
    }
}

/// What a pump and those who wait for it tell each other.
#[derive(Default)]
struct Signs {
    /// The container has ended: no pause between tries any more.
    hurry: Notify,
    written_bytes: AtomicU64,
}

/// Whom to tell of output that cannot be read back.
pub(crate) enum Watchers<'a> {
    /// Of a task that was started just now.
    New(&'a EventSink),
    /// Of one that was found again: they were told already.
    Told,
}

impl Pumps {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, running: Mutex::default() }
    }

    /// Starts the pump of a container, unless it runs or nobody wants the output.
    pub(crate) fn start(
        &self,
        engine: &Engine,
        options: &Options,
        container: &Container,
        files: &LogFiles,
        watchers: Watchers<'_>,
    ) {
        if options.disable_log_collection || files.config.disabled {
            return;
        }
        let mut running = self.running();
        if running.get(&container.id).is_some_and(|it| !it.pump.is_finished()) {
            return;
        }
        let signs = Arc::<Signs>::default();
        let pump = Pump {
            engine: engine.clone(),
            id: container.id.clone(),
            tty: container.config.tty,
            omits_ends: !matches!(container.host_config.log_config.kind.as_str(), "json-file" | "journald" | ""),
            files: files.clone(),
            cursor_path: self.cursor_path(&container.id),
            signs: Arc::clone(&signs),
            watchers: match watchers {
                Watchers::New(events) => Some(events.clone()),
                Watchers::Told => None,
            },
        };
        let pump = AbortOnDropHandle::new(tokio::spawn(pump.run()));
        running.insert(container.id.clone(), Running { pump, signs });
    }

    /// Waits until all output of an ended container is written, for as long as no `silence` goes by without any.
    pub(crate) async fn finish(&self, id: &str, silence: Duration) {
        let Some(Running { mut pump, signs }) = self.running().remove(id) else { return };
        signs.hurry.notify_one();
        let mut written = signs.written_bytes.load(Ordering::Relaxed);
        while tokio::time::timeout(silence, &mut pump).await.is_err() {
            let before = std::mem::replace(&mut written, signs.written_bytes.load(Ordering::Relaxed));
            if written == before {
                tracing::warn!(container = id, "the rest of its output did not come within {silence:?}");
                return;
            }
        }
    }

    /// Ends the pump; with `for_good` its cursor goes too.
    pub(crate) async fn forget(&self, id: &str, for_good: bool) {
        let running = self.running().remove(id);
        if let Some(running) = running {
            running.end().await;
        }
        if for_good
            && let Err(error) = std::fs::remove_file(self.cursor_path(id))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(container = id, %error, "its log cursor could not be removed");
        }
    }

    pub(crate) async fn stop_all(&self) {
        let all = std::mem::take(&mut *self.running());
        for running in all.values() {
            running.pump.abort();
        }
        for running in all.into_values() {
            running.end().await;
        }
    }

    fn cursor_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.cursor"))
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Pump {
    engine: Engine,
    id: String,
    tty: bool,
    /// The engine keeps this log in its own form, which leaves out the end of a line that is longer than its buffer.
    omits_ends: bool,
    files: LogFiles,
    cursor_path: PathBuf,
    signs: Arc<Signs>,
    watchers: Option<EventSink>,
}

const AGAIN_MIN: Duration = Duration::from_millis(250);
const AGAIN_MAX: Duration = Duration::from_secs(30);

/// Between two readings of a log that cannot be followed.
const DOUBT_PAUSE: Duration = Duration::from_millis(100);

/// How reading a stream came to an end.
enum Read {
    /// All that it had was taken.
    All,
    /// It may repeat pieces of a long line: what there is has to be read without following.
    Doubtful,
    /// There is nothing more to read at all.
    Ended(Ended),
}

enum Ended {
    /// All there is was written.
    Exited,
    /// The engine has no log to read for it.
    NotReadable(String),
}

impl Pump {
    async fn run(self) {
        let mut wait = AGAIN_MIN;
        loop {
            match self.once(&mut wait).await {
                Ok(Ended::Exited) => return,
                Ok(Ended::NotReadable(why)) => {
                    tracing::warn!(container = self.id, why, "its output cannot be collected");
                    if let Some(watchers) = &self.watchers {
                        let message = format!(
                            "Output is not collected: the log driver of its container keeps nothing to read ({why})"
                        );
                        watchers.emit(TaskEvent::new(DRIVER_EVENT, now(), message));
                    }
                    return;
                }
                Err(why) => {
                    tracing::warn!(container = self.id, why, "log collection broke off; trying again in {wait:?}")
                }
            }
            let hurried = tokio::time::timeout(wait, self.signs.hurry.notified()).await.is_ok();
            wait = if hurried { AGAIN_MIN } else { (wait * 2).min(AGAIN_MAX) };
        }
    }

    /// Follows the log once, from the cursor to the stream's end.
    async fn once(&self, wait: &mut Duration) -> Result<Ended, String> {
        let cursor = CursorFile::open(&self.cursor_path).map_err(|error| with_causes(&error))?;
        if cursor.get().ended {
            return Ok(Ended::Exited);
        }
        let mut taken = Taken { cursor, lines: None, omits_ends: self.omits_ends, signs: &self.signs };
        loop {
            let follow = self.read(&mut taken, true, wait).await?;
            if let Read::Ended(ended) = follow {
                return Ok(ended);
            }
            // Asked before the rest is read: what it wrote until then is in there. Also an engine that goes away may end
            // the stream in an orderly way.
            let runs = match self.engine.container(&self.id).await {
                Ok(container) => container.state.running,
                Err(error) if error.is_not_found() => return Ok(Ended::Exited),
                Err(error) => return Err(with_causes(&error)),
            };
            if runs && !matches!(follow, Read::Doubtful) {
                return Err("the stream ended, and the container runs".to_owned());
            }
            if let Read::Ended(ended) = self.read(&mut taken, false, wait).await? {
                return Ok(ended);
            }
            if !runs {
                let at = Cursor { ended: true, ..taken.cursor.get() };
                taken.cursor.set(at).map_err(|error| with_causes(&error))?;
                return Ok(Ended::Exited);
            }
            // Much of the same is read again and again while such a line goes on.
            let _ = tokio::time::timeout(DOUBT_PAUSE, self.signs.hurry.notified()).await;
        }
    }

    /// Reads from the cursor to the stream's end.
    async fn read(&self, taken: &mut Taken<'_>, follow: bool, wait: &mut Duration) -> Result<Read, String> {
        let since = taken.cursor.get().resume_at();
        let options = LogOptions { follow, timestamps: true, since, tty: self.tty, ..LogOptions::default() };
        let mut stream = match self.engine.container_logs(&self.id, options).await {
            Ok(stream) => stream,
            Err(error) if error.is_not_found() => return Ok(Read::Ended(Ended::Exited)),
            Err(error) if is_not_readable(&error) => {
                return Ok(Read::Ended(Ended::NotReadable(with_causes(&error))));
            }
            Err(error) => return Err(with_causes(&error)),
        };
        let mut seen = taken.begin(&self.files)?;
        let mut split = Line::splitter(self.tty);
        while let Some(frame) = stream.next().await.map_err(|error| with_causes(&error))? {
            *wait = AGAIN_MIN;
            if !taken.take(split.take(frame), &mut seen, follow)? {
                return Ok(Read::Doubtful);
            }
        }
        taken.take(split.rest(), &mut seen, false)?;
        Ok(Read::All)
    }
}

/// What was read and written so far.
struct Taken<'a> {
    cursor: CursorFile,
    lines: Option<Lines>,
    omits_ends: bool,
    signs: &'a Signs,
}

/// What a stream has brought of the line of each output that has begun.
#[derive(Default)]
struct Seen {
    stdout: Begun,
    stderr: Begun,
}

#[derive(Default)]
struct Begun {
    /// Bytes that come once more, and are written already.
    known_bytes: u64,
    /// Its time stamp, once a piece has come.
    at: i64,
    /// Hashes of its pieces.
    pieces: HashSet<u64>,
}

/// A line of a gigabyte; a longer one is begun to be remembered anew.
const PIECES_MAX: usize = 1 << 16;

impl Begun {
    /// Notes a piece. Whether it may be one that came before.
    fn sees_again(&mut self, line: &Line) -> bool {
        let mut hasher = DefaultHasher::new();
        line.bytes.hash(&mut hasher);
        if self.pieces.len() >= PIECES_MAX {
            self.pieces.clear();
        }
        line.continues || !self.pieces.insert(hasher.finish())
    }
}

impl Taken<'_> {
    /// Before anything of a stream is taken: the log files are as the cursor has them.
    fn begin(&mut self, files: &LogFiles) -> Result<Seen, String> {
        let mut at = self.cursor.get();
        if self.lines.is_none() {
            let mut lines = Lines::open(files).map_err(|error| with_causes(&error))?;
            if at.is_placed {
                lines.go_back([at.stdout.position, at.stderr.position]).map_err(|error| with_causes(&error))?;
            }
            self.lines = Some(lines);
            self.place(&mut at)?;
        }
        let begun = |known_bytes| Begun { known_bytes, ..Begun::default() };
        Ok(Seen { stdout: begun(at.stdout.begun_bytes), stderr: begun(at.stderr.begun_bytes) })
    }

    /// Writes what is new, and notes how far it came. With `doubts` it stops before a piece of a line that may have come
    /// before; `false` then.
    fn take(&mut self, lines: impl IntoIterator<Item = Line>, seen: &mut Seen, doubts: bool) -> Result<bool, String> {
        let mut at = self.cursor.get();
        for line in lines {
            let reached = at.of(line.kind);
            if !reached.is_before(&line) {
                continue;
            }
            let begun = match line.kind {
                LogStreamKind::Stdout => &mut seen.stdout,
                LogStreamKind::Stderr => &mut seen.stderr,
            };
            if self.omits_ends && begun.at > 0 && begun.at != line.at {
                // All pieces of a line have the same time: this is another one.
                let end = Line::end(line.kind, begun.at);
                *begun = Begun::default();
                self.write(reached, &end)?;
            }
            begun.at = line.at;
            if doubts && !line.ends && begun.sees_again(&line) {
                self.place(&mut at)?;
                return Ok(false);
            }
            let known = usize::try_from(begun.known_bytes).unwrap_or(usize::MAX).min(line.bytes.len());
            begun.known_bytes -= known as u64;
            if line.ends {
                *begun = Begun::default();
            }
            self.write(reached, &line.without(known))?;
        }
        self.place(&mut at)?;
        Ok(true)
    }

    fn write(&mut self, reached: &mut Reached, line: &Line) -> Result<(), String> {
        reached.pass(line);
        if let Some(lines) = &mut self.lines {
            lines.write(line).map_err(|error| with_causes(&error))?;
        }
        self.signs.written_bytes.fetch_add(line.bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn place(&mut self, at: &mut Cursor) -> Result<(), String> {
        if let Some(lines) = &mut self.lines {
            let [stdout, stderr] = lines.positions().map_err(|error| with_causes(&error))?;
            (at.stdout.position, at.stderr.position, at.is_placed) = (stdout, stderr, true);
        }
        self.cursor.set(*at).map_err(|error| with_causes(&error))
    }
}

/// Log drivers of the engine that only send away (501).
fn is_not_readable(error: &EngineError) -> bool {
    error.class() == Class::Server
        && error
            .engine_message()
            .is_some_and(|message| message.contains("does not support reading") || message.contains("not implemented"))
}
