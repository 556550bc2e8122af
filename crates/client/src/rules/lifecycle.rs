//! Which tasks of a group may start, and which must end because of others.

use longshore_model::{LifecycleHook, Task, TaskPhase, TaskState};

/// A task's part in its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Runs to its end before the main tasks start.
    Prestart,
    /// Starts before the main tasks and runs beside them.
    PrestartSidecar,
    Main,
    /// Runs once, after the main tasks have started.
    Poststart,
    PoststartSidecar,
    /// Runs after all others have ended.
    Poststop,
}

impl Part {
    pub(crate) fn of(task: &Task) -> Self {
        let Some(lifecycle) = task.lifecycle else { return Self::Main };
        match (lifecycle.hook, lifecycle.sidecar) {
            (LifecycleHook::Prestart, false) => Self::Prestart,
            (LifecycleHook::Prestart, true) => Self::PrestartSidecar,
            (LifecycleHook::Poststart, false) => Self::Poststart,
            (LifecycleHook::Poststart, true) => Self::PoststartSidecar,
            (LifecycleHook::Poststop, _) => Self::Poststop,
        }
    }

    fn is_sidecar(self) -> bool {
        matches!(self, Self::PrestartSidecar | Self::PoststartSidecar)
    }
}

/// What the rules look at of one task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) part: Part,
    pub(crate) leader: bool,
    pub(crate) state: &'a TaskState,
}

impl Member<'_> {
    fn is_dead(&self) -> bool {
        self.state.phase == TaskPhase::Dead
    }
    fn is_running(&self) -> bool {
        self.state.phase == TaskPhase::Running
    }
}

/// Why a task must end although nobody asked for its own end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EndCause {
    /// The allocation is to stop.
    Stopped,
    SiblingFailed(String),
    LeaderDead,
    MainTasksDead,
}

/// Whether a task that has not started yet may.
pub(crate) fn may_start(part: Part, members: &[Member<'_>]) -> bool {
    let all = |wanted: fn(Part) -> bool, holds: fn(&Member<'_>) -> bool| {
        members.iter().filter(|member| wanted(member.part)).all(holds)
    };
    match part {
        Part::Prestart | Part::PrestartSidecar => true,
        Part::Main => {
            all(|part| part == Part::Prestart, |member| member.is_dead() && !member.state.failed)
                && all(|part| part == Part::PrestartSidecar, |member| member.is_running())
        }
        Part::Poststart | Part::PoststartSidecar => all(|part| part == Part::Main, |member| member.is_running()),
        Part::Poststop => all(|part| part != Part::Poststop, |member| member.is_dead()),
    }
}

/// Why the group's other tasks must end; `None` while all may go on. `stopping`: the allocation is to stop.
pub(crate) fn end_cause(stopping: bool, members: &[Member<'_>]) -> Option<EndCause> {
    if stopping {
        return Some(EndCause::Stopped);
    }
    let before_the_end = || members.iter().filter(|member| member.part != Part::Poststop);
    if let Some(failed) = before_the_end().find(|member| member.is_dead() && member.state.failed) {
        return Some(EndCause::SiblingFailed(failed.name.to_owned()));
    }
    if before_the_end().any(|member| member.leader && member.is_dead()) {
        return Some(EndCause::LeaderDead);
    }
    let mut main = members.iter().filter(|member| member.part == Part::Main).peekable();
    (main.peek().is_some() && main.all(Member::is_dead)).then_some(EndCause::MainTasksDead)
}

/// The tasks that are to be ended now: the leader alone at first, then the others, then what ran beside them. Tasks that
/// run after the others' end are left out.
pub(crate) fn end_now(members: &[Member<'_>]) -> Vec<String> {
    let left: Vec<_> = members.iter().filter(|member| member.part != Part::Poststop && !member.is_dead()).collect();
    let waves: [fn(&Member<'_>) -> bool; 3] = [|member| member.leader, |member| !member.part.is_sidecar(), |_| true];
    for wave in waves {
        let names: Vec<_> = left.iter().filter(|member| wave(member)).map(|member| member.name.to_owned()).collect();
        if !names.is_empty() {
            return names;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `name part state`; a name that starts with `*` is the leader's.
    fn parse(row: &str) -> (String, Part, bool, TaskState) {
        let words: Vec<_> = row.split(' ').collect();
        let part = match words[1] {
            "prestart" => Part::Prestart,
            "sidecar" => Part::PrestartSidecar,
            "poststart" => Part::Poststart,
            "poststop" => Part::Poststop,
            _ => Part::Main,
        };
        let (phase, failed) = match words[2] {
            "pending" => (TaskPhase::Pending, false),
            "running" => (TaskPhase::Running, false),
            "failed" => (TaskPhase::Dead, true),
            _ => (TaskPhase::Dead, false),
        };
        let name = words[0].trim_start_matches('*').to_owned();
        (name, part, words[0].starts_with('*'), TaskState { phase, failed, ..TaskState::default() })
    }

    /// The group, then who may start, why the others must end, and who is ended first.
    #[track_caller]
    fn check(rows: &[&str], startable: &str, cause: &str, ended: &str) {
        let rows: Vec<_> = rows.iter().map(|row| parse(row)).collect();
        let members: Vec<_> = rows
            .iter()
            .map(|(name, part, leader, state)| Member { name, part: *part, leader: *leader, state })
            .collect();
        let may: Vec<_> = members
            .iter()
            .filter(|member| member.state.phase == TaskPhase::Pending && may_start(member.part, &members))
            .map(|member| member.name)
            .collect();
        assert_eq!(may.join(" "), startable, "may start");
        let found = match end_cause(false, &members) {
            None => "none".to_owned(),
            Some(EndCause::Stopped) => "stopped".to_owned(),
            Some(EndCause::SiblingFailed(name)) => format!("{name} failed"),
            Some(EndCause::LeaderDead) => "leader".to_owned(),
            Some(EndCause::MainTasksDead) => "main".to_owned(),
        };
        assert_eq!(found, cause, "cause");
        assert_eq!(end_now(&members).join(" "), ended, "ended now");
    }

    #[test]
    fn groups() {
        check(&["a main pending", "b main pending"], "a b", "none", "a b");
        check(&["i prestart pending", "s sidecar pending", "m main pending"], "i s", "none", "i m");
        check(&["i prestart dead", "s sidecar pending", "m main pending"], "s", "none", "m");
        check(&["i prestart dead", "s sidecar running", "m main pending"], "m", "none", "m");
        check(&["i prestart failed", "s sidecar running", "m main pending"], "", "i failed", "m");
        check(&["m main running", "p poststart pending", "z poststop pending"], "p", "none", "m p");
        check(&["m main dead", "s sidecar running", "z poststop pending"], "", "main", "s");
        check(&["m main dead", "s sidecar dead", "z poststop pending"], "z", "main", "");
        check(&["*l main dead", "m main running"], "", "leader", "m");
        check(&["*l main running", "m main running", "s sidecar running"], "", "none", "l");
        check(&["m main failed", "n main running"], "", "m failed", "n");
        check(&["m main dead", "z poststop failed"], "", "main", "");
    }
}
