//! A keeper argues with a pretend engine over many seeded lives of a node.
//!
//! `LONGSHORE_WORLD_SEEDS=2000` runs that many worlds instead of a few; `LONGSHORE_WORLD_SEED=17` runs one of them and
//! prints what happened in it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod engine;
mod oracle;
mod random;
mod rows;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use longshore_images::Fault;

use crate::rows::Coverage;
use crate::world::World;

const STEPS: usize = 2_000;
const SEEDS: u64 = 1_100;

fn live(seed: u64, fault: Fault, tracing: bool) -> Coverage {
    let mut world = World::new(seed, fault, tracing);
    for _ in 0..STEPS {
        world.step();
    }
    world.calm_down();
    let mut coverage = Coverage::default();
    coverage.add(world.finish());
    coverage
}

/// The promise that a world found broken, if it did.
fn broken(seed: u64, fault: Fault) -> Result<Coverage, String> {
    catch_unwind(AssertUnwindSafe(|| live(seed, fault, false))).map_err(|what| {
        let what = what.downcast_ref::<String>().cloned().unwrap_or_else(|| format!("a panic, seed {seed}"));
        what.replace('\n', ", ")
    })
}

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

#[test]
fn the_keeper_keeps_its_promises() {
    if let Some(seed) = number_from("LONGSHORE_WORLD_SEED") {
        live(seed, Fault::None, true);
        return;
    }
    let seeds = number_from("LONGSHORE_WORLD_SEEDS").unwrap_or(SEEDS);
    let began = Instant::now();
    let workers: Vec<_> = (0..2)
        .map(|worker| {
            std::thread::spawn(move || {
                (worker..seeds).step_by(2).map(|seed| broken(seed, Fault::None)).collect::<Vec<_>>()
            })
        })
        .collect();
    let (mut coverage, mut failures) = (Coverage::default(), Vec::new());
    for life in workers.into_iter().flat_map(|worker| worker.join().unwrap()) {
        match life {
            Ok(taken) => coverage.merge(taken),
            Err(what) => failures.push(what),
        }
    }
    println!("{seeds} seeds x {STEPS} steps in {:.1} s", began.elapsed().as_secs_f64());
    let never = coverage.never_taken();
    failures.iter().take(20).for_each(|failure| println!("broken: {failure}"));
    assert!(failures.is_empty(), "{} of {seeds} worlds found a broken promise: {}", failures.len(), failures[0]);
    assert!(never.is_empty(), "never taken: {never:?}");
}

/// Each of these does one thing wrong; a world that does not notice would be no proof of anything.
#[test]
fn each_fault_is_noticed() {
    let faults = [
        Fault::ZeroDelay,
        Fault::UnpairedRelease,
        Fault::BlindRepeat,
        Fault::RemovalBeforeRecovery,
        Fault::NoFreshLook,
        Fault::GrantDuringRemoval,
        Fault::NoHandover,
        Fault::FreshJoinsOld,
        Fault::NoJoining,
        Fault::KeepsMoved,
        Fault::ForgetsLate,
        Fault::PrivateNameFirst,
        Fault::UnknownIsNo,
        Fault::CheckBeforeHold,
        Fault::ReleasePerAttempt,
        Fault::RemovalById,
        Fault::DigestNeedIgnored,
        Fault::DueTimeLost,
        Fault::OneBadImageStopsTheSweep,
        Fault::PauseIgnored,
        Fault::CollectsUsedForeign,
        Fault::CollectedBecomesOurs,
        Fault::AdoptionForgotten,
        Fault::KeptVersionForgotten,
        Fault::PressesWithoutMark,
        Fault::IgnoresMinAge,
        Fault::OvershootsTheMark,
        Fault::WorthiestFirst,
    ];
    let mut missed = Vec::new();
    for fault in faults {
        let noticed = (0..300).find_map(|seed| broken(seed, fault).err());
        println!("{fault:?}: {}", noticed.as_deref().unwrap_or("not noticed"));
        if noticed.is_none() {
            missed.push(fault);
        }
    }
    assert!(missed.is_empty(), "not noticed: {missed:?}");
}
