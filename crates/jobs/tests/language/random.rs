//! Job files of the corpus, changed by chance: whatever comes of it is read or refused, soon, and with little memory.

use longshore_fuzz::Fuzz;
use longshore_jobspec::{Input, Parsed, format};

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

/// What is left for nodes to fill in is kept as it is written, with the blanks in it.
fn without_blanks(parsed: &Parsed) -> String {
    let text = serde_json::to_string(&parsed.job).unwrap();
    text.replace("\\n", "").replace("\\t", "").split_whitespace().collect()
}

#[test]
fn changed_files_are_read_or_refused() {
    let seeds: Vec<String> = corpus::all().into_iter().map(|file| file.text).collect();
    let fuzz = Fuzz { language: "job", seeds, pieces: PIECES };
    fuzz.run(|text| {
        let read =
            |text: &str| longshore_jobspec::parse(&Input { seed: Some([0; 32]), ..Input::new("changed.hcl", text) });
        let job = read(text);
        if let Ok(formatted) = format("changed.hcl", text) {
            assert_eq!(format("changed.hcl", &formatted).unwrap(), formatted, "formatted twice");
            // Line ends are set, also those within heredocs; beside them the job stays what it is.
            if let Ok(before) = &job
                && formatted != *text
                && !text.contains('\r')
            {
                let after = read(&formatted).unwrap_or_else(|why| panic!("no job any more: {why}\n{formatted}"));
                assert_eq!(without_blanks(before), without_blanks(&after), "another job from:\n{formatted}");
            }
        }
        let Ok(parsed) = job else { return false };
        let mut job = parsed.job;
        longshore_jobs::canonicalize(&mut job);
        let _ = longshore_jobs::complete(job);
        true
    });
}
