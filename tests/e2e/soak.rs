//! The short form of `cargo xtask soak`: every phase is met once.

use longshore_harness::Run;
use longshore_harness::soak::pair::{PairSetup, two_agents};
use longshore_harness::soak::{SoakSetup, soak};

use crate::support::BINARY;

fn seed() -> u64 {
    let seed = std::env::var("LONGSHORE_SOAK_SEED").map_or(1, |text| text.parse().unwrap());
    println!("LONGSHORE_SOAK_SEED={seed}");
    seed
}

#[test]
fn agent_and_engine_killed_in_every_phase_under_a_churn() {
    let run = Run::start().unwrap();
    let setup = SoakSetup {
        binary: BINARY.into(),
        seed: seed(),
        agent_kills: 12,
        engine_kills: 2,
        least_per_phase: 1,
        disk_bytes: None,
    };
    let report = soak(&run, &setup).unwrap();
    println!("{report}");
    assert!(report.findings.is_empty(), "{report}");
}

#[test]
fn two_agents_share_an_engine_and_an_image() {
    let run = Run::start().unwrap();
    let findings = two_agents(&run, &PairSetup { binary: BINARY.into(), seed: seed(), rounds: 15 }).unwrap();
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
