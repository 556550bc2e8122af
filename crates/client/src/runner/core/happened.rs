//! What happened, taken into the records.

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_driver::{ExitResult, Recovered, Started, TaskHandle};
use longshore_model::{AllocNetworkStatus, Allocation, TaskEvent, TaskPhase, Timestamp};
use longshore_values::GoDuration;

use super::{Act, Action, Acts, Core, Dirs, Event, Moment, STOP_AGAIN_DELAY, StartFailure};
use crate::rules::events;
use crate::rules::lifecycle::Part;
use crate::rules::restart::{AttemptEnd, RestartDecision, RestartRules};
use crate::runner::records::{Next, Stage, StopCause, StopOrder, TaskRecord};

impl Core {
    pub(super) fn take_in(&mut self, moment: Moment, event: Event) {
        let now = moment.now;
        match event {
            Event::Begin => self.watch_health(now),
            Event::PredecessorEnded => self.predecessor_ended = true,
            Event::DirsBuilt(Ok(())) => self.dirs = Dirs::Built,
            Event::DirsBuilt(Err(why)) => self.setup_failed(&why, now),
            Event::Started { task, attempt, result } => self.start_ended(&task, attempt, result, moment),
            Event::Recovered { task, attempt, result } => self.recovered(&task, attempt, result, moment),
            Event::Exited { task, attempt, exit } => self.exited(&task, attempt, &exit, moment),
            Event::Stopped { task, attempt, result } => {
                self.act_ended(&task, attempt, Act::Stopping, result.is_ok(), now);
                if let Err(why) = result {
                    self.tell(&task, events::kill_failed(now, &why));
                }
            }
            Event::Destroyed { task, attempt, result } => {
                self.act_ended(&task, attempt, Act::Destroying, result.is_ok(), now);
                if result.is_ok() {
                    self.destroyed(&task, attempt);
                }
            }
            Event::Told { task, event } => self.tell(&task, event),
            Event::Newer(alloc) => self.newer(alloc, now),
            Event::Stop(cause) => self.order_stop(cause, now),
            Event::Restart { tasks, ended_too } => self.order_restart(&tasks, ended_too, now),
            Event::Forgotten(Ok(())) => {
                self.forgetting.succeeded();
                self.record.forgotten = true;
                self.step.save_record = true;
            }
            Event::Forgotten(Err(_)) => self.forgetting.failed(now),
            Event::Woken => {}
        }
    }

    pub(super) fn newer(&mut self, alloc: Arc<Allocation>, now: Timestamp) {
        let stops = alloc.server_terminal();
        if let Some(group) = alloc.job_spec.group(&alloc.group) {
            self.group = group.clone();
        }
        self.alloc = alloc;
        self.step.save_alloc = true;
        self.watch_health(now);
        if stops {
            self.order_stop(StopCause::Server, now);
        }
    }

    pub(super) fn order_stop(&mut self, cause: StopCause, now: Timestamp) {
        // An agent that ends waits for no delay, also where the server's stop is being waited for.
        let replaces = match self.record.stop {
            None => true,
            Some(order) => cause == StopCause::Shutdown && order.cause != cause,
        };
        if replaces && self.record.ended_at.is_none() {
            self.record.stop = Some(StopOrder { at: now, cause });
            self.step.save_record = true;
        }
    }

    pub(super) fn order_restart(&mut self, names: &[String], ended_too: bool, now: Timestamp) {
        if self.record.stop.is_some() || self.record.ended_at.is_some() {
            return;
        }
        for name in names {
            // What is said once, at the end, is not said again.
            if self.task_spec(name).is_none_or(|spec| Part::of(spec) == Part::Poststop) {
                continue;
            }
            let Some(task) = self.tasks.get_mut(name) else { continue };
            let runs = matches!(task.stage, Stage::Running { .. });
            if runs && task.kill_at.is_none() && !std::mem::replace(&mut task.restart_asked, true) {
                events::push(&mut task.state, events::restart_signaled(now));
                self.save_task(name);
            } else if ended_too && task.state.phase == TaskPhase::Dead && task.kill_at.is_none() {
                begin_anew(task, now);
                self.save_task(name);
            }
        }
    }

