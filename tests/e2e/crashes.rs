//! Agent or engine killed at every boundary between a record and an act. The names of the boundaries come from the source.
//!
//! For each of them a whole life is led: pull, start, update, a moved tag, an archive, a restart of the agent, stop,
//! removal. Whatever is killed where, it ends the same way, and a witness that reads only the engine, its events and
//! the registry's requests finds nothing wrong:
//!
//! - never two containers of one task at once;
//! - an image is there for as long as a task that needs it can start;
//! - everything is gone at the due time, and nothing of ours is left.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longshore_harness::soak::witness::two_at_once;
use longshore_harness::{Agent, Engine, EngineEvent, EventRecorder, Image, eventually};
use serde_json::{Value, json};

use crate::holds::loading_job;
use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n    }\n  }\n}\n";
/// From the end of the last need: the delay, ten seconds after the end of a recovery, and time for a busy machine.
const GONE: Duration = Duration::from_secs(40);
const STEP: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, PartialEq)]
enum Victim {
    Agent,
    Engine,
}

#[test]
fn the_agent_killed_at_every_crash_point() {
    at_every_point(Victim::Agent);
}

#[test]
fn the_engine_killed_at_every_crash_point() {
    at_every_point(Victim::Engine);
}

fn at_every_point(victim: Victim) {
    let points = points();
    assert!(!points.is_empty(), "no crash points in the source");
    let mut machine = Machine::start();
    let mut failures = Vec::new();
    for (number, point) in points.iter().enumerate() {
        println!("{point}");
        match Life::new(&mut machine, number, point, victim).lead() {
            Ok(()) => {}
            Err(failure) => {
                println!("  {failure}");
                failures.push(format!("{point}: {failure}"));
                // What went wrong here shall not be blamed on the next.
                machine = Machine::start();
            }
        }
    }
    assert!(failures.is_empty(), "{} of {} points:\n{}", failures.len(), points.len(), failures.join("\n"));
}

/// Every name in a call of `crash_point` in the source.
fn points() -> BTreeSet<String> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut names = BTreeSet::new();
    for krate in fs::read_dir(top.join("crates")).unwrap().flatten() {
        if krate.file_name() != "crashpoint" {
            collect(&krate.path().join("src"), &mut names);
        }
    }
    names
}

fn collect(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, names);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let calls = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            names.extend(
                calls
                    .flat_map(|line| line.split("crash_point(\"").skip(1))
                    .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
            );
        }
    }
}

type Told<T = ()> = Result<T, String>;

/// One life with one death in it.
struct Life<'a> {
    machine: &'a mut Machine,
    agent: Agent,
    events: EventRecorder,
    victim: Victim,
    hold_file: PathBuf,
    reached: bool,
    /// Contents with the time in nanoseconds from which on nobody needs them.
    needed_until: BTreeMap<String, i64>,
    number: usize,
}

impl<'a> Life<'a> {
    fn new(machine: &'a mut Machine, number: usize, point: &str, victim: Victim) -> Self {
        let name = format!("agent-{number}");
        let mut agent = Agent::prepare(&machine.run, machine.setup(&name).file("agent.hcl", AGENT)).unwrap();
        let hold_file = machine.run.dir().join(format!("held-{number}"));
        match victim {
            Victim::Agent => agent.set_environment("LONGSHORE_CRASH_AT", Some(point)),
            Victim::Engine => {
                agent.set_environment("LONGSHORE_CRASH_HOLD", Some(point));
                agent.set_environment("LONGSHORE_CRASH_FILE", hold_file.to_str());
            }
        }
        let events = machine.engine.record_events();
        events.wait_connected(1).unwrap();
        Self { machine, agent, events, victim, hold_file, reached: false, needed_until: BTreeMap::new(), number }
    }

    fn lead(mut self) -> Told {
        let told = self.steps();
        let log = format!("{}\n{}", self.agent.log_tail(30), self.machine.engine.log_tail(3));
        let told = told.map_err(|error| format!("{error}\n{log}"));
        self.agent.kill9();
        told?;
        if !self.reached {
            return Err("this life never came to that point".to_owned());
        }
        Ok(())
    }

