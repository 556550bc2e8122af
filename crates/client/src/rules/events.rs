//! The events of tasks, in the words of Nomad 1.6. `details` repeats what a kind of event has to tell, as text.

use longshore_driver::ExitResult;
use longshore_model::{TaskEvent, TaskState, Timestamp};
use longshore_values::GoDuration;

use super::restart::WITHIN_POLICY;

/// How many events a task keeps; the oldest go.
const KEPT_EVENTS: usize = 10;

pub(crate) fn push(state: &mut TaskState, event: TaskEvent) {
    state.events.push(event);
    let surplus = state.events.len().saturating_sub(KEPT_EVENTS);
    state.events.drain(..surplus);
}

pub(crate) fn received(at: Timestamp) -> TaskEvent {
    TaskEvent::new("Received", at, "Task received by client")
}

pub(crate) fn task_setup(at: Timestamp) -> TaskEvent {
    with_message("Task Setup", at, "Building Task Directory")
}

pub(crate) fn started(at: Timestamp) -> TaskEvent {
    TaskEvent::new("Started", at, "Task started by client")
}

pub(crate) fn terminated(at: Timestamp, exit: &ExitResult) -> TaskEvent {
    let mut text = format!("Exit Code: {}", exit.exit_code);
    if exit.signal != 0 {
        text.push_str(&format!(", Signal: {}", exit.signal));
    }
    if !exit.message.is_empty() {
        text.push_str(&format!(", Exit Message: \"{}\"", exit.message));
    }
    let mut event = TaskEvent::new("Terminated", at, text)
        .detail("exit_code", exit.exit_code.to_string())
        .detail("signal", exit.signal.to_string())
        .detail("oom_killed", exit.oom_killed.to_string());
    if !exit.message.is_empty() {
        event = event.detail("exit_message", &exit.message);
    }
    event.exit_code = Some(exit.exit_code);
    event.signal = Some(exit.signal);
    event
}

pub(crate) fn restarting(at: Timestamp, reason: &str, delay: GoDuration) -> TaskEvent {
    let mut text = format!("Task restarting in {delay}");
    if !reason.is_empty() && reason != WITHIN_POLICY {
        text = format!("{reason} - {text}");
    }
    TaskEvent::new("Restarting", at, text)
        .detail("restart_reason", reason)
        .detail("start_delay", delay.as_nanoseconds().to_string())
}

pub(crate) fn restart_signaled(at: Timestamp) -> TaskEvent {
    let text = "User requested restart";
    TaskEvent::new("Restart Signaled", at, text).detail("restart_reason", text)
}

pub(crate) fn signaling(at: Timestamp, signal: &str) -> TaskEvent {
    TaskEvent::new("Signaling", at, "Task being sent a signal").detail("signal", signal)
}

pub(crate) fn not_restarting(at: Timestamp, reason: &str) -> TaskEvent {
    failing(TaskEvent::new("Not Restarting", at, reason).detail("restart_reason", reason))
}

pub(crate) fn killing(at: Timestamp, timeout: GoDuration) -> TaskEvent {
    TaskEvent::new("Killing", at, format!("Sent interrupt. Waiting {timeout} before force killing"))
        .detail("kill_timeout", timeout.to_string())
}

pub(crate) fn killed(at: Timestamp) -> TaskEvent {
    TaskEvent::new("Killed", at, "Task successfully killed")
}

pub(crate) fn kill_failed(at: Timestamp, error: &str) -> TaskEvent {
    TaskEvent::new("Killed", at, error).detail("kill_error", error)
}

pub(crate) fn waiting_for_shutdown_delay(at: Timestamp, delay: GoDuration) -> TaskEvent {
    let text = format!("Waiting for shutdown_delay of {delay} before killing the task.");
    with_message("Waiting for shutdown delay", at, &text)
}

pub(crate) fn driver_failure(at: Timestamp, error: &str) -> TaskEvent {
    TaskEvent::new("Driver Failure", at, error).detail("driver_error", error)
}