    pub(super) fn setup_failed(&mut self, why: &str, now: Timestamp) {
        self.dirs = Dirs::Built;
        for (name, task) in &mut self.tasks {
            if matches!(task.stage, Stage::Waiting | Stage::Backoff { .. }) {
                events::push(&mut task.state, events::setup_failure(now, why));
                task.end(None, true, now);
                self.step.save_tasks.insert(name.clone());
            }
        }
    }

    pub(super) fn start_ended(
        &mut self,
        name: &str,
        attempt: u64,
        result: Result<Started, StartFailure>,
        moment: Moment,
    ) {
        let now = moment.now;
        let Some((task, acts)) = present(&mut self.tasks, &mut self.acts, name, attempt) else { return };
        acts.succeeded();
        if task.stage != Stage::Starting {
            return;
        }
        match result {
            Ok(started) => {
                task.state.phase = TaskPhase::Running;
                task.state.started_at = started.started_at;
                events::push(&mut task.state, events::started(started.started_at));
                task.stage = Stage::Running { handle: started.handle.clone() };
                acts.watched = true;
                let wait = Action::Wait { task: name.to_owned(), attempt, handle: started.handle };
                self.step.actions.push(wait);
                self.step.save_tasks.insert(name.to_owned());
                if let Some(address) = started.address
                    && self.alloc.resources.network_mode.as_deref() == Some("bridge")
                {
                    self.record.network =
                        Some(AllocNetworkStatus { interface_name: address.interface, address: address.ip });
                    self.step.save_record = true;
                }
            }
            Err(failure) => {
                let end = match &failure {
                    StartFailure::Invalid(text) => {
                        events::push(&mut task.state, events::failed_validation(now, text));
                        AttemptEnd::Unrecoverable
                    }
                    StartFailure::Fatal(text) => {
                        events::push(&mut task.state, events::driver_failure(now, text));
                        AttemptEnd::Unrecoverable
                    }
                    StartFailure::Retry(text) => {
                        events::push(&mut task.state, events::driver_failure(now, text));
                        AttemptEnd::StartFailed
                    }
                    StartFailure::Cancelled => AttemptEnd::StartFailed,
                };
                self.attempt_ended(name, None, end, moment);
            }
        }
    }

    pub(super) fn recovered(&mut self, name: &str, attempt: u64, result: Result<Recovered, String>, moment: Moment) {
        let now = moment.now;
        let Some((task, acts)) = present(&mut self.tasks, &mut self.acts, name, attempt) else { return };
        acts.succeeded();
        let Stage::Running { handle } = &task.stage else { return };
        let handle = handle.clone();
        let lost = match result {
            Ok(Recovered::Running { .. }) => {
                acts.watched = true;
                self.step.actions.push(Action::Wait { task: name.to_owned(), attempt, handle });
                return;
            }
            Ok(Recovered::Exited(exit)) => return self.exited(name, attempt, &exit, moment),
            Ok(Recovered::Gone) => "the task was not there any more when the agent came back".to_owned(),
            Err(why) => why,
        };
        // A restart that a person had asked for comes to no more than this.
        task.restart_asked = false;
        // Nobody knows how it ended (after a start of the machine, say): it is started again, whatever its policy.
        events::push(&mut task.state, events::failed_restoring(now, &lost));
        if task.kill_at.is_some() {
            task.end(Some(handle), false, now);
        } else {
            task.state.phase = TaskPhase::Pending;
            task.stage = Stage::Ended { handle: Some(handle), next: Next::Restart(now) };
        }
        self.save_task(name);
    }

    pub(super) fn exited(&mut self, name: &str, attempt: u64, exit: &ExitResult, moment: Moment) {
        let Some((task, acts)) = present(&mut self.tasks, &mut self.acts, name, attempt) else { return };
        let Stage::Running { handle } = &task.stage else { return };
        let handle = handle.clone();
        acts.watched = false;
        acts.retry_at = None;
        acts.failures = 0;
        events::push(&mut task.state, events::terminated(moment.now, exit));
        let end = match exit {
            exit if exit.by_engine => AttemptEnd::Interrupted { success: exit.successful() },
            exit if exit.successful() => AttemptEnd::Success,
            _ => AttemptEnd::Failure,
        };
        self.attempt_ended(name, Some(handle), end, moment);
    }

