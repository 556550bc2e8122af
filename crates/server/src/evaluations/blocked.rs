//! Evaluations that wait for room. Decides only; no clock, no lock.
//!
//! - B1: at most one of a job waits; the newer one takes the place of the older.
//! - B2: one is woken when room appears on a class of nodes that it has not found unfit; when it cannot know (its
//!   constraints name unique attributes, or it never saw the class) it is woken too.
//! - B3: room that appeared after the state that it was planned on, and before it came here, wakes it at once.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{EvalId, Evaluation, JobKey, LogIndex, Timestamp, Trigger};
use longshore_values::GoDuration;

/// How long it is remembered when a class got room (B3).
const REMEMBERED: GoDuration = GoDuration::minutes(15);

#[derive(Debug, Default)]
pub(crate) struct BlockedEvals {
    by_job: BTreeMap<JobKey, Arc<Evaluation>>,
    /// Computed class → the newest change that gave it room, and when.
    room: BTreeMap<String, (LogIndex, Timestamp)>,
}

/// What became of an evaluation that came to wait.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Blocking {
    /// The one of two that is superfluous now (B1).
    pub(crate) superfluous: Option<EvalId>,
    /// It need not wait (B3).
    pub(crate) ready: Option<Arc<Evaluation>>,
}

impl BlockedEvals {
    pub(crate) fn block(&mut self, evaluation: Arc<Evaluation>) -> Blocking {
        let mut blocking = Blocking::default();
        if let Some(known) = self.by_job.get(&evaluation.job).filter(|known| known.id != evaluation.id) {
            if newness(known) > newness(&evaluation) {
                blocking.superfluous = Some(evaluation.id);
                return blocking;
            }
            blocking.superfluous = Some(known.id);
        }
        let missed = self
            .room
            .iter()
            .any(|(class, (index, _))| *index > evaluation.snapshot_index && may_fit(&evaluation, class));
        if missed {
            self.by_job.remove(&evaluation.job);
            blocking.ready = Some(evaluation);
        } else {
            self.by_job.insert(evaluation.job.clone(), evaluation);
        }
        blocking
    }

    /// A node of `class` has room since the change `index`. Returns who is woken (B2).
    pub(crate) fn room(&mut self, class: &str, index: LogIndex, now: Timestamp) -> Vec<Arc<Evaluation>> {
        self.room.insert(class.to_owned(), (index, now));
        self.take(|evaluation| may_fit(evaluation, class))
    }

    /// Those whose plans met other plans: what they found wrong may have passed.
    pub(crate) fn take_conflicts(&mut self) -> Vec<Arc<Evaluation>> {
        self.take(|evaluation| evaluation.triggered_by == Trigger::MaxPlanAttempts)
    }

    fn take(&mut self, wanted: impl Fn(&Evaluation) -> bool) -> Vec<Arc<Evaluation>> {
        self.by_job.extract_if(.., |_, evaluation| wanted(evaluation)).map(|(_, evaluation)| evaluation).collect()
    }

    /// The evaluation ended otherwise.
    pub(crate) fn forget(&mut self, id: EvalId, job: &JobKey) {
        if self.by_job.get(job).is_some_and(|known| known.id == id) {
            self.by_job.remove(job);
        }
    }

    /// Forgets what is older than any plan that may still come here.
    pub(crate) fn prune(&mut self, now: Timestamp) {
        self.room.retain(|_, (_, at)| now.since(*at) < REMEMBERED);
    }

    pub(crate) fn len(&self) -> usize {
        self.by_job.len()
    }
}

fn newness(evaluation: &Evaluation) -> LogIndex {
    evaluation.snapshot_index.max(evaluation.create_index)
}

fn may_fit(evaluation: &Evaluation, class: &str) -> bool {
    evaluation.escaped_computed_class || evaluation.class_eligibility.get(class).copied().unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use longshore_model::JobType;

    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_000);

    fn evaluation(id: u128, snapshot: u64, classes: &[(&str, bool)]) -> Evaluation {
        let key = JobKey::new("default", "web");
        let id = EvalId::from_u128(id);
        let mut evaluation = Evaluation::pending(id, key, JobType::Service, 50, Trigger::QueuedAllocs, NOW);
        evaluation.snapshot_index = LogIndex(snapshot);
        evaluation.create_index = LogIndex(snapshot + 1);
        evaluation.class_eligibility = classes.iter().map(|(class, fits)| ((*class).to_owned(), *fits)).collect();
        evaluation
    }

    fn waiting(snapshot: u64, classes: &[(&str, bool)]) -> BlockedEvals {
        let mut blocked = BlockedEvals::default();
        let blocking = blocked.block(Arc::new(evaluation(1, snapshot, classes)));
        assert_eq!(blocking, Blocking::default());
        blocked
    }

    #[test]
    fn room_wakes_who_may_fit() {
        #[track_caller]
        fn check(classes: &[(&str, bool)], class: &str, wakes: bool) {
            let woken = waiting(10, classes).room(class, LogIndex(20), NOW);
            assert_eq!(woken.len() == 1, wakes, "{classes:?} and room on {class}");
        }
        check(&[("small", true)], "small", true);
        check(&[("small", false)], "small", false);
        check(&[("small", false)], "large", true);
        check(&[], "small", true);
        let mut escaped = evaluation(1, 10, &[("small", false)]);
        escaped.escaped_computed_class = true;
        let mut blocked = BlockedEvals::default();
        blocked.block(Arc::new(escaped));
        assert_eq!(blocked.room("small", LogIndex(20), NOW).len(), 1);
        assert_eq!(blocked.len(), 0);
    }

    #[test]
    fn room_that_was_missed_wakes_at_once() {
        let mut blocked = BlockedEvals::default();
        blocked.room("small", LogIndex(20), NOW);
        assert!(blocked.block(Arc::new(evaluation(1, 19, &[("small", true)]))).ready.is_some(), "B3");
        assert!(blocked.block(Arc::new(evaluation(2, 19, &[("small", false)]))).ready.is_none());
        assert!(blocked.block(Arc::new(evaluation(3, 20, &[("small", true)]))).ready.is_none());
        blocked.prune(NOW.plus(GoDuration::minutes(16)));
        assert!(blocked.room.is_empty());
    }

    #[test]
    fn the_newer_of_two_waits() {
        let mut blocked = waiting(10, &[]);
        let newer = blocked.block(Arc::new(evaluation(2, 15, &[])));
        assert_eq!(newer.superfluous, Some(EvalId::from_u128(1)), "B1");
        let older = blocked.block(Arc::new(evaluation(3, 12, &[])));
        assert_eq!(older.superfluous, Some(EvalId::from_u128(3)), "B1");
        assert_eq!(blocked.block(Arc::new(evaluation(2, 16, &[]))), Blocking::default(), "the same again");
        blocked.forget(EvalId::from_u128(1), &JobKey::new("default", "web"));
        assert_eq!(blocked.len(), 1);
        blocked.forget(EvalId::from_u128(2), &JobKey::new("default", "web"));
        assert_eq!(blocked.len(), 0);
    }

    #[test]
    fn conflicts_are_taken_by_their_reason() {
        let mut blocked = waiting(10, &[]);
        assert!(blocked.take_conflicts().is_empty());
        let mut conflict = evaluation(2, 15, &[]);
        conflict.triggered_by = Trigger::MaxPlanAttempts;
        blocked.block(Arc::new(conflict));
        assert_eq!(blocked.take_conflicts().len(), 1);
    }
}
