//! Two agents on one engine, one image at a time, starts and stops on both.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::chance::Chance;
use super::churn::image_name;
use super::jobs::{JobText, Shape};
use super::shared::Shared;
use super::witness;
use crate::{Address, Agent, AgentSetup, Body, CountingProxy, Engine, Registry, Result, Run, eventually};

const AGENT_FILE: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"0s\"\n    }\n  }\n}\n";
/// After so many rounds both go on with another image.
const ROUNDS_PER_IMAGE: usize = 5;
const IN_TIME: Duration = Duration::from_secs(60);

/// How a pair is led.
#[derive(Debug, Clone)]
pub struct PairSetup {
    /// The binary under test.
    pub binary: PathBuf,
    /// All draws come from it.
    pub seed: u64,
    /// How many starts and stops there are on each agent.
    pub rounds: usize,
}

/// Leads two agents through their rounds and says what should not be.
///
/// # Errors
/// When the surroundings fail.
pub fn two_agents(run: &Run, setup: &PairSetup) -> Result<Vec<String>> {
    let engine = Engine::start(run)?;
    let registry = Registry::start(&engine)?;
    let proxy = CountingProxy::start(&engine, &registry)?;
    // What the second has brought once is never removed again: a new image now and then keeps removals in the game.
    let images: Vec<String> = (0..=setup.rounds as u64 / ROUNDS_PER_IMAGE as u64)
        .map(|number| super::churn::push(&registry, number, 64).map(|()| image_name(&proxy.host(), number)))
        .collect::<Result<_>>()?;
    let events = engine.record_events();
    events.wait_connected(1)?;
    let start = |name: &str| {
        Agent::start(run, AgentSetup::new(&setup.binary).named(name).on(&engine).file("agent.hcl", AGENT_FILE))
    };
    let mut agents = [start("first")?, start("second")?];
    let shared: Vec<Shared> =
        agents.iter().map(|agent| Shared::new(Address::Tcp(agent.http_address()), engine.address())).collect();
    let mut findings = Vec::new();
    let notes: Vec<String> = shared.iter().filter_map(|it| note(it).ok()).collect();
    match notes.as_slice() {
        [first, second] if first.is_empty() && !second.is_empty() => println!("the second agent says: {second}"),
        _ => findings.push(format!("the first agent keeps the images, the second says that it does not: {notes:?}")),
    }
    thread::scope(|scope| {
        for (number, shared) in shared.iter().enumerate() {
            let images = &images;
            scope.spawn(move || rounds(shared, number, images, setup));
        }
    });
    for shared in &shared {
        findings.extend(shared.findings());
    }
    let (two, starts) = witness::two_at_once(&events.since(0));
    findings.extend(two);
    if starts < 2 * setup.rounds {
        findings.push(format!("only {starts} starts were seen"));
    }
    println!("{starts} starts; the registry was asked {} times", proxy.seen().len());
    left_behind(&engine, &shared, &mut findings)?;
    for agent in &mut agents {
        agent.stop()?;
    }
    Ok(findings)
}

fn note(shared: &Shared) -> Result<String> {
    eventually(IN_TIME, "the agent to have reached the engine", || {
        let said = shared.agent_says("/v1/client/images").map_err(|error| error.to_string())?;
        let note = said["Note"].as_str().unwrap_or_default().to_owned();
        if note.contains("not reached yet") { Err(note) } else { Ok(note) }
    })
}

/// What is left may only be what the second agent brought, and the first, who keeps the images, lists it as foreign.
fn left_behind(engine: &Engine, shared: &[Shared], findings: &mut Vec<String>) -> Result<()> {
    let gone = eventually(IN_TIME, "the end of all containers", || {
        let left = engine.containers().map_err(|error| error.to_string())?;
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    });
    findings.extend(gone.err().map(|error| error.to_string()));
    for shared in shared {
        let listed = eventually(IN_TIME, "an image that is foreign, or none", || {
            let said = shared.agent_says("/v1/client/images").map_err(|error| error.to_string())?;
            let rows: &[Value] = said["Images"].as_array().map(Vec::as_slice).unwrap_or_default();
            let settled = rows.iter().all(|row| row["Provenance"] == "foreign" && row["Holds"] == 0);
            if settled { Ok(rows.to_vec()) } else { Err(said.to_string()) }
        });
        match listed {
            Ok(rows) => {
                let listed: BTreeSet<&str> = rows.iter().filter_map(|row| row["Name"].as_str()).collect();
                let left: Vec<String> = engine.images()?.into_iter().flat_map(|it| it.tags).collect();
                println!("left and listed as foreign: {left:?}");
                if let Some(other) = left.iter().find(|name| !listed.contains(name.as_str())) {
                    findings.push(format!("{other} is there and not listed: {rows:?}"));
                }
            }
            Err(error) => findings.push(error.to_string()),
        }
    }
    Ok(())
}

fn rounds(shared: &Shared, number: usize, images: &[String], setup: &PairSetup) {
    let mut chance = Chance::new(setup.seed, 10 + number as u64);
    for round in 0..setup.rounds {
        let id = format!("pair-{number}-{round}");
        let job = JobText {
            id: id.clone(),
            task: "pair",
            image: images.get(round / ROUNDS_PER_IMAGE).cloned().unwrap_or_default(),
            count: 1,
            memory_mb: 32,
            shape: Shape::Steady,
        };
        if let Err(error) = one(shared, &job, &mut chance) {
            shared.found(format!("round {round} of agent {number}: {error}"));
        }
    }
}

fn one(shared: &Shared, job: &JobText, chance: &mut Chance) -> Result<()> {
    let id = &job.id;
    shared.ask_agent("PUT", "/v1/jobs", Body::Json(&job.body()))?.success("register")?;
    let allocations = format!("/v1/job/{id}/allocations");
    let state = |wanted: &'static str| {
        eventually(IN_TIME, format!("{id} to be {wanted}"), || {
            let all = shared.agent_says(&allocations).map_err(|error| error.to_string())?;
            match all.as_array().map(Vec::as_slice) {
                Some([one]) if one["ClientStatus"] == wanted => Ok(one["TaskStates"]["pair"].clone()),
                _ => Err(all.to_string()),
            }
        })
    };
    let task = state("running")?;
    let failures = task["Restarts"].as_u64().unwrap_or_default();
    if failures > 0 {
        shared.found(format!("a start of {id} failed: {task}"));
    }
    thread::sleep(Duration::from_millis(chance.below(60)));
    shared.ask_agent("DELETE", &format!("/v1/job/{id}?purge=false"), Body::Empty)?.success("stop")?;
    state("complete").map(drop)
}