pub(crate) fn failed_validation(at: Timestamp, error: &str) -> TaskEvent {
    TaskEvent::new("Failed Validation", at, error).detail("validation_error", error)
}

pub(crate) fn setup_failure(at: Timestamp, error: &str) -> TaskEvent {
    failing(TaskEvent::new("Setup Failure", at, error).detail("setup_error", error))
}

pub(crate) fn failed_restoring(at: Timestamp, why: &str) -> TaskEvent {
    with_message("Failed Restoring Task", at, why)
}

pub(crate) fn sibling_failed(at: Timestamp, sibling: &str) -> TaskEvent {
    TaskEvent::new("Sibling Task Failed", at, format!("Task's sibling \"{sibling}\" failed"))
        .detail("failed_sibling", sibling)
}

pub(crate) fn leader_dead(at: Timestamp) -> TaskEvent {
    TaskEvent::new("Leader Task Dead", at, "Leader Task in Group dead")
}

pub(crate) fn main_dead(at: Timestamp) -> TaskEvent {
    TaskEvent::new("Main Tasks Dead", at, "Main tasks in the group died")
}

pub(crate) fn unhealthy(at: Timestamp, why: &str) -> TaskEvent {
    with_message("Alloc Unhealthy", at, why)
}

/// A kind of event whose text is its message.
fn with_message(kind: &str, at: Timestamp, text: &str) -> TaskEvent {
    TaskEvent::new(kind, at, text).detail("message", text)
}

fn failing(mut event: TaskEvent) -> TaskEvent {
    event.fails_task = true;
    event.detail("fails_task", "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(event: &TaskEvent, message: &str, details: &[(&str, &str)]) {
        assert_eq!(event.message, message);
        let found: Vec<_> = event.details.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, details);
    }

    #[test]
    fn texts_and_details() {
        let at = Timestamp::from_seconds(1);
        let exit = |exit_code, signal, message: &str| ExitResult {
            exit_code,
            signal,
            oom_killed: false,
            by_engine: false,
            message: message.to_owned(),
        };
        check(
            &terminated(at, &exit(0, 0, "")),
            "Exit Code: 0",
            &[("exit_code", "0"), ("oom_killed", "false"), ("signal", "0")],
        );
        check(
            &terminated(at, &exit(7, 0, "disk on fire")),
            "Exit Code: 7, Exit Message: \"disk on fire\"",
            &[("exit_code", "7"), ("exit_message", "disk on fire"), ("oom_killed", "false"), ("signal", "0")],
        );
        check(
            &terminated(at, &exit(137, 9, "")),
            "Exit Code: 137, Signal: 9",
            &[("exit_code", "137"), ("oom_killed", "false"), ("signal", "9")],
        );
        check(
            &restarting(at, WITHIN_POLICY, GoDuration::nanoseconds(1_206_138_373)),
            "Task restarting in 1.206138373s",
            &[("restart_reason", "Restart within policy"), ("start_delay", "1206138373")],
        );
        check(
            &restarting(at, "User requested restart", GoDuration::ZERO),
            "User requested restart - Task restarting in 0s",
            &[("restart_reason", "User requested restart"), ("start_delay", "0")],
        );
        check(
            &killing(at, GoDuration::seconds(5)),
            "Sent interrupt. Waiting 5s before force killing",
            &[("kill_timeout", "5s")],
        );
        let gave_up = not_restarting(at, "Policy allows no restarts");
        assert!(gave_up.fails_task);
        check(
            &gave_up,
            "Policy allows no restarts",
            &[("fails_task", "true"), ("restart_reason", "Policy allows no restarts")],
        );
    }

    #[test]
    fn the_last_ten_are_kept() {
        let mut state = TaskState::default();
        for second in 1..=12 {
            push(&mut state, received(Timestamp::from_seconds(second)));
        }
        let seconds: Vec<_> = state.events.iter().map(|event| event.at.as_nanoseconds() / 1_000_000_000).collect();
        assert_eq!(seconds, (3..=12).collect::<Vec<_>>());
    }
}
