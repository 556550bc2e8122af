//! The hands that run, update and stop jobs all the time, whether the agent is there or not.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::chance::Chance;
use super::jobs::{JobText, Shape};
use super::shared::{Shared, now_nanos};
use crate::{Body, Image, ImageSetup, Registry};

const SLOTS: u64 = 5;
/// How many repositories the jobs draw from.
pub(super) const REPOSITORIES: u64 = 6;
pub(super) const STEADY: &str = "steady";
pub(super) const STEADY_COUNT: u64 = 3;
const DEPLOYED_WITHIN: Duration = Duration::from_secs(120);

/// The name of an image as jobs write it.
pub(super) fn image_name(host: &str, number: u64) -> String {
    format!("{host}/soak/image-{number}:1")
}

fn missing_name(host: &str, number: u64) -> String {
    format!("{host}/soak/missing-{number}:1")
}

/// Puts a new content behind a name.
pub(super) fn push(registry: &Registry, number: u64, padding_bytes: usize) -> crate::Result<()> {
    let image = Image::build(&ImageSetup { padding_bytes, ..ImageSetup::default() })?;
    registry.push(&image, &format!("soak/image-{number}"), "1").map(drop)
}

/// Registers a job; an agent that is down says nothing, and then nothing is known.
fn register(shared: &Shared, job: &JobText) -> bool {
    let body = job.body();
    let Ok(answer) = shared.ask_agent("PUT", "/v1/jobs", Body::Json(&body)) else { return false };
    if answer.status == 400 {
        shared.found(format!("the agent refused {}: {}", job.id, answer.text().trim()));
    }
    let index = answer.success("register").and_then(|it| it.json()).ok().and_then(|it| it["JobModifyIndex"].as_u64());
    if let Some(index) = index {
        shared.acknowledge(&job.id, index);
    }
    index.is_some()
}

/// Runs, updates and stops jobs in drawn order until the end.
pub(super) fn churn(shared: &Shared, registry: &Registry, host: &str, seed: u64, padding_bytes: usize) {
    let mut chance = Chance::new(seed, 1);
    let mut memory_mb = 32;
    while !shared.ending() {
        let id = format!("churn-{}", chance.below(SLOTS));
        match chance.below(100) {
            0..60 => {
                memory_mb = 32 + (memory_mb + 1) % 16;
                let shape = chance.pick(&Shape::ALL).unwrap_or(Shape::Steady);
                let number = chance.below(REPOSITORIES);
                let missing = chance.percent(6);
                let image = if missing { missing_name(host, number) } else { image_name(host, number) };
                let count = 1 + chance.below(2);
                // A job cannot change its type: batch jobs have names of their own.
                let id = if shape == Shape::Batch { format!("{id}-batch") } else { id };
                register(shared, &JobText { id, task: "churn", image, count, memory_mb, shape });
            }
            60..93 => {
                let id = if chance.percent(25) { format!("{id}-batch") } else { id };
                let purge = chance.percent(30);
                if purge {
                    shared.may_be_gone(&id);
                }
                // Whether it was heard shows at the end.
                let _ = shared.ask_agent("DELETE", &format!("/v1/job/{id}?purge={purge}"), Body::Empty);
            }
            _ => {
                if let Err(error) = push(registry, chance.below(REPOSITORIES), padding_bytes) {
                    shared.found(format!("the registry failed the soak: {error}"));
                }
            }
        }
        shared.pass(Duration::from_millis(20 + chance.below(350)));
    }
}

/// Keeps a service of three running and updates it again and again, also to images that do not exist. `updates`: none where
/// a start may fail for lack of room.
pub(super) fn steady(shared: &Shared, host: &str, seed: u64, updates: bool) {
    let mut chance = Chance::new(seed, 2);
    let mut job = JobText {
        id: STEADY.to_owned(),
        task: STEADY,
        image: image_name(host, 0),
        count: STEADY_COUNT,
        memory_mb: 32,
        shape: Shape::Steady,
    };
    let mut good = job.clone();
    deploy(shared, &job, false);
    let mut round = 0;
    while updates && !shared.ending() {
        round += 1;
        job = JobText { memory_mb: 32 + round % 16, ..good.clone() };
        let missing = chance.percent(30);
        if missing {
            job.image = missing_name(host, 100 + round);
        } else if chance.percent(50) {
            job.image = image_name(host, chance.below(REPOSITORIES));
        }
        deploy(shared, &job, missing);
        if !missing {
            good = job;
        }
        shared.pass(Duration::from_millis(chance.below(1000)));
    }
}

/// Submits a version and waits for the end of its deployment. One whose image is missing must fail, and stop nothing.
fn deploy(shared: &Shared, job: &JobText, missing: bool) {
    // Containers of an earlier version that are still being stopped would look as if this one had stopped them.
    let all_run =
        missing && wait(shared, |shared| running(shared) == STEADY_COUNT && containers(shared) == STEADY_COUNT);
    let mut from_nanos = now_nanos();
    let registered = wait(shared, |shared| {
        from_nanos = now_nanos();
        register(shared, job)
    });
    if !registered || shared.ending() {
        return;
    }
    let mut last = Value::Null;
    let done = wait(shared, |shared| {
        let Ok(said) = shared.agent_says(&format!("/v1/job/{STEADY}/deployment")) else { return false };
        let Ok(known) = shared.agent_says(&format!("/v1/job/{STEADY}")) else { return false };
        let of_newest = said["JobVersion"] == known["Version"];
        last = said;
        // A version that changes nothing that runs has no deployment of its own.
        of_newest && last["Status"] != "running" && last["Status"] != "pending"
    });
    if shared.ending() {
        return;
    }
    if !done {
        shared.found(format!("the deployment of {STEADY} has not ended in {DEPLOYED_WITHIN:?}: {last}"));
    } else if missing {
        if last["Status"] != "failed" {
            shared.found(format!("a deployment of an image that does not exist is {}: {last}", last["Status"]));
        }
        if all_run {
            shared.note_quiet(from_nanos, now_nanos());
        }
    }
}

/// How many allocations of the steady service run as meant.
fn running(shared: &Shared) -> u64 {
    let all = shared.agent_says(&format!("/v1/job/{STEADY}/allocations")).unwrap_or_default();
    let runs = |it: &&Value| it["DesiredStatus"] == "run" && it["ClientStatus"] == "running";
    all.as_array().map_or(0, |all| all.iter().filter(runs).count() as u64)
}

/// How many containers of the steady service the engine has running; none when it does not say.
fn containers(shared: &Shared) -> u64 {
    let all = shared.engine_says("/containers/json").unwrap_or_default();
    let steady = |it: &&Value| it["Labels"]["longshore.task"] == STEADY;
    all.as_array().map_or(0, |all| all.iter().filter(steady).count() as u64)
}

/// Waits for a condition, and no longer than the soak lasts.
fn wait(shared: &Shared, mut look: impl FnMut(&Shared) -> bool) -> bool {
    let began = Instant::now();
    while !shared.ending() && began.elapsed() < DEPLOYED_WITHIN {
        if look(shared) {
            return true;
        }
        shared.pass(Duration::from_millis(50));
    }
    false
}
