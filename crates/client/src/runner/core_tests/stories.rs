use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_driver::{ExitResult, Recovered, Started, TaskHandle, TaskId};
use longshore_model::{Allocation, DeploymentId, DesiredStatus, Lifecycle, LifecycleHook, Task, TaskPhase, Timestamp};
use longshore_values::GoDuration;

use crate::runner::core::{Action, Core, Event, Moment, StartFailure};
use crate::runner::records::{AllocRecord, StopCause, TaskRecord};
use crate::testing;

const START: Timestamp = Timestamp::from_seconds(1_000);

/// A driver that does everything at once; what it was told is kept, with the second.
struct Story {
    core: Core,
    now: Timestamp,
    lines: Vec<String>,
    /// Tasks whose starts fail.
    cold: Vec<String>,
    /// Tasks that do not end when they are stopped.
    deaf: Vec<String>,
}

impl Story {
    fn new(alloc: Allocation) -> Self {
        let group = alloc.job_spec.groups[0].clone();
        let names = group.tasks.iter().map(|task| (task.name.clone(), TaskRecord::received(START)));
        let tasks: BTreeMap<_, _> = names.collect();
        let record = AllocRecord::accepted(None, START);
        let core = Core::new(Arc::new(alloc), group, record, tasks, GoDuration::seconds(30), true);
        Self { core, now: START, lines: Vec::new(), cold: Vec::new(), deaf: Vec::new() }
    }

    fn begin(&mut self) {
        self.happen(Event::Begin);
    }

    fn happen(&mut self, event: Event) {
        let mut events = vec![event];
        while !events.is_empty() {
            for event in std::mem::take(&mut events) {
                self.core.step(Moment { now: self.now, chance: 0.0 }, event);
            }
            let actions = self.core.take_step().actions;
            for action in actions {
                events.extend(self.act(action));
            }
        }
    }

    fn line(&mut self, text: String) {
        let second = self.now.since(START).as_nanoseconds() / 1_000_000_000;
        self.lines.push(format!("{second:>3} {text}"));
    }

    fn act(&mut self, action: Action) -> Vec<Event> {
        match action {
            Action::BuildDirs => vec![Event::DirsBuilt(Ok(()))],
            Action::Start { task, attempt } => {
                self.line(format!("start {task} ({attempt})"));
                let result = if self.cold.contains(&task) {
                    Err(StartFailure::Retry("engine is cold".to_owned()))
                } else {
                    let id = TaskId { alloc: self.core.id(), task: task.clone() };
                    let handle = TaskHandle { id, driver: "story".to_owned(), state: attempt.into() };
                    Ok(Started { handle, address: None, started_at: self.now })
                };
                vec![Event::Started { task, attempt, result }]
            }
            Action::Stop { task, attempt, signal, timeout, .. } => {
                self.line(format!("stop {task} {signal}within {timeout}"));
                let stopped = Event::Stopped { task: task.clone(), attempt, result: Ok(()) };
                if self.deaf.contains(&task) {
                    return vec![stopped];
                }
                vec![stopped, Event::Exited { task, attempt, exit: exit(0) }]
            }
            Action::Destroy { task, attempt, .. } => {
                self.line(format!("remove {task}"));
                vec![Event::Destroyed { task, attempt, result: Ok(()) }]
            }
            Action::Forget { ended_at } => {
                let second = ended_at.since(START).as_nanoseconds() / 1_000_000_000;
                self.line(format!("forget, ended at {second}"));
                vec![Event::Forgotten(Ok(()))]
            }
            Action::CancelStart { .. } | Action::Recover { .. } | Action::Wait { .. } | Action::Finish => Vec::new(),
        }
    }

    fn exit(&mut self, task: &str, code: i32) {
        let attempt = self.core.task_record(task).unwrap().attempt;
        self.line(format!("{task} exits with {code}"));
        self.happen(Event::Exited { task: task.to_owned(), attempt, exit: exit(code) });
    }

