//! Bans and sizes, read from the text of the files.

use std::fs;
use std::path::{Path, PathBuf};

use super::Breach;
use super::layers::DECIDING;
use crate::shell::Outcome;

/// Longer files have a second idea inside.
const LINES_MAX: usize = 900;

const FOLDERS: &[&str] = &["crates", "src", "tests", "xtask", "docs", "examples", "dist", ".ci", ".config", ".cargo"];
const TEXT_ENDINGS: &[&str] = &["rs", "toml", "md", "hcl", "json", "sh", "yml", "yaml", "txt", "service"];

/// Unfinished things. Written in pieces, so that this file does not find itself.
const UNFINISHED: &[(&str, &str)] = &[
    (concat!("TO", "DO"), "finish it, or file an issue"),
    (concat!("FIX", "ME"), "mend it, or file an issue"),
    (concat!("dbg", "!("), "left from a search for a fault"),
    (concat!("todo", "!("), "finish it"),
    (concat!("unimplemented", "!("), "finish it"),
    (concat!("#[ign", "ore"), "a test that does not run proves nothing"),
];

/// What a crate that decides takes as an argument instead.
const CLOCKS: &[(&str, &str)] = &[
    (concat!("Instant", "::now"), "take `now` as an argument"),
    (concat!("SystemTime", "::now"), "take `now` as an argument"),
    (concat!("Utc", "::now"), "take `now` as an argument"),
    (concat!("Local", "::now"), "take `now` as an argument"),
    (concat!("std::", "fs::"), "no I/O in what decides"),
    (concat!("std::", "net::Tcp"), "no I/O in what decides"),
    (concat!("std::", "process::Command"), "no I/O in what decides"),
    (concat!("thread::", "sleep"), "no waiting in what decides"),
];

pub(super) fn breaches(top: &Path) -> Outcome<Vec<Breach>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        collect(&top.join(folder), &mut files)?;
    }
    for entry in fs::read_dir(top)?.flatten().filter(|entry| entry.path().is_file()) {
        files.push(entry.path());
    }
    // In a second working tree `.git` is a file.
    let not_ours = ["Cargo.lock", "LICENSE", ".git"];
    files.retain(|file| file.file_name().is_some_and(|name| not_ours.iter().all(|other| name != *other)));
    let machine_paths = machine_paths(top);
    let mut breaches = Vec::new();
    for file in &files {
        let Ok(text) = fs::read_to_string(file) else { continue };
        let shown = file.strip_prefix(top).unwrap_or(file).to_owned();
        read(&shown, &text, &machine_paths, &mut breaches);
    }
    breaches.extend(test_binaries(top)?);
    Ok(breaches)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Outcome {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if entry.file_name() != "target" {
                collect(&path, into)?;
            }
        } else if path.extension().and_then(|it| it.to_str()).is_none_or(|ending| TEXT_ENDINGS.contains(&ending)) {
            into.push(path);
        }
    }
    Ok(())
}

/// Paths that only this machine has: where the workspace lies, and the folder around it.
fn machine_paths(top: &Path) -> Vec<String> {
    let parent = top
        .parent()
        .map(|it| format!("{}/", it.display()))
        .filter(|it| it.len() > 1 && it != "/root/" && it != "/home/");
    parent.into_iter().chain([top.display().to_string()]).collect()
}

fn read(file: &Path, text: &str, machine_paths: &[String], breaches: &mut Vec<Breach>) {
    let is_rust = file.extension().is_some_and(|ending| ending == "rs");
    let is_test = file.file_name().is_some_and(|name| name == "tests.rs") || file.iter().any(|part| part == "tests");
    let mut decides = !is_test && DECIDING.iter().any(|name| file.starts_with(format!("crates/{name}/src")));
    let mut breach = |line: Option<usize>, what: String| breaches.push(Breach { file: file.to_owned(), line, what });
    for (at, line) in text.lines().enumerate() {
        let number = Some(at + 1);
        // Tests stand last in a file, and may read fixtures.
        decides = decides && line.trim() != "#[cfg(test)]";
        for path in machine_paths.iter().filter(|path| line.contains(path.as_str())) {
            breach(number, format!("`{path}` exists on this machine only"));
        }
        if !is_rust {
            continue;
        }
        for (word, reason) in UNFINISHED.iter().filter(|(word, _)| line.contains(word)) {
            breach(number, format!("`{word}`: {reason}"));
        }
        if decides {
            for (word, reason) in CLOCKS.iter().filter(|(word, _)| line.contains(word)) {
                breach(number, format!("`{word}` in a crate that decides: {reason}"));
            }
        }
    }
    let lines = text.lines().count();
    if is_rust && lines > LINES_MAX {
        breach(None, format!("{lines} lines; past {LINES_MAX} there is a second idea inside: split it by noun"));
    }
    let is_crate = file.file_name().is_some_and(|name| name == "Cargo.toml") && file.starts_with("crates");
    if is_crate && !text.contains("[lints]\nworkspace = true") {
        breach(None, "does not take the lints of the workspace".to_owned());
    }
}

/// On two cores it is linking that costs: one integration test binary a crate.
fn test_binaries(top: &Path) -> Outcome<Vec<Breach>> {
    let mut breaches = Vec::new();
    for entry in fs::read_dir(top.join("crates"))?.flatten() {
        let tests = entry.path().join("tests");
        let binaries = fs::read_dir(&tests).into_iter().flatten().flatten().map(|it| it.path());
        let count =
            binaries.filter(|it| it.extension().is_some_and(|it| it == "rs") || it.join("main.rs").is_file()).count();
        if count > 1 {
            let file = tests.strip_prefix(top).unwrap_or(&tests).to_owned();
            breaches.push(Breach { file, line: None, what: format!("{count} test binaries; one is enough") });
        }
    }
    Ok(breaches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, text: &str, expected: &[&str]) {
        let mut breaches = Vec::new();
        read(Path::new(file), text, &["/build/here".to_owned()], &mut breaches);
        let told: Vec<String> = breaches.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), expected.len(), "{told:?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.contains(expected), "{told}");
        }
    }

    #[test]
    fn what_is_banned_is_found_where_it_is_banned() {
        let clock = concat!("let now = Instant", "::now();");
        check("crates/images/src/keeper.rs", clock, &["keeper.rs:1: `Instant"]);
        check("crates/docker/src/shell.rs", clock, &[]);
        check("crates/images/tests/world.rs", clock, &[]);
        check("crates/images/src/keeper/tests.rs", clock, &[]);
        check("crates/images/src/keeper.rs", &format!("#[cfg(test)]\nmod tests {{ {clock} }}"), &[]);
        check("crates/docker/src/shell.rs", concat!("ok\n// TO", "DO later"), &["shell.rs:2"]);
        check("docs/guide.md", "see /build/here/crates", &["guide.md:1: `/build/here`"]);
        check("crates/x/Cargo.toml", "[package]", &["lints"]);
    }

    #[test]
    fn long_files_are_found() {
        check("crates/docker/src/a.rs", &"x\n".repeat(LINES_MAX), &[]);
        check("crates/docker/src/a.rs", &"x\n".repeat(LINES_MAX + 1), &["901 lines"]);
    }
}
