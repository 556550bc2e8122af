//! What goes wrong with the tasks of a deployment, told while a person waits for it: each cause once.

use std::collections::BTreeSet;

use longshore_api::{AllocListStub, TaskEvent};
use longshore_values::GoDuration;

use crate::view::View;

/// What was told.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    /// Group, task and cause: the other allocations of a group fail alike.
    told: BTreeSet<(String, String, String)>,
}

impl Troubles {
    /// A line for each cause that was not told yet, in the order of allocations and events.
    pub(super) fn news(&mut self, view: &View, allocs: &[AllocListStub]) -> Vec<String> {
        let mut allocs: Vec<&AllocListStub> = allocs.iter().collect();
        allocs.sort_by_key(|alloc| alloc.create_index);
        let mut lines = Vec::new();
        for alloc in allocs {
            for (task, state) in &alloc.task_states {
                let mut is_news =
                    |cause: &str| self.told.insert((alloc.task_group.clone(), task.clone(), cause.to_owned()));
                for (cause, then) in causes(&state.events) {
                    let news = match (is_news(&cause), then) {
                        (true, Some(Then::Restart(delay))) => format!("{cause}, restarting in {delay}"),
                        (true, Some(Then::GiveUp(why))) => {
                            is_news(why);
                            format!("{cause}, not restarted: {why}")
                        }
                        (true, None) => cause,
                        (false, Some(Then::GiveUp(why))) if is_news(why) => format!("not restarted any more: {why}"),
                        (false, _) => continue,
                    };
                    lines.push(format!("Allocation {:?} task {task:?}: {news}", view.id(&alloc.id)));
                }
            }
        }
        lines
    }
}

/// What follows a failure.
enum Then<'a> {
    Restart(GoDuration),
    GiveUp(&'a str),
}

/// Every failure in a task's events, with what followed it.
fn causes(events: &[TaskEvent]) -> impl Iterator<Item = (String, Option<Then<'_>>)> {
    events.iter().enumerate().filter_map(|(at, event)| {
        let (before, after) = (events.get(..at)?, events.get(at + 1..)?);
        Some((cause(event, before)?, then(after)))
    })
}

/// What an event tells of a failure; what merely follows from one is told of every task, and not said here.
fn cause(event: &TaskEvent, before: &[TaskEvent]) -> Option<String> {
    match event.kind.as_str() {
        "Driver Failure" | "Setup Failure" | "Failed Validation" | "Failed Artifact Download" | "Task hook failed" => {
            Some(event.display_message.clone())
        }
        "Alloc Unhealthy" if !event.display_message.starts_with("Unhealthy because of failed task") => {
            Some(event.display_message.clone())
        }
        "Terminated" if (event.exit_code, event.signal) != (0, 0) && !was_told_to_end(before) => Some(end(event)),
        _ => None,
    }
}

/// A task that is stopped or restarted by somebody ends as it likes.
fn was_told_to_end(before: &[TaskEvent]) -> bool {
    let of_attempt = before.iter().rev().take_while(|event| event.kind != "Started");
    of_attempt.map(|event| event.kind.as_str()).any(|kind| matches!(kind, "Killing" | "Restart Signaled"))
}

fn end(event: &TaskEvent) -> String {
    let mut text = format!("exited with {}", event.exit_code);
    if event.signal != 0 {
        text.push_str(&format!(", signal {}", event.signal));
    }
    if event.details.get("oom_killed").is_some_and(|killed| killed == "true") {
        text.push_str(", out of memory");
    }
    if let Some(message) = event.details.get("exit_message").filter(|message| !message.is_empty()) {
        text.push_str(&format!(" ({message})"));
    }
    text
}

