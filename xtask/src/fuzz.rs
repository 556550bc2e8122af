//! `cargo xtask fuzz`: the random texts of the tests, for longer, in a build that counts edges.

use std::process::Command;

use crate::shell::{self, Outcome, cargo, workspace};

/// Without options: ten minutes for each language.
const SECONDS: u64 = 600;

/// Has the compiler put a counter at each edge, which `crates/fuzz` reads; works with every compiler.
const COUNT_EDGES: &str = "-C passes=sancov-module -C llvm-args=-sanitizer-coverage-level=3 \
    -C llvm-args=-sanitizer-coverage-inline-8bit-counters -C debug-assertions -C overflow-checks";

/// A language, and the test that changes its texts.
const LANGUAGES: [(&str, &str, &str); 2] =
    [("job", "longshore-jobs", "language"), ("agent", "longshore-settings", "fuzz")];

const TEST: &str = "changed_files_are_read_or_refused";

pub(crate) fn run(words: &[&str]) -> Outcome {
    let (mut seconds, mut wanted) = (SECONDS, None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let value = rest.next().ok_or_else(|| format!("{word} takes a value"))?;
        match *word {
            "-seconds" => seconds = value.parse().map_err(|_| format!("-seconds {value:?} is no whole number"))?,
            "-language" if LANGUAGES.iter().any(|(language, ..)| language == value) => wanted = Some(*value),
            "-language" => return Err(format!("-language {value:?} is neither \"job\" nor \"agent\"").into()),
            _ => return Err(format!("{word:?} is unknown: fuzz [-seconds N] [-language job|agent]").into()),
        }
    }
    let host = host()?;
    let seed = std::env::var("LONGSHORE_FUZZ_SEED").unwrap_or_else(|_| drawn().to_string());
    println!("The seed is {seed}; LONGSHORE_FUZZ_SEED={seed} draws the same numbers again.");
    for (language, package, test) in LANGUAGES.into_iter().filter(|(it, ..)| wanted.is_none_or(|wanted| wanted == *it))
    {
        let folder = workspace().join("target/fuzz");
        let mut command = cargo();
        command.args(["test", "--locked", "--target", &host, "-p", package, "--test", test, "--target-dir"]);
        command.arg(folder.join("build")).args(["--", TEST, "--nocapture"]);
        command.env("RUSTFLAGS", COUNT_EDGES).env("CARGO_PROFILE_DEV_OPT_LEVEL", "2").env("CARGO_INCREMENTAL", "0");
        command
            .env("LONGSHORE_FUZZ_SEED", &seed)
            .env("LONGSHORE_FUZZ_SECONDS", seconds.to_string())
            .env("LONGSHORE_FUZZ_FOLDER", folder.join(language));
        shell::run(&mut command)?;
    }
    Ok(())
}

/// A seed that no run before had.
fn drawn() -> u64 {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    clock.map_or(1, |since| u64::try_from(since.as_nanos() & u128::from(u64::MAX)).unwrap_or(1))
}

/// The compiler's own machine: with `--target` what runs while building, such as macros, has no counters.
fn host() -> Outcome<String> {
    let output = Command::new("rustc").arg("-vV").output().map_err(|error| format!("could not run rustc: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.ok_or("`rustc -vV` names no host")?.to_owned())
}
