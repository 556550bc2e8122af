//! Agent files of `tests/corpus/agents`, each with what is told about it and what holds beside the defaults.
//!
//! A first line `# flags …` says what the agent is started with. A folder is given as one.
//! `INSTA_UPDATE=always cargo nextest run -p longshore-agent corpus` writes the snapshots anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use longshore_cli::ConfigVerdict;
use longshore_settings::reference::{self, CLIENT_OPTIONS, Kind};
use longshore_settings::{Inputs, Object, Value};

use crate::addresses::Interface;
use crate::files::Files;
use crate::{arguments, files, validate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/agents")
}

/// Files and folders, in the order of the names.
fn cases() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| !name.ends_with(".snap")).collect();
    names.sort();
    names
}

/// The files of one case, under names without the folder of the corpus.
fn read(name: &str) -> Files {
    let above = format!("{}/", folder().display());
    let mut files = files::read(&[folder().join(name).display().to_string()]).unwrap();
    for (path, _) in &mut files.texts {
        *path = path.replace(&above, "");
    }
    files
}

/// What `config validate` would tell, if it took flags.
fn told(files: Files) -> String {
    let first = files.texts.first().map_or("", |(_, text)| text.as_str());
    let flags = first.lines().next().and_then(|line| line.strip_prefix("# flags ")).unwrap_or("");
    let words: Vec<String> = flags.split_whitespace().map(str::to_owned).collect();
    let arguments = arguments::parse(&words).unwrap();
    let interface = Interface { name: "eth0".to_owned(), ip: "10.0.0.7".parse().unwrap() };
    let inputs = Inputs { dev: arguments.dev, files: files.texts, flags: arguments.flags, ..Inputs::default() };
    let text = ConfigVerdict::Text { effective: true, colour: false };
    let told = validate::examine(&inputs, &files.empty, &[interface]).told(text);
    let holds = told.out.lines().filter(|line| !line.contains("(default)") && !line.contains("(default of -dev)"));
    let holds: Vec<&str> = holds.collect();
    format!("{}{}\n", told.err, holds.join("\n"))
}

#[test]
fn each_file_means_what_stands_beside_it() {
    let names = cases();
    assert!(names.len() >= 40, "only {} cases", names.len());
    for name in names {
        let told = told(read(&name));
        let is_bad = told.contains("Configuration is invalid");
        assert_eq!(is_bad, name.starts_with("bad-"), "{name}:\n{told}");
        assert!(!told.contains("s3cret"), "{name}:\n{told}");
        insta::with_settings!({
            snapshot_path => folder(), prepend_module_to_snapshot => false, omit_expression => true,
        }, {
            insta::assert_snapshot!(name, told);
        });
    }
}

fn keys(object: &Object, path: &str, found: &mut BTreeSet<String>) {
    for (key, entry) in &object.entries {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if let Value::Object(inner) = &entry.node.value {
            keys(inner, &path, found);
        }
        found.insert(path);
    }
}

/// Every setting of the reference pages is in a file that is good, or in one that shows why it is refused.
#[test]
fn every_setting_is_used() {
    let mut used = BTreeSet::new();
    for name in cases() {
        for (path, text) in read(&name).texts {
            if let Ok(object) = longshore_settings::parse_text(&path, &text) {
                keys(&object, "", &mut used);
            }
        }
    }
    let named = |path: &str| {
        let (block, key) = path.rsplit_once('.').unwrap_or(("", path));
        let rows = reference::table(block).map(|table| table.rows).unwrap_or_default();
        rows.iter().any(|row| row.key == key && row.kind == Kind::NamedBlocks)
    };
    let is_used = |wanted: &str| {
        let (block, key) = wanted.rsplit_once('.').unwrap_or(("", wanted));
        used.iter().any(|path| match key.strip_suffix('*') {
            Some(beginning) => path.strip_prefix(block).is_some_and(|rest| rest.starts_with(&format!(".{beginning}"))),
            None if named(block) => {
                let middle = path.strip_prefix(block).and_then(|rest| rest.strip_suffix(key));
                middle.is_some_and(|middle| middle.len() > 2 && middle.matches('.').count() == 2)
            }
            None => path == wanted,
        })
    };
    let mut wanted = Vec::new();
    for table in reference::tables() {
        let block = if table.path.is_empty() { String::new() } else { format!("{}.", table.path) };
        wanted.extend(table.rows.iter().map(|row| format!("{block}{}", row.key)));
    }
    wanted.extend(longshore_docker::AGENT_OPTIONS.iter().map(|row| format!("plugin.docker.config.{}", row.key)));
    wanted.extend(CLIENT_OPTIONS.iter().map(|(name, _)| format!("client.options.{name}")));
    wanted.extend(longshore_settings::docker_options().map(|(name, _)| format!("client.options.{name}")));
    let missing: Vec<String> = wanted.into_iter().filter(|wanted| !is_used(wanted) && !used.contains(wanted)).collect();
    assert_eq!(missing, Vec::<String>::new());
}
