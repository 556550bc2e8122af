//! Commands for people who work on Longshore, or want to see it work: `cargo xtask …`.

mod bench;
mod check;
mod demo;
mod fuzz;
mod rounds;
mod setup;
mod shell;
mod soak;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "\
Usage: cargo xtask <command>

  demo    Shows Longshore's main job on this machine: a private Docker engine and registry, an agent, a job that is
          run, updated and stopped, and its image that is pulled once and removed on time. Takes everything away again.
  check   Format, lints, tidy, build and all tests, those on a real engine included. The same as in CI.
  tidy    Layers between crates, bans and file sizes; a part of `check`.
  fuzz    [-seconds N] [-language job|agent]: changes job files and agent files by chance, led by the edges of the code
          that they take, for 600 s each unless told otherwise. What breaks a rule is kept in target/fuzz/*/finds.
  bench   Measures start-up, memory, and the ways from submission to started containers and from stop to their end; writes
          docs/benchmarks.md. `bench files` measures job files alone and writes their section anew.
  soak    Jobs are run, updated and stopped while agent and engine are killed again and again, also on a disk that fills
          up, and by two agents on one engine; says what should not have been. Takes a quarter of an hour or more.
          `soak rounds [N]` starts and stops a task N times (500) and compares what there is before and after:
          containers, networks, volumes, mounts, file descriptors, threads, zombies.

`demo`, `check`, `bench` and `soak` need root for a private Docker engine, and install Debian packages that are missing after
saying which. An engine that runs on this machine already is never used or changed.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["demo"] => return demo::run(),
        ["check"] => check::run(),
        ["tidy"] => tidy::run(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        ["soak", rest @ ..] => soak::run(rest),
        ["help" | "-h" | "-help" | "--help"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error}");
            ExitCode::FAILURE
        }
    }
}
