use std::collections::BTreeMap as Map;

use longshore_model::{JobType, Trigger};
use proptest::prelude::*;

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

#[derive(Debug, Clone)]
enum Act {
    Enqueue { id: u128, job: usize, priority: u8, wait: i64 },
    Dequeue,
    Done(usize),
    GiveBack(usize),
    Forget(u128),
    Pass(i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (1..40_u128, 0..4_usize, prop_oneof![Just(20_u8), Just(50)], 0..3_i64)
            .prop_map(|(id, job, priority, wait)| Act::Enqueue { id, job, priority, wait }),
        4 => Just(Act::Dequeue),
        3 => (0..4_usize).prop_map(Act::Done),
        1 => (0..4_usize).prop_map(Act::GiveBack),
        1 => (1..40_u128).prop_map(Act::Forget),
        1 => (0..30_i64).prop_map(Act::Pass),
    ];
    proptest::collection::vec(act, 0..120)
}

proptest! {
    /// Q1 always; and nothing is lost: what came in goes out as done, superfluous, given up or forgotten.
    #[test]
    fn whatever_happens_one_of_a_job_and_nothing_lost(acts in acts()) {
        let mut queue = EvalQueue::default();
        let mut now = START;
        let mut open: Map<u128, Arc<Evaluation>> = Map::new();
        let mut out: Vec<Arc<Evaluation>> = Vec::new();
        for act in acts {
            match act {
                Act::Enqueue { id, job, priority, wait } => {
                    let fresh = || Arc::new(with(id, ["a", "b", "c", "d"][job], priority, |it| {
                        if wait > 0 {
                            it.wait_until = now.plus(GoDuration::seconds(wait));
                        }
                    }));
                    queue.enqueue(Arc::clone(open.entry(id).or_insert_with(fresh)), now);
                }
                Act::Dequeue => out.extend(queue.dequeue(now)),
                Act::Done(at) if at < out.len() => {
                    let evaluation = out.remove(at);
                    for id in queue.done(&evaluation) {
                        open.remove(&id.as_u128());
                    }
                    if !queue.known.contains_key(&evaluation.id) {
                        open.remove(&evaluation.id.as_u128());
                    }
                }
                Act::GiveBack(at) if at < out.len() => {
                    let evaluation = out.remove(at);
                    if queue.give_back(&evaluation, now) == GivenBack::GivenUp
                        && !queue.known.contains_key(&evaluation.id)
                    {
                        open.remove(&evaluation.id.as_u128());
                    }
                }
                Act::Forget(id) if !out.iter().any(|it| it.id.as_u128() == id) => {
                    queue.forget(EvalId::from_u128(id));
                    open.remove(&id);
                }
                Act::Pass(seconds) => now = now.plus(GoDuration::seconds(seconds)),
                Act::Done(_) | Act::GiveBack(_) | Act::Forget(_) => {}
            }
            let mut jobs: Vec<_> = out.iter().map(|it| it.job.clone()).collect();
            jobs.sort();
            let before = jobs.len();
            jobs.dedup();
            prop_assert_eq!(jobs.len(), before, "Q1");
        }
        // What is left comes out in the end.
        for evaluation in out.drain(..) {
            open.remove(&evaluation.id.as_u128());
            for id in queue.done(&evaluation) {
                open.remove(&id.as_u128());
            }
        }
        now = now.plus(GoDuration::hours(1));
        while let Some(evaluation) = queue.dequeue(now) {
            open.remove(&evaluation.id.as_u128());
            for id in queue.done(&evaluation) {
                open.remove(&id.as_u128());
            }
        }
        prop_assert!(open.is_empty(), "lost: {:?}", open.keys());
        prop_assert!(queue.known.is_empty() && queue.jobs.is_empty() && queue.ready.is_empty());
    }
}
