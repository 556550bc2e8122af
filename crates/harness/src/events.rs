//! A recorder of the engine's events. It goes on over restarts of the engine and notes each gap.

use std::io::BufRead;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::{Address, Body, HarnessError, Result, eventually, http};

const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// One event of the engine.
#[derive(Debug, Clone)]
pub struct EngineEvent {
    /// `image`, `container`, `network`, …
    pub kind: String,
    /// `pull`, `untag`, `create`, `start`, `die`, …
    pub action: String,
    /// What it is about: an id, for a pull a name.
    pub subject: String,
    /// Labels and further facts.
    pub attributes: Value,
    /// When, in nanoseconds since 1970.
    pub at_nanos: i64,
    /// The number of the stream that brought it. What happened between two streams was not heard.
    pub connection: u32,
}

impl EngineEvent {
    /// An attribute's value; labels of a container are attributes.
    pub fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.get(key).and_then(Value::as_str)
    }
}

#[derive(Debug, Default)]
struct Heard {
    events: Vec<EngineEvent>,
    connections: u32,
    open: Option<http::Connection>,
    ending: bool,
}

/// Records from its start until it is dropped.
#[derive(Debug)]
pub struct EventRecorder {
    heard: Arc<Mutex<Heard>>,
    thread: Option<JoinHandle<()>>,
}

impl EventRecorder {
    pub(crate) fn start(address: Address) -> Self {
        let heard = Arc::new(Mutex::new(Heard::default()));
        let thread = {
            let heard = heard.clone();
            thread::spawn(move || {
                while !lock(&heard).ending {
                    listen(&address, &heard);
                    thread::sleep(BETWEEN_TRIES);
                }
            })
        };
        Self { heard, thread: Some(thread) }
    }

    /// What was heard so far.
    pub fn events(&self) -> Vec<EngineEvent> {
        lock(&self.heard).events.clone()
    }

    /// What was heard after the first so many events.
    pub fn since(&self, count: usize) -> Vec<EngineEvent> {
        lock(&self.heard).events.get(count..).map(<[EngineEvent]>::to_vec).unwrap_or_default()
    }

    /// How often a stream of events was opened: once, and once after each restart of the engine.
    pub fn connections(&self) -> u32 {
        lock(&self.heard).connections
    }

    /// Waits until the stream of the engine's n-th start is open, so that nothing of it is missed.
    ///
    /// # Errors
    /// When it is not open within 30 s.
    pub fn wait_connected(&self, connections: u32) -> Result<()> {
        eventually(Duration::from_secs(30), format!("stream {connections} of events"), || {
            let now = self.connections();
            if now >= connections { Ok(()) } else { Err(format!("{now} so far")) }
        })
    }
}

impl Drop for EventRecorder {
    fn drop(&mut self) {
        {
            let mut heard = lock(&self.heard);
            heard.ending = true;
            if let Some(connection) = &heard.open {
                connection.hang_up();
            }
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads one stream of events to its end.
fn listen(address: &Address, heard: &Mutex<Heard>) {
    let Ok(answer) = http::open(address, "GET", "/events", &[], Body::Empty, None) else { return };
    {
        let mut heard = lock(heard);
        if heard.ending {
            return;
        }
        heard.connections += 1;
        heard.open = Some(answer.connection);
    }
    // The stream ends with an error when the engine is killed; the next connection goes on.
    for line in answer.body.lines().map_while(std::result::Result::ok) {
        let mut heard = lock(heard);
        if let Ok(event) = parse(&line, heard.connections) {
            heard.events.push(event);
        }
    }
    lock(heard).open = None;
}

fn parse(line: &str, connection: u32) -> Result<EngineEvent> {
    let value: Value =
        serde_json::from_str(line).map_err(|error| HarnessError::refused("read an event of the engine", error))?;
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(EngineEvent {
        kind: text("/Type"),
        action: text("/Action"),
        subject: text("/Actor/ID"),
        attributes: value.pointer("/Actor/Attributes").cloned().unwrap_or_default(),
        at_nanos: value.get("timeNano").and_then(Value::as_i64).unwrap_or_default(),
        connection,
    })
}
