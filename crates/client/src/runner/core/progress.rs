//! What is to be done next, from what the records say.

use longshore_driver::TaskHandle;
use longshore_model::{TaskPhase, Timestamp};
use longshore_values::GoDuration;

use super::{Act, Action, Core, Dirs};
use crate::rules::events;
use crate::rules::lifecycle::{self, EndCause, Part};
use crate::runner::records::{Next, Stage, StopCause};

impl Core {
    pub(super) fn advance(&mut self, now: Timestamp) {
        if self.record.ended_at.is_none() {
            self.build_dirs();
            // What one task comes to may let others start, or make them end.
            loop {
                self.moved = false;
                self.order_ends(now);
                self.go_on(now);
                if !self.moved {
                    break;
                }
            }
            self.conclude_health(now);
            self.conclude(now);
        }
        self.forget(now);
    }

    pub(super) fn build_dirs(&mut self) {
        let needed = self.tasks.values().any(|task| task.state.phase != TaskPhase::Dead);
        if needed && self.dirs == Dirs::Unknown {
            self.dirs = Dirs::Building;
            self.step.actions.push(Action::BuildDirs);
        }
    }

    /// Marks the tasks that must end now, because of an order or because of each other.
    pub(super) fn order_ends(&mut self, now: Timestamp) {
        let stopping = self.record.stop.is_some_and(|stop| self.stop_due_at(stop) <= now);
        let members = self.members();
        let Some(cause) = lifecycle::end_cause(stopping, &members) else { return };
        let mut names = lifecycle::end_now(&members);
        // An agent that ends waits for nobody's last words, and nothing that has not started yet starts any more.
        let at_once = self.record.stop.is_some_and(|stop| stop.cause == StopCause::Shutdown);
        let no_delay = self.ends_at_once();
        let never_started = self.tasks.values().all(|task| task.attempt == 0);
        for member in &members {
            let waits = self.tasks.get(member.name).is_some_and(|task| task.stage == Stage::Waiting);
            let last_words = member.part == Part::Poststop;
            if (waits && !last_words) || (last_words && (at_once || (never_started && stopping))) {
                names.push(member.name.to_owned());
            }
        }
        for name in names {
            let delay = self.task_spec(&name).map_or(GoDuration::ZERO, |spec| spec.shutdown_delay);
            let Some(task) = self.tasks.get_mut(&name) else { continue };
            if task.kill_at.is_some() || task.state.phase == TaskPhase::Dead {
                continue;
            }
            task.kill_at = Some(now);
            match &cause {
                EndCause::Stopped => {}
                EndCause::SiblingFailed(sibling) => {
                    events::push(&mut task.state, events::sibling_failed(now, sibling));
                }
                EndCause::LeaderDead => events::push(&mut task.state, events::leader_dead(now)),
                EndCause::MainTasksDead => events::push(&mut task.state, events::main_dead(now)),
            }
            if !delay.is_zero() && !no_delay && matches!(task.stage, Stage::Running { .. }) {
                events::push(&mut task.state, events::waiting_for_shutdown_delay(now, delay));
            }
            self.save_task(&name);
        }
    }

    /// Moves each task on from its stage, as far as it can go now.
    pub(super) fn go_on(&mut self, now: Timestamp) {
        let names: Vec<_> = self.tasks.keys().cloned().collect();
        for name in names {
            let Some(task) = self.tasks.get(&name) else { continue };
            match &task.stage {
                Stage::Waiting | Stage::Backoff { .. } if task.kill_at.is_some() => self.end_without_trace(&name, now),
                Stage::Waiting => {
                    let part = self.task_spec(&name).map_or(Part::Main, Part::of);
                    let held_back = !self.predecessor_ended
                        || (self.record.stop.is_some() && part != Part::Poststop)
                        || self.waits_for_restart(part);
                    if !held_back && lifecycle::may_start(part, &self.members()) {
                        self.begin_attempt(&name, now);
                    }
                }
                Stage::Backoff { start_at }
                    if *start_at <= now && self.record.stop.is_none() && !self.waits_for_prestart(&name) =>
                {
                    self.begin_attempt(&name, now)
                }
                Stage::Backoff { .. } => {}
                Stage::Starting => self.start_or_cancel(&name, now),
                Stage::Running { handle } => {
                    let handle = handle.clone();
                    self.recover_or_stop(&name, handle, now);
                }
                Stage::Ended { handle, .. } => {
                    let handle = handle.clone();
                    self.remove_remains(&name, handle, now);
                }
                Stage::Dead => {}
            }
        }
    }

    /// Whether what comes after the main tasks' start waits for main tasks that are to start anew.
    fn waits_for_restart(&self, part: Part) -> bool {
        let is_main = |name: &str| self.task_spec(name).is_some_and(|spec| Part::of(spec) == Part::Main);
        matches!(part, Part::Poststart | Part::PoststartSidecar)
            && self.tasks.iter().any(|(name, task)| task.restart_asked && is_main(name))
    }

