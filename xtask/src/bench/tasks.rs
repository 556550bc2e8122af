//! M2: what running tasks cost beside an idle agent.

use std::fs;
use std::path::Path;
use std::time::Duration;

use longshore_harness::{Agent, AgentSetup, Engine, Image, Run, eventually};

use super::job::{IMAGE, submit, wait_ended, wait_running};
use crate::shell::Outcome;

/// More than the machine has: what is measured is the agent, and the tasks sleep.
const ROOM: &str = "client {\n  memory_total_mb   = 64000\n  cpu_total_compute = 64000\n}\nplugin \"raw_exec\" {\n  config {\n    enabled = true\n  }\n}\n";

pub(super) fn measure(run: &Run, binary: &Path, quick: bool) -> Outcome<String> {
    let mut text = "## M2: running tasks\n\n\
         Proportional memory (PSS) of the agent and all processes of its program, over that of the same agent when it was idle, \
         divided by the number of sleeping tasks. `exponent` says how the whole grows from one row to the next (1 is \
         proportional). Goal: ≤ 100 kB a task, no process a task.\n\n\
         | driver | tasks | agent and helpers, MB | over idle, MB | kB a task | exponent | processes |\n|---|---|---|---|---|---|---|\n"
        .to_owned();
    let sizes: [(&str, &[usize]); 2] = if quick {
        [("docker", &[1, 4]), ("raw_exec", &[1, 20])]
    } else {
        // A container costs the engine some 10 MB and a quarter of a second.
        [("docker", &[1, 20, 100]), ("raw_exec", &[1, 20, 100, 1000])]
    };
    let engine = Engine::start(run)?;
    engine.load(&Image::sleeper()?, &[IMAGE])?;
    for (driver, counts) in sizes {
        let name = format!("m2-{driver}");
        let mut agent = Agent::start(run, AgentSetup::new(binary).named(&name).on(&engine).file("room.hcl", ROOM))?;
        // The first task brings what all of them share.
        let warm = submit(&agent, "warm", driver, "none", 1)?;
        let seen = wait_running(&agent, "warm", 1)?;
        warm.stop(&agent)?;
        wait_ended(&agent, &seen)?;
        let (idle, _) = settled(binary)?;
        let mut before: Option<(usize, f64)> = None;
        for count in counts {
            let id = format!("m2-{count}");
            let job = submit(&agent, &id, driver, "none", *count)?;
            let seen = wait_running(&agent, &id, *count)?;
            let (bytes, processes) = settled(binary)?;
            let over = (bytes - idle).max(0.0);
            let exponent = before.map_or("–".to_owned(), |(smaller, less)| {
                format!("{:.2}", (over / less.max(1.0)).ln() / (*count as f64 / smaller as f64).ln())
            });
            text.push_str(&format!(
                "| {driver} | {count} | {:.1} | {:.2} | {:.0} | {exponent} | {processes} |\n",
                bytes / 1e6,
                over / 1e6,
                over / 1e3 / *count as f64,
            ));
            before = Some((*count, over));
            job.stop(&agent)?;
            wait_ended(&agent, &seen)?;
        }
        agent.stop()?;
    }
    text.push('\n');
    Ok(text)
}

/// Memory in bytes and number of all processes of a program, once two looks a second apart agree within a hundredth.
fn settled(binary: &Path) -> Outcome<(f64, usize)> {
    let mut before = of_program(binary);
    let mut at = std::time::Instant::now();
    let settled = eventually(Duration::from_secs(60), "memory that stands still", || {
        if at.elapsed() < Duration::from_secs(1) {
            return Err("looking".to_owned());
        }
        let now = of_program(binary);
        let difference = (now.0 - before.0).abs();
        (before, at) = (now, std::time::Instant::now());
        if difference <= now.0 / 100.0 { Ok(now) } else { Err(format!("{difference} bytes in the last second")) }
    })?;
    Ok(settled)
}

fn of_program(binary: &Path) -> (f64, usize) {
    let binary = fs::canonicalize(binary).unwrap_or_else(|_| binary.to_owned());
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = entries.filter(|entry| fs::read_link(entry.path().join("exe")).is_ok_and(|exe| exe == binary));
    let sizes: Vec<f64> = ours
        .filter_map(|entry| {
            let rollup = fs::read_to_string(entry.path().join("smaps_rollup")).ok()?;
            let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
            Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? * 1024.0)
        })
        .collect();
    (sizes.iter().sum(), sizes.len())
}
