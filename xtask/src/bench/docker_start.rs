//! D1 and D2: from `PUT /v1/jobs` to started containers, beside a raw engine that makes the same ones.

use std::path::Path;
use std::time::{Duration, Instant};

use longshore_harness::{Agent, AgentSetup, Engine, Image, Run};

use super::Summary;
use super::job::{IMAGE, submit, wait_ended, wait_running};
use super::raw::Recipe;
use crate::shell::Outcome;

const NETWORKS: [&str; 3] = ["none", "host", "bridge"];
/// Tasks of D2.
const CROWD: usize = 20;
/// In flight at once, for the raw engine: the best of them is the yardstick.
const PARALLEL: [usize; 5] = [1, 2, 4, 8, CROWD];

pub(super) fn measure(run: &Run, binary: &Path, samples: usize) -> Outcome<String> {
    let engine = Engine::start(run)?;
    engine.load(&Image::sleeper()?, &[IMAGE])?;
    let agent = Agent::start(run, AgentSetup::new(binary).on(&engine))?;
    let mut text = one(run, &engine, &agent, samples)?;
    text.push_str(&many(run, &engine, &agent, (samples / 4).max(1))?);
    Ok(text)
}

fn one(run: &Run, engine: &Engine, agent: &Agent, samples: usize) -> Outcome<String> {
    let mut text = format!(
        "## D1: submission to a started container\n\n\
         One task, image present, n = {samples}, times in ms as median (least–most). E is `create`, `inspect` and `start` over \
         the engine's socket, with the body that the agent's own container was made from (its mounts, labels, environment and \
         limits), alternating with the job in one loop. Goal: started ≤ E + 8 ms; \"running\" in the API ≤ started + 10 ms.\n\n\
         | network | E | submit → started | over E | ratio | submit → \"running\" in API | over started |\n\
         |---|---|---|---|---|---|---|\n"
    );
    for network in NETWORKS {
        let recipe = Recipe::learn(run, engine, agent, network)?;
        let (mut raw, mut started, mut running) = (Vec::new(), Vec::new(), Vec::new());
        for sample in 0..samples {
            let began = Instant::now();
            let id = recipe.start(engine, "raw")?;
            raw.push(began.elapsed());
            engine.remove_container(&id)?;

            let job = format!("d1-{network}-{sample}");
            let submitted = submit(agent, &job, "docker", network, 1)?;
            let seen = wait_running(agent, &job, 1)?;
            running.push(submitted.at.elapsed());
            started.push(submitted.to_last_start(&seen)?);
            submitted.stop(agent)?;
            wait_ended(agent, &seen)?;
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

fn many(run: &Run, engine: &Engine, agent: &Agent, samples: usize) -> Outcome<String> {
    let mut text = format!(
        "## D2: {CROWD} containers at once\n\n\
         One job with count = {CROWD}, n = {samples}, times in ms as median (least–most), until the last of them has started. E \
         is the same bodies over the engine's socket, at the number in flight that was fastest of {PARALLEL:?}. Goal: ≤ 1.05 × E.\n\n\
         | network | E | in flight | submit → all started | ratio |\n|---|---|---|---|---|\n"
    );
    for network in NETWORKS {
        let recipe = Recipe::learn(run, engine, agent, network)?;
        let mut raw: Vec<(usize, Vec<Duration>)> = PARALLEL.iter().map(|flights| (*flights, Vec::new())).collect();
        let mut started = Vec::new();
        for sample in 0..samples {
            for (flights, times) in &mut raw {
                times.push(recipe.start_many(engine, CROWD, *flights)?);
            }
            let job = format!("d2-{network}-{sample}");
            let submitted = submit(agent, &job, "docker", network, CROWD)?;
            let seen = wait_running(agent, &job, CROWD)?;
            started.push(submitted.to_last_start(&seen)?);
            submitted.stop(agent)?;
            wait_ended(agent, &seen)?;
        }
        let best = raw.iter().map(|(flights, times)| (*flights, Summary::of(times)));
        let best = best.min_by(|a, b| a.1.median.total_cmp(&b.1.median));
        let (flights, raw) = best.ok_or("nothing was measured")?;
        let started = Summary::of(&started);
        text.push_str(&format!("| {network} | {raw} | {flights} | {started} | {:.2} |\n", started.median / raw.median));
    }
    text.push('\n');
    Ok(text)
}
