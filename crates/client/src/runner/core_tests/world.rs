use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use longshore_driver::{ExitResult, Recovered, Started, TaskHandle, TaskId};
use longshore_model::{
    Allocation, JobType, Lifecycle, LifecycleHook, RestartMode, RestartPolicy, Task, TaskEvent, TaskPhase, Timestamp,
};
use longshore_values::GoDuration;

use crate::runner::core::{Action, Core, Event, Moment, StartFailure, Step};
use crate::runner::records::{AllocRecord, Stage, StopCause, TaskRecord};
use crate::testing;

const SEEDS: u64 = 1_000;
const STEPS: usize = 120;
/// Steps without faults in which everything must come to its end.
const STEPS_TO_HEAL: usize = 2_000;

/// A small generator of numbers: the same seed gives the same world.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
    /// True once in `rarity` times.
    fn once_in(&mut self, rarity: usize) -> bool {
        self.below(rarity) == 0
    }
}

/// What the driver really has of a task.
#[derive(Debug, Clone)]
struct Container {
    attempt: u64,
    exit: Option<ExitResult>,
}

/// What is on disk.
#[derive(Clone)]
struct Disk {
    alloc: Arc<Allocation>,
    record: AllocRecord,
    tasks: BTreeMap<String, TaskRecord>,
}

struct World {
    seed: u64,
    chance: Chance,
    now: Timestamp,
    disk: Disk,
    core: Core,
    containers: BTreeMap<String, Container>,
    /// Acts that were begun and have not told their end.
    acts: Vec<Action>,
    cancelled: BTreeSet<String>,
    predecessor_ended: bool,
    forgotten: bool,
    finished: bool,
    faults: bool,
    log: Vec<String>,
    crashes: usize,
    starts: usize,
}

fn exit(code: i32) -> ExitResult {
    ExitResult { exit_code: code, signal: 0, oom_killed: false, by_engine: false, message: String::new() }
}

fn random_task(chance: &mut Chance, name: &str) -> Task {
    let mut task = testing::task(name);
    let hooks = [LifecycleHook::Prestart, LifecycleHook::Poststart, LifecycleHook::Poststop];
    if chance.once_in(2) {
        let hook = hooks[chance.below(3)];
        let sidecar = hook != LifecycleHook::Poststop && chance.once_in(2);
        task.lifecycle = Some(Lifecycle { hook, sidecar });
    } else {
        task.leader = chance.once_in(4);
    }
    task.restart = RestartPolicy {
        attempts: chance.below(3) as u32,
        interval: GoDuration::minutes(5),
        delay: GoDuration::seconds(chance.below(20) as i64),
        mode: if chance.once_in(2) { RestartMode::Fail } else { RestartMode::Delay },
    };
    if chance.once_in(3) {
        task.shutdown_delay = GoDuration::seconds(4);
    }
    task
}

impl World {
    fn new(seed: u64) -> Self {
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let count = 1 + chance.below(4);
        let mut tasks: Vec<_> =
            ["a", "b", "c", "d"][..count].iter().map(|name| random_task(&mut chance, name)).collect();
        // A group has a main task.
        tasks[0].lifecycle = None;
        let mut alloc = testing::allocation(1, tasks);
        let job = Arc::make_mut(&mut alloc.job_spec);
        job.kind = if chance.once_in(3) { JobType::Batch } else { JobType::Service };
        job.groups[0].shutdown_delay = chance.once_in(4).then(|| GoDuration::seconds(7));
        let now = Timestamp::from_seconds(1_000);
        let alloc = Arc::new(alloc);
        let predecessor_ended = !chance.once_in(3);
        let names = alloc.job_spec.groups[0].tasks.iter().map(|task| task.name.clone());
        let disk = Disk {
            record: AllocRecord::accepted(None, now),
            tasks: names.map(|name| (name, TaskRecord::received(now))).collect(),
            alloc,
        };
        let core = Self::load(&disk, predecessor_ended);
        let mut world = Self {
            seed,
            chance,
            now,
            disk,
            core,
            containers: BTreeMap::new(),
            acts: Vec::new(),
            cancelled: BTreeSet::new(),
            predecessor_ended,
            forgotten: false,
            finished: false,
            faults: true,
            log: Vec::new(),
            crashes: 0,
            starts: 0,
        };
        world.happen(Event::Begin);
        world
    }