    fn steps(&mut self) -> Told {
        let repository = format!("crash/{}", self.number);
        let (first, name) = self.machine.push(&repository);
        let id = format!("life-{}", self.number);
        let patient = "restart {\n      attempts = 20\n      interval = \"10m\"\n      delay    = \"100ms\"\n    }";
        let job = Job::new(&id, &name).group(patient).group("network {\n      mode = \"bridge\"\n    }");
        self.agent.launch().map_err(|error| error.to_string())?;

        self.run("the first start", &job)?;
        self.run("an update of resources", &job.clone().memory(48))?;

        let second = Image::sleeper().unwrap();
        self.machine.registry.push(&second, &repository, "1").unwrap();
        self.needed_until.insert(first.id(), now_nanos());
        self.run("an update to where the tag points now", &job.memory(64).config("force_pull = true"))?;

        let loaded = format!("crash/loaded-{}:1", self.number);
        let archived = Image::sleeper().unwrap();
        let archive = format!("archive-{}.tar", self.number);
        let archive = self.machine.run.write(&archive, archived.archive(&[&loaded]).unwrap()).unwrap();
        let loads = loading_job(&format!("loads-{}", self.number), &loaded, archive.to_str().unwrap()).group(patient);
        self.run("a start from an archive", &loads)?;

        self.agent.kill9();
        self.agent.launch().map_err(|error| error.to_string())?;
        self.wait_running("the same tasks after a restart of the agent", &loads.id)?;
        self.wait_running("the same tasks after a restart of the agent", &id)?;

        for image in [&second, &archived] {
            self.needed_until.insert(image.id(), now_nanos());
        }
        for id in [&id, &loads.id] {
            self.wait("the stop to be taken", STEP, |life| {
                let said = life.agent.cli(&["job", "stop", "-detach", id]).map_err(|error| error.to_string())?;
                if said.code == 0 { Ok(()) } else { Err(format!("{said:?}")) }
            })?;
        }
        self.wait("the end of all containers", STEP, |life| {
            let left = life.machine.engine.containers().map_err(|error| error.to_string())?;
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
        })?;
        self.wait("the end of all images", GONE, |life| {
            let left = life.machine.engine.images().map_err(|error| error.to_string())?;
            if left.is_empty() { Ok(()) } else { Err(format!("{left:?}; the agent says {:?}", life.rows())) }
        })?;
        self.wait("an agent that knows of no image", GONE, |life| {
            let rows = life.rows()?;
            if rows.is_empty() { Ok(()) } else { Err(format!("{rows:?}")) }
        })?;
        self.witness(&repository)
    }

    fn rows(&self) -> Told<Vec<Value>> {
        let said = self.agent.cli(&["image", "status", "-json"]).map_err(|error| error.to_string())?;
        let said = said.json().map_err(|error| error.to_string())?;
        Ok(said["Images"].as_array().cloned().unwrap_or_default())
    }

    /// Submits a job as often as it takes and waits until it runs as written.
    fn run(&mut self, what: &str, job: &Job) -> Told {
        let path = self.machine.run.write(&format!("crash-jobs/{}.nomad.hcl", job.id), job.text()).unwrap();
        self.wait(what, STEP, |life| {
            let said = life.agent.cli(&["job", "run", "-detach", path.to_str().unwrap()]);
            let said = said.map_err(|error| error.to_string())?;
            if said.code == 0 { Ok(()) } else { Err(format!("{said:?}")) }
        })?;
        self.wait_running(what, &job.id)
    }

    /// Waits until exactly one allocation of the newest version runs, with one container.
    fn wait_running(&mut self, what: &str, id: &str) -> Told {
        self.wait(what, STEP, |life| {
            let get = |path: &str| life.agent.get(path).map_err(|error| error.to_string());
            let version = get(&format!("/v1/job/{id}"))?["Version"].clone();
            let all = get(&format!("/v1/job/{id}/allocations"))?;
            let meant: Vec<&Value> =
                all.as_array().into_iter().flatten().filter(|it| it["DesiredStatus"] == "run").collect();
            let [one] = meant[..] else { return Err(format!("{} allocations are meant to run", meant.len())) };
            if one["JobVersion"] != version || one["ClientStatus"] != "running" {
                return Err(format!("version {} is {} {}", one["JobVersion"], one["ClientStatus"], one["TaskStates"]));
            }
            let all = life.machine.engine.containers().map_err(|error| error.to_string())?;
            let of_job = |it: &&longshore_harness::Container| {
                let is_task = it.label("longshore.network").is_none();
                is_task && it.label("com.hashicorp.nomad.alloc_id") == one["ID"].as_str()
            };
            match all.iter().filter(of_job).collect::<Vec<_>>()[..] {
                [container] if container.state == "running" => Ok(()),
                ref others => Err(format!("containers: {others:?}")),
            }
        })
    }

