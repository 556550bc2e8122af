//! Jobs of one kind of task that sleeps, from submission to their end.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use longshore_harness::{Agent, Body};
use serde_json::{Value, json};

use crate::shell::Outcome;

/// The image that every task here is made from.
pub(super) const IMAGE: &str = "bench/sleeper:1";
const PATIENCE: Duration = Duration::from_secs(600);

/// A job, and when it was submitted.
pub(super) struct Submitted {
    id: String,
    pub(super) at: Instant,
    at_wall: Duration,
}

/// Submits a job of so many tasks; `network` is read by Docker tasks only.
pub(super) fn submit(agent: &Agent, id: &str, driver: &str, network: &str, count: usize) -> Outcome<Submitted> {
    let config = match driver {
        "docker" => json!({ "image": IMAGE, "network_mode": network }),
        _ => json!({ "command": "/bin/sleep", "args": ["100000"] }),
    };
    let job = json!({ "Job": {
        "ID": id, "Name": id, "Type": "batch", "Datacenters": ["dc1"],
        // A thousand of the default size would fill the disk on paper, and the rest would wait for room.
        "TaskGroups": [{ "Name": "g", "Count": count, "EphemeralDisk": { "SizeMB": 10 }, "Tasks": [{
            "Name": "t", "Driver": driver, "Config": config,
            "Resources": { "CPU": 1, "MemoryMB": 10 }, "LogConfig": { "MaxFiles": 1, "MaxFileSizeMB": 1 },
        }] }],
    } });
    let submitted =
        Submitted { id: id.to_owned(), at: Instant::now(), at_wall: SystemTime::now().duration_since(UNIX_EPOCH)? };
    agent.call("PUT", "/v1/jobs", Body::Json(&job))?.success("register a job")?;
    Ok(submitted)
}

/// Waits until so many allocations run, and returns them as the API has them.
pub(super) fn wait_running(agent: &Agent, id: &str, count: usize) -> Outcome<Vec<Value>> {
    watch(agent, id, |list| {
        let is = |word: &str, row: &Value| row.get("ClientStatus").and_then(Value::as_str) == Some(word);
        if let Some(failed) = list.iter().find(|row| is("failed", row) || is("lost", row)) {
            return Err(format!("an allocation of {id} failed: {failed}"));
        }
        Ok(list.iter().filter(|row| is("running", row)).count() >= count)
    })
}

/// Waits until none of these allocations runs any more.
pub(super) fn wait_ended(agent: &Agent, seen: &[Value]) -> Outcome {
    for row in seen {
        let id = row.get("ID").and_then(Value::as_str).unwrap_or_default();
        let began = Instant::now();
        let mut index = "0".to_owned();
        loop {
            let path = format!("/v1/allocation/{id}?index={index}&wait=10s");
            let answer = agent.call("GET", &path, Body::Empty)?.success("read an allocation")?;
            index = answer.header("x-nomad-index").unwrap_or("0").to_owned();
            let found = answer.json()?;
            if found.get("ClientStatus").and_then(Value::as_str) == Some("complete") {
                break;
            }
            if began.elapsed() > PATIENCE {
                return Err(format!("the allocation did not end: {found}").into());
            }
        }
    }
    Ok(())
}

/// Reads the job's allocations until they are as wanted. A blocking query answers as soon as something changes.
fn watch(agent: &Agent, id: &str, mut is_right: impl FnMut(&[Value]) -> Result<bool, String>) -> Outcome<Vec<Value>> {
    let began = Instant::now();
    let mut index = "0".to_owned();
    loop {
        let path = format!("/v1/job/{id}/allocations?index={index}&wait=10s");
        let answer = agent.call("GET", &path, Body::Empty)?.success("list allocations")?;
        index = answer.header("x-nomad-index").unwrap_or("0").to_owned();
        let list = answer.json()?.as_array().cloned().unwrap_or_default();
        if is_right(&list)? {
            return Ok(list);
        }
        if began.elapsed() > PATIENCE {
            return Err(format!("{id} is not as wanted: {list:?}").into());
        }
    }
}

impl Submitted {
    /// From submission to the last event `Started`.
    pub(super) fn to_last_start(&self, seen: &[Value]) -> Outcome<Duration> {
        let mut last = 0;
        for row in seen {
            let events = row.pointer("/TaskStates/t/Events").and_then(Value::as_array).cloned().unwrap_or_default();
            let started = events
                .iter()
                .find(|event| event.get("Type").and_then(Value::as_str) == Some("Started"))
                .and_then(|event| event.get("Time").and_then(Value::as_u64))
                .ok_or_else(|| format!("no event `Started` in {events:?}"))?;
            last = last.max(started);
        }
        Ok(Duration::from_nanos(last).saturating_sub(self.at_wall))
    }

    /// Has the job stopped and forgotten.
    pub(super) fn stop(&self, agent: &Agent) -> Outcome {
        agent.call("DELETE", &format!("/v1/job/{}?purge=true", self.id), Body::Empty)?.success("stop a job")?;
        Ok(())
    }
}