    fn load(disk: &Disk, predecessor_ended: bool) -> Core {
        let group = disk.alloc.job_spec.groups[0].clone();
        let limit = GoDuration::seconds(30);
        Core::new(Arc::clone(&disk.alloc), group, disk.record.clone(), disk.tasks.clone(), limit, predecessor_ended)
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}\nseed {}\n{}", self.seed, self.log.join("\n"));
    }

    fn happen(&mut self, event: Event) {
        self.log.push(format!("{} {event:?}", self.now.as_nanoseconds() / 1_000_000_000));
        let moment = Moment { now: self.now, chance: self.chance.below(100) as f64 / 100.0 };
        self.core.step(moment, event);
        let step = self.core.take_step();
        // The agent may die before the records are written, or between them and the acts.
        if self.faults && self.chance.once_in(60) {
            return self.crash();
        }
        self.save(&step);
        if self.faults && self.chance.once_in(60) {
            return self.crash();
        }
        self.begin(step.actions);
        self.check();
    }

    fn save(&mut self, step: &Step) {
        if step.save_alloc {
            self.disk.alloc = Arc::clone(self.core.alloc());
        }
        if step.save_alloc || step.save_record {
            self.disk.record = self.core.record().clone();
        }
        for task in &step.save_tasks {
            self.disk.tasks.insert(task.clone(), self.core.task_record(task).unwrap().clone());
        }
    }

    fn crash(&mut self) {
        self.crashes += 1;
        self.log.push("crash".to_owned());
        // What was under way may have been done or not; nobody is told.
        for act in std::mem::take(&mut self.acts) {
            if self.chance.once_in(2) {
                self.really(&act);
            }
        }
        self.cancelled.clear();
        if self.finished || self.disk.record.forgotten {
            self.finished = true;
        }
        self.core = Self::load(&self.disk, self.predecessor_ended);
        self.happen(Event::Begin);
    }

    fn begin(&mut self, actions: Vec<Action>) {
        for action in actions {
            self.log.push(format!("    {action:?}"));
            match &action {
                Action::CancelStart { task } => {
                    self.cancelled.insert(task.clone());
                    continue;
                }
                Action::Finish => {
                    self.finished = true;
                    continue;
                }
                Action::Start { task, attempt } => {
                    let record = &self.disk.tasks[task];
                    if record.stage != Stage::Starting || record.attempt != *attempt {
                        self.fail("R1: a start that is not on record");
                    }
                    if !self.predecessor_ended {
                        self.fail("started beside its predecessor");
                    }
                }
                Action::Destroy { task, .. } if !matches!(self.disk.tasks[task].stage, Stage::Ended { .. }) => {
                    self.fail("R2: removed before its end was on record");
                }
                Action::Stop { task, .. }
                    if self.disk.tasks[task].kill_at.is_none() && !self.disk.tasks[task].restart_asked =>
                {
                    self.fail("R2: stopped without an order on record");
                }
                Action::Forget { .. } => {
                    let all_dead = self.disk.tasks.values().all(|task| task.stage == Stage::Dead);
                    if self.disk.record.ended_at.is_none() || !all_dead {
                        self.fail("R3: forgotten before its end was on record");
                    }
                }
                _ => {}
            }
            self.acts.push(action);
        }
    }

    /// The driver does it.
    fn really(&mut self, act: &Action) {
        match act {
            Action::Start { task, attempt } => {
                if self.forgotten {
                    self.fail("R3: started after it was forgotten");
                }
                match self.containers.get(task) {
                    Some(found) if found.attempt != *attempt => self.fail("R2: started beside an earlier attempt"),
                    Some(_) => {}
                    None => {
                        self.starts += 1;
                        self.containers.insert(task.clone(), Container { attempt: *attempt, exit: None });
                    }
                }
            }
            Action::Stop { task, .. } => {
                if let Some(found) = self.containers.get_mut(task) {
                    found.exit.get_or_insert(exit(0));
                }
            }
            Action::Destroy { task, .. } => {
                self.containers.remove(task);
            }
            Action::Forget { .. } => {
                self.forgotten = true;
                self.containers.clear();
            }
            _ => {}
        }
    }

    /// An act ends, well or not, and tells so.
    fn end_act(&mut self, at: usize) {
        let act = self.acts.remove(at);
        let fails = self.faults && self.chance.once_in(4);
        let result = if fails { Err("it did not work".to_owned()) } else { Ok(()) };
        match &act {
            Action::BuildDirs => {
                let fails = self.faults && self.chance.once_in(30);
                self.happen(Event::DirsBuilt(if fails { Err("no room".to_owned()) } else { Ok(()) }));
            }
            Action::Start { task, attempt } => {
                let (task, attempt) = (task.clone(), *attempt);
                let cancelled = self.cancelled.remove(&task);
                let result = if cancelled && self.chance.once_in(2) {
                    // What it had made is ended by the driver itself.
                    self.containers.remove(&task);
                    Err(StartFailure::Cancelled)
                } else if fails {
                    self.containers.remove(&task);
                    Err(match self.chance.below(8) {
                        0 => StartFailure::Invalid("what is this".to_owned()),
                        1 => StartFailure::Fatal("never".to_owned()),
                        _ => StartFailure::Retry("cold".to_owned()),
                    })
                } else {
                    self.really(&act);
                    let id = TaskId { alloc: self.disk.alloc.id, task: task.clone() };
                    let handle = TaskHandle { id, driver: "world".to_owned(), state: attempt.into() };
                    Ok(Started { handle, address: None, started_at: self.now })
                };
                self.happen(Event::Started { task, attempt, result });
            }
            Action::Recover { task, attempt, .. } => {
                let (task, attempt) = (task.clone(), *attempt);
                let result = match self.containers.get(&task) {
                    Some(Container { exit: None, .. }) => Ok(Recovered::Running { started_at: self.now }),
                    Some(Container { exit: Some(exit), .. }) => Ok(Recovered::Exited(exit.clone())),
                    None => Ok(Recovered::Gone),
                };
                self.happen(Event::Recovered { task, attempt, result });
            }
            Action::Wait { task, attempt, .. } => {
                let (task, attempt) = (task.clone(), *attempt);
                match self.containers.get(&task).map(|found| found.exit.clone()) {
                    // It has not ended: the waiting goes on.
                    Some(None) => self.acts.push(act),
                    Some(Some(exit)) => self.happen(Event::Exited { task, attempt, exit }),
                    None => self.happen(Event::Exited { task, attempt, exit: exit(1) }),
                }
            }
            Action::Stop { task, attempt, .. } => {
                if !fails {
                    self.really(&act);
                }
                self.happen(Event::Stopped { task: task.clone(), attempt: *attempt, result });
            }
            Action::Destroy { task, attempt, .. } => {
                if !fails || self.chance.once_in(2) {
                    self.really(&act);
                }
                self.happen(Event::Destroyed { task: task.clone(), attempt: *attempt, result });
            }
            Action::Forget { .. } => {
                if !fails {
                    self.really(&act);
                }
                self.happen(Event::Forgotten(result));
            }
            Action::CancelStart { .. } | Action::Finish => {}
        }
    }

    fn time_passes(&mut self) {
        let next = self.core.next_deadline();
        let some = self.now.plus(GoDuration::seconds(1 + self.chance.below(10) as i64));
        self.now = match next {
            // In the end the core is woken only when it asked for it.
            None if !self.faults => return,
            Some(at) if self.chance.once_in(2) || !self.faults => at.max(self.now),
            _ => some,
        };
        self.happen(Event::Woken);
    }

    fn something_happens(&mut self) {
        match self.chance.below(12) {
            0 => self.time_passes(),
            1 if self.faults && self.chance.once_in(3) => self.crash(),
            2 if self.faults && self.chance.once_in(4) => {
                let names: Vec<_> = self.containers.keys().cloned().collect();
                if let Some(name) = names.get(self.chance.below(names.len().max(1))) {
                    let code = self.chance.below(2) as i32;
                    self.containers.get_mut(name).unwrap().exit.get_or_insert(exit(code));
                }
            }
            3 if !self.predecessor_ended => {
                self.predecessor_ended = true;
                self.happen(Event::PredecessorEnded);
            }
            4 if self.faults && self.chance.once_in(12) => {
                let causes = [StopCause::Server, StopCause::NotListed, StopCause::Shutdown];
                let cause = causes[self.chance.below(3)];
                self.happen(Event::Stop(cause));
            }
            5 => {
                let event = TaskEvent::new("Driver", self.now, "a word of the driver");
                self.happen(Event::Told { task: "a".to_owned(), event });
            }
            6 if self.faults && self.chance.once_in(4) => {
                let tasks = self.containers.keys().cloned().collect();
                self.happen(Event::Restart { tasks, ended_too: false });
            }
            _ if self.acts.is_empty() => self.time_passes(),
            _ => {
                let at = self.chance.below(self.acts.len());
                self.end_act(at);
            }
        }
    }

    /// What holds after every step.
    fn check(&self) {
        let running = self.core.report().task_states.values().any(|state| state.phase == TaskPhase::Running);
        if self.core.has_ended() && running {
            self.fail("ended and running");
        }
        for (name, task) in &self.disk.tasks {
            if task.stage == Stage::Dead && task.state.phase != TaskPhase::Dead {
                self.fail(&format!("{name} is dead and not told so"));
            }
        }
    }

    fn play(&mut self) {
        for _ in 0..STEPS {
            if self.finished {
                break;
            }
            self.something_happens();
        }
        self.faults = false;
        if !self.predecessor_ended {
            self.predecessor_ended = true;
            self.happen(Event::PredecessorEnded);
        }
        self.happen(Event::Stop(StopCause::Server));
        for _ in 0..STEPS_TO_HEAL {
            if self.finished {
                break;
            }
            // Tasks with last words say them and end.
            let group = self.disk.alloc.job_spec.groups[0].clone();
            for (name, container) in &mut self.containers {
                let hook = group.task(name).and_then(|task| task.lifecycle).map(|lifecycle| lifecycle.hook);
                if hook == Some(LifecycleHook::Poststop) && self.chance.once_in(20) {
                    container.exit.get_or_insert(exit(0));
                }
            }
            self.something_happens();
        }
        if !self.finished {
            self.fail("it does not come to its end");
        }
        if !self.containers.is_empty() {
            self.fail("containers are left");
        }
    }
}

#[test]
fn worlds_with_crashes_come_to_a_clean_end() {
    let (mut crashes, mut starts) = (0, 0);
    for seed in 1..=SEEDS {
        let mut world = World::new(seed);
        world.play();
        crashes += world.crashes;
        starts += world.starts;
    }
    println!("{SEEDS} worlds, {crashes} crashes, {starts} starts");
    assert!(crashes > 1_000 && starts > 1_500, "the worlds are too quiet: {crashes} crashes, {starts} starts");
}
