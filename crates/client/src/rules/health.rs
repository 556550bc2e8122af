//! Whether an allocation is healthy in the eyes of its deployment (from the states of its tasks).

use longshore_model::{DeploymentId, HealthCheck, Lifecycle, LifecycleHook, Task, TaskPhase, TaskState, Timestamp};
use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

/// The watch over one allocation for one deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HealthWatch {
    pub(crate) deployment: DeploymentId,
    /// The deadline counts from here.
    pub(crate) since: Timestamp,
    /// The verdict and when it was given; it stays.
    pub(crate) decided: Option<(bool, Timestamp)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HealthRules {
    pub(crate) check: HealthCheck,
    pub(crate) min_healthy_time: GoDuration,
    pub(crate) healthy_deadline: GoDuration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Nothing can change before this instant unless a task does; never: only a person decides.
    LookAgainAt(Timestamp),
    Healthy,
    /// The tasks at fault, each with the reason.
    Unhealthy(Vec<(String, String)>),
}

pub(crate) fn judge<'a>(
    rules: &HealthRules,
    since: Timestamp,
    tasks: impl IntoIterator<Item = (&'a Task, &'a TaskState)>,
    now: Timestamp,
) -> Verdict {
    if rules.check == HealthCheck::Manual {
        return Verdict::LookAgainAt(Timestamp::NEVER);
    }
    let deadline = since.plus(rules.healthy_deadline);
    let (mut dead, mut late) = (Vec::new(), Vec::new());
    let mut healthy_at = Some(Timestamp::NEVER);
    for (task, state) in tasks {
        match standing(task.lifecycle, state) {
            Standing::DoesNotCount | Standing::Done => {}
            Standing::Dead(why) => dead.push((task.name.clone(), why.to_owned())),
            Standing::NotYet => {
                healthy_at = None;
                let why = format!("Task not running by healthy_deadline of {}", rules.healthy_deadline);
                late.push((task.name.clone(), why));
            }
            Standing::RunningSince(start) => {
                let enough_at = start.plus(rules.min_healthy_time);
                healthy_at = healthy_at.map(|other| other.max(enough_at));
                if enough_at > deadline {
                    let why = format!(
                        "Task not running for min_healthy_time of {} by healthy_deadline of {}",
                        rules.min_healthy_time, rules.healthy_deadline
                    );
                    late.push((task.name.clone(), why));
                }
            }
        }
    }
    if !dead.is_empty() {
        return Verdict::Unhealthy(dead);
    }
    match healthy_at {
        Some(at) if at <= now => Verdict::Healthy,
        _ if now >= deadline => Verdict::Unhealthy(late),
        Some(at) => Verdict::LookAgainAt(at.min(deadline)),
        None => Verdict::LookAgainAt(deadline),
    }
}

