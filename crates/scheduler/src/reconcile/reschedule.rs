//! When a failed allocation is tried again elsewhere (scheduling facts, section 3.3).

use longshore_model::{Allocation, DelayFunction, ReschedulePolicy, Timestamp};
use longshore_values::GoDuration;

/// What becomes of a failed allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Never: no policy, or its attempts are used up.
    No,
    Now,
    At(Timestamp),
}

/// Less than this ahead counts as now.
const SOON: GoDuration = GoDuration::seconds(1);

pub(super) fn verdict(alloc: &Allocation, policy: Option<&ReschedulePolicy>, now: Timestamp, forced: bool) -> Verdict {
    if alloc.desired_transition.force_reschedule {
        return Verdict::Now;
    }
    let Some(policy) = policy else { return Verdict::No };
    let failed_at = failed_at(alloc);
    if !policy.unlimited && attempts_within(alloc, policy, failed_at) >= policy.attempts {
        return Verdict::No;
    }
    if !policy.unlimited && policy.attempts == 0 {
        return Verdict::No;
    }
    let at = failed_at.plus(next_delay(alloc, policy));
    if forced || at.since(now) <= SOON { Verdict::Now } else { Verdict::At(at) }
}

/// When the last of its tasks ended.
fn failed_at(alloc: &Allocation) -> Timestamp {
    let last = alloc.task_states.values().map(|state| state.finished_at).max().unwrap_or_default();
    if last.is_never() { alloc.modify_time } else { last }
}

fn attempts_within(alloc: &Allocation, policy: &ReschedulePolicy, failed_at: Timestamp) -> u32 {
    let since = failed_at.minus(policy.interval);
    let within = alloc.reschedule_tracker.events.iter().filter(|event| event.at > since).count();
    u32::try_from(within).unwrap_or(u32::MAX)
}

/// The wait before the next attempt.
pub(crate) fn next_delay(alloc: &Allocation, policy: &ReschedulePolicy) -> GoDuration {
    let events = &alloc.reschedule_tracker.events;
    let Some(last) = events.last() else { return policy.delay };
    let before = events.len().checked_sub(2).and_then(|at| events.get(at)).map(|event| event.delay);
    let delay = match policy.delay_function {
        DelayFunction::Constant => return policy.delay,
        DelayFunction::Exponential => last.delay.saturating_mul(2),
        DelayFunction::Fibonacci => match before {
            // After the longest wait the pattern began anew.
            Some(before) if before == policy.max_delay && last.delay == policy.delay => last.delay,
            Some(before) => last.delay.saturating_add(before),
            None => last.delay,
        },
    };
    if delay < policy.max_delay || policy.max_delay.is_zero() {
        return delay;
    }
    // A long quiet run after the longest wait earns a fresh start.
    if failed_at(alloc).since(last.at) > policy.max_delay { policy.delay } else { policy.max_delay }
}

#[cfg(test)]
mod tests {
    use longshore_model::{NodeId, RescheduleEvent};

    use super::*;
    use crate::world::failed_allocation;

    fn policy(delay_function: DelayFunction) -> ReschedulePolicy {
        ReschedulePolicy {
            attempts: 0,
            interval: GoDuration::ZERO,
            delay: GoDuration::seconds(5),
            delay_function,
            max_delay: GoDuration::seconds(60),
            unlimited: true,
        }
    }

    /// The delays of attempt after attempt, each failing at once.
    fn delays(function: DelayFunction, count: usize) -> Vec<i64> {
        let policy = policy(function);
        let mut alloc = failed_allocation(1, Timestamp::from_seconds(1000));
        let mut seconds = Vec::new();
        for _ in 0..count {
            let delay = next_delay(&alloc, &policy);
            seconds.push(delay.as_nanoseconds() / 1_000_000_000);
            alloc.reschedule_tracker.events.push(RescheduleEvent {
                at: Timestamp::from_seconds(1000),
                previous_alloc: alloc.id,
                previous_node: NodeId::from_u128(1),
                delay,
            });
        }
        seconds
    }

    #[test]
    fn delays_follow_their_function_up_to_the_longest() {
        assert_eq!(delays(DelayFunction::Constant, 3), [5, 5, 5]);
        assert_eq!(delays(DelayFunction::Exponential, 6), [5, 10, 20, 40, 60, 60]);
        assert_eq!(delays(DelayFunction::Fibonacci, 7), [5, 5, 10, 15, 25, 40, 60]);
    }

    #[test]
    fn attempts_count_within_their_interval() {
        let limited = ReschedulePolicy {
            attempts: 1,
            interval: GoDuration::minutes(10),
            unlimited: false,
            ..policy(DelayFunction::Constant)
        };
        let mut alloc = failed_allocation(1, Timestamp::from_seconds(10_000));
        let now = Timestamp::from_seconds(10_000);
        assert_eq!(verdict(&alloc, None, now, false), Verdict::No);
        assert_eq!(verdict(&alloc, Some(&limited), now, false), Verdict::At(Timestamp::from_seconds(10_005)));
        assert_eq!(verdict(&alloc, Some(&limited), Timestamp::from_seconds(10_004), false), Verdict::Now);
        let event = |at| RescheduleEvent {
            at: Timestamp::from_seconds(at),
            previous_alloc: alloc.id,
            previous_node: NodeId::from_u128(1),
            delay: GoDuration::seconds(5),
        };
        alloc.reschedule_tracker.events = vec![event(9_900)];
        assert_eq!(verdict(&alloc, Some(&limited), now, false), Verdict::No);
        alloc.reschedule_tracker.events =
            vec![RescheduleEvent { at: Timestamp::from_seconds(9_000), ..alloc.reschedule_tracker.events[0].clone() }];
        assert_eq!(verdict(&alloc, Some(&limited), now, false), Verdict::At(Timestamp::from_seconds(10_005)));
    }
}
