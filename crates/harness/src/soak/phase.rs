//! Where in its life a task, or its image, was when somebody was killed.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::witness::is_task;
use crate::EngineEvent;

/// A phase in which a kill is drawn to fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The agent says so, and the engine has not said that the pull is done.
    Pulling,
    /// The engine has the image, and no container is made from it yet.
    Pulled,
    /// The container is made, and its start not begun.
    Created,
    /// The engine has begun to start it (its network is being joined) and has not said that it runs.
    Starting,
    /// It runs and nothing has been asked of it.
    Running,
    /// It has been sent its signal and has not ended.
    Stopping,
    /// It has ended and is still there.
    Stopped,
    /// An image's time has come: the agent says that it removes it, or the engine that it has just taken its name away.
    Removing,
}

impl Phase {
    /// All, in the order of a life.
    pub const ALL: [Self; 8] = [
        Self::Pulling,
        Self::Pulled,
        Self::Created,
        Self::Starting,
        Self::Running,
        Self::Stopping,
        Self::Stopped,
        Self::Removing,
    ];
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pulling => "pulling",
            Self::Pulled => "pulled",
            Self::Created => "created",
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Removing => "removing",
        })
    }
}

/// What shows that a phase has begun: a container, or an image by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) phase: Phase,
    pub(super) subject: String,
    pub(super) at_nanos: i64,
}

/// What this event begins, if anything; `tasks` knows the containers that are tasks.
pub(super) fn begun_by(event: &EngineEvent, tasks: &mut BTreeMap<String, String>) -> Option<Sign> {
    let sign = |phase, subject: &str| Some(Sign { phase, subject: subject.to_owned(), at_nanos: event.at_nanos });
    match (event.kind.as_str(), event.action.as_str()) {
        ("image", "pull") => sign(Phase::Pulled, &event.subject),
        ("image", "untag") => sign(Phase::Removing, &event.subject),
        ("network", "connect") => {
            let container = event.attribute("container")?;
            tasks.contains_key(container).then(|| sign(Phase::Starting, container))?
        }
        ("container", action) if is_task(event) => match action {
            "create" => {
                tasks.insert(event.subject.clone(), event.attribute("image").unwrap_or_default().to_owned());
                sign(Phase::Created, &event.subject)
            }
            "start" => sign(Phase::Running, &event.subject),
            "kill" => sign(Phase::Stopping, &event.subject),
            "die" => sign(Phase::Stopped, &event.subject),
            _ => None,
        },
        _ => None,
    }
}

/// In which phase the sign's subject was at the moment of the kill, by all events up to then; none: in another than
/// these (its container was gone, its image in use).
pub(super) fn at_the_kill(sign: &Sign, events: &[EngineEvent], killed_at_nanos: i64) -> Option<Phase> {
    let mut tasks = BTreeMap::new();
    let mut phase = None;
    for event in events.iter().filter(|event| event.at_nanos <= killed_at_nanos) {
        let begun = begun_by(event, &mut tasks);
        if event.at_nanos < sign.at_nanos {
            continue;
        }
        match begun {
            Some(begun) if begun.subject == sign.subject => phase = Some(begun.phase),
            // The image that was pulled has become a container, or the one being pulled has come by another way.
            Some(Sign { phase: Phase::Created, subject, .. })
                if sign.phase <= Phase::Pulled && tasks.get(&subject) == Some(&sign.subject) =>
            {
                phase = None;
            }
            _ if event.action == "destroy" && event.subject == sign.subject => phase = None,
            _ => {}
        }
    }
    match sign.phase {
        // Told by the agent: the engine only says when it is over.
        Phase::Pulling => phase.is_none().then_some(Phase::Pulling).or(phase),
        Phase::Removing if phase.is_none() => Some(Phase::Removing),
        _ => phase,
    }
}

/// A name that the agent is pulling now, by its answer to `/v1/client/images`.
pub(super) fn told_by_agent(images: &Value, state: &str, at_nanos: i64) -> Vec<Sign> {
    let phase = if state == "pulling" { Phase::Pulling } else { Phase::Removing };
    let rows = images["Images"].as_array().map(Vec::as_slice).unwrap_or_default();
    let in_state = rows.iter().filter(|row| row["State"] == state);
    in_state.filter_map(|row| Some(Sign { phase, subject: row["Name"].as_str()?.to_owned(), at_nanos })).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(kind: &str, action: &str, subject: &str, at_nanos: i64) -> EngineEvent {
        EngineEvent {
            kind: kind.to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            attributes: json!({
                "com.hashicorp.nomad.alloc_id": "a", "longshore.task": "t", "image": "i", "container": "c"
            }),
            at_nanos,
            connection: 1,
        }
    }

    #[test]
    fn a_life_has_all_phases_in_order() {
        let events = [
            event("image", "pull", "i", 1),
            event("container", "create", "c", 2),
            event("network", "connect", "bridge", 3),
            event("container", "start", "c", 4),
            event("container", "kill", "c", 5),
            event("container", "die", "c", 6),
            event("container", "destroy", "c", 7),
        ];
        let image = Sign { phase: Phase::Pulled, subject: "i".to_owned(), at_nanos: 1 };
        assert_eq!(at_the_kill(&image, &events, 1), Some(Phase::Pulled));
        assert_eq!(at_the_kill(&image, &events, 2), None);
        let container = Sign { phase: Phase::Created, subject: "c".to_owned(), at_nanos: 2 };
        let phases = (2..=7).map(|at| at_the_kill(&container, &events, at)).collect::<Vec<_>>();
        let mut expected: Vec<_> = Phase::ALL[2..7].iter().copied().map(Some).collect();
        expected.push(None);
        assert_eq!(phases, expected);
        let pulling = Sign { phase: Phase::Pulling, subject: "i".to_owned(), at_nanos: 0 };
        assert_eq!(at_the_kill(&pulling, &events, 0), Some(Phase::Pulling));
        assert_eq!(at_the_kill(&pulling, &events, 1), Some(Phase::Pulled));
    }
}
