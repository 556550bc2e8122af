//! Job files of the corpus, changed by chance: whatever comes of it is read or refused, soon, and with little memory.

use longshore_fuzz::Fuzz;
use longshore_jobspec::{Input, format};

use crate::corpus;

const PIECES: &[&str] = &[
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

#[test]
fn changed_files_are_read_or_refused() {
    let seeds: Vec<String> = corpus::all().into_iter().map(|file| file.text).collect();
    let fuzz = Fuzz { language: "job", seeds, pieces: PIECES };
    fuzz.run(|text| {
        let job = longshore_jobspec::parse(&Input { seed: Some([0; 32]), ..Input::new("changed.hcl", text) });
        if let Ok(formatted) = format("changed.hcl", text) {
            assert_eq!(format("changed.hcl", &formatted).unwrap(), formatted, "formatted twice");
        }
        let Ok(parsed) = job else { return false };
        let mut job = parsed.job;
        longshore_jobs::canonicalize(&mut job);
        let _ = longshore_jobs::complete(job);
        true
    });
}