    /// Waits for a condition, and does at each look what the life is about: kill, and start again what was killed.
    fn wait(&mut self, what: &str, within: Duration, mut look: impl FnMut(&Self) -> Told) -> Told {
        eventually(within, what, || {
            self.tend()?;
            look(self)
        })
        .map_err(|error| error.to_string())
    }

    fn tend(&mut self) -> Told {
        if self.agent.ended().map_err(|error| error.to_string())?.is_some() {
            if self.victim != Victim::Agent || self.reached {
                return Err(format!("the agent ended by itself:\n{}", self.agent.log_tail(20)));
            }
            self.reached = true;
            self.agent.set_environment("LONGSHORE_CRASH_AT", None);
            self.agent.launch().map_err(|error| error.to_string())?;
        }
        if self.victim == Victim::Engine && !self.reached && self.hold_file.exists() {
            self.reached = true;
            // The next start of the agent shall not wait there once more.
            self.agent.set_environment("LONGSHORE_CRASH_HOLD", None);
            kill_and_resume(&mut self.machine.engine)?;
            fs::remove_file(&self.hold_file).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// What can be seen from outside, over the whole life.
    fn witness(&self, repository: &str) -> Told {
        testify(&self.events.events(), &self.needed_until)?;
        // Two contents under one tag: two pulls, and one more for the one that was cut short.
        let pulls = self.machine.proxy.seen_of(repository).iter().filter(|it| it.method == "HEAD").count();
        if (2..=4).contains(&pulls) { Ok(()) } else { Err(format!("the registry saw {pulls} pulls")) }
    }
}

/// Reads a life's events: no image removed that a task needs, and never two containers of one task at once.
fn testify(events: &[EngineEvent], needed_until: &BTreeMap<String, i64>) -> Told {
    for event in events.iter().filter(|event| event.kind == "image" && event.action == "delete") {
        let subject = &event.subject;
        if needed_until.get(subject).is_some_and(|until| event.at_nanos < *until) {
            return Err(format!("image {subject} was removed while a task needed it"));
        }
    }
    let (found, starts) = two_at_once(events);
    if let Some(first) = found.first() {
        return Err(first.clone());
    }
    // First start, two updates and the archive's; fewer mean that nobody looked.
    if starts >= 4 { Ok(()) } else { Err(format!("the witness saw only {starts} starts")) }
}

#[test]
fn the_witness_sees_what_it_is_for() {
    let event = |action: &str, subject: &str, connection| EngineEvent {
        kind: if action == "delete" { "image" } else { "container" }.to_owned(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        attributes: json!({ "com.hashicorp.nomad.alloc_id": "a", "longshore.task": "t" }),
        at_nanos: 5,
        connection,
    };
    let life = |extra: &[EngineEvent]| {
        let once = ["1", "2", "3", "4"].map(|id| [event("start", id, 1), event("die", id, 1)]).concat();
        testify(&[&once, extra].concat(), &BTreeMap::from([("image".to_owned(), 7)]))
    };
    assert_eq!(life(&[]), Ok(()));
    assert_eq!(life(&[event("start", "5", 1), event("start", "6", 2)]), Ok(()), "the engine was killed between");
    assert!(life(&[event("start", "5", 1), event("start", "6", 1)]).unwrap_err().contains("at once"));
    assert!(life(&[event("delete", "image", 1)]).unwrap_err().contains("needed it"));
    assert_eq!(life(&[event("delete", "another", 1)]), Ok(()));
    assert!(testify(&[], &BTreeMap::new()).unwrap_err().contains("only 0 starts"));
}

fn kill_and_resume(engine: &mut Engine) -> Told {
    engine.kill9();
    engine.resume().map_err(|error| error.to_string())
}

fn now_nanos() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_nanos()).unwrap()
}
