//! Which evaluation is worked on next. Decides only; no clock, no lock.
//!
//! - Q1: of one job at most one evaluation is ready or being worked on; the others of the job stand behind it.
//! - Q2: higher priority first, then the one that was created first.
//! - Q3: when one is done, only the best of those behind it stays: it will see everything that the others would have.
//! - Q4: one that was given back is tried again later, and given up after `DELIVERIES_MAX` times.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use longshore_model::{EvalId, Evaluation, JobKey, LogIndex, Timestamp};
use longshore_values::GoDuration;

pub(crate) const DELIVERIES_MAX: u32 = 3;
const FIRST_RETRY_DELAY: GoDuration = GoDuration::seconds(1);
const LATER_RETRY_DELAY: GoDuration = GoDuration::seconds(20);

type ReadyKey = (Reverse<u8>, LogIndex, EvalId);
type BehindKey = (Reverse<u8>, Reverse<LogIndex>, EvalId);

#[derive(Debug, Default)]
pub(crate) struct EvalQueue {
    /// Every evaluation that is somewhere below.
    known: BTreeMap<EvalId, Arc<Evaluation>>,
    ready: BTreeSet<ReadyKey>,
    jobs: BTreeMap<JobKey, Slot>,
    waiting: BTreeSet<(Timestamp, EvalId)>,
    deliveries: BTreeMap<EvalId, u32>,
}

/// What the queue holds of one job.
#[derive(Debug)]
struct Slot {
    first: EvalId,
    outstanding: bool,
    behind: BTreeSet<BehindKey>,
}

/// What becomes of an evaluation that was given back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GivenBack {
    Again { at: Timestamp },
    GivenUp,
}

impl EvalQueue {
    /// Takes a pending evaluation (or one that was blocked); repeating it changes nothing.
    pub(crate) fn enqueue(&mut self, evaluation: Arc<Evaluation>, now: Timestamp) {
        let id = evaluation.id;
        let outstanding = self.jobs.get(&evaluation.job).is_some_and(|slot| slot.outstanding && slot.first == id);
        if self.known.contains_key(&id) && !outstanding {
            self.known.insert(id, evaluation);
            return;
        }
        let mut due = evaluation.wait_until;
        if !evaluation.wait.is_zero() {
            due = due.max(evaluation.create_time.plus(evaluation.wait));
        }
        self.known.insert(id, Arc::clone(&evaluation));
        if due > now {
            self.waiting.insert((due, id));
        } else {
            self.line_up(&evaluation);
        }
    }

    fn line_up(&mut self, evaluation: &Evaluation) {
        match self.jobs.get_mut(&evaluation.job) {
            Some(slot) => {
                slot.behind.insert(behind_key(evaluation));
            }
            None => {
                self.ready.insert(ready_key(evaluation));
                let slot = Slot { first: evaluation.id, outstanding: false, behind: BTreeSet::new() };
                self.jobs.insert(evaluation.job.clone(), slot);
            }
        }
    }

    /// The next one to work on; it is outstanding until `done` or `give_back`.
    pub(crate) fn dequeue(&mut self, now: Timestamp) -> Option<Arc<Evaluation>> {
        while let Some((due, id)) = self.waiting.first().copied().filter(|(due, _)| *due <= now) {
            self.waiting.remove(&(due, id));
            if let Some(evaluation) = self.known.get(&id).cloned() {
                self.line_up(&evaluation);
            }
        }
        let (_, _, id) = self.ready.pop_first()?;
        let evaluation = Arc::clone(self.known.get(&id)?);
        if let Some(slot) = self.jobs.get_mut(&evaluation.job) {
            slot.outstanding = true;
        }
        *self.deliveries.entry(id).or_default() += 1;
        Some(evaluation)
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// (ready, being worked on, behind others of their job, waiting for their time)
    pub(crate) fn counts(&self) -> (usize, usize, usize, usize) {
        let outstanding = self.jobs.values().filter(|slot| slot.outstanding).count();
        let behind = self.jobs.values().map(|slot| slot.behind.len()).sum();
        (self.ready.len(), outstanding, behind, self.waiting.len())
    }

    /// When the next of those that wait for their time comes.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(due, _)| *due)
    }

    /// The evaluation was worked on. Returns those behind it that nobody needs any more (Q3).
    pub(crate) fn done(&mut self, evaluation: &Evaluation) -> Vec<EvalId> {
        self.deliveries.remove(&evaluation.id);
        let Some(slot) = self.leave(evaluation) else { return Vec::new() };
        let mut behind = slot.behind.into_iter().map(|(_, _, id)| id);
        if let Some(next) = behind.next().and_then(|id| self.known.get(&id).cloned()) {
            self.line_up(&next);
        }
        let superfluous: Vec<EvalId> = behind.collect();
        for id in &superfluous {
            self.known.remove(id);
        }
        superfluous
    }

    /// The evaluation could not be worked on (Q4).
    pub(crate) fn give_back(&mut self, evaluation: &Arc<Evaluation>, now: Timestamp) -> GivenBack {
        let id = evaluation.id;
        let times = self.deliveries.get(&id).copied().unwrap_or(1);
        if let Some(slot) = self.leave(evaluation) {
            for (_, _, behind) in slot.behind {
                if let Some(next) = self.known.get(&behind).cloned() {
                    self.line_up(&next);
                }
            }
        }
        if times >= DELIVERIES_MAX {
            self.deliveries.remove(&id);
            return GivenBack::GivenUp;
        }
        let delay = match times {
            0 | 1 => FIRST_RETRY_DELAY,
            more => LATER_RETRY_DELAY.saturating_mul(i64::from(more) - 1),
        };
        let at = now.plus(delay);
        self.known.insert(id, Arc::clone(evaluation));
        self.waiting.insert((at, id));
        GivenBack::Again { at }
    }

    /// Takes the slot of an outstanding evaluation; what is known of it stays only if it stands behind itself.
    fn leave(&mut self, evaluation: &Evaluation) -> Option<Slot> {
        let held = self.jobs.get(&evaluation.job).is_some_and(|slot| slot.outstanding && slot.first == evaluation.id);
        if !held {
            return None;
        }
        let slot = self.jobs.remove(&evaluation.job)?;
        if !slot.behind.iter().any(|(_, _, id)| *id == evaluation.id) {
            self.known.remove(&evaluation.id);
        }
        Some(slot)
    }

    /// The evaluation ended otherwise; one that is being worked on is left to its worker.
    pub(crate) fn forget(&mut self, id: EvalId) {
        let Some(evaluation) = self.known.get(&id).cloned() else { return };
        self.waiting.retain(|(_, waiting)| *waiting != id);
        if let Some(slot) = self.jobs.get_mut(&evaluation.job) {
            slot.behind.retain(|(_, _, behind)| *behind != id);
            if slot.first == id {
                if slot.outstanding {
                    return;
                }
                self.ready.remove(&ready_key(&evaluation));
                let behind = std::mem::take(&mut slot.behind);
                self.jobs.remove(&evaluation.job);
                for (_, _, next) in behind {
                    if let Some(next) = self.known.get(&next).cloned() {
                        self.line_up(&next);
                    }
                }
            }
        }
        self.known.remove(&id);
        self.deliveries.remove(&id);
    }
}

fn ready_key(evaluation: &Evaluation) -> ReadyKey {
    (Reverse(evaluation.priority), evaluation.create_index, evaluation.id)
}

fn behind_key(evaluation: &Evaluation) -> BehindKey {
    (Reverse(evaluation.priority), Reverse(evaluation.modify_index), evaluation.id)
}

#[cfg(test)]
mod tests;
