//! The log pumps: containers' output, read from the engine and written to the tasks' rotated files, inside the agent.
//!
//! - P1: a cursor per output lies on disk; what was written is not written again after a restart, and lines are taken
//!   from where the last run stopped.
//! - P2: lines at or before the cursor are dropped: an engine repeats some when it rotates its own files.
//! - P3: what was written just before the end is not lost: an engine that is followed may leave it out, so the rest is
//!   read once more when the container has ended.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longshore_driver::LogFiles;
use longshore_engine::{Class, Container, Engine, Error as EngineError, LogOptions};
use tokio_util::task::AbortOnDropHandle;

use super::cursor::{Cursor, CursorFile};
use super::lines::{Line, Lines};
use crate::image::with_causes;
use crate::options::Options;

/// All pumps of this driver.
pub(crate) struct Pumps {
    folder: PathBuf,
    running: Mutex<BTreeMap<String, AbortOnDropHandle<()>>>,
}

impl Pumps {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, running: Mutex::default() }
    }

    /// Starts the pump of a container, unless it runs or nobody wants the output.
    pub(crate) fn start(&self, engine: &Engine, options: &Options, container: &Container, files: &LogFiles) {
        if options.disable_log_collection || files.config.disabled {
            return;
        }
        let mut running = self.running();
        if running.get(&container.id).is_some_and(|pump| !pump.is_finished()) {
            return;
        }
        let pump = Pump {
            engine: engine.clone(),
            id: container.id.clone(),
            tty: container.config.tty,
            files: files.clone(),
            cursor_path: self.cursor_path(&container.id),
        };
        running.insert(container.id.clone(), AbortOnDropHandle::new(tokio::spawn(pump.run())));
    }

    /// Waits until all output of an ended container is written, but no longer than `limit`.
    pub(crate) async fn finish(&self, id: &str, limit: Duration) {
        let pump = self.running().remove(id);
        if let Some(mut pump) = pump
            && tokio::time::timeout(limit, &mut pump).await.is_err()
        {
            tracing::warn!(container = id, "the rest of its output did not come within {limit:?}");
        }
    }

    /// Ends the pump; with `for_good` its cursor goes too.
    pub(crate) fn forget(&self, id: &str, for_good: bool) {
        self.running().remove(id);
        if for_good
            && let Err(error) = std::fs::remove_file(self.cursor_path(id))
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(container = id, %error, "its log cursor could not be removed");
        }
    }

    pub(crate) fn stop_all(&self) {
        self.running().clear();
    }

    fn cursor_path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.cursor"))
    }

    fn running(&self) -> MutexGuard<'_, BTreeMap<String, AbortOnDropHandle<()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Pump {
    engine: Engine,
    id: String,
    tty: bool,
    files: LogFiles,
    cursor_path: PathBuf,
}

const AGAIN_MIN: Duration = Duration::from_millis(250);
const AGAIN_MAX: Duration = Duration::from_secs(30);

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
                    return;
                }
                Err(why) => {
                    tracing::warn!(container = self.id, why, "log collection broke off; trying again in {wait:?}")
                }
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(AGAIN_MAX);
        }
    }

    /// Follows the log once, from the cursor to the stream's end.
    async fn once(&self, wait: &mut Duration) -> Result<Ended, String> {
        let mut cursor = CursorFile::open(&self.cursor_path).map_err(|error| with_causes(&error))?;
        if cursor.get().ended {
            return Ok(Ended::Exited);
        }
        let lines = Lines::open(&self.files).map_err(|error| with_causes(&error))?;
        let mut taken = Taken { cursor: &mut cursor, lines, newest: Cursor::default() };
        if let Some(ended) = self.read(&mut taken, true, wait).await? {
            return Ok(ended);
        }
        // Also an engine that goes away may end the stream in an orderly way.
        match self.engine.container(&self.id).await {
            Ok(container) if container.state.running => {
                return Err("the stream ended, and the container runs".to_owned());
            }
            Ok(_) => {}
            Err(error) if error.is_not_found() => return Ok(Ended::Exited),
            Err(error) => return Err(with_causes(&error)),
        }
        if let Some(ended) = self.read(&mut taken, false, wait).await? {
            return Ok(ended);
        }
        let at = Cursor { ended: true, ..cursor.get() };
        cursor.set(at).map_err(|error| with_causes(&error))?;
        Ok(Ended::Exited)
    }

    /// Reads to the stream's end: from the cursor, or from what an earlier read has brought.
    async fn read(&self, taken: &mut Taken<'_>, follow: bool, wait: &mut Duration) -> Result<Option<Ended>, String> {
        let since = taken.newest.newer().or_else(|| taken.cursor.get().resume_at());
        let options = LogOptions { follow, timestamps: true, since, tty: self.tty, ..LogOptions::default() };
        let mut stream = match self.engine.container_logs(&self.id, options).await {
            Ok(stream) => stream,
            Err(error) if error.is_not_found() => return Ok(Some(Ended::Exited)),
            Err(error) if is_not_readable(&error) => return Ok(Some(Ended::NotReadable(with_causes(&error)))),
            Err(error) => return Err(with_causes(&error)),
        };
        let mut split = Line::splitter(self.tty);
        let before = taken.newest;
        while let Some(frame) = stream.next().await.map_err(|error| with_causes(&error))? {
            *wait = AGAIN_MIN;
            taken.take(&split.take(frame), before)?;
        }
        taken.take(split.rest().as_slice(), before)?;
        Ok(None)
    }
}

/// What was read and written so far.
struct Taken<'a> {
    cursor: &'a mut CursorFile,
    lines: Lines,
    /// Also past a last line without an end, at which the cursor stands still.
    newest: Cursor,
}

impl Taken<'_> {
    /// Writes what is new: past the cursor, and not among what an earlier read brought until `before`.
    fn take(&mut self, lines: &[Line], before: Cursor) -> Result<(), String> {
        let mut at = self.cursor.get();
        for line in lines {
            if at.take(line) && before.is_before(line) {
                self.newest.reach(line);
                self.lines.write(line).map_err(|error| with_causes(&error))?;
            }
        }
        self.cursor.set(at).map_err(|error| with_causes(&error))
    }
}

/// Log drivers of the engine that only send away (501).
fn is_not_readable(error: &EngineError) -> bool {
    error.class() == Class::Server
        && error
            .engine_message()
            .is_some_and(|message| message.contains("does not support reading") || message.contains("not implemented"))
}
