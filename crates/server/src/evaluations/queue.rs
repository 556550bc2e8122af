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
mod tests {
    use longshore_model::{JobType, Trigger};

    use super::*;

    const START: Timestamp = Timestamp::from_seconds(1_000);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(1_000 + seconds)
    }

    fn evaluation(id: u128, job: &str, priority: u8) -> Arc<Evaluation> {
        Arc::new(with(id, job, priority, |_| {}))
    }

    fn with(id: u128, job: &str, priority: u8, change: impl FnOnce(&mut Evaluation)) -> Evaluation {
        let key = JobKey::new("default", job);
        let mut evaluation =
            Evaluation::pending(EvalId::from_u128(id), key, JobType::Service, priority, Trigger::JobRegister, START);
        evaluation.create_index = LogIndex(u64::try_from(id).unwrap());
        evaluation.modify_index = evaluation.create_index;
        change(&mut evaluation);
        evaluation
    }

    fn ids(list: Vec<EvalId>) -> Vec<u128> {
        list.into_iter().map(EvalId::as_u128).collect()
    }

    fn next(queue: &mut EvalQueue, now: Timestamp) -> Option<u128> {
        queue.dequeue(now).map(|evaluation| evaluation.id.as_u128())
    }

    #[test]
    fn higher_priority_first_then_older() {
        let mut queue = EvalQueue::default();
        for (id, job, priority) in [(1, "a", 50), (2, "b", 50), (3, "c", 80), (4, "d", 20)] {
            queue.enqueue(evaluation(id, job, priority), START);
        }
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue, START)).collect();
        assert_eq!(order, [3, 1, 2, 4]);
    }

    #[test]
    fn one_of_a_job_at_a_time_and_only_the_newest_behind_it_stays() {
        let mut queue = EvalQueue::default();
        let first = evaluation(1, "a", 50);
        queue.enqueue(Arc::clone(&first), START);
        assert_eq!(next(&mut queue, START), Some(1));
        for id in [2, 3, 4] {
            queue.enqueue(evaluation(id, "a", 50), START);
            queue.enqueue(evaluation(id, "a", 50), START);
        }
        assert_eq!(next(&mut queue, START), None, "Q1");
        assert_eq!(queue.counts(), (0, 1, 3, 0));
        assert_eq!(ids(queue.done(&first)), [3, 2], "Q3");
        assert_eq!(next(&mut queue, START), Some(4));
        assert_eq!(ids(queue.done(&evaluation(4, "a", 50))), [0_u128; 0]);
        assert_eq!(next(&mut queue, START), None);
        assert!(queue.known.is_empty() && queue.jobs.is_empty() && queue.deliveries.is_empty());
    }

    #[test]
    fn an_evaluation_waits_for_its_time() {
        let mut queue = EvalQueue::default();
        queue.enqueue(Arc::new(with(1, "a", 50, |it| it.wait_until = at(30))), START);
        queue.enqueue(Arc::new(with(2, "b", 50, |it| it.wait = GoDuration::seconds(10))), START);
        assert_eq!((next(&mut queue, at(9)), queue.next_due()), (None, Some(at(10))));
        assert_eq!((next(&mut queue, at(10)), queue.next_due()), (Some(2), Some(at(30))));
        assert_eq!(next(&mut queue, at(30)), Some(1));
    }

    #[test]
    fn what_is_given_back_comes_later_and_is_given_up_in_the_end() {
        let mut queue = EvalQueue::default();
        let first = evaluation(1, "a", 50);
        queue.enqueue(Arc::clone(&first), START);
        queue.enqueue(evaluation(2, "a", 50), START);
        assert_eq!(next(&mut queue, START), Some(1));
        assert_eq!(queue.give_back(&first, START), GivenBack::Again { at: at(1) });
        assert_eq!(next(&mut queue, START), Some(2), "those behind it are not held up");
        assert!(queue.done(&evaluation(2, "a", 50)).is_empty());
        assert_eq!(next(&mut queue, at(1)), Some(1));
        assert_eq!(queue.give_back(&first, at(1)), GivenBack::Again { at: at(21) });
        assert_eq!(next(&mut queue, at(21)), Some(1));
        assert_eq!(queue.give_back(&first, at(21)), GivenBack::GivenUp);
        assert_eq!(next(&mut queue, at(1_000)), None);
        assert!(queue.known.is_empty() && queue.jobs.is_empty() && queue.deliveries.is_empty());
    }

    #[test]
    fn one_that_comes_again_while_it_is_worked_on_is_worked_on_again() {
        let mut queue = EvalQueue::default();
        let first = evaluation(1, "a", 50);
        queue.enqueue(Arc::clone(&first), START);
        assert_eq!(next(&mut queue, START), Some(1));
        queue.enqueue(Arc::clone(&first), START);
        assert!(queue.done(&first).is_empty());
        assert_eq!(next(&mut queue, START), Some(1));
        assert!(queue.done(&first).is_empty());
        assert_eq!(next(&mut queue, START), None);
    }

    #[test]
    fn what_is_forgotten_makes_room_for_the_next() {
        let mut queue = EvalQueue::default();
        queue.enqueue(evaluation(1, "a", 50), START);
        queue.enqueue(evaluation(2, "a", 50), START);
        queue.enqueue(Arc::new(with(3, "a", 50, |it| it.wait_until = at(5))), START);
        queue.forget(EvalId::from_u128(1));
        queue.forget(EvalId::from_u128(3));
        assert_eq!(next(&mut queue, at(10)), Some(2));
        queue.forget(EvalId::from_u128(2));
        assert!(queue.done(&evaluation(2, "a", 50)).is_empty());
        assert!(queue.known.is_empty() && queue.jobs.is_empty() && queue.deliveries.is_empty());
    }
}