fn then(after: &[TaskEvent]) -> Option<Then<'_>> {
    const TENTH_NS: i64 = 100_000_000;
    after.iter().take_while(|event| event.kind != "Started").find_map(|event| match event.kind.as_str() {
        "Restarting" => Some(Then::Restart(GoDuration::nanoseconds(event.start_delay / TENTH_NS * TENTH_NS))),
        "Not Restarting" => Some(Then::GiveUp(&event.display_message)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::Zone;
    use longshore_api::TaskState;

    fn event(kind: &str, message: &str) -> TaskEvent {
        TaskEvent { kind: kind.to_owned(), display_message: message.to_owned(), ..TaskEvent::default() }
    }

    fn exit(code: i64) -> TaskEvent {
        TaskEvent { exit_code: code, ..event("Terminated", &format!("Exit Code: {code}")) }
    }

    fn restarting(delay_ns: i64) -> TaskEvent {
        TaskEvent { start_delay: delay_ns, ..event("Restarting", "Task restarting in …") }
    }

    fn alloc(id: &str, events: Vec<TaskEvent>) -> AllocListStub {
        AllocListStub {
            id: format!("{id}-0000-0000-0000-000000000000"),
            task_group: "g".to_owned(),
            task_states: [("web".to_owned(), TaskState { events, ..TaskState::default() })].into(),
            ..AllocListStub::default()
        }
    }

    const GIVEN_UP: &str = "Exceeded allowed attempts 2 in interval 30m0s and mode is \"fail\"";

    fn tell(troubles: &mut Troubles, allocs: &[AllocListStub]) -> String {
        let view = View { now: 0, zone: Zone::Utc, verbose: false, colour: false };
        troubles.news(&view, allocs).join("\n")
    }

    #[test]
    fn each_cause_is_told_once_with_what_follows() {
        let mut troubles = Troubles::default();
        let pull = "could not pull image web:2 from registry reg.test: access denied";
        let failed = || vec![event("Driver", "Downloading image"), event("Driver Failure", pull)];
        let mut one = failed();
        one.push(restarting(15_273_591_462));
        insta::assert_snapshot!(tell(&mut troubles, &[alloc("aaaaaaaa", one.clone())]), @r#"Allocation "aaaaaaaa" task "web": could not pull image web:2 from registry reg.test: access denied, restarting in 15.2s"#);
        let both = [alloc("aaaaaaaa", one.clone()), alloc("bbbbbbbb", one.clone())];
        assert_eq!(tell(&mut troubles, &both), "", "an allocation that fails alike is no news");
        one.extend(failed());
        one.push(event("Not Restarting", GIVEN_UP));
        insta::assert_snapshot!(tell(&mut troubles, &[alloc("aaaaaaaa", one.clone())]), @r#"Allocation "aaaaaaaa" task "web": not restarted any more: Exceeded allowed attempts 2 in interval 30m0s and mode is "fail""#);
        assert_eq!(tell(&mut troubles, &[alloc("aaaaaaaa", one)]), "");
    }

    #[test]
    fn a_crash_loop_is_told_with_its_exit_codes() {
        let mut troubles = Troubles::default();
        let started = || event("Started", "Task started by client");
        let events = vec![
            started(),
            exit(1),
            restarting(2_000_000_000),
            started(),
            exit(1),
            restarting(2_500_000_000),
            started(),
            TaskEvent { signal: 9, details: [("oom_killed".to_owned(), "true".to_owned())].into(), ..exit(137) },
            event("Not Restarting", GIVEN_UP),
        ];
        insta::assert_snapshot!(tell(&mut troubles, &[alloc("aaaaaaaa", events)]), @r#"
        Allocation "aaaaaaaa" task "web": exited with 1, restarting in 2s
        Allocation "aaaaaaaa" task "web": exited with 137, signal 9, out of memory, not restarted: Exceeded allowed attempts 2 in interval 30m0s and mode is "fail"
        "#);
    }

    #[test]
    fn what_is_no_failure_is_not_told() {
        let stopped = vec![event("Started", ""), event("Killing", "Sent interrupt"), exit(143)];
        let again = vec![event("Started", ""), event("Restart Signaled", "User requested restart"), exit(143)];
        let done = vec![event("Started", ""), exit(0)];
        let sibling = vec![event("Alloc Unhealthy", "Unhealthy because of failed task")];
        for events in [stopped, again, done, sibling] {
            assert_eq!(tell(&mut Troubles::default(), &[alloc("aaaaaaaa", events)]), "");
        }
        let late = "Task not running for min_healthy_time of 10s by healthy_deadline of 5m0s";
        let late = alloc("aaaaaaaa", vec![event("Started", ""), event("Alloc Unhealthy", late)]);
        insta::assert_snapshot!(tell(&mut Troubles::default(), &[late]), @r#"Allocation "aaaaaaaa" task "web": Task not running for min_healthy_time of 10s by healthy_deadline of 5m0s"#);
    }
}
