//! `cargo xtask check`: all that must hold before a change goes in.

use std::collections::BTreeSet;
use std::process::Command;

use longshore_harness::{program, reap_leftovers};

use crate::shell::{self, Outcome, cargo};
use crate::{setup, tidy};

/// The same for everybody: what random texts find must not turn the check red for whoever happens to run it.
const FUZZ_SEED: &str = "1";

pub(crate) fn run() -> Outcome {
    println!("This checks format, lints, layers, the build and every test, those on a private Docker engine included.");
    let installed = setup::ensure()?;
    for id in reap_leftovers()? {
        println!("Took away what an earlier run left behind: {id}");
    }
    setup::prove_engine()?;
    shell::run(cargo().args(["fmt", "--all", "--check"]))?;
    println!("\n$ cargo xtask tidy");
    tidy::run()?;
    shell::run(cargo().args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    shell::run(cargo().args(["build", "--workspace", "--locked"]))?;
    let mounted = mounts()?;
    shell::run(&mut tests())?;
    let left = reap_leftovers()?;
    if !left.is_empty() {
        return Err(format!("tests left runs behind (taken away now): {}", left.join(", ")).into());
    }
    let left: Vec<_> = mounts()?.difference(&mounted).cloned().collect();
    if !left.is_empty() {
        return Err(format!("tests left mounts behind: {}; `umount` ends one", left.join(", ")).into());
    }
    println!("\nAll is well.");
    if !installed.is_empty() {
        println!("Packages that were installed, and stay: {}", installed.join(", "));
    }
    Ok(())
}

/// Mounts below the folders that tests make for themselves; others may mount elsewhere meanwhile.
fn mounts() -> std::io::Result<BTreeSet<String>> {
    let begins = std::env::temp_dir().join(".tmp").display().to_string();
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    let places = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    Ok(places.filter(|place| place.starts_with(&begins)).map(str::to_owned).collect())
}

fn tests() -> Command {
    let mut command = cargo();
    if program("cargo-nextest", "none").is_ok() {
        command.args(["nextest", "run", "--workspace", "--locked"]);
    } else {
        println!("\ncargo-nextest is not installed; the tests run under `cargo test`, two at a time.");
        // Not `--all-targets`: that runs benchmarks, too, in a build that is not made for them.
        let targets = ["--lib", "--bins", "--tests"];
        command.args(["test", "--workspace", "--locked", "--no-fail-fast"]).args(targets);
        command.args(["--", "--test-threads=2"]);
    }
    // Runs beside the tests that wait for engines, so that the whole takes no longer.
    let given = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let (seconds, seed) = (given("LONGSHORE_FUZZ_SECONDS", "30"), given("LONGSHORE_FUZZ_SEED", FUZZ_SEED));
    println!("\nRandom texts are tried for {seconds} s a language, with seed {seed}; `cargo xtask fuzz` draws others.");
    command.env("LONGSHORE_FUZZ_SECONDS", seconds).env("LONGSHORE_FUZZ_SEED", seed);
    command
}
