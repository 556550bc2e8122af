//! What the hands of a soak share: the agent's and the engine's addresses, and what was seen and acknowledged.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::{Address, Body, Response, Result, http};

/// Calls that take longer are no answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the server has acknowledged of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    /// Its `JobModifyIndex` then.
    pub(super) index: u64,
    /// It was asked to be purged since: it may be gone.
    pub(super) may_be_gone: bool,
}

pub(super) struct Shared {
    pub(super) agent: Address,
    pub(super) engine: Address,
    ending: AtomicBool,
    acknowledged: Mutex<BTreeMap<String, Acknowledged>>,
    contents: Mutex<BTreeMap<String, String>>,
    findings: Mutex<Vec<String>>,
    quiet: Mutex<Vec<(i64, i64)>>,
}

impl Shared {
    pub(super) fn new(agent: Address, engine: Address) -> Self {
        Self {
            agent,
            engine,
            ending: AtomicBool::new(false),
            acknowledged: Mutex::default(),
            contents: Mutex::default(),
            findings: Mutex::default(),
            quiet: Mutex::default(),
        }
    }

    pub(super) fn ask_agent(&self, method: &str, path: &str, body: Body<'_>) -> Result<Response> {
        http::request(&self.agent, method, path, &[], body, PATIENCE)
    }

    /// A GET of the agent that brought JSON.
    pub(super) fn agent_says(&self, path: &str) -> Result<Value> {
        self.ask_agent("GET", path, Body::Empty)?.success(&format!("ask the agent for {path}"))?.json()
    }

    /// A GET of the engine that brought JSON.
    pub(super) fn engine_says(&self, path: &str) -> Result<Value> {
        http::request(&self.engine, "GET", path, &[], Body::Empty, PATIENCE)?
            .success(&format!("ask the engine for {path}"))?
            .json()
    }

    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
    }

    pub(super) fn ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// Lets a drawn time pass, or less when the end has come.
    pub(super) fn pass(&self, time: Duration) {
        let step = Duration::from_millis(20);
        let mut left = time;
        while !left.is_zero() && !self.ending() {
            thread::sleep(left.min(step));
            left = left.saturating_sub(step);
        }
    }

    /// Notes something that should not be.
    pub(super) fn found(&self, finding: String) {
        println!("FOUND {finding}");
        lock(&self.findings).push(finding);
    }

    pub(super) fn findings(&self) -> Vec<String> {
        lock(&self.findings).clone()
    }

    pub(super) fn acknowledge(&self, id: &str, index: u64) {
        let mut all = lock(&self.acknowledged);
        let of_job = all.entry(id.to_owned()).or_default();
        *of_job = Acknowledged { index: of_job.index.max(index), may_be_gone: false };
    }

    pub(super) fn may_be_gone(&self, id: &str) {
        if let Some(of_job) = lock(&self.acknowledged).get_mut(id) {
            of_job.may_be_gone = true;
        }
    }

    pub(super) fn acknowledged(&self) -> BTreeMap<String, Acknowledged> {
        lock(&self.acknowledged).clone()
    }

    /// Notes from which content a container was made.
    pub(super) fn note_content(&self, container: &str, content: &str) {
        lock(&self.contents).insert(container.to_owned(), content.to_owned());
    }

    pub(super) fn contents(&self) -> BTreeMap<String, String> {
        lock(&self.contents).clone()
    }

    /// Notes a time in which nothing of the steady service was to be stopped.
    pub(super) fn note_quiet(&self, from_nanos: i64, to_nanos: i64) {
        lock(&self.quiet).push((from_nanos, to_nanos));
    }

    pub(super) fn quiet(&self) -> Vec<(i64, i64)> {
        lock(&self.quiet).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Wall-clock time as the engine's events have it.
pub(super) fn now_nanos() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
