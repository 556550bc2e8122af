//! B1: from `exec` to the first answer and to a leader, on an empty folder and on a journal whose agent was killed.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use longshore_harness::{Agent, AgentSetup, Body, Run, eventually};
use serde_json::{Value, json};

use super::Summary;
use crate::shell::Outcome;

const PATIENCE: Duration = Duration::from_secs(60);
/// A job of about this size is what fills the journal.
const JOB_BYTES: usize = 200_000;

pub(super) fn measure(run: &Run, binary: &Path, samples: usize, journal_mb: usize) -> Outcome<String> {
    let mut text = String::from(
        "## B1: start-up\n\nFrom `exec` of `longshore agent` (server and client, no Docker), times in ms as median \
         (least–most). Goal: first answer ≤ 10, leader ≤ 25 on an empty folder.\n\n\
         | data folder | n | first HTTP answer | leader known |\n|---|---|---|---|\n",
    );
    let (mut answers, mut leaders) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        let mut agent = Agent::prepare(run, AgentSetup::new(binary).named("boot"))?;
        let (answer, leader) = boot(&mut agent)?;
        answers.push(answer);
        leaders.push(leader);
        agent.kill9();
        fs::remove_dir_all(agent.data_dir())?;
    }
    text.push_str(&format!("| empty | {samples} | {} | {} |\n", Summary::of(&answers), Summary::of(&leaders)));

    let mut agent = Agent::start(run, AgentSetup::new(binary).named("full"))?;
    let count = journal_mb * 1_000_000 / JOB_BYTES;
    for number in 0..count {
        register(&agent, number)?;
    }
    agent.kill9();
    let bytes = folder_bytes(&agent.data_dir())?;
    let (mut answers, mut leaders) = (Vec::new(), Vec::new());
    let samples = samples.min(5);
    for _ in 0..samples {
        let (answer, leader) = boot(&mut agent)?;
        let jobs = agent.get("/v1/jobs")?.as_array().map_or(0, Vec::len);
        if jobs != count {
            return Err(format!("{count} jobs were registered and {jobs} are there after kill -9").into());
        }
        answers.push(answer);
        leaders.push(leader);
        agent.kill9();
    }
    text.push_str(&format!(
        "| after kill -9, {count} jobs of {} kB written, {:.0} MB on disk | {samples} | {} | {} |\n\n",
        JOB_BYTES / 1000,
        bytes as f64 / 1e6,
        Summary::of(&answers),
        Summary::of(&leaders)
    ));
    Ok(text)
}

fn boot(agent: &mut Agent) -> Outcome<(Duration, Duration)> {
    let began = Instant::now();
    agent.launch()?;
    let mut first = None;
    // Looks without rest: ten milliseconds between two looks would be as long as what is measured.
    while began.elapsed() < PATIENCE {
        if let Ok(answer) = agent.call("GET", "/v1/status/leader", Body::Empty) {
            first.get_or_insert_with(|| began.elapsed());
            if answer.status == 200 && answer.json()?.as_str().is_some_and(|leader| !leader.is_empty()) {
                return Ok((first.unwrap_or_default(), began.elapsed()));
            }
        }
        std::thread::yield_now();
    }
    Err(format!("no leader within {} s:\n{}", PATIENCE.as_secs(), agent.log_tail(10)).into())
}

fn register(agent: &Agent, number: usize) -> Outcome {
    let id = format!("filler-{number}");
    let job = json!({ "Job": {
        "ID": id, "Name": id, "Type": "service", "Datacenters": ["dc1"],
        "Meta": { "filler": "x".repeat(JOB_BYTES) },
        "TaskGroups": [{ "Name": "g", "Count": 0, "Tasks": [{
            "Name": "t", "Driver": "raw_exec", "Config": { "command": "/bin/true" },
        }] }],
    } });
    let answer = agent.call("PUT", "/v1/jobs", Body::Json(&job))?.success("register a job")?.json()?;
    let evaluation = answer.get("EvalID").and_then(Value::as_str).unwrap_or_default().to_owned();
    eventually(PATIENCE, format!("the evaluation of {id}"), || {
        let seen = agent.get(&format!("/v1/evaluation/{evaluation}")).map_err(|error| error.to_string())?;
        let status = seen.get("Status").and_then(Value::as_str).unwrap_or_default().to_owned();
        if status == "complete" { Ok(()) } else { Err(status) }
    })?;
    Ok(())
}

fn folder_bytes(folder: &Path) -> Outcome<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)?.flatten() {
        let facts = entry.metadata()?;
        sum += if facts.is_dir() { folder_bytes(&entry.path())? } else { facts.len() };
    }
    Ok(sum)
}
