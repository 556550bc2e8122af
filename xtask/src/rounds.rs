//! `cargo xtask soak rounds [N]`: the same task started and stopped so often, and what is left counted before and after.

use crate::setup;
use crate::shell::{self, Outcome, cargo};

const ROUNDS: &str = "500";

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let rounds = match arguments {
        [] => ROUNDS,
        [rounds] if rounds.parse::<usize>().is_ok_and(|rounds| rounds > 0) => *rounds,
        _ => return Err("usage: cargo xtask soak rounds [N]".into()),
    };
    let installed = setup::ensure()?;
    let mut command = cargo();
    command.env("LONGSHORE_SOAK_ROUNDS", rounds);
    command.args(["test", "--locked", "--package", "longshore", "--test", "e2e", "--"]);
    command.args(["--exact", "many::rounds_leave_nothing_behind", "--nocapture"]);
    shell::run(&mut command)?;
    if !installed.is_empty() {
        println!("Packages that were installed, and stay: {}", installed.join(", "));
    }
    Ok(())
}
