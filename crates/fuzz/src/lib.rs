//! Texts changed by chance, for tests of what reads texts: nothing may panic, take long, or need much memory.
//!
//! - F1: the seed is printed, and gives the same texts again where edges are not counted.
//! - F2: a text that breaks a rule is kept as a file, and the message says where.
//! - F3: in a build that counts edges (`cargo xtask fuzz`), a text that takes a new one is changed further; else all
//!   texts are changes of the given ones.
//!
//! `LONGSHORE_FUZZ_SECONDS` says how long (3 unless given), `LONGSHORE_FUZZ_SEED` gives a seed other than 1, and what is found goes
//! to the folder `LONGSHORE_FUZZ_FOLDER`: `finds/`, and `kept/` with the texts that took new edges, which the next run
//! begins with.
#![allow(clippy::panic, reason = "a test that fails is what this is for")]

mod chance;
mod edges;
mod text;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

pub use chance::Chance;

/// The seed of every run that is given none: whoever runs the tests of a change tries the same texts as the others.
/// `cargo xtask fuzz` draws one.
const SEED: u64 = 1;
/// The longest that one text may take, in a build without optimisation on a machine that does other things, too.
const TEXT_MAX: Duration = Duration::from_secs(20);
/// The most memory that the whole run may come to need, in MiB.
const MEMORY_MIB_MAX: u64 = 1_024;
/// A longer text is cut: what grows without end finds nothing new.
const TEXT_BYTES_MAX: usize = 256 << 10;

/// What is to be tried.
pub struct Fuzz<'a> {
    /// For messages and file names.
    pub language: &'a str,
    /// Texts to begin with.
    pub seeds: Vec<String>,
    /// What is put into texts, beside parts of others.
    pub pieces: &'a [&'a str],
}

impl Fuzz<'_> {
    /// Tries `read`, which says whether it took the text, with changed texts until the time is over.
    ///
    /// # Panics
    /// When `read` panics, takes too long or needs too much memory, or never takes a text.
    pub fn run(self, read: impl Fn(&str) -> bool) {
        let seed = number_of("LONGSHORE_FUZZ_SEED").unwrap_or(SEED);
        let span = Duration::from_secs(number_of("LONGSHORE_FUZZ_SECONDS").unwrap_or(3));
        let folder = std::env::var_os("LONGSHORE_FUZZ_FOLDER").map(PathBuf::from);
        let mut texts = self.seeds;
        if let Some(folder) = &folder {
            texts.extend(kept(&folder.join("kept")));
        }
        assert!(!texts.is_empty(), "there are no texts to begin with");
        let under_way = watch(self.language.to_owned(), seed);
        let mut edges = edges::Edges::new();
        let (mut runs, mut taken, mut new) = (0_u64, 0_u64, 0_usize);
        let mut chance = Chance::new(seed);
        let start = Instant::now();
        let mut begun = texts.clone().into_iter();
        while start.elapsed() < span {
            // Those to begin with come first as they are.
            let (text, is_seed) = match begun.next() {
                Some(text) => (text, true),
                None => (text::changed(&texts, self.pieces, &mut chance), false),
            };
            let at = Instant::now();
            *under_way.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, text.clone()));
            edges.forget();
            let outcome = catch_unwind(AssertUnwindSafe(|| read(&text)));
            let is_new = edges.look();
            *under_way.lock().unwrap_or_else(PoisonError::into_inner) = None;
            runs += 1;
            match outcome {
                Ok(was_taken) => taken += u64::from(was_taken),
                Err(_) => panic!("{}", found(self.language, seed, "it is not read and not refused", &text)),
            }
            let took = at.elapsed();
            assert!(took < TEXT_MAX, "{}", found(self.language, seed, &format!("it took {took:?}"), &text));
            if is_new && !is_seed {
                if let Some(folder) = &folder {
                    write(&folder.join("kept"), &text);
                }
                texts.push(text);
                new += 1;
            }
        }
        let (took, peak) = (start.elapsed(), peak_mib());
        let each_second = runs as f64 / took.as_secs_f64();
        println!(
            "{}: seed {seed}: {runs} texts in {:.1} s, {each_second:.0} a second, {taken} of them read, {peak} MiB at most",
            self.language,
            took.as_secs_f64()
        );
        if let Some(covered) = edges.covered() {
            println!(
                "{}: {covered} of {} edges covered; {new} texts were kept for new ones",
                self.language,
                edges::Edges::count()
            );
        }
        assert!(peak < MEMORY_MIB_MAX, "seed {seed}: {peak} MiB");
        assert!(taken > 0, "seed {seed}: nothing was read in {runs} runs");
    }
}

type UnderWay = Arc<Mutex<Option<(Instant, String)>>>;

/// Ends the process, with the text written down, when one text takes without end.
fn watch(language: String, seed: u64) -> UnderWay {
    let under_way = UnderWay::default();
    let seen = Arc::downgrade(&under_way);
    std::thread::spawn(move || {
        while let Some(under_way) = seen.upgrade() {
            let now = under_way.lock().unwrap_or_else(PoisonError::into_inner).clone();
            drop(under_way);
            if let Some((_, text)) = now.filter(|(since, _)| since.elapsed() > TEXT_MAX) {
                eprintln!("{}", found(&language, seed, &format!("it takes longer than {TEXT_MAX:?}"), &text));
                std::process::abort();
            }
            std::thread::park_timeout(Duration::from_millis(500));
        }
    });
    under_way
}

/// Keeps a text that breaks a rule, and says so.
fn found(language: &str, seed: u64, why: &str, text: &str) -> String {
    let folder = std::env::var_os("LONGSHORE_FUZZ_FOLDER").map_or_else(std::env::temp_dir, PathBuf::from);
    let path = write(&folder.join("finds"), text);
    format!("{language}, seed {seed}: {why}; the text is in {path}:\n{text}")
}

/// The path of the text's file; why there is none otherwise.
fn write(folder: &std::path::Path, text: &str) -> String {
    let path = folder.join(format!("{:016x}.txt", chance::digest(text)));
    match std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text)) {
        Ok(()) => path.display().to_string(),
        Err(error) => format!("no file ({error})"),
    }
}

/// What earlier runs kept, in the order of the names.
fn kept(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
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
