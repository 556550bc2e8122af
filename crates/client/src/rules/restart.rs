//! Whether an ended task starts again, and when, as Nomad 1.6 decides it.

use longshore_model::{Job, LifecycleHook, RestartMode, RestartPolicy, Task, Timestamp};
use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

pub(crate) const WITHIN_POLICY: &str = "Restart within policy";
const NO_RESTARTS_ALLOWED: &str = "Policy allows no restarts";
const UNRECOVERABLE: &str = "Error was unrecoverable";
const INTERRUPTED: &str = "What ran the task was stopped or restarted";
const DELAY_APPLIED: &str = "Exceeded allowed attempts, applying a delay";

/// The largest share of the policy's delay that chance adds to it.
const JITTER_SHARE: f64 = 0.25;

/// The part of a task's history that its restart policy looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RestartTracker {
    /// Ends counted since `window_start`.
    count: u32,
    /// When the interval under way began; never, before the first end.
    window_start: Timestamp,
}

/// What a task's kind and policy say about its restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RestartRules {
    pub(crate) policy: RestartPolicy,
    /// Whether it restarts after a success, too.
    pub(crate) on_success: bool,
    /// Whether it restarts at all.
    pub(crate) once_only: bool,
}

impl RestartRules {
    pub(crate) fn of(job: &Job, task: &Task) -> Self {
        let (on_success, once_only) = match task.lifecycle {
            Some(lifecycle) if lifecycle.hook == LifecycleHook::Poststop => (false, true),
            Some(lifecycle) if !lifecycle.sidecar => (false, false),
            _ => (!job.is_batch(), false),
        };
        Self { policy: task.restart, on_success, once_only }
    }
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptEnd {
    Success,
    Failure,
    /// What ran it went away and took it along: that is not counted.
    Interrupted {
        /// It had handled its signal well, or was done by then.
        success: bool,
    },
    /// It could not be started; the same attempt may succeed later.
    StartFailed,
    /// It could not be started and never will.
    Unrecoverable,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RestartDecision {
    /// The task has done what it was for.
    Finished,
    /// The task has failed for good.
    GiveUp {
        reason: String,
    },
    Restart {
        reason: &'static str,
        delay: GoDuration,
    },
}

impl RestartTracker {
    /// `chance` is between 0 and 1 and chooses the jitter.
    pub(crate) fn decide(
        &mut self,
        rules: &RestartRules,
        end: AttemptEnd,
        now: Timestamp,
        chance: f64,
    ) -> RestartDecision {
        let policy = &rules.policy;
        if matches!(end, AttemptEnd::Success | AttemptEnd::Interrupted { success: true }) && !rules.on_success {
            return RestartDecision::Finished;
        }
        if policy.attempts == 0 || rules.once_only {
            return RestartDecision::GiveUp { reason: NO_RESTARTS_ALLOWED.to_owned() };
        }
        if matches!(end, AttemptEnd::Interrupted { .. }) {
            return RestartDecision::Restart { reason: INTERRUPTED, delay: jittered(policy.delay, chance) };
        }
        if self.window_start.is_never() || now > self.window_start.plus(policy.interval) {
            *self = Self { count: 0, window_start: now };
        }
        self.count += 1;
        if end == AttemptEnd::Unrecoverable {
            return RestartDecision::GiveUp { reason: UNRECOVERABLE.to_owned() };
        }
        if self.count <= policy.attempts {
            return RestartDecision::Restart { reason: WITHIN_POLICY, delay: jittered(policy.delay, chance) };
        }
        match policy.mode {
            RestartMode::Fail => RestartDecision::GiveUp {
                reason: format!(
                    "Exceeded allowed attempts {} in interval {} and mode is \"fail\"",
                    policy.attempts, policy.interval
                ),
            },
            RestartMode::Delay => {
                let rest = self.window_start.plus(policy.interval).since(now);
                RestartDecision::Restart { reason: DELAY_APPLIED, delay: jittered(rest, chance) }
            }
        }
    }
}

fn jittered(delay: GoDuration, chance: f64) -> GoDuration {
    let extra = delay.as_nanoseconds() as f64 * JITTER_SHARE * chance.clamp(0.0, 1.0);
    delay.saturating_add(GoDuration::nanoseconds(extra as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVICE: RestartRules = RestartRules {
        policy: RestartPolicy {
            attempts: 2,
            interval: GoDuration::minutes(1),
            delay: GoDuration::seconds(8),
            mode: RestartMode::Fail,
        },
        on_success: true,
        once_only: false,
    };

    /// One row: ends at these seconds, and what the last of them is answered with.
    #[track_caller]
    fn check(rules: RestartRules, ends: &[(i64, AttemptEnd)], expected: &str) {
        let mut tracker = RestartTracker::default();
        let mut last = String::new();
        for (second, end) in ends {
            last = match tracker.decide(&rules, *end, Timestamp::from_seconds(1_000 + second), 0.5) {
                RestartDecision::Finished => "finished".to_owned(),
                RestartDecision::GiveUp { reason } => reason,
                RestartDecision::Restart { reason, delay } => format!("{reason}: {delay}"),
            };
        }
        assert_eq!(last, expected);
    }

    #[test]
    fn ends_are_counted_within_the_interval() {
        use AttemptEnd::{Failure, StartFailed, Success, Unrecoverable};
        const TAKEN: AttemptEnd = AttemptEnd::Interrupted { success: false };
        const ENDED: AttemptEnd = AttemptEnd::Interrupted { success: true };
        let delay = RestartRules { policy: RestartPolicy { mode: RestartMode::Delay, ..SERVICE.policy }, ..SERVICE };
        let never = RestartRules { policy: RestartPolicy { attempts: 0, ..SERVICE.policy }, ..SERVICE };
        let batch = RestartRules { on_success: false, ..SERVICE };
        let poststop = RestartRules { on_success: false, once_only: true, ..SERVICE };

        check(SERVICE, &[(0, Failure)], "Restart within policy: 9s");
        check(SERVICE, &[(0, Success)], "Restart within policy: 9s");
        check(SERVICE, &[(0, StartFailed), (5, Failure)], "Restart within policy: 9s");
        let exceeded = "Exceeded allowed attempts 2 in interval 1m0s and mode is \"fail\"";
        check(SERVICE, &[(0, Failure), (5, Success), (10, Failure)], exceeded);
        check(SERVICE, &[(0, Failure), (5, Failure), (60, Failure)], exceeded);
        check(SERVICE, &[(0, Failure), (5, Failure), (61, Failure)], "Restart within policy: 9s");
        check(SERVICE, &[(0, Unrecoverable)], "Error was unrecoverable");
        let applied = "Exceeded allowed attempts, applying a delay: 45s";
        check(delay, &[(0, Failure), (5, Failure), (20, Failure)], applied);
        check(never, &[(0, Failure)], "Policy allows no restarts");
        check(never, &[(0, Success)], "Policy allows no restarts");
        check(never, &[(0, Unrecoverable)], "Policy allows no restarts");
        check(batch, &[(0, Success)], "finished");
        check(batch, &[(0, Failure)], "Restart within policy: 9s");
        check(poststop, &[(0, Success)], "finished");
        check(poststop, &[(0, Failure)], "Policy allows no restarts");

        let interrupted = "What ran the task was stopped or restarted: 9s";
        check(SERVICE, &[(0, TAKEN), (1, ENDED), (2, TAKEN)], interrupted);
        check(SERVICE, &[(0, Failure), (1, TAKEN), (2, Failure)], "Restart within policy: 9s");
        check(batch, &[(0, TAKEN)], interrupted);
        check(batch, &[(0, ENDED)], "finished");
        check(never, &[(0, TAKEN)], "Policy allows no restarts");
        check(poststop, &[(0, TAKEN)], "Policy allows no restarts");
    }

    #[test]
    fn jitter_is_at_most_a_quarter() {
        assert_eq!(jittered(GoDuration::seconds(8), 0.0), GoDuration::seconds(8));
        assert_eq!(jittered(GoDuration::seconds(8), 1.0), GoDuration::seconds(10));
        assert_eq!(jittered(GoDuration::seconds(8), 7.0), GoDuration::seconds(10));
        assert_eq!(jittered(GoDuration::ZERO, 1.0), GoDuration::ZERO);
    }
}
