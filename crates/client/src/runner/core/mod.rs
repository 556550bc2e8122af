//! Decides what happens to the tasks of one allocation. No I/O, no clock.
//!
//! [`Core::step`] takes what happened and gives what is to be recorded and what is to be done. The records are durable
//! before any of the acts begins; the outcome of an act comes back as an event. After a restart of the agent the core is
//! made from its records and goes on: acts that may not have been done are told again, and repeating them changes nothing.
//!
//! - R1: an attempt is recorded before the driver is told to start it; the same attempt told twice is one start.
//! - R2: a task's end (kill, exit, giving up) is recorded before its remains are removed, and those are gone before the
//!   next attempt.
//! - R3: drivers forget the allocation only when all its tasks have ended for good and nothing of them is left.

mod happened;
mod health;
mod progress;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use longshore_driver::{ExitResult, Recovered, Started, TaskHandle};
use longshore_link::AllocationReport;
use longshore_model::{AllocId, Allocation, Task, TaskEvent, TaskGroup, TaskPhase, Timestamp};
use longshore_values::GoDuration;

use super::records::{AllocRecord, Stage, StopCause, StopOrder, TaskRecord};
use crate::allocations::has_own_network;
use crate::rules::health::Verdict;
use crate::rules::lifecycle::{Member, Part};
use crate::rules::status;

const RETRY_DELAY_MIN: GoDuration = GoDuration::seconds(1);
const RETRY_DELAY_MAX: GoDuration = GoDuration::seconds(30);
/// A task that was stopped and is not seen to end is stopped again after this.
const STOP_AGAIN_DELAY: GoDuration = GoDuration::seconds(30);

/// The instant of a step, and the chance in it (0 to 1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) now: Timestamp,
    pub(crate) chance: f64,
}

/// Why an attempt could not be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StartFailure {
    /// The driver does not understand the task's `config`.
    Invalid(String),
    Retry(String),
    Fatal(String),
    /// It was called off, as the core asked.
    Cancelled,
}

#[derive(Debug)]
pub(crate) enum Event {
    /// The runner has begun.
    Begin,
    /// The allocation that this one replaces has ended on this node.
    PredecessorEnded,
    DirsBuilt(Result<(), String>),
    Started {
        task: String,
        attempt: u64,
        result: Result<Started, StartFailure>,
    },
    /// `Err`: the driver will never find it again; the text says why.
    Recovered {
        task: String,
        attempt: u64,
        result: Result<Recovered, String>,
    },
    Exited {
        task: String,
        attempt: u64,
        exit: ExitResult,
    },
    Stopped {
        task: String,
        attempt: u64,
        result: Result<(), String>,
    },
    Destroyed {
        task: String,
        attempt: u64,
        result: Result<(), String>,
    },
    /// The driver tells something about the task.
    Told {
        task: String,
        event: TaskEvent,
    },
    /// The server has a newer form of the allocation.
    Newer(Arc<Allocation>),
    Stop(StopCause),
    /// A person wants these tasks to end and to start again, whatever their restart policy.
    Restart {
        tasks: Vec<String>,
        /// Those that have ended start again, too.
        ended_too: bool,
    },
    Forgotten(Result<(), String>),
    /// A deadline has come.
    Woken,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    BuildDirs,
    Start {
        task: String,
        attempt: u64,
    },
    CancelStart {
        task: String,
    },
    Recover {
        task: String,
        attempt: u64,
        handle: TaskHandle,
    },
    Wait {
        task: String,
        attempt: u64,
        handle: TaskHandle,
    },
    Stop {
        task: String,
        attempt: u64,
        handle: TaskHandle,
        signal: String,
        timeout: GoDuration,
    },
    Destroy {
        task: String,
        attempt: u64,
        handle: TaskHandle,
    },
    Forget {
        ended_at: Timestamp,
    },
    /// Everything is done: the runner may end.
    Finish,
}

