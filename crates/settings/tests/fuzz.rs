//! Agent files of the corpus, changed by chance: whatever comes of it is read or refused, soon, and with little memory.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use longshore_fuzz::Fuzz;
use longshore_settings::{
    AgentConfig, Decoded, Inputs, legacy_docker_options, legacy_mock_options, legacy_raw_exec_options,
};

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "${",
    "=",
    ":",
    ",",
    ".",
    "\n",
    "\r",
    "\t",
    "<<EOF\n",
    "<<-X\n",
    "EOF\n",
    "/*",
    "*/",
    "#",
    "//",
    "null",
    "true",
    "false",
    "1e400",
    "0x",
    "99999999999999999999",
    "-1",
    "\\",
    "\\u00e9",
    "\\ud83d",
    "é",
    "\u{0}",
    "\u{feff}",
    "\"\"",
    "\"1h30m\"",
    "\"-1s\"",
    "plugin \"docker\" {",
    "config {",
    "client {",
    "server {",
    "options {",
    "[{",
    "}]",
];

fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/agents");
    let mut paths = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|it| it.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("hcl" | "json" | "conf") => paths.push(path),
                _ => {}
            }
        }
    }
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

#[test]
fn changed_files_are_read_or_refused() {
    let seeds = seeds();
    let second = "plugin \"docker\" {\n config {\n gc { image_delay = \"\" }\n }\n}\nserver { enabled = true }\n";
    let fuzz = Fuzz { language: "agent", seeds, pieces: PIECES };
    fuzz.run(|text| {
        let files = vec![("a.hcl".to_owned(), text.to_owned()), ("b.hcl".to_owned(), second.to_owned())];
        let Decoded { value: config, diagnostics, effective, .. } =
            AgentConfig::examine(&Inputs { dev: true, files, ..Inputs::default() });
        for told in &diagnostics {
            let _ = told.to_string();
        }
        for it in &effective {
            let _ = it.origin.to_string();
        }
        for driver in [legacy_docker_options(&config), legacy_raw_exec_options(&config), legacy_mock_options(&config)] {
            let decoded = driver.tree.decode(|block| {
                block.take_block("gc", |gc| gc.take_bool("image"));
            });
            for told in decoded.diagnostics.iter().chain(&driver.warnings) {
                let _ = told.to_string();
            }
        }
        !diagnostics.iter().any(longshore_values::Diagnostic::is_error)
    });
}