    /// The present attempt is over: the task is dead, or starts again later.
    pub(super) fn attempt_ended(&mut self, name: &str, handle: Option<TaskHandle>, end: AttemptEnd, moment: Moment) {
        let now = moment.now;
        self.save_task(name);
        let rules = self.group.task(name).map(|task| RestartRules::of(&self.alloc.job_spec, task));
        let Some(task) = self.tasks.get_mut(name) else { return };
        let asked = std::mem::take(&mut task.restart_asked);
        if task.kill_at.is_some() {
            events::push(&mut task.state, events::killed(now));
            return task.end(handle, false, now);
        }
        if asked {
            return start_again(task, handle, "", GoDuration::ZERO, now);
        }
        let Some(rules) = rules else { return task.end(handle, true, now) };
        match task.restarts.decide(&rules, end, now, moment.chance) {
            RestartDecision::Finished => task.end(handle, false, now),
            RestartDecision::GiveUp { reason } => {
                events::push(&mut task.state, events::not_restarting(now, &reason));
                task.end(handle, true, now);
            }
            RestartDecision::Restart { reason, delay } => {
                start_again(task, handle, reason, delay, now);
            }
        }
    }

    pub(super) fn destroyed(&mut self, name: &str, attempt: u64) {
        let Some((task, _)) = present(&mut self.tasks, &mut self.acts, name, attempt) else { return };
        let Stage::Ended { next, .. } = task.stage else { return };
        task.stage = match next {
            Next::Restart(start_at) => Stage::Backoff { start_at },
            Next::Nothing => Stage::Dead,
        };
        self.save_task(name);
    }

    pub(super) fn act_ended(&mut self, name: &str, attempt: u64, act: Act, ok: bool, now: Timestamp) {
        let Some((task, acts)) = present(&mut self.tasks, &mut self.acts, name, attempt) else { return };
        if acts.under_way == Some(act) {
            match (ok, act) {
                (true, Act::Stopping) if matches!(task.stage, Stage::Running { .. }) => {
                    acts.succeeded();
                    acts.retry_at = Some(now.plus(STOP_AGAIN_DELAY));
                }
                (true, _) => acts.succeeded(),
                (false, _) => acts.failed(now),
            }
        }
    }

    pub(super) fn tell(&mut self, name: &str, event: TaskEvent) {
        if let Some(task) = self.tasks.get_mut(name) {
            events::push(&mut task.state, event);
            self.save_task(name);
        }
    }

    pub(super) fn save_task(&mut self, name: &str) {
        self.moved = true;
        self.step.save_tasks.insert(name.to_owned());
    }
}

/// A task that had ended takes its turn once more, as in the beginning.
fn begin_anew(task: &mut TaskRecord, now: Timestamp) {
    events::push(&mut task.state, events::restart_signaled(now));
    task.state.phase = TaskPhase::Pending;
    task.state.failed = false;
    task.state.restarts += 1;
    task.state.last_restart_at = now;
    match &mut task.stage {
        // What is left of it goes first.
        Stage::Ended { next, .. } => *next = Next::Restart(now),
        stage => *stage = Stage::Waiting,
    }
}

fn start_again(task: &mut TaskRecord, handle: Option<TaskHandle>, reason: &str, delay: GoDuration, now: Timestamp) {
    events::push(&mut task.state, events::restarting(now, reason, delay));
    task.state.phase = TaskPhase::Pending;
    task.state.restarts += 1;
    task.state.last_restart_at = now;
    let start_at = now.plus(delay);
    task.stage = match handle {
        Some(_) => Stage::Ended { handle, next: Next::Restart(start_at) },
        None => Stage::Backoff { start_at },
    };
}

/// The task, if `attempt` is its present one: news of an earlier one changes nothing.
fn present<'a>(
    tasks: &'a mut BTreeMap<String, TaskRecord>,
    acts: &'a mut BTreeMap<String, Acts>,
    name: &str,
    attempt: u64,
) -> Option<(&'a mut TaskRecord, &'a mut Acts)> {
    let task = tasks.get_mut(name).filter(|task| task.attempt == attempt)?;
    Some((task, acts.get_mut(name)?))
}
