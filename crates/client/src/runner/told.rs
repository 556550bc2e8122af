//! What the agent's log says of an allocation's tasks: each of their events once, also across its own restart.

use std::collections::BTreeMap;

use longshore_model::{TaskEvent, TaskState};

/// The events of each task that the log has.
#[derive(Debug, Default)]
pub(super) struct Told(BTreeMap<String, Vec<TaskEvent>>);

impl Told {
    /// An agent before this one wrote down what these have.
    pub(super) fn already(states: &BTreeMap<String, TaskState>) -> Self {
        Self(states.iter().map(|(task, state)| (task.clone(), state.events.clone())).collect())
    }

    /// Writes down what is new.
    pub(super) fn tell(&mut self, states: &BTreeMap<String, TaskState>) {
        for (task, event) in self.news(states) {
            let TaskEvent { kind, message, .. } = event;
            match weight(event) {
                Weight::Trouble => tracing::warn!(task, "{kind}: {message}"),
                Weight::Life => tracing::info!(task, "{kind}: {message}"),
                Weight::Detail => tracing::debug!(task, "{kind}: {message}"),
            }
        }
        *self = Self::already(states);
    }

    fn news<'a>(&self, states: &'a BTreeMap<String, TaskState>) -> Vec<(&'a str, &'a TaskEvent)> {
        let of_task = |(task, state): (&'a String, &'a TaskState)| {
            let told = self.0.get(task).map(Vec::as_slice).unwrap_or_default();
            let news = state.events.iter().filter(|event| !told.contains(event));
            news.map(|event| (task.as_str(), event)).collect::<Vec<_>>()
        };
        states.iter().flat_map(of_task).collect()
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Weight {
    Trouble,
    Life,
    Detail,
}

fn weight(event: &TaskEvent) -> Weight {
    match event.kind.as_str() {
        "Driver Failure" | "Setup Failure" | "Failed Validation" | "Failed Restoring Task" | "Not Restarting" => {
            Weight::Trouble
        }
        "Terminated" if event.fails_task || event.exit_code.is_some_and(|code| code != 0) => Weight::Trouble,
        "Started" | "Terminated" | "Restarting" | "Restart Signaled" | "Signaling" | "Killing" | "Killed" => {
            Weight::Life
        }
        _ if event.fails_task => Weight::Trouble,
        _ => Weight::Detail,
    }
}

#[cfg(test)]
mod tests {
    use longshore_model::Timestamp;

    use super::*;
    use crate::rules::events;

    fn states(events: &[TaskEvent]) -> BTreeMap<String, TaskState> {
        [("web".to_owned(), TaskState { events: events.to_vec(), ..TaskState::default() })].into()
    }

    #[test]
    fn each_event_is_told_once_though_old_ones_go() {
        let at = Timestamp::from_seconds;
        let mut all = vec![events::received(at(1)), events::started(at(2))];
        let mut told = Told::default();
        assert_eq!(told.news(&states(&all)).len(), 2);
        told.tell(&states(&all));
        assert_eq!(told.news(&states(&all)), []);
        all.remove(0);
        all.extend([events::driver_failure(at(3), "no such image"), events::driver_failure(at(4), "no such image")]);
        let kinds: Vec<_> = told.news(&states(&all)).iter().map(|(_, event)| event.at).collect();
        assert_eq!(kinds, [at(3), at(4)]);
        // After a restart of the agent only what comes then is news.
        let mut told = Told::already(&states(&all));
        assert_eq!(told.news(&states(&all)), []);
        all.push(events::started(at(5)));
        assert_eq!(told.news(&states(&all)), [("web", &all[3])]);
        told.tell(&states(&all));
    }

    #[test]
    fn failures_weigh_most() {
        let at = Timestamp::from_seconds(1);
        assert_eq!(weight(&events::started(at)), Weight::Life);
        assert_eq!(weight(&events::driver_failure(at, "no such image")), Weight::Trouble);
        assert_eq!(weight(&events::not_restarting(at, "given up")), Weight::Trouble);
        assert_eq!(weight(&TaskEvent::new("Driver", at, "Downloading image")), Weight::Detail);
    }
}