    /// Whether it waits for tasks that run before the others, which a person has start anew.
    fn waits_for_prestart(&self, name: &str) -> bool {
        let part = |name: &str| self.task_spec(name).map_or(Part::Main, Part::of);
        !matches!(part(name), Part::Prestart | Part::PrestartSidecar)
            && self
                .tasks
                .iter()
                .any(|(other, task)| part(other) == Part::Prestart && task.state.phase != TaskPhase::Dead)
    }

    /// A task of which nothing runs ends. That it waits for another attempt makes it no failure, as in Nomad: a task has
    /// failed when it is not restarted any more.
    pub(super) fn end_without_trace(&mut self, name: &str, now: Timestamp) {
        let timeout = self.kill_timeout(name);
        if let Some(task) = self.tasks.get_mut(name) {
            events::push(&mut task.state, events::killing(now, timeout));
            task.end(None, false, now);
            self.save_task(name);
        }
    }

    pub(super) fn begin_attempt(&mut self, name: &str, now: Timestamp) {
        if self.dirs != Dirs::Built {
            return;
        }
        let Some(task) = self.tasks.get_mut(name) else { return };
        task.attempt += 1;
        if task.attempt == 1 {
            events::push(&mut task.state, events::task_setup(now));
        }
        task.stage = Stage::Starting;
        self.save_task(name);
        self.start_or_cancel(name, now);
    }

    pub(super) fn start_or_cancel(&mut self, name: &str, now: Timestamp) {
        let timeout = self.kill_timeout(name);
        let (Some(task), Some(acts)) = (self.tasks.get_mut(name), self.acts.get_mut(name)) else { return };
        match (acts.under_way, task.kill_at) {
            (None, None) if self.dirs == Dirs::Built => {
                acts.begin(Act::Starting);
                self.step.actions.push(Action::Start { task: name.to_owned(), attempt: task.attempt });
            }
            // Told to start before the agent went down, to end since. What there may be of it, the driver removes
            // when it forgets the allocation.
            (None, Some(_)) => {
                task.end(None, false, now);
                self.save_task(name);
            }
            (Some(Act::Starting), Some(_)) => {
                acts.begin(Act::Cancelling);
                events::push(&mut task.state, events::killing(now, timeout));
                self.step.actions.push(Action::CancelStart { task: name.to_owned() });
                self.save_task(name);
            }
            _ => {}
        }
    }

    pub(super) fn recover_or_stop(&mut self, name: &str, handle: TaskHandle, now: Timestamp) {
        let timeout = self.kill_timeout(name);
        let signal = self.task_spec(name).map(|spec| spec.kill_signal.clone()).unwrap_or_default();
        let kill_due = self.tasks.get(name).and_then(|task| task.kill_at).map(|at| self.kill_due_at(name, at));
        let (Some(task), Some(acts)) = (self.tasks.get_mut(name), self.acts.get_mut(name)) else { return };
        if !acts.free_at(now) {
            return;
        }
        let attempt = task.attempt;
        if !acts.watched {
            acts.begin(Act::Recovering);
            self.step.actions.push(Action::Recover { task: name.to_owned(), attempt, handle });
        } else if kill_due.is_some_and(|at| at <= now) {
            if !std::mem::replace(&mut acts.kill_told, true) {
                events::push(&mut task.state, events::killing(now, timeout));
            }
            acts.begin(Act::Stopping);
            self.step.actions.push(Action::Stop { task: name.to_owned(), attempt, handle, signal, timeout });
            self.save_task(name);
        } else if task.restart_asked {
            acts.begin(Act::Stopping);
            self.step.actions.push(Action::Stop { task: name.to_owned(), attempt, handle, signal, timeout });
        }
    }

    pub(super) fn remove_remains(&mut self, name: &str, handle: Option<TaskHandle>, now: Timestamp) {
        let (Some(task), Some(acts)) = (self.tasks.get_mut(name), self.acts.get_mut(name)) else { return };
        if task.kill_at.is_some()
            && let Stage::Ended { next: next @ Next::Restart(_), .. } = &mut task.stage
        {
            *next = Next::Nothing;
            task.state.phase = TaskPhase::Dead;
            task.state.finished_at = now;
            self.moved = true;
            self.step.save_tasks.insert(name.to_owned());
        }
        if let Some(handle) = handle
            && acts.free_at(now)
        {
            acts.begin(Act::Destroying);
            let attempt = task.attempt;
            self.step.actions.push(Action::Destroy { task: name.to_owned(), attempt, handle });
        }
    }

    pub(super) fn conclude(&mut self, now: Timestamp) {
        if self.tasks.values().any(|task| task.stage != Stage::Dead) {
            return;
        }
        let last = self.tasks.values().map(|task| task.state.finished_at).max();
        self.record.ended_at = Some(last.filter(|at| !at.is_never()).unwrap_or(now));
        self.step.save_record = true;
    }

    pub(super) fn forget(&mut self, now: Timestamp) {
        let Some(ended_at) = self.record.ended_at else { return };
        if !self.record.forgotten {
            if self.forgetting.free_at(now) {
                self.forgetting.begin(Act::Destroying);
                self.step.actions.push(Action::Forget { ended_at });
            }
        } else if !self.finished {
            self.finished = true;
            self.step.actions.push(Action::Finish);
        }
    }
}