/// What one or more events came to.
#[derive(Debug, Default)]
pub(crate) struct Step {
    /// The allocation itself is newer.
    pub(crate) save_alloc: bool,
    /// The allocation's record has changed.
    pub(crate) save_record: bool,
    /// Tasks whose records have changed.
    pub(crate) save_tasks: BTreeSet<String>,
    pub(crate) actions: Vec<Action>,
}

/// What is under way for a task, in this process.
#[derive(Debug, Default)]
struct Acts {
    under_way: Option<Act>,
    /// Its exit is being waited for.
    watched: bool,
    /// The event about its kill has been told.
    kill_told: bool,
    retry_at: Option<Timestamp>,
    failures: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Starting,
    Cancelling,
    Recovering,
    Stopping,
    Destroying,
}

impl Acts {
    fn free_at(&self, now: Timestamp) -> bool {
        self.under_way.is_none() && self.retry_at.is_none_or(|at| at <= now)
    }

    fn begin(&mut self, act: Act) {
        self.under_way = Some(act);
        self.retry_at = None;
    }

    fn succeeded(&mut self) {
        self.under_way = None;
        self.failures = 0;
    }

    fn failed(&mut self, now: Timestamp) {
        self.under_way = None;
        self.retry_at = Some(now.plus(retry_delay(self.failures)));
        self.failures += 1;
    }
}

