//! Job files of the corpus, changed by chance: whatever comes of it is read or refused, soon, and with little memory.
//!
//! `LONGSHORE_FUZZ_SECONDS` says how long (3 unless given), `LONGSHORE_FUZZ_SEED` repeats a run. The seed is printed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use longshore_jobspec::{Input, format};

use crate::corpus;

/// The longest that one text may take, in a build without optimisation on a machine that does other things, too.
const LONGEST: Duration = Duration::from_secs(20);
/// The most memory that the whole run may come to need, in MiB.
const MEMORY_MIB_MAX: u64 = 1_024;

/// A small generator of numbers: what matters is that a seed gives the same ones again.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

fn number_of(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The memory that this process has needed at most, in MiB.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) / 1_024
}

const PIECES: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "\"",
    "${",
    "%{",
    "~}",
    "=",
    "==",
    "?",
    ":",
    "...",
    "*",
    "-",
    "!",
    ",",
    ".",
    "\n",
    "<<EOF\n",
    "EOF\n",
    "/*",
    "*/",
    "#",
    "null",
    "true",
    "1e400",
    "99999999999999999999",
    "-1",
    "for x in ",
    " if ",
    "dynamic \"group\" ",
    "var.x",
    "local.x",
    "try(",
    "range(1000)",
    "[for x in range(1000) : x]",
    "é",
    "\u{0}",
    "%{ for x in y }",
    "job \"a\" {",
    "convert(",
];

/// One text made of others.
fn changed(texts: &[String], chance: &mut Chance) -> String {
    let mut text = texts[chance.below(texts.len())].clone();
    for _ in 0..=chance.below(6) {
        let boundary = |text: &str, at: usize| (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let start = boundary(&text, chance.below(text.len() + 1));
        let end = boundary(&text, (start + chance.below(24)).min(text.len())).max(start);
        match chance.below(6) {
            0 => text.replace_range(start..end, ""),
            1 => text.insert_str(start, PIECES[chance.below(PIECES.len())]),
            2 => text.replace_range(start..end, PIECES[chance.below(PIECES.len())]),
            3 => {
                let part = text[start..end].repeat(1 + chance.below(20));
                text.insert_str(start, &part);
            }
            4 => {
                let other = &texts[chance.below(texts.len())];
                let from = boundary(other, chance.below(other.len() + 1));
                let to = boundary(other, (from + chance.below(200)).min(other.len())).max(from);
                text.insert_str(start, &other[from..to]);
            }
            _ => {
                // Two lines change places.
                let mut lines: Vec<&str> = text.lines().collect();
                if lines.len() > 1 {
                    let (a, b) = (chance.below(lines.len()), chance.below(lines.len()));
                    lines.swap(a, b);
                    text = lines.join("\n");
                }
            }
        }
    }
    text
}

#[test]
fn changed_files_are_read_or_refused() {
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = number_of("LONGSHORE_FUZZ_SEED").unwrap_or(clock);
    let span = Duration::from_secs(number_of("LONGSHORE_FUZZ_SECONDS").unwrap_or(3));
    let texts: Vec<String> = corpus::all().into_iter().map(|file| file.text).collect();
    let mut chance = Chance(seed);
    let (mut runs, mut read) = (0_u64, 0_u64);
    let start = Instant::now();
    while start.elapsed() < span {
        let text = changed(&texts, &mut chance);
        let begin = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let job = longshore_jobspec::parse(&Input { seed: Some([0; 32]), ..Input::new("changed.hcl", &text) });
            if let Ok(formatted) = format("changed.hcl", &text) {
                assert_eq!(format("changed.hcl", &formatted).unwrap(), formatted, "formatted twice");
            }
            let Ok(parsed) = job else { return false };
            let mut job = parsed.job;
            longshore_jobs::canonicalize(&mut job);
            let _ = longshore_jobs::complete(job);
            true
        }));
        runs += 1;
        match outcome {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => panic!("seed {seed}, run {runs}: this text is not read and not refused:\n{text}"),
        }
        let took = begin.elapsed();
        assert!(took < LONGEST, "seed {seed}, run {runs}: {took:?} for\n{text}");
    }
    let peak = peak_mib();
    println!("seed {seed}: {runs} texts in {:?}, {read} of them read, {peak} MiB at most", start.elapsed());
    assert!(peak < MEMORY_MIB_MAX, "seed {seed}: {peak} MiB");
    assert!(read > 0, "seed {seed}: nothing was read in {runs} runs");
}