enum Standing {
    /// A task that runs only after the others have ended.
    DoesNotCount,
    /// A task that was to run once, and did.
    Done,
    RunningSince(Timestamp),
    NotYet,
    Dead(&'static str),
}

fn standing(lifecycle: Option<Lifecycle>, state: &TaskState) -> Standing {
    let runs_once = lifecycle.is_some_and(|lifecycle| !lifecycle.sidecar);
    if lifecycle.is_some_and(|lifecycle| lifecycle.hook == LifecycleHook::Poststop) {
        return Standing::DoesNotCount;
    }
    match state.phase {
        TaskPhase::Dead if state.failed => Standing::Dead("Unhealthy because of failed task"),
        TaskPhase::Dead if runs_once => Standing::Done,
        TaskPhase::Dead => Standing::Dead("Unhealthy because of dead task"),
        TaskPhase::Pending => Standing::NotYet,
        // A prestart task holds the others back until it is done; a poststart task may take its time.
        TaskPhase::Running if runs_once => match lifecycle.map(|lifecycle| lifecycle.hook) {
            Some(LifecycleHook::Prestart) => Standing::NotYet,
            _ => Standing::Done,
        },
        TaskPhase::Running => Standing::RunningSince(state.started_at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// One row: tasks as `name kind state`, the second of the look, and the verdict. The watch began at second 100, the
    /// minimum is 10 s, the deadline 60 s.
    #[track_caller]
    fn check(tasks: &[&str], second: i64, expected: &str) {
        let rules = HealthRules {
            check: HealthCheck::Checks,
            min_healthy_time: GoDuration::seconds(10),
            healthy_deadline: GoDuration::seconds(60),
        };
        let tasks: Vec<_> = tasks.iter().map(|row| parse(row)).collect();
        let pairs = tasks.iter().map(|(task, state)| (task, state));
        let verdict = judge(&rules, Timestamp::from_seconds(100), pairs, Timestamp::from_seconds(second));
        let text = match verdict {
            Verdict::LookAgainAt(at) => format!("look again at {}", at.as_nanoseconds() / 1_000_000_000),
            Verdict::Healthy => "healthy".to_owned(),
            Verdict::Unhealthy(tasks) => {
                tasks.iter().map(|(task, why)| format!("{task}: {why}")).collect::<Vec<_>>().join("; ")
            }
        };
        assert_eq!(text, expected);
    }

    fn parse(row: &str) -> (Task, TaskState) {
        let words: Vec<_> = row.split(' ').collect();
        let mut task = testing::task(words[0]);
        task.lifecycle = match words[1] {
            "prestart" => Some(Lifecycle { hook: LifecycleHook::Prestart, sidecar: false }),
            "sidecar" => Some(Lifecycle { hook: LifecycleHook::Prestart, sidecar: true }),
            "poststart" => Some(Lifecycle { hook: LifecycleHook::Poststart, sidecar: false }),
            "poststop" => Some(Lifecycle { hook: LifecycleHook::Poststop, sidecar: false }),
            _ => None,
        };
        let mut state = TaskState::default();
        match words[2] {
            "pending" => {}
            "done" => state.phase = TaskPhase::Dead,
            "failed" => (state.phase, state.failed) = (TaskPhase::Dead, true),
            since => {
                state.phase = TaskPhase::Running;
                state.started_at = Timestamp::from_seconds(since.parse().unwrap_or(0));
            }
        }
        (task, state)
    }

    #[test]
    fn all_must_run_long_enough_before_the_deadline() {
        check(&["web main pending"], 105, "look again at 160");
        check(&["web main pending"], 160, "web: Task not running by healthy_deadline of 1m0s");
        check(&["web main 105"], 110, "look again at 115");
        check(&["web main 105"], 115, "healthy");
        check(&["web main 105", "log sidecar 107"], 115, "look again at 117");
        check(&["web main 150"], 159, "look again at 160");
        check(&["web main 150"], 160, "healthy");
        check(&["web main 151"], 159, "look again at 160");
        let too_late = "web: Task not running for min_healthy_time of 10s by healthy_deadline of 1m0s";
        check(&["web main 151"], 160, too_late);
        check(&["web main failed", "log sidecar 101"], 105, "web: Unhealthy because of failed task");
        check(&["web main done"], 105, "web: Unhealthy because of dead task");
        check(&["web main 10"], 100, "healthy");
    }

    #[test]
    fn what_runs_once_counts_when_it_is_done() {
        check(&["init prestart done", "web main 105"], 115, "healthy");
        check(&["init prestart 101", "web main pending"], 115, "look again at 160");
        check(&["init prestart failed", "web main pending"], 115, "init: Unhealthy because of failed task");
        check(&["web main 105", "tell poststart 106"], 115, "healthy");
        check(&["web main 105", "tell poststart done"], 115, "healthy");
        check(&["web main 105", "tell poststart pending"], 115, "look again at 160");
        check(&["web main 105", "tidy poststop pending"], 115, "healthy");
    }
}
