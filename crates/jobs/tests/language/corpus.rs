//! Job files of `tests/corpus/jobs`, each with what it becomes, or what is told about it, beside it.
//!
//! Lines at the top of a file say what it is read with: `# -var name=value`, `# -var-file name`, `# env name=value`,
//! `# -loose`. `INSTA_UPDATE=always cargo nextest run -p longshore-jobs corpus` writes the files beside them anew.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use longshore_api::Job;
use longshore_jobspec::{Files, Input, ParseError, Parsed, reference};
use serde_json::Value;

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/jobs")
}

/// One file of the corpus.
pub(crate) struct JobFile {
    pub(crate) name: String,
    pub(crate) text: String,
    given: BTreeMap<&'static str, Vec<(String, String)>>,
    is_strict: bool,
}

impl JobFile {
    fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(folder().join(name)).unwrap();
        let mut given: BTreeMap<&str, Vec<(String, String)>> = BTreeMap::new();
        let mut is_strict = true;
        for line in text.lines().take_while(|line| line.starts_with('#')) {
            let words = line.trim_start_matches('#').trim();
            let pair =
                |rest: &str| rest.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap();
            if let Some(rest) = words.strip_prefix("-var-file ") {
                let content = std::fs::read_to_string(folder().join(rest)).unwrap();
                given.entry("-var-file").or_default().push((rest.to_owned(), content));
            } else if let Some(rest) = words.strip_prefix("-var ") {
                given.entry("-var").or_default().push(pair(rest));
            } else if let Some(rest) = words.strip_prefix("env ") {
                given.entry("env").or_default().push(pair(rest));
            } else if words == "-loose" {
                is_strict = false;
            }
        }
        Self { name: name.to_owned(), text, given, is_strict }
    }

    /// `text` read with what this file is read with.
    pub(crate) fn parse_as(&self, text: &str) -> Result<Parsed, ParseError> {
        let given = |kind: &str| self.given.get(kind).map(Vec::as_slice).unwrap_or_default();
        longshore_jobspec::parse(&Input {
            variables: given("-var"),
            variable_files: given("-var-file"),
            environment: given("env"),
            strict: self.is_strict,
            files: Some(&Beside),
            seed: Some([1; 32]),
            ..Input::new(&self.name, text)
        })
    }

    pub(crate) fn parse(&self) -> Result<Parsed, ParseError> {
        self.parse_as(&self.text)
    }
}

/// The corpus, in the order of the names.
pub(crate) fn all() -> Vec<JobFile> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.filter(|name| name.ends_with(".hcl") || name.ends_with(".json")).collect();
    names.sort();
    names.iter().map(|name| JobFile::read(name)).collect()
}

/// The files beside the job files.
struct Beside;

impl Files for Beside {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(folder().join(path)).map_err(|_| format!("{path} does not exist"))
    }
    fn exists(&self, path: &str) -> Result<bool, String> {
        Ok(folder().join(path).is_file())
    }
    fn absolute(&self, path: &str) -> Result<String, String> {
        Ok(format!("/corpus/{path}"))
    }
    fn expand_home(&self, path: &str) -> Result<String, String> {
        Ok(path.replace('~', "/home"))
    }
    fn matching(&self, _folder: &str, glob: &str) -> Result<Vec<String>, String> {
        let prefix = glob.split('*').next().unwrap_or_default();
        let names = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut found: Vec<String> = names.filter(|name| name.starts_with(prefix) && name.ends_with(".vars")).collect();
        found.sort();
        Ok(found)
    }
}

/// What is absent is left out, so that people can read the rest.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

fn shown(file: &JobFile) -> String {
    match file.parse() {
        Ok(parsed) => {
            let job = without_nulls(serde_json::to_value(&parsed.job).unwrap());
            let warnings: Vec<String> = parsed.warnings.iter().map(|warning| format!("\n\n{warning}")).collect();
            format!("{}{}", serde_json::to_string_pretty(&job).unwrap(), warnings.concat())
        }
        Err(why) => why.to_string(),
    }
}