    /// Lets time pass, waking the core at its deadlines.
    fn until(&mut self, second: i64) {
        let end = START.plus(GoDuration::seconds(second));
        while let Some(at) = self.core.next_deadline().filter(|at| *at <= end) {
            self.now = at;
            self.happen(Event::Woken);
        }
        self.now = end;
        self.happen(Event::Woken);
    }

    fn stop(&mut self) {
        self.line("the server stops it".to_owned());
        let mut alloc = Allocation::clone(self.core.alloc());
        alloc.desired_status = DesiredStatus::Stop;
        self.happen(Event::Newer(Arc::new(alloc)));
    }

    /// The agent comes back and finds nothing that ran.
    fn machine_starts_anew(&mut self) {
        self.line("the machine starts anew".to_owned());
        let names: Vec<_> = self.core.group().tasks.iter().map(|task| task.name.clone()).collect();
        let of = |core: &Core, name: &String| (name.clone(), core.task_record(name).unwrap().clone());
        let tasks: BTreeMap<_, _> = names.iter().map(|name| of(&self.core, name)).collect();
        let (alloc, group) = (Arc::clone(self.core.alloc()), self.core.group().clone());
        self.core = Core::new(alloc, group, self.core.record().clone(), tasks, GoDuration::seconds(30), true);
        self.begin();
        for task in names {
            let attempt = self.core.task_record(&task).unwrap().attempt;
            self.happen(Event::Recovered { task, attempt, result: Ok(Recovered::Gone) });
        }
    }

    fn told(&self) -> String {
        self.lines.join("\n")
    }

    fn events(&self, task: &str) -> String {
        let events = self.core.report().task_states[task].events.clone();
        events.iter().map(|event| format!("{}: {}\n", event.kind, event.message)).collect()
    }

    fn status(&self) -> &'static str {
        self.core.report().client_status.word()
    }
}

fn exit(exit_code: i32) -> ExitResult {
    ExitResult { exit_code, signal: 0, oom_killed: false, by_engine: false, message: String::new() }
}

fn hook(name: &str, hook: LifecycleHook, sidecar: bool) -> Task {
    Task { lifecycle: Some(Lifecycle { hook, sidecar }), ..testing::task(name) }
}

fn story(tasks: Vec<Task>) -> Story {
    Story::new(testing::allocation(1, tasks))
}

