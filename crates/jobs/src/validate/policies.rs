use longshore_api::{MigrateStrategy, ReschedulePolicy, RestartPolicy, UpdateStrategy};
use longshore_values::GoDuration;

use super::Faults;
use crate::fault::Fault;

const RESTART_INTERVAL_MIN: GoDuration = GoDuration::seconds(5);
const RESCHEDULE_DELAY_MIN: GoDuration = GoDuration::seconds(5);
const RESCHEDULE_INTERVAL_MIN: GoDuration = GoDuration::seconds(15);
const DELAY_FUNCTIONS: [&str; 3] = ["constant", "exponential", "fibonacci"];
const HEALTH_CHECKS: [&str; 3] = ["checks", "task_states", "manual"];

pub(super) fn restart(policy: &RestartPolicy) -> Vec<Fault> {
    let mut faults = Faults::default();
    let mode = policy.mode.as_deref().unwrap_or_default();
    let attempts = policy.attempts.unwrap_or(0);
    let (interval, delay) = (policy.interval.unwrap_or_default(), policy.delay.unwrap_or_default());
    faults.at("mode", !matches!(mode, "fail" | "delay"), || format!("Unsupported restart mode: {mode:?}"));
    faults.at("attempts", attempts < 0, || format!("Restart attempts can not be less than zero: {attempts} < 0"));
    faults.at("delay", delay.is_negative(), || format!("Restart delay can not be less than zero (got {delay})"));
    if attempts == 0 && mode != "fail" {
        faults.at("attempts", true, || format!("Restart policy {mode:?} with {attempts} attempts is ambiguous"));
        return faults.0;
    }
    faults.at("interval", interval < RESTART_INTERVAL_MIN, || {
        format!("Interval can not be less than {RESTART_INTERVAL_MIN} (got {interval})")
    });
    faults.at("attempts", delay.saturating_mul(attempts) > interval, || {
        format!(
            "Nomad can't restart the TaskGroup {attempts} times in an interval of {interval} with a delay of {delay}"
        )
    });
    faults.0
}

pub(super) fn reschedule(policy: &ReschedulePolicy) -> Vec<Fault> {
    let mut faults = Faults::default();
    let (attempts, unlimited) = (policy.attempts.unwrap_or(0), policy.unlimited.unwrap_or(false));
    faults.at("attempts", attempts < 0, || format!("Attempts can not be less than zero: {attempts} < 0"));
    if attempts <= 0 && !unlimited {
        return faults.0;
    }
    let (interval, delay) = (policy.interval.unwrap_or_default(), policy.delay.unwrap_or_default());
    let max_delay = policy.max_delay.unwrap_or_default();
    let function = policy.delay_function.as_deref().unwrap_or_default();
    faults.at("interval", attempts > 0 && interval <= GoDuration::ZERO, || {
        "Interval must be a non zero value if Attempts > 0".to_owned()
    });
    faults.at("unlimited", attempts > 0 && unlimited, || {
        "If Attempts >0, Unlimited cannot also be set to true".to_owned()
    });
    let mut sound = true;
    if delay < RESCHEDULE_DELAY_MIN {
        sound = false;
        faults.at("delay", true, || format!("Delay cannot be less than {RESCHEDULE_DELAY_MIN} (got {delay})"));
    }
    if !DELAY_FUNCTIONS.contains(&function) {
        sound = false;
        faults.at("delay_function", true, || {
            format!("Invalid delay function {function:?}, must be one of {DELAY_FUNCTIONS:?}")
        });
    } else if function != "constant" {
        let too_short = max_delay < RESCHEDULE_DELAY_MIN;
        faults.at("max_delay", too_short, || {
            format!("Max Delay cannot be less than {RESCHEDULE_DELAY_MIN} (got {max_delay})")
        });
        faults.at("max_delay", !too_short && max_delay < delay, || {
            format!("Max Delay cannot be less than Delay {delay} (got {max_delay})")
        });
        sound &= max_delay >= delay && !too_short;
    }
    if unlimited {
        return faults.0;
    }
    if interval < RESCHEDULE_INTERVAL_MIN {
        faults.at("interval", true, || {
            format!("Interval cannot be less than {RESCHEDULE_INTERVAL_MIN} (got {interval})")
        });
    } else if sound {
        let (possible, needed) = attempts_within(policy, attempts, interval);
        faults.at("attempts", possible < attempts, || {
            let ceiling = match function {
                "constant" => String::new(),
                _ => format!(" and delay ceiling {max_delay}"),
            };
            format!(
                "Nomad can only make {possible} attempts in {interval} with initial delay {delay}, delay function \
                 {function:?}{ceiling}"
            )
        });
        faults.at("interval", possible < attempts, || {
            format!("Set the interval to at least {needed} to accommodate {attempts} attempts")
        });
    }
    faults.0
}