fn retry_delay(failures: u32) -> GoDuration {
    RETRY_DELAY_MIN.saturating_mul(1 << failures.min(5)).min(RETRY_DELAY_MAX)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dirs {
    Unknown,
    Building,
    Built,
}

pub(crate) struct Core {
    alloc: Arc<Allocation>,
    group: TaskGroup,
    record: AllocRecord,
    tasks: BTreeMap<String, TaskRecord>,
    max_kill_timeout: GoDuration,
    predecessor_ended: bool,
    dirs: Dirs,
    acts: BTreeMap<String, Acts>,
    forgetting: Acts,
    finished: bool,
    /// A task was moved on: the others are to be looked at again.
    moved: bool,
    stepped_at: Timestamp,
    step: Step,
}

impl Core {
    /// `predecessor_ended` is false while the allocation that this one replaces still has tasks on this node.
    pub(crate) fn new(
        alloc: Arc<Allocation>,
        group: TaskGroup,
        record: AllocRecord,
        tasks: BTreeMap<String, TaskRecord>,
        max_kill_timeout: GoDuration,
        predecessor_ended: bool,
    ) -> Self {
        let acts = tasks.keys().map(|name| (name.clone(), Acts::default())).collect();
        Self {
            alloc,
            group,
            record,
            tasks,
            max_kill_timeout,
            predecessor_ended,
            dirs: Dirs::Unknown,
            acts,
            forgetting: Acts::default(),
            finished: false,
            moved: false,
            stepped_at: Timestamp::NEVER,
            step: Step::default(),
        }
    }

    pub(crate) fn alloc(&self) -> &Arc<Allocation> {
        &self.alloc
    }

    pub(crate) fn group(&self) -> &TaskGroup {
        &self.group
    }

    pub(crate) fn record(&self) -> &AllocRecord {
        &self.record
    }

    /// The tasks that run, with what finds them.
    pub(crate) fn running(&self) -> BTreeMap<String, TaskHandle> {
        let running = self.tasks.iter().filter_map(|(name, task)| match &task.stage {
            Stage::Running { handle } => Some((name.clone(), handle.clone())),
            Stage::Waiting | Stage::Starting | Stage::Ended { .. } | Stage::Backoff { .. } | Stage::Dead => None,
        });
        running.collect()
    }

    /// The tasks that have ended by themselves and that a person can have start anew: not those that are said once, at the
    /// end.
    pub(crate) fn startable(&self) -> BTreeSet<String> {
        let is_last = |name: &str| self.task_spec(name).is_none_or(|spec| Part::of(spec) == Part::Poststop);
        let ended = |task: &TaskRecord| task.state.phase == TaskPhase::Dead && task.kill_at.is_none();
        let those = self.tasks.iter().filter(|(name, task)| ended(task) && !is_last(name));
        those.map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn task_record(&self, task: &str) -> Option<&TaskRecord> {
        self.tasks.get(task)
    }

    /// All tasks have ended, and with them a network that holds the ports of the group: what takes this one's place may
    /// start.
    pub(crate) fn has_ended(&self) -> bool {
        let network_gone = self.record.forgotten || !has_own_network(&self.alloc);
        network_gone && self.tasks.values().all(|task| task.state.phase == TaskPhase::Dead)
    }

    pub(crate) fn report(&self) -> AllocationReport {
        let (client_status, description) = status::client_status(self.tasks.values().map(|task| &task.state));
        AllocationReport {
            alloc: self.alloc.id,
            client_status,
            client_description: description.to_owned(),
            task_states: self.tasks.iter().map(|(name, task)| (name.clone(), task.state.clone())).collect(),
            healthy: self.record.health.and_then(|watch| watch.decided),
            deployment: self.record.health.map(|watch| watch.deployment),
            network_status: self.record.network.clone(),
        }
    }

    /// Takes in what happened. What is to be recorded and done is added up until [`Core::take_step`].
    pub(crate) fn step(&mut self, moment: Moment, event: Event) {
        self.stepped_at = moment.now;
        self.take_in(moment, event);
        self.advance(moment.now);
    }

    pub(crate) fn take_step(&mut self) -> Step {
        std::mem::take(&mut self.step)
    }

    /// When something is to be done even if nothing happens. May have passed since the last step.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let now = self.stepped_at;
        let mut deadlines = Vec::new();
        if let Some(stop) = self.record.stop {
            deadlines.push(self.stop_due_at(stop));
        }
        for (name, task) in &self.tasks {
            if let Stage::Backoff { start_at } = task.stage {
                deadlines.push(start_at);
            }
            if let Some(acts) = self.acts.get(name) {
                deadlines.extend(acts.retry_at);
            }
            if matches!(task.stage, Stage::Running { .. })
                && let Some(kill_at) = task.kill_at
            {
                deadlines.push(self.kill_due_at(name, kill_at));
            }
        }
        deadlines.extend(self.forgetting.retry_at);
        if let Some(Verdict::LookAgainAt(at)) = self.judge_health(now) {
            deadlines.push(at);
        }
        deadlines.into_iter().filter(|at| *at > now).min()
    }

    fn task_spec(&self, name: &str) -> Option<&Task> {
        self.group.task(name)
    }

    fn members(&self) -> Vec<Member<'_>> {
        let specs = self.group.tasks.iter();
        let member = |spec: &'_ Task| {
            let (name, record) = self.tasks.get_key_value(&spec.name)?;
            Some(Member { name: name.as_str(), part: Part::of(spec), leader: spec.leader, state: &record.state })
        };
        specs.filter_map(member).collect()
    }

    fn kill_timeout(&self, name: &str) -> GoDuration {
        self.task_spec(name).map_or(GoDuration::ZERO, |spec| spec.kill_timeout).min(self.max_kill_timeout)
    }

    /// Its end waits for no delay: an agent that ends has no time for them, or a person has asked for none.
    fn ends_at_once(&self) -> bool {
        self.record
            .stop
            .is_some_and(|stop| stop.cause == StopCause::Shutdown || self.alloc.desired_transition.no_shutdown_delay)
    }

    /// When the tasks of a stopping allocation are told to end.
    fn stop_due_at(&self, stop: StopOrder) -> Timestamp {
        match stop.cause {
            StopCause::Server if self.ends_at_once() => stop.at,
            StopCause::Server => stop.at.plus(self.group.shutdown_delay.unwrap_or(GoDuration::ZERO)),
            StopCause::NotListed | StopCause::Shutdown => stop.at,
        }
    }

    /// When a task that is to end is told so.
    fn kill_due_at(&self, name: &str, kill_at: Timestamp) -> Timestamp {
        if self.ends_at_once() {
            return kill_at;
        }
        kill_at.plus(self.task_spec(name).map_or(GoDuration::ZERO, |spec| spec.shutdown_delay))
    }

    pub(crate) fn id(&self) -> AllocId {
        self.alloc.id
    }
}