#[test]
fn a_group_with_all_hooks() {
    let mut story = story(vec![
        hook("tidy", LifecycleHook::Poststop, false),
        testing::task("web"),
        hook("init", LifecycleHook::Prestart, false),
        hook("log", LifecycleHook::Prestart, true),
        hook("tell", LifecycleHook::Poststart, false),
    ]);
    story.begin();
    story.until(2);
    story.exit("init", 0);
    story.until(5);
    story.exit("tell", 0);
    story.until(9);
    story.stop();
    story.until(12);
    story.exit("tidy", 0);
    insta::assert_snapshot!(story.told(), @r"
     0 start init (1)
     0 start log (1)
     2 init exits with 0
     2 remove init
     2 start web (1)
     2 start tell (1)
     5 tell exits with 0
     5 remove tell
     9 the server stops it
     9 stop web within 5s
     9 stop log within 5s
     9 remove web
     9 remove log
     9 start tidy (1)
    12 tidy exits with 0
    12 remove tidy
    12 forget, ended at 12
    ");
    assert_eq!(story.status(), "complete");
}

#[test]
fn the_leader_goes_first_and_takes_the_others_along() {
    let leader = Task { leader: true, kill_signal: "SIGTERM ".to_owned(), ..testing::task("lead") };
    let mut story = story(vec![testing::task("web"), leader, hook("log", LifecycleHook::Poststart, true)]);
    story.begin();
    story.until(3);
    story.stop();
    insta::assert_snapshot!(story.told(), @r"
    0 start lead (1)
    0 start web (1)
    0 start log (1)
    3 the server stops it
    3 stop lead SIGTERM within 5s
    3 remove lead
    3 stop web within 5s
    3 stop log within 5s
    3 remove web
    3 remove log
    3 forget, ended at 3
    ");

    let leader = Task { leader: true, ..testing::task("lead") };
    let leader = Task { restart: longshore_model::RestartPolicy { attempts: 0, ..testing::RESTART }, ..leader };
    let mut story = super::stories::story(vec![testing::task("web"), leader]);
    story.begin();
    story.until(3);
    story.exit("lead", 0);
    insta::assert_snapshot!(story.told(), @r"
    0 start lead (1)
    0 start web (1)
    3 lead exits with 0
    3 remove lead
    3 stop web within 5s
    3 remove web
    3 forget, ended at 3
    ");
    insta::assert_snapshot!(story.events("web"), @r#"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    Sibling Task Failed: Task's sibling "lead" failed
    Killing: Sent interrupt. Waiting 5s before force killing
    Terminated: Exit Code: 0
    Killed: Task successfully killed
    "#);
}

#[test]
fn delays_before_the_end() {
    let web = Task { shutdown_delay: GoDuration::seconds(5), ..testing::task("web") };
    let mut alloc = testing::allocation(1, vec![web, testing::task("api")]);
    Arc::make_mut(&mut alloc.job_spec).groups[0].shutdown_delay = Some(GoDuration::seconds(10));
    let mut story = Story::new(alloc.clone());
    story.begin();
    story.until(1);
    story.stop();
    story.until(60);
    insta::assert_snapshot!(story.told(), @r"
     0 start api (1)
     0 start web (1)
     1 the server stops it
    11 stop api within 5s
    11 remove api
    16 stop web within 5s
    16 remove web
    16 forget, ended at 16
    ");
    insta::assert_snapshot!(story.events("web"), @r"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    Waiting for shutdown delay: Waiting for shutdown_delay of 5s before killing the task.
    Killing: Sent interrupt. Waiting 5s before force killing
    Terminated: Exit Code: 0
    Killed: Task successfully killed
    ");

    // Nor are they waited for any longer when a person says so, while they are or before they begin.
    let at_once = |after: i64| {
        let mut story = Story::new(alloc.clone());
        story.begin();
        story.until(1);
        if after > 0 {
            story.stop();
            story.until(after);
        }
        let mut newer = Allocation::clone(story.core.alloc());
        newer.desired_transition.no_shutdown_delay = true;
        story.happen(Event::Newer(Arc::new(newer)));
        if after == 0 {
            story.stop();
        }
        story.until(60);
        story.told().lines().last().unwrap_or_default().trim().to_owned()
    };
    assert_eq!(at_once(0), "1 forget, ended at 1");
    assert_eq!(at_once(4), "4 forget, ended at 4");
    assert_eq!(at_once(13), "13 forget, ended at 13");

    // An agent that ends waits for none of them.
    let mut story = Story::new(alloc);
    story.begin();
    story.happen(Event::Stop(StopCause::Shutdown));
    insta::assert_snapshot!(story.told(), @r"
    0 start api (1)
    0 start web (1)
    0 stop api within 5s
    0 stop web within 5s
    0 remove api
    0 remove web
    0 forget, ended at 0
    ");
}

#[test]
fn restarts_until_the_policy_has_had_enough() {
    let mut story = story(vec![testing::task("web"), testing::task("side")]);
    story.cold.push("web".to_owned());
    story.begin();
    story.until(100);
    insta::assert_snapshot!(story.told(), @r"
     0 start side (1)
     0 start web (1)
    15 start web (2)
    30 start web (3)
    30 stop side within 5s
    30 remove side
    30 forget, ended at 30
    ");
    insta::assert_snapshot!(story.events("web"), @r#"
    Received: Task received by client
    Task Setup: Building Task Directory
    Driver Failure: engine is cold
    Restarting: Task restarting in 15s
    Driver Failure: engine is cold
    Restarting: Task restarting in 15s
    Driver Failure: engine is cold
    Not Restarting: Exceeded allowed attempts 2 in interval 30m0s and mode is "fail"
    "#);
    assert_eq!(story.status(), "failed");
}

#[test]
fn a_task_that_is_stopped_between_two_attempts_has_not_failed() {
    let mut story = story(vec![testing::task("web")]);
    story.cold.push("web".to_owned());
    story.begin();
    story.until(5);
    story.stop();
    insta::assert_snapshot!(story.events("web"), @"
    Received: Task received by client
    Task Setup: Building Task Directory
    Driver Failure: engine is cold
    Restarting: Task restarting in 15s
    Killing: Sent interrupt. Waiting 5s before force killing
    ");
    let state = &story.core.report().task_states["web"];
    assert_eq!((state.phase, state.failed, story.status()), (TaskPhase::Dead, false, "complete"));
}

#[test]
fn a_task_that_does_not_hear_is_stopped_again() {
    let mut story = story(vec![testing::task("web")]);
    story.deaf.push("web".to_owned());
    story.begin();
    story.stop();
    story.until(65);
    insta::assert_snapshot!(story.told(), @r"
     0 start web (1)
     0 the server stops it
     0 stop web within 5s
    30 stop web within 5s
    60 stop web within 5s
    ");
    let killings = story.events("web").matches("Killing").count();
    assert_eq!(killings, 1);
}

#[test]
fn folders_that_cannot_be_made_fail_the_tasks() {
    let mut story = story(vec![testing::task("web")]);
    story.core.step(Moment { now: START, chance: 0.0 }, Event::Begin);
    story.core.take_step();
    story.happen(Event::DirsBuilt(Err("no room".to_owned())));
    insta::assert_snapshot!(story.events("web"), @r"
    Received: Task received by client
    Setup Failure: no room
    ");
    insta::assert_snapshot!(story.told(), @"  0 forget, ended at 0");
    assert_eq!(story.status(), "failed");
}

fn deployed(tasks: Vec<Task>) -> Allocation {
    let mut alloc = testing::allocation(1, tasks);
    alloc.deployment = Some(DeploymentId::from_u128(1));
    Arc::make_mut(&mut alloc.job_spec).groups[0].update = Some(longshore_samples::one_at_a_time());
    alloc
}

fn health(story: &Story) -> String {
    match story.core.report().healthy {
        None => "undecided".to_owned(),
        Some((healthy, at)) => format!("{healthy} at {}", at.since(START)),
    }
}

#[test]
fn health_is_decided_once_for_each_deployment() {
    let mut story = Story::new(deployed(vec![testing::task("web")]));
    story.begin();
    assert_eq!(story.core.next_deadline(), Some(START.plus(GoDuration::seconds(10))));
    story.until(9);
    assert_eq!(health(&story), "undecided");
    story.until(10);
    assert_eq!(health(&story), "true at 10s");
    story.until(20);
    story.exit("web", 1);
    assert_eq!(health(&story), "true at 10s");
    assert_eq!(story.core.report().task_states["web"].phase, TaskPhase::Pending);
    story.until(40);

    // The next deployment updates it in place and looks anew.
    assert_eq!(story.core.report().deployment, Some(DeploymentId::from_u128(1)));
    let mut alloc = Allocation::clone(story.core.alloc());
    alloc.deployment = Some(DeploymentId::from_u128(2));
    story.happen(Event::Newer(Arc::new(alloc)));
    assert_eq!(health(&story), "undecided");
    assert_eq!(story.core.report().deployment, Some(DeploymentId::from_u128(2)));
    story.until(100);
    assert_eq!(health(&story), "true at 45s");
}

#[test]
fn a_failed_task_is_not_healthy() {
    let mut story = Story::new(deployed(vec![testing::task("web")]));
    story.cold.push("web".to_owned());
    story.begin();
    story.until(100);
    assert_eq!(health(&story), "false at 30s");
    insta::assert_snapshot!(story.events("web"), @r#"
    Received: Task received by client
    Task Setup: Building Task Directory
    Driver Failure: engine is cold
    Restarting: Task restarting in 15s
    Driver Failure: engine is cold
    Restarting: Task restarting in 15s
    Driver Failure: engine is cold
    Not Restarting: Exceeded allowed attempts 2 in interval 30m0s and mode is "fail"
    Alloc Unhealthy: Unhealthy because of failed task
    "#);

    let mut story = Story::new(deployed(vec![testing::task("web")]));
    story.core.step(Moment { now: START, chance: 0.0 }, Event::Begin);
    story.core.take_step();
    story.until(400);
    assert_eq!(health(&story), "false at 5m0s");
    insta::assert_snapshot!(story.events("web"), @r"
    Received: Task received by client
    Alloc Unhealthy: Task not running by healthy_deadline of 5m0s
    ");
}

#[test]
fn a_person_has_tasks_end_and_start_again() {
    let none = longshore_model::RestartPolicy { attempts: 0, ..testing::RESTART };
    let web = Task { restart: none, ..testing::task("web") };
    let mut story = story(vec![web, testing::task("log")]);
    story.deaf.push("log".to_owned());
    story.begin();
    story.until(3);
    story.happen(Event::Restart { tasks: ["web", "log", "nobody"].map(str::to_owned).to_vec(), ended_too: false });
    story.until(4);
    // Once is enough while the first is under way; one that is told to end for good does not come back.
    story.happen(Event::Restart { tasks: vec!["log".to_owned()], ended_too: false });
    story.stop();
    story.until(5);
    story.exit("log", 137);
    insta::assert_snapshot!(story.told(), @r"
    0 start log (1)
    0 start web (1)
    3 stop log within 5s
    3 stop web within 5s
    3 remove web
    3 start web (2)
    4 the server stops it
    4 stop web within 5s
    4 remove web
    5 log exits with 137
    5 remove log
    5 forget, ended at 5
    ");
    insta::assert_snapshot!(story.events("web"), @r"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    Restart Signaled: User requested restart
    Terminated: Exit Code: 0
    Restarting: Task restarting in 0s
    Started: Task started by client
    Killing: Sent interrupt. Waiting 5s before force killing
    Terminated: Exit Code: 0
    Killed: Task successfully killed
    ");
    insta::assert_snapshot!(story.events("log"), @r"
    Received: Task received by client
    Task Setup: Building Task Directory
    Started: Task started by client
    Restart Signaled: User requested restart
    Terminated: Exit Code: 137
    Killed: Task successfully killed
    ");
}

/// From the beginning: what runs before the others comes first, what comes after their start waits for that.
#[test]
fn a_person_has_all_tasks_start_anew_with_those_that_have_ended() {
    let mut story = story(vec![
        hook("init", LifecycleHook::Prestart, false),
        testing::task("web"),
        hook("warm", LifecycleHook::Poststart, false),
        hook("last", LifecycleHook::Poststop, false),
    ]);
    story.begin();
    story.until(1);
    story.exit("init", 0);
    story.until(2);
    story.exit("warm", 0);
    story.until(3);
    let tasks = ["init", "web", "warm", "last"].map(str::to_owned).to_vec();
    story.happen(Event::Restart { tasks: tasks.clone(), ended_too: false });
    story.until(4);
    story.happen(Event::Restart { tasks, ended_too: true });
    story.until(5);
    story.exit("init", 0);
    story.until(6);
    let told = story.told();
    let starts: Vec<_> = told.lines().filter_map(|line| Some(line.split_once(" start ")?.1)).collect();
    let first = ["init (1)", "web (1)", "warm (1)"];
    assert_eq!(starts, [&first[..], &["web (2)"], &["init (2)", "web (3)", "warm (2)"]].concat(), "{told}");
}

/// Asked for just before agent and machine died: the start that follows is what was asked for.
#[test]
fn a_restart_that_was_asked_for_is_not_done_twice_when_the_task_is_lost() {
    let mut story = story(vec![testing::task("web")]);
    story.deaf.push("web".to_owned());
    story.begin();
    story.until(3);
    story.happen(Event::Restart { tasks: vec!["web".to_owned()], ended_too: false });
    story.deaf.clear();
    story.machine_starts_anew();
    story.until(10);
    insta::assert_snapshot!(story.told(), @r"
    0 start web (1)
    3 stop web within 5s
    3 the machine starts anew
    3 remove web
    3 start web (2)
    ");
}
