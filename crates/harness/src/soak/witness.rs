//! What can be seen from outside alone: the engine's events. No code is shared with what is judged.

use std::collections::{BTreeMap, BTreeSet};

use crate::EngineEvent;

const ALLOCATION: &str = "com.hashicorp.nomad.alloc_id";
const TASK: &str = "longshore.task";

/// Whether this event is about a container of a task.
pub(super) fn is_task(event: &EngineEvent) -> bool {
    event.kind == "container" && event.attribute(ALLOCATION).is_some() && event.attribute(TASK).is_some()
}

/// Two containers of one task that ran at once, each as a line; and how many starts were seen.
///
/// The engine ends all containers at its start, and what it did before the stream began was not heard: each connection is
/// judged by itself.
pub fn two_at_once(events: &[EngineEvent]) -> (Vec<String>, usize) {
    let mut found = Vec::new();
    let mut running: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    let mut connection = 0;
    let mut starts = 0;
    for event in events {
        if event.connection != connection {
            connection = event.connection;
            running.clear();
        }
        let (Some(allocation), Some(task)) = (event.attribute(ALLOCATION), event.attribute(TASK)) else { continue };
        let of_task = running.entry((allocation, task)).or_default();
        match event.action.as_str() {
            "start" => {
                starts += 1;
                of_task.insert(&event.subject);
                if of_task.len() > 1 {
                    found.push(format!("two containers of task {task} of {allocation} ran at once: {of_task:?}"));
                }
            }
            "die" | "destroy" => {
                of_task.remove(event.subject.as_str());
            }
            _ => {}
        }
    }
    (found, starts)
}

/// Contents that were removed between the first and the last container of an allocation that was made from them, each as
/// a line: a task could start there. `content_of` knows the contents of containers.
pub fn removed_while_needed(events: &[EngineEvent], content_of: &BTreeMap<String, String>) -> Vec<String> {
    let mut needs: BTreeMap<(&str, &str), (i64, i64)> = BTreeMap::new();
    for event in events.iter().filter(|event| is_task(event)) {
        let (Some(allocation), Some(content)) = (event.attribute(ALLOCATION), content_of.get(&event.subject)) else {
            continue;
        };
        let span = needs.entry((allocation, content)).or_insert((event.at_nanos, event.at_nanos));
        span.1 = span.1.max(event.at_nanos);
    }
    let removals = events.iter().filter(|event| event.kind == "image" && event.action == "delete");
    removals
        .flat_map(|event| {
            let hit = needs.iter().filter(|((_, content), (from, to))| {
                *content == event.subject && *from < event.at_nanos && event.at_nanos < *to
            });
            hit.map(|((allocation, content), _)| format!("{content} was removed while {allocation} needed it"))
        })
        .collect()
}

/// What became of a service's running containers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// Times at which fewer ran than must, each as a line.
    pub dips: Vec<String>,
    /// How many ends of containers were judged.
    pub judged: usize,
}

/// Judges a service that should have `full` containers of that task and never fewer than `least`, from the moment when it is full.
/// When the engine has been killed all of them are ended with it; then it is judged from the moment when it is full again.
pub fn service(events: &[EngineEvent], task: &str, least: usize, full: usize) -> Service {
    let mut seen = Service::default();
    let mut running = BTreeSet::new();
    let mut connection = 0;
    let mut was_full = false;
    for event in events {
        if event.connection != connection {
            connection = event.connection;
            running.clear();
            was_full = false;
        }
        if event.attribute(TASK) != Some(task) {
            continue;
        }
        match event.action.as_str() {
            "start" => {
                running.insert(event.subject.as_str());
            }
            "die" | "destroy" if running.remove(event.subject.as_str()) && was_full => {
                seen.judged += 1;
                if running.len() < least {
                    let (count, at) = (running.len(), event.at_nanos);
                    seen.dips.push(format!("only {count} of {task} ran after the end of {} at {at}", event.subject));
                }
            }
            _ => {}
        }
        was_full |= running.len() >= full;
    }
    seen
}

/// Ends of that task's containers between two times, each as a line: in a time in which nothing of it is to be stopped.
pub fn ends_between(events: &[EngineEvent], task: &str, (from_nanos, to_nanos): (i64, i64)) -> Vec<String> {
    events
        .iter()
        .filter(|event| event.attribute(TASK) == Some(task) && event.action == "die")
        .filter(|event| from_nanos <= event.at_nanos && event.at_nanos <= to_nanos)
        .map(|event| format!("{} of {task} ended at {} and nothing was to be stopped", event.subject, event.at_nanos))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(action: &str, subject: &str, at_nanos: i64, connection: u32) -> EngineEvent {
        EngineEvent {
            kind: if action == "delete" { "image" } else { "container" }.to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            attributes: json!({ ALLOCATION: "a", TASK: "t" }),
            at_nanos,
            connection,
        }
    }

    #[test]
    fn two_containers_of_a_task_are_seen() {
        let once = [event("start", "1", 1, 1), event("die", "1", 2, 1), event("start", "2", 3, 1)];
        assert_eq!(two_at_once(&once), (vec![], 2));
        let killed = [event("start", "1", 1, 1), event("start", "2", 3, 2)];
        assert_eq!(two_at_once(&killed).0, Vec::<String>::new());
        let twice = [event("start", "1", 1, 1), event("start", "2", 3, 1)];
        assert_eq!(two_at_once(&twice).0.len(), 1);
    }

    #[test]
    fn a_removal_between_two_starts_is_seen() {
        let contents = BTreeMap::from([("1".to_owned(), "image".to_owned()), ("2".to_owned(), "image".to_owned())]);
        let life = |at: i64| {
            let mut life = vec![
                event("create", "1", 1, 1),
                event("destroy", "1", 3, 1),
                event("create", "2", 5, 1),
                event("destroy", "2", 7, 1),
            ];
            life.push(event("delete", "image", at, 1));
            removed_while_needed(&life, &contents).len()
        };
        assert_eq!((life(4), life(8), life(0)), (1, 0, 0));
    }

    #[test]
    fn a_dip_is_seen_unless_the_engine_was_killed() {
        let life = |second: u32| {
            [
                event("start", "1", 1, 1),
                event("start", "2", 2, 1),
                event("die", "1", 5, 1),
                event("start", "3", 6, 1),
                event("die", "2", 9, second),
                event("die", "3", 10, second),
            ]
        };
        let seen = service(&life(1), "t", 1, 2);
        assert_eq!((seen.dips.len(), seen.judged), (1, 3));
        let seen = service(&life(2), "t", 1, 2);
        assert_eq!((seen.dips.len(), seen.judged), (0, 1));
        assert_eq!(service(&life(1), "t", 2, 2).dips.len(), 3);
        assert_eq!(service(&life(1), "another", 2, 2), Service::default());
        assert_eq!(ends_between(&life(1), "t", (6, 9)).len(), 1);
    }
}