/// How many attempts fit into the interval (at most those asked for), and how long all of them take.
fn attempts_within(policy: &ReschedulePolicy, attempts: i64, interval: GoDuration) -> (i64, GoDuration) {
    let (delay, ceiling) = (policy.delay.unwrap_or_default(), policy.max_delay.unwrap_or_default());
    let function = policy.delay_function.as_deref().unwrap_or_default();
    let (mut next, mut last) = (delay, GoDuration::ZERO);
    let (mut total, mut possible) = (GoDuration::ZERO, 0);
    // More would not change the answer: every delay is at least as long as the first.
    for attempt in 0..attempts.min(100_000) {
        total = total.saturating_add(next);
        if total <= interval {
            possible = attempt + 1;
        }
        let following = match function {
            "exponential" => next.saturating_mul(2),
            "fibonacci" => next.saturating_add(last),
            _ => next,
        };
        last = next;
        next = if function == "constant" { following } else { following.min(ceiling) };
    }
    if attempts > 100_000 {
        total = total.saturating_add(next.saturating_mul(attempts - 100_000));
        possible = if total <= interval { attempts } else { possible };
    }
    (possible, total)
}

pub(super) fn update(policy: &UpdateStrategy) -> Vec<Fault> {
    let mut faults = Faults::default();
    let check = policy.health_check.as_deref().unwrap_or_default();
    let (max_parallel, canary) = (policy.max_parallel.unwrap_or(0), policy.canary.unwrap_or(0));
    let (healthy, deadline) =
        (policy.min_healthy_time.unwrap_or_default(), policy.healthy_deadline.unwrap_or_default());
    let progress = policy.progress_deadline.unwrap_or_default();
    let stagger = policy.stagger.unwrap_or_default();
    faults.at("health_check", !HEALTH_CHECKS.contains(&check), || format!("Invalid health check given: {check:?}"));
    faults
        .at("max_parallel", max_parallel < 0, || format!("Max parallel can not be less than zero: {max_parallel} < 0"));
    faults.at("canary", canary < 0, || format!("Canary count can not be less than zero: {canary} < 0"));
    faults.at("auto_promote", canary == 0 && policy.auto_promote == Some(true), || {
        "Auto Promote requires a Canary count greater than zero".to_owned()
    });
    faults.at("min_healthy_time", healthy.is_negative(), || {
        format!("Minimum healthy time may not be less than zero: {healthy}")
    });
    faults.at("healthy_deadline", deadline <= GoDuration::ZERO, || {
        format!("Healthy deadline must be greater than zero: {deadline}")
    });
    faults.at("progress_deadline", progress.is_negative(), || {
        format!("Progress deadline must be zero or greater: {progress}")
    });
    faults.at("min_healthy_time", healthy >= deadline, || {
        format!("Minimum healthy time must be less than healthy deadline: {healthy} > {deadline}")
    });
    faults.at("healthy_deadline", !progress.is_zero() && deadline >= progress, || {
        format!("Healthy deadline must be less than progress deadline: {deadline} > {progress}")
    });
    faults.at("stagger", stagger <= GoDuration::ZERO, || format!("Stagger must be greater than zero: {stagger}"));
    faults.0
}

pub(super) fn migrate(policy: &MigrateStrategy) -> Vec<Fault> {
    let mut faults = Faults::default();
    let check = policy.health_check.as_deref().unwrap_or_default();
    let max_parallel = policy.max_parallel.unwrap_or(0);
    let (healthy, deadline) =
        (policy.min_healthy_time.unwrap_or_default(), policy.healthy_deadline.unwrap_or_default());
    faults.at("max_parallel", max_parallel < 0, || format!("MaxParallel must be >= 0 but found {max_parallel}"));
    faults.at("health_check", !matches!(check, "checks" | "task_states"), || {
        format!("HealthCheck must be \"checks\" or \"task_states\" but found {check:?}")
    });
    faults.at("min_healthy_time", healthy.is_negative(), || format!("MinHealthyTime is {healthy} and must be >= 0"));
    faults.at("healthy_deadline", deadline.is_negative(), || format!("HealthyDeadline is {deadline} and must be >= 0"));
    faults.at("min_healthy_time", healthy > deadline, || "MinHealthyTime must be less than HealthyDeadline".to_owned());
    faults.0
}
