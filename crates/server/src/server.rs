use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longshore_journal::Opened;
use longshore_model::{LogIndex, Timestamp};
use longshore_state::{Change, Effect, Entry, EvaluationChange, State, Table};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::clock;
use crate::collect::{self, Cutoffs, Times};
use crate::config::ServerConfig;
use crate::deployments::{self, Wakes};
use crate::error::{ServerError, StartError};
use crate::evaluations::{self, Broker, EvaluationCounts};
use crate::nodes::{self, Pulse, Report};
use crate::published::Published;
use crate::snapshots::SnapshotKeeper;
use crate::worker::Worker;
use crate::writer::{Follower, Proposer, Writer};

const REPORTS_MAX: usize = 1_024;

/// A running server. Clones are handles to the same one; it runs until `shutdown`.
#[derive(Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

struct Inner {
    proposer: Proposer,
    published: Arc<Published>,
    broker: Arc<Broker>,
    pulse: Arc<Pulse>,
    reports: mpsc::Sender<Report>,
    /// The entry of the newest snapshot on disk.
    snapshot_index: Arc<AtomicU64>,
    /// Ends everything but the loop that writes.
    end: CancellationToken,
    tasks: Mutex<Tasks>,
}

#[derive(Default)]
struct Tasks {
    loops: Vec<JoinHandle<()>>,
    workers: Vec<std::thread::JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
}

/// Those who are told of every durable batch.
struct Followers {
    published: Arc<Published>,
    broker: Arc<Broker>,
    deployments: Wakes,
    times: Arc<Mutex<Times>>,
}

impl Follower for Followers {
    fn follow(&self, state: &Arc<State>, effects: &[Effect], now: Timestamp) {
        self.times.lock().unwrap_or_else(PoisonError::into_inner).witness(state.index(), now);
        // First what is seen, then who acts on it: nobody is woken for what is not there yet.
        self.published.publish(state, effects);
        self.broker.follow(state, effects, now);
        self.deployments.follow(state, effects);
    }
}

