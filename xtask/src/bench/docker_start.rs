//! D1: from `PUT /v1/jobs` to a started container, beside a raw create and start of the same container.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longshore_harness::{Agent, AgentSetup, Body, Engine, Image, Run, eventually};
use serde_json::{Value, json};

use super::Summary;
use crate::shell::Outcome;

const IMAGE: &str = "bench/sleeper:1";
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn measure(run: &Run, binary: &Path, samples: usize) -> Outcome<String> {
    let engine = Engine::start(run)?;
    engine.load(&Image::sleeper()?, &[IMAGE])?;
    let agent = Agent::start(run, AgentSetup::new(binary).on(&engine))?;
    let mut text = format!(
        "## D1: submission to a started container\n\n\
         One task, image present, n = {samples}, times in ms as median (least–most). E is `create` and `start` of the same \
         container over the engine's socket, alternating with the job in one loop. Goal: started ≤ E + 8 ms; \"running\" in \
         the API ≤ started + 10 ms.\n\n\
         | network | E | submit → started | over E | ratio | submit → \"running\" in API | over started |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for network in ["none", "host", "bridge"] {
        let (mut raw, mut started, mut running) = (Vec::new(), Vec::new(), Vec::new());
        for sample in 0..samples {
            raw.push(raw_start(&engine, network)?);
            let (to_started, to_running) = job_start(&agent, &format!("d1-{network}-{sample}"), network)?;
            started.push(to_started);
            running.push(to_running);
        }
        let (raw, started, running) = (Summary::of(&raw), Summary::of(&started), Summary::of(&running));
        text.push_str(&format!(
            "| {network} | {raw} | {started} | {:+.1} | {:.2} | {running} | {:+.1} |\n",
            started.median - raw.median,
            started.median / raw.median,
            running.median - started.median,
        ));
    }
    text.push('\n');
    Ok(text)
}

fn raw_start(engine: &Engine, network: &str) -> Outcome<Duration> {
    let began = Instant::now();
    let body = json!({ "Image": IMAGE, "HostConfig": { "NetworkMode": network } });
    let created = engine.call("POST", "/containers/create?name=raw", Body::Json(&body))?.success("create")?.json()?;
    let id = created.get("Id").and_then(Value::as_str).ok_or("the engine gave no id")?;
    engine.call("POST", &format!("/containers/{id}/start"), Body::Empty)?.success("start")?;
    let took = began.elapsed();
    engine.remove_container(id)?;
    Ok(took)
}

/// Times from submission to the task's event "Started" and to the allocation being seen as running.
fn job_start(agent: &Agent, id: &str, network: &str) -> Outcome<(Duration, Duration)> {
    let job = json!({ "Job": {
        "ID": id, "Name": id, "Type": "batch", "Datacenters": ["dc1"],
        "TaskGroups": [{ "Name": "g", "Tasks": [{
            "Name": "t", "Driver": "docker", "Config": { "image": IMAGE, "network_mode": network },
            "Resources": { "CPU": 50, "MemoryMB": 32 },
        }] }],
    } });
    let began_wall = SystemTime::now().duration_since(UNIX_EPOCH)?;
    let began = Instant::now();
    agent.call("PUT", "/v1/jobs", Body::Json(&job))?.success("register a job")?;
    let path = format!("/v1/job/{id}/allocations");
    let mut index = "0".to_owned();
    let (allocation, to_running) = loop {
        // A blocking query answers as soon as something changes.
        let answer = agent.call("GET", &format!("{path}?index={index}&wait=10s"), Body::Empty)?.success("list")?;
        index = answer.header("x-nomad-index").unwrap_or("0").to_owned();
        let list = answer.json()?;
        let first = list.get(0).cloned().unwrap_or_default();
        match first.get("ClientStatus").and_then(Value::as_str) {
            Some("running") => break (first, began.elapsed()),
            Some("failed" | "lost") => return Err(format!("the allocation of {id} failed: {first}").into()),
            _ if began.elapsed() > PATIENCE => return Err(format!("{id} is not running: {first}").into()),
            _ => {}
        }
    };
    let events = allocation.pointer("/TaskStates/t/Events").and_then(Value::as_array).cloned().unwrap_or_default();
    let started = events
        .iter()
        .find(|event| event.get("Type").and_then(Value::as_str) == Some("Started"))
        .and_then(|event| event.get("Time").and_then(Value::as_u64))
        .ok_or_else(|| format!("no event `Started` in {events:?}"))?;
    let to_started = Duration::from_nanos(started).saturating_sub(began_wall);
    agent.call("DELETE", &format!("/v1/job/{id}?purge=true"), Body::Empty)?.success("stop a job")?;
    let allocation_id = allocation.get("ID").and_then(Value::as_str).unwrap_or_default();
    eventually(PATIENCE, format!("the end of {id}"), || {
        let seen = agent.get(&format!("/v1/allocation/{allocation_id}")).map_err(|error| error.to_string())?;
        let status = seen.get("ClientStatus").and_then(Value::as_str).unwrap_or_default().to_owned();
        if status == "complete" { Ok(()) } else { Err(status) }
    })?;
    Ok((to_started, to_running))
}