#[test]
fn every_file_becomes_what_stands_beside_it() {
    let files = all();
    assert!(files.len() >= 120, "only {} files", files.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for file in &files {
            insta::assert_snapshot!(file.name.as_str(), shown(file));
        }
    });
}

#[test]
fn only_files_named_bad_are_refused() {
    for file in all() {
        assert_eq!(file.parse().is_err(), file.name.starts_with("bad-"), "{}:\n{}", file.name, shown(&file));
    }
}

#[test]
fn a_job_that_is_printed_and_read_again_is_the_same() {
    let mut count = 0;
    for file in all() {
        let Ok(parsed) = file.parse() else { continue };
        let printed = serde_json::to_string(&serde_json::json!({ "Job": parsed.job })).unwrap();
        let again = longshore_jobspec::parse(&Input::new("printed.json", &printed)).unwrap();
        assert_eq!(again.job, parsed.job, "{}", file.name);
        count += 1;
    }
    assert!(count > 90, "only {count} files");
}

/// Defaults that are filled in twice are filled in once.
#[test]
fn canonical_jobs_stay_as_they_are() {
    for file in all() {
        let Ok(Parsed { mut job, .. }) = file.parse() else { continue };
        longshore_jobs::canonicalize(&mut job);
        let once: Job = job.clone();
        longshore_jobs::canonicalize(&mut job);
        assert_eq!(job, once, "{}", file.name);
    }
}

/// `group "g" → restart → attempts` without its labels.
fn names_of(path: &str) -> Vec<String> {
    path.split(" → ").map(|step| step.split([' ', '[']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn every_block_attribute_and_function_occurs() {
    let mut used: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut texts = String::new();
    for file in all() {
        let Ok(parsed) = file.parse() else { continue };
        used.extend(parsed.places.paths().map(names_of));
        texts.push_str(&file.text);
    }
    let mut missing = Vec::new();
    let blocks = reference::blocks();
    for block in &blocks {
        // A block that may stand in several places needs to occur at one of them.
        let same = blocks.iter().filter(|other| other.about == block.about && other.path.last() == block.path.last());
        let paths: Vec<Vec<String>> =
            same.map(|same| same.path.iter().skip(1).map(|step| step.name.to_owned()).collect()).collect();
        let name: Vec<&str> = block.path.iter().map(|step| step.name).collect();
        if block.path.len() > 1 && !paths.iter().any(|path| used.contains(path)) {
            missing.push(name.join(" → "));
        }
        for attribute in &block.attributes {
            let occurs = |path: &Vec<String>| {
                used.contains(&path.iter().cloned().chain([attribute.name.to_owned()]).collect::<Vec<_>>())
            };
            // What a job's own attributes have as a path begins with their name.
            if !paths.iter().any(occurs) {
                missing.push(format!("{} → {}", name.join(" → "), attribute.name));
            }
        }
    }
    for function in reference::functions() {
        if !texts.contains(&format!("{}(", function.name)) {
            missing.push(function.call.to_owned());
        }
    }
    missing.dedup();
    assert!(missing.is_empty(), "not in the corpus:\n{}", missing.join("\n"));
}

/// What `fmt` changes are blanks: the job stays what it is, comments stay where they are.
#[test]
fn formatted_files_mean_the_same() {
    let comments = |text: &str| -> Vec<String> {
        let of_line = |line: &str| line.split_once('#').map(|(_, comment)| comment.trim().to_owned());
        text.lines().filter_map(of_line).collect()
    };
    let mut count = 0;
    for file in all() {
        let Ok(formatted) = longshore_jobspec::format(&file.name, &file.text) else { continue };
        let again = longshore_jobspec::format(&file.name, &formatted).unwrap();
        assert_eq!(again, formatted, "{}", file.name);
        assert_eq!(comments(&formatted), comments(&file.text), "{}", file.name);
        let (before, after) =
            (file.parse().map(|parsed| parsed.job), file.parse_as(&formatted).map(|parsed| parsed.job));
        assert_eq!(before.ok(), after.ok(), "{}:\n{formatted}", file.name);
        count += 1;
    }
    assert!(count > 90, "only {count} files");
}
