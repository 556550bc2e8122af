//! `cargo xtask soak`: jobs are run, updated and stopped while agent and engine are killed in drawn phases; and two agents share
//! an engine. The short form is a part of the end-to-end tests.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use longshore_harness::soak::pair::{PairSetup, two_agents};
use longshore_harness::soak::{SoakSetup, soak};
use longshore_harness::{Run, reap_leftovers};

use crate::shell::{self, Outcome, cargo};
use crate::{rounds, setup};

const USAGE: &str = "usage: cargo xtask soak [kills|disk|pair|rounds [N]]; LONGSHORE_SOAK_SEED=N repeats the draws of an earlier run, \
                     LONGSHORE_SOAK_KILLS=N takes so many kills of the agent (a tenth of it of the engine)";
const SMALL_DISK_BYTES: u64 = 256 << 20;

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let parts: &[&str] = match arguments {
        [] => &["kills", "disk", "pair"],
        [part] if ["kills", "disk", "pair"].contains(part) => arguments,
        ["rounds", more @ ..] => return rounds::run(more),
        _ => return Err(USAGE.into()),
    };
    setup::ensure()?;
    reap_leftovers()?;
    shell::run(cargo().args(["build", "--package", "longshore", "--locked"]))?;
    let binary = binary()?;
    let seed = number("LONGSHORE_SOAK_SEED")?.map_or_else(drawn_seed, Ok)?;
    let kills = usize::try_from(number("LONGSHORE_SOAK_KILLS")?.unwrap_or(200))?;
    let mut found = Vec::new();
    for part in parts {
        println!("\n== {part}, LONGSHORE_SOAK_SEED={seed}");
        let run = Run::start()?;
        let findings = match *part {
            "pair" => two_agents(&run, &PairSetup { binary: binary.clone(), seed, rounds: kills }),
            part => {
                let small = part == "disk";
                let setup = SoakSetup {
                    binary: binary.clone(),
                    seed,
                    agent_kills: if small { kills / 4 } else { kills },
                    engine_kills: if small { 0 } else { kills / 10 },
                    least_per_phase: if small { 0 } else { kills * 15 / 200 },
                    disk_bytes: small.then_some(SMALL_DISK_BYTES),
                };
                soak(&run, &setup).map(|report| {
                    println!("\n{report}");
                    report.findings
                })
            }
        };
        let findings = findings.unwrap_or_else(|error| vec![error.to_string()]);
        if !findings.is_empty() {
            println!("the logs of this run are in {}", run.save_logs()?.display());
        }
        found.extend(findings);
        run.clean()?;
    }
    if found.is_empty() {
        println!("\nNothing was found (seed {seed}).");
        return Ok(());
    }
    Err(format!("{} findings (seed {seed}):\n{}", found.len(), found.join("\n")).into())
}

fn binary() -> Outcome<PathBuf> {
    let here = std::env::current_exe()?;
    Ok(here.parent().ok_or("no folder around this program")?.join("longshore"))
}

fn number(name: &str) -> Outcome<Option<u64>> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text.parse().map_err(|error| format!("{name}={text} is no number: {error}"))?)),
        Err(_) => Ok(None),
    }
}

fn drawn_seed() -> Outcome<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis() as u64 % 1_000_000)
}
