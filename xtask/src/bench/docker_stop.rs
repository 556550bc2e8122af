//! D3: from the stop of a job to its end, beside a raw engine that stops and removes the same container.

use std::path::Path;
use std::time::{Duration, Instant};

use longshore_harness::{Agent, AgentSetup, Body, Engine, Image, Run, eventually};

use super::Summary;
use super::job::{IMAGE, submit, wait_ended, wait_running};
use super::raw::Recipe;
use crate::shell::Outcome;

const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn measure(run: &Run, binary: &Path, samples: usize) -> Outcome<String> {
    let engine = Engine::start(run)?;
    engine.load(&Image::sleeper()?, &[IMAGE])?;
    let agent = Agent::start(run, AgentSetup::new(binary).on(&engine))?;
    let mut text = format!(
        "## D3: stop of a job to the end of its container\n\n\
         One task that ends at once when it is told to, n = {samples}, times in ms as median (least–most). E is `stop` and \
         `remove` of the same container over the engine's socket, alternating with the job in one loop. \"Complete\" is seen in \
         the API, \"gone\" is when the engine does not list the container any more. Goal: gone ≤ E + 10 ms.\n\n\
         | network | E stop | E stop and remove | stop → complete | stop → gone | over E |\n|---|---|---|---|---|---|\n"
    );
    for network in ["none", "host", "bridge"] {
        let recipe = Recipe::learn(run, &engine, &agent, network)?;
        let (mut raw_stop, mut raw, mut complete, mut gone) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for sample in 0..samples {
            let id = recipe.start(&engine, "raw")?;
            let began = Instant::now();
            engine.call("POST", &format!("/containers/{id}/stop?t=5"), Body::Empty)?.success("stop")?;
            raw_stop.push(began.elapsed());
            engine.call("DELETE", &format!("/containers/{id}?v=1"), Body::Empty)?.success("remove")?;
            raw.push(began.elapsed());

            let job = format!("d3-{network}-{sample}");
            let submitted = submit(&agent, &job, "docker", network, 1)?;
            let seen = wait_running(&agent, &job, 1)?;
            let began = Instant::now();
            submitted.stop(&agent)?;
            wait_ended(&agent, &seen)?;
            complete.push(began.elapsed());
            eventually(PATIENCE, "the end of the container", || {
                let left = engine.containers().map_err(|error| error.to_string())?;
                if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
            })?;
            gone.push(began.elapsed());
        }
        let [raw_stop, raw, complete, gone] = [raw_stop, raw, complete, gone].map(|times| Summary::of(&times));
        text.push_str(&format!(
            "| {network} | {raw_stop} | {raw} | {complete} | {gone} | {:+.1} |\n",
            gone.median - raw.median
        ));
    }
    text.push('\n');
    Ok(text)
}
