use longshore_api as api;
use longshore_model::{TaskEvent, TaskState};
use longshore_values::GoDuration;

use super::time;

pub(crate) fn state(state: &TaskState) -> api::TaskState {
    api::TaskState {
        state: state.phase.word().to_owned(),
        failed: state.failed,
        restarts: state.restarts.into(),
        last_restart: time(state.last_restart_at),
        started_at: time(state.started_at),
        finished_at: time(state.finished_at),
        events: state.events.iter().map(event).collect(),
        task_handle: None,
    }
}

/// The typed fields that old clients read repeat what `details` has as text.
fn event(event: &TaskEvent) -> api::TaskEvent {
    let text = |key: &str| event.details.get(key).cloned().unwrap_or_default();
    let number = |key: &str| event.details.get(key).and_then(|value| value.parse::<i64>().ok());
    let signal = number("signal");
    api::TaskEvent {
        kind: event.kind.clone(),
        time: event.at.as_nanoseconds(),
        message: first_of([text("message"), text("exit_message")]),
        display_message: event.message.clone(),
        details: event.details.clone(),
        fails_task: event.fails_task,
        restart_reason: text("restart_reason"),
        setup_error: text("setup_error"),
        driver_error: text("driver_error"),
        exit_code: event.exit_code.map(i64::from).or_else(|| number("exit_code")).unwrap_or_default(),
        signal: event.signal.map(i64::from).or(signal).unwrap_or_default(),
        kill_timeout: text("kill_timeout").parse().unwrap_or(GoDuration::ZERO),
        kill_error: text("kill_error"),
        kill_reason: text("kill_reason"),
        start_delay: number("start_delay").unwrap_or_default(),
        download_error: text("download_error"),
        validation_error: text("validation_error"),
        disk_limit: number("disk_limit").unwrap_or_default(),
        failed_sibling: text("failed_sibling"),
        vault_error: text("vault_renewal_error"),
        task_signal_reason: text("task_signal_reason"),
        task_signal: first_of([text("task_signal"), if signal.is_none() { text("signal") } else { String::new() }]),
        driver_message: if event.kind == "Driver" { event.message.clone() } else { text("driver_message") },
        generic_source: String::new(),
    }
}

fn first_of(texts: [String; 2]) -> String {
    let [first, second] = texts;
    if first.is_empty() { second } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longshore_model::Timestamp;

    /// What the typed fields say beyond type, time, message and details.
    fn typed(kind: &str, message: &str, details: &[(&str, &str)]) -> String {
        let mut told = TaskEvent::new(kind, Timestamp::from_seconds(1), message);
        for (key, value) in details {
            told = told.detail(*key, *value);
        }
        let mut shown = event(&told);
        assert_eq!((shown.display_message.as_str(), shown.details.len()), (message, details.len()));
        shown.details.clear();
        shown.display_message.clear();
        shown.kind.clear();
        shown.time = 0;
        let serde_json::Value::Object(fields) = serde_json::to_value(&shown).unwrap() else { panic!("an object") };
        let nothing = serde_json::to_value(api::TaskEvent::default()).unwrap();
        let said = fields.iter().filter(|(key, value)| nothing[key.as_str()] != **value);
        said.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn typed_fields_repeat_the_details() {
        assert_eq!(typed("Received", "Task received by client", &[]), "");
        assert_eq!(
            typed("Task Setup", "Building Task Directory", &[("message", "Building Task Directory")]),
            r#"Message="Building Task Directory""#
        );
        assert_eq!(
            typed(
                "Terminated",
                "Exit Code: 3",
                &[("exit_code", "3"), ("signal", "0"), ("oom_killed", "false"), ("exit_message", "non-zero")]
            ),
            r#"ExitCode=3 Message="non-zero""#
        );
        assert_eq!(
            typed("Restarting", "Task restarting in 1s", &[("start_delay", "1242162015"), ("restart_reason", "x")]),
            r#"RestartReason="x" StartDelay=1242162015"#
        );
        assert_eq!(typed("Killing", "Sent interrupt", &[("kill_timeout", "5s")]), "KillTimeout=5000000000");
        assert_eq!(typed("Signaling", "Task being sent a signal", &[("signal", "SIGHUP")]), r#"TaskSignal="SIGHUP""#);
        assert_eq!(typed("Driver", "Downloading image", &[("image", "a:1")]), r#"DriverMessage="Downloading image""#);
        assert_eq!(typed("Driver Failure", "no", &[("driver_error", "no")]), r#"DriverError="no""#);
    }
}
