//! `cargo xtask bench`: D1 and D2 (from submission to started containers), D3 (from stop to gone), M2 (running tasks), M3 (an
//! idle agent), B1 (start-up) and F1 (job files).
//!
//! Times of one machine say little on another; what counts is the ratio to the yardstick of the same run: the engine
//! driven raw, in the same loop.

mod boot;
mod docker_start;
mod docker_stop;
mod idle;
mod job;
mod job_files;
mod raw;
mod tasks;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use longshore_harness::{Run, reap_leftovers};

use crate::setup;
use crate::shell::{self, Outcome, cargo, workspace};

const REPORT: &str = "docs/benchmarks.md";

pub(crate) fn run(arguments: &[&str]) -> Outcome {
    let quick = match arguments {
        [] => false,
        ["-quick"] => true,
        ["files"] => return job_files_alone(),
        _ => {
            return Err(
                "usage: cargo xtask bench [-quick|files]; `-quick` takes few samples and writes no report, `files` \
                        measures job files alone and writes their section of the report"
                    .into(),
            );
        }
    };
    let installed = setup::ensure()?;
    reap_leftovers()?;
    shell::run(cargo().args(["build", "--release", "--package", "longshore", "--locked"]))?;
    let binary = release_binary()?;
    let samples = if quick { 3 } else { 20 };

    let mut report = preface(&binary)?;
    print!("\n{report}");
    measured(&mut report, |run| docker_start::measure(run, &binary, samples))?;
    measured(&mut report, |run| docker_stop::measure(run, &binary, samples))?;
    measured(&mut report, |run| tasks::measure(run, &binary, quick))?;
    measured(&mut report, |run| idle::measure(run, &binary))?;
    measured(&mut report, |run| boot::measure(run, &binary, samples, if quick { 10 } else { 200 }))?;
    let files = job_files::measure()?;
    print!("{files}");
    report.push_str(&files);
    if !quick {
        let path = workspace().join(REPORT);
        fs::write(&path, &report).map_err(|error| format!("could not write {REPORT}: {error}"))?;
        println!("written to {REPORT}");
    }
    if !installed.is_empty() {
        println!("Packages that were installed, and stay: {}", installed.join(", "));
    }
    Ok(())
}

/// Writes the one section anew, and leaves the others as they are.
fn job_files_alone() -> Outcome {
    let section = job_files::measure()?;
    println!("\n{section}");
    let path = workspace().join(REPORT);
    let report = fs::read_to_string(&path).map_err(|error| format!("could not read {REPORT}: {error}"))?;
    fs::write(&path, with_section(&report, &section)).map_err(|error| format!("could not write {REPORT}: {error}"))?;
    println!("written to {REPORT}");
    Ok(())
}

/// The report with a section in the place of the one of the same heading, or at its end.
fn with_section(report: &str, section: &str) -> String {
    let heading = section.lines().next().unwrap_or_default();
    let Some(start) = report.find(&format!("{heading}\n")) else {
        return format!("{}\n\n{section}", report.trim_end());
    };
    let (before, rest) = report.split_at(start);
    let after = rest.find("\n## ").map_or("", |end| rest.get(end + 1..).unwrap_or(""));
    format!("{before}{section}{after}")
}

/// Adds what is measured in surroundings of its own, and shows it at once: the rest takes minutes.
fn measured(report: &mut String, measure: impl FnOnce(&Run) -> Outcome<String>) -> Outcome {
    let run = Run::start()?;
    let text = measure(&run)?;
    run.clean()?;
    print!("{text}");
    report.push_str(&text);
    Ok(())
}

fn release_binary() -> Outcome<PathBuf> {
    let here = std::env::current_exe()?;
    let target = here.parent().and_then(Path::parent).ok_or("no target folder around this program")?;
    Ok(target.join("release/longshore"))
}

fn preface(binary: &Path) -> Outcome<String> {
    let cores = std::thread::available_parallelism()?.get();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let bytes = fs::metadata(binary)?.len();
    Ok(format!(
        "# Benchmarks\n\n\
         Made by `cargo xtask bench` on {cores} cores, Linux {}. Absolute times hold for that machine only; the ratios to the \
         raw engine, taken in the same loop, are what to compare.\n\n\
         Binary (release, stripped): {:.1} MB (`ls -l target/release/longshore`). Goal of M3: 28 MB with etcd.\n\n",
        kernel.trim(),
        bytes as f64 / 1e6,
    ))
}

/// What a list of measured times says.
struct Summary {
    median: f64,
    least: f64,
    most: f64,
}

impl Summary {
    /// In milliseconds.
    fn of(times: &[Duration]) -> Self {
        let mut sorted: Vec<f64> = times.iter().map(|it| it.as_secs_f64() * 1e3).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
        let half = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { at(half) } else { (at(half.wrapping_sub(1)) + at(half)) / 2.0 };
        Self { median, least: at(0), most: at(sorted.len().wrapping_sub(1)) }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ({:.1}–{:.1})", self.median, self.least, self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_or_added() {
        let report = "# B\n\n## A\n\none\n\n## F\n\nold\n\n## G\n\ntwo\n\n";
        let section = "## F\n\nnew\n\n";
        assert_eq!(with_section(report, section), "# B\n\n## A\n\none\n\n## F\n\nnew\n\n## G\n\ntwo\n\n");
        assert_eq!(with_section("# B\n\n## F\n\nold\n", section), "# B\n\n## F\n\nnew\n\n");
        assert_eq!(with_section("# B\n", section), "# B\n\n## F\n\nnew\n\n");
    }

    #[test]
    fn the_median_is_in_the_middle() {
        let ms = Duration::from_millis;
        assert_eq!(Summary::of(&[ms(9), ms(1), ms(5)]).to_string(), "5.0 (1.0–9.0)");
        assert_eq!(Summary::of(&[ms(4), ms(2)]).to_string(), "3.0 (2.0–4.0)");
    }
}
