//! The queue and those that wait for room, behind one lock, with the waking of workers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use longshore_model::{EvalId, EvalStatus, Evaluation, Timestamp};
use longshore_state::{Effect, State};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::blocked::BlockedEvals;
use super::clerk::Note;
use super::queue::{EvalQueue, GivenBack};
use crate::clock;

/// How many evaluations are where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvaluationCounts {
    /// A worker may take them.
    pub ready: usize,
    /// A worker has them.
    pub unacknowledged: usize,
    /// They stand behind another one of their job.
    pub pending: usize,
    /// Their time has not come.
    pub waiting: usize,
    /// They wait for room.
    pub blocked: usize,
}

pub(crate) struct Broker {
    desk: Mutex<Desk>,
    wake: Notify,
    notes: mpsc::UnboundedSender<Note>,
}

#[derive(Default)]
struct Desk {
    queue: EvalQueue,
    blocked: BlockedEvals,
}

impl Broker {
    pub(crate) fn new(notes: mpsc::UnboundedSender<Note>) -> Self {
        Self { desk: Mutex::default(), wake: Notify::new(), notes }
    }

    /// Takes up every evaluation that has not ended, as after a start. What room appeared before, nobody knows any
    /// more: those that wait for it are tried once.
    pub(crate) fn restore(&self, state: &State, now: Timestamp) {
        let open = state.evaluations().filter(|evaluation| !evaluation.status.is_terminal());
        self.enqueue_all(open.cloned(), now);
    }

    pub(crate) fn follow(&self, state: &State, effects: &[Effect], now: Timestamp) {
        for effect in effects {
            match effect {
                Effect::EvaluationPending(id) => {
                    if let Some(evaluation) = state.evaluation(*id).filter(|it| it.status == EvalStatus::Pending) {
                        self.desk().queue.enqueue(Arc::clone(evaluation), now);
                        self.wake.notify_one();
                    }
                }
                Effect::EvaluationBlocked(id) => {
                    if let Some(evaluation) = state.evaluation(*id).filter(|it| it.status == EvalStatus::Blocked) {
                        self.block(evaluation, now);
                    }
                }
                Effect::EvaluationEnded(id) => self.ended(state, *id),
                Effect::NodeCapacity(node) => {
                    if let Some(node) = state.node(*node).filter(|node| node.takes_placements()) {
                        let woken = self.desk().blocked.room(&node.computed_class, state.index(), now);
                        self.enqueue_all(woken, now);
                    }
                }
                Effect::NodeAllocations(_) | Effect::Deployment(_) => {}
            }
        }
    }

    fn block(&self, evaluation: &Arc<Evaluation>, now: Timestamp) {
        let blocking = self.desk().blocked.block(Arc::clone(evaluation));
        if let Some(id) = blocking.superfluous {
            let why = format!("existing blocked evaluation exists for job {:?}", evaluation.job.id);
            self.note(Note::Cancel { evaluations: vec![id], why });
        }
        self.enqueue_all(blocking.ready, now);
    }

    fn ended(&self, state: &State, id: EvalId) {
        let mut desk = self.desk();
        desk.queue.forget(id);
        if let Some(evaluation) = state.evaluation(id) {
            desk.blocked.forget(id, &evaluation.job);
        }
    }

    fn enqueue_all(&self, evaluations: impl IntoIterator<Item = Arc<Evaluation>>, now: Timestamp) {
        let mut desk = self.desk();
        for evaluation in evaluations {
            desk.queue.enqueue(evaluation, now);
            self.wake.notify_one();
        }
    }

    /// What only time brings: another try for plans that met others, and forgetting.
    pub(crate) fn every_minute(&self, now: Timestamp) {
        let conflicts = {
            let mut desk = self.desk();
            desk.blocked.prune(now);
            desk.blocked.take_conflicts()
        };
        self.enqueue_all(conflicts, now);
    }

    /// The next evaluation to work on; `None` when all ends.
    pub(crate) async fn next(self: &Arc<Self>, end: &CancellationToken) -> Option<Delivery> {
        loop {
            let woken = self.wake.notified();
            let due = {
                let now = clock::now();
                let mut desk = self.desk();
                if let Some(evaluation) = desk.queue.dequeue(now) {
                    if desk.queue.has_ready() {
                        self.wake.notify_one();
                    }
                    return Some(Delivery { broker: Arc::clone(self), evaluation, done: false });
                }
                desk.queue.next_due().map_or(Duration::from_secs(3_600), |due| due.since(now).to_std())
            };
            tokio::select! {
                () = woken => {}
                () = tokio::time::sleep(due) => {}
                () = end.cancelled() => return None,
            }
        }
    }

    pub(crate) fn counts(&self) -> EvaluationCounts {
        let desk = self.desk();
        let (ready, unacknowledged, pending, waiting) = desk.queue.counts();
        EvaluationCounts { ready, unacknowledged, pending, waiting, blocked: desk.blocked.len() }
    }

    fn note(&self, note: Note) {
        // Nobody takes notes only when all ends; what they would have said is decided anew at the next start.
        let _ = self.notes.send(note);
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An evaluation in a worker's hands. Dropped without `done`, as by a panic, it goes back to the queue.
#[must_use = "an evaluation that is dropped is given back"]
pub(crate) struct Delivery {
    broker: Arc<Broker>,
    pub(crate) evaluation: Arc<Evaluation>,
    done: bool,
}

impl Delivery {
    pub(crate) fn done(mut self) {
        self.done = true;
        let superfluous = self.broker.desk().queue.done(&self.evaluation);
        self.broker.wake.notify_one();
        if !superfluous.is_empty() {
            let why = "canceled after more recent eval was processed".to_owned();
            self.broker.note(Note::Cancel { evaluations: superfluous, why });
        }
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        let given_back = self.broker.desk().queue.give_back(&self.evaluation, clock::now());
        self.broker.wake.notify_one();
        if given_back == GivenBack::GivenUp {
            self.broker.note(Note::GiveUp { evaluation: self.evaluation.id });
        }
    }
}