impl Server {
    /// Restores the state from what was opened, and starts to work.
    pub async fn start(config: ServerConfig, opened: Opened) -> Result<Self, StartError> {
        let began = std::time::Instant::now();
        let journal = Arc::clone(&opened.journal);
        let restored = tokio::task::spawn_blocking(move || Restored::read(opened));
        let restored = restored.await.map_err(|_| StartError::Cancelled)??;
        let state = Arc::new(restored.state);
        let is_new = state.index() == LogIndex(0);
        tracing::info!(index = %state.index(), repeated = restored.repeated, took = ?began.elapsed(), "state restored");

        let now = clock::now().max(restored.last_at);
        let end = CancellationToken::new();
        let published = Arc::new(Published::new(Arc::clone(&state)));
        let (proposer, inbox) = Proposer::channel();
        let (notes, notes_inbox) = mpsc::unbounded_channel();
        let (wakes, wakes_inbox) = Wakes::channel();
        let (reports, reports_inbox) = mpsc::channel(REPORTS_MAX);
        let broker = Arc::new(Broker::new(notes));
        let pulse = Arc::new(Pulse::new(config.heartbeat.clone()));
        let times = Arc::new(Mutex::new(restored.times));
        broker.restore(&state, now);
        pulse.restore(&state, now);

        let followers = Followers {
            published: Arc::clone(&published),
            broker: Arc::clone(&broker),
            deployments: wakes,
            times: Arc::clone(&times),
        };
        let snapshots = SnapshotKeeper::new(
            Arc::clone(&journal),
            config.snapshot_after_bytes,
            restored.snapshot_index,
            restored.snapshot_bytes,
        );
        let snapshot_index = snapshots.written();
        let writer = Writer { snapshots, state, journal, inbox, follower: Arc::new(followers), last_at: now };
        let mut tasks = Tasks { writer: Some(tokio::spawn(writer.run())), ..Tasks::default() };
        if is_new {
            found(&proposer).await.map_err(StartError::Found)?;
        }
        tasks.loops = vec![
            tokio::spawn(evaluations::run_clerk(notes_inbox, proposer.clone())),
            tokio::spawn(nodes::run_reporter(reports_inbox, proposer.clone())),
            tokio::spawn(Arc::clone(&pulse).run(proposer.clone(), end.clone())),
            tokio::spawn(deployments::run_watcher(wakes_inbox, Arc::clone(&published), proposer.clone(), end.clone())),
            tokio::spawn(collect::run_collector(
                config.collect,
                times,
                Arc::clone(&published),
                proposer.clone(),
                end.clone(),
            )),
            tokio::spawn(every_minute(Arc::clone(&broker), end.clone())),
        ];
        let worker = Worker {
            broker: Arc::clone(&broker),
            published: Arc::clone(&published),
            proposer: proposer.clone(),
            end: end.clone(),
        };
        for number in 0..config.workers.max(1) {
            // A thread of its own: a long plan must not hold up those who answer requests.
            let (worker, runtime) = (worker.clone(), tokio::runtime::Handle::current());
            let thread = std::thread::Builder::new()
                .name(format!("scheduler-{number}"))
                .spawn(move || runtime.block_on(worker.run()))
                .map_err(StartError::Thread)?;
            tasks.workers.push(thread);
        }
        let inner =
            Inner { proposer, published, broker, pulse, reports, snapshot_index, end, tasks: Mutex::new(tasks) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Ends in order: what is being worked on is finished or given up, what was proposed is durable, and the next start
    /// has little to repeat. Repeating it does nothing.
    pub async fn shutdown(&self) {
        self.inner.end.cancel();
        let tasks = std::mem::take(&mut *self.inner.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let joined = tokio::task::spawn_blocking(move || {
            for worker in tasks.workers {
                if worker.join().is_err() {
                    tracing::error!("a scheduler's thread ended by a panic");
                }
            }
        });
        let _ = joined.await;
        self.inner.proposer.stop().await;
        for task in tasks.loops {
            task.abort();
        }
        if let Some(writer) = tasks.writer {
            let _ = writer.await;
        }
    }

    /// The entry of the newest snapshot on disk, from which the next start begins; 0 when there is none.
    pub fn snapshot_index(&self) -> LogIndex {
        LogIndex(self.inner.snapshot_index.load(Ordering::Relaxed))
    }

    /// The newest durable state. Cheap; it never changes under its holder.
    pub fn snapshot(&self) -> Arc<State> {
        self.inner.published.snapshot()
    }

    /// The first state in which `index_of` is above `after`, or the newest one when `wait` is over or the server ends.
    ///
    /// Looks only when `table` has changed.
    pub async fn wait_for_change(
        &self,
        table: Table,
        after: LogIndex,
        wait: Duration,
        index_of: impl Fn(&State) -> LogIndex + Send,
    ) -> Arc<State> {
        tokio::select! {
            state = self.inner.published.wait_for_table(table, after, wait, index_of) => state,
            () = self.inner.end.cancelled() => self.snapshot(),
        }
    }

    /// The first state that `is_there` accepts; `None` when `wait` is over or the server ends before. Looks at every
    /// change, so it is for the few who wait for what no table's index tells.
    pub async fn wait_until(&self, wait: Duration, is_there: impl Fn(&State) -> bool + Send) -> Option<Arc<State>> {
        tokio::select! {
            state = self.inner.published.wait_until(wait, is_there) => state,
            () = self.inner.end.cancelled() => None,
        }
    }

    /// Forgets everything that has ended, however young. Returns how many things that were.
    pub async fn system_gc(&self) -> Result<usize, ServerError> {
        collect::collect(&self.snapshot(), &Cutoffs::none(), &self.inner.proposer).await
    }

    /// How many evaluations wait, and for what.
    pub fn evaluation_counts(&self) -> EvaluationCounts {
        self.inner.broker.counts()
    }

    pub(crate) fn proposer(&self) -> &Proposer {
        &self.inner.proposer
    }

    pub(crate) fn published(&self) -> &Published {
        &self.inner.published
    }

    pub(crate) fn pulse(&self) -> &Pulse {
        &self.inner.pulse
    }

    pub(crate) fn reports(&self) -> &mpsc::Sender<Report> {
        &self.inner.reports
    }

    pub(crate) fn end(&self) -> &CancellationToken {
        &self.inner.end
    }
}

/// Entry 1 of a new journal changes nothing. Clients are told index 1 of what was never written, and ask for what comes
/// after it: no real change may have that index.
async fn found(proposer: &Proposer) -> Result<(), ServerError> {
    let nothing = || Change::Evaluation(EvaluationChange::Upsert(Vec::new()));
    proposer.propose(move |_, _| Ok((Some(nothing()), ()))).await.map(|_| ())
}

async fn every_minute(broker: Arc<Broker>, end: CancellationToken) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs(60)) => broker.every_minute(clock::now()),
            () = end.cancelled() => return,
        }
    }
}

/// What the journal held.
struct Restored {
    state: State,
    times: Times,
    last_at: Timestamp,
    repeated: usize,
    snapshot_index: LogIndex,
    snapshot_bytes: usize,
}

impl Restored {
    fn read(opened: Opened) -> Result<Self, StartError> {
        let Opened { snapshot, entries, journal: _ } = opened;
        let mut this = Self {
            state: State::default(),
            times: Times::default(),
            last_at: Timestamp::NEVER,
            repeated: 0,
            snapshot_index: LogIndex::default(),
            snapshot_bytes: 0,
        };
        if let Some(snapshot) = snapshot {
            this.snapshot_index = snapshot.index;
            this.snapshot_bytes = snapshot.bytes.len();
            this.state = State::from_image(&snapshot.bytes)
                .map_err(|source| StartError::Snapshot { index: snapshot.index, source })?;
        }
        for entry in entries {
            let entry = entry?;
            let index = entry.index;
            let Entry { at, change } =
                Entry::decode(&entry.bytes).map_err(|source| StartError::Entry { index, source })?;
            this.state.apply(index, at, change);
            this.times.witness(index, at);
            this.last_at = at;
            this.repeated += 1;
        }
        Ok(this)
    }
}
