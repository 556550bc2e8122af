//! From a path on the command line to a job: reads the file, its variables and what its functions ask for.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use longshore_api::{Job, JobFault, JobSubmission};
use longshore_jobspec::{Finding, Places};
use longshore_values::Diagnostic;

use crate::client::ClientError;
use crate::failure::Failure;
use crate::flags::{Flag, Given};

/// The longest job file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// Flags of every command that reads a job file.
pub(crate) const FLAGS: &[Flag] = &[
    Flag::switch("json", "The file holds the job as JSON."),
    Flag::switch("hcl1", "Refused: job files in HCL's first version are not read."),
    Flag::switch("hcl2-strict", "Whether values for variables that the file does not have are errors (default true)."),
    Flag::repeated("var", "A value for a variable of the file: name=value. May be given repeatedly."),
    Flag::repeated("var-file", "A file with values for variables. May be given repeatedly."),
    Flag::text("vault-token", "Accepted for job files that need Vault."),
    Flag::text("vault-namespace", "Accepted for job files that need Vault."),
];

/// A job with the text that it was read from.
#[derive(Debug, Clone)]
pub(crate) struct JobFile {
    pub(crate) job: Job,
    pub(crate) submission: JobSubmission,
    /// What was noticed while reading, for standard error.
    pub(crate) warnings: Vec<Diagnostic>,
    /// Where the job's parts stand in the file.
    places: Places,
}

impl JobFile {
    /// A server's message about this job, with the places of the parts that it is about.
    ///
    /// `faults` are what the message is made of, where the server says it.
    pub(crate) fn with_places(&self, message: &str, faults: &[JobFault]) -> String {
        longshore_jobspec::locate(&self.places, message, &findings(faults))
    }

    /// The same for editors.
    pub(crate) fn diagnose(&self, message: &str, faults: &[JobFault]) -> Vec<Diagnostic> {
        longshore_jobspec::diagnose(&self.places, message, &findings(faults))
    }

    /// Why the server did not take the job, with the places of its parts.
    pub(crate) fn refused(&self, doing: &str, why: ClientError) -> Failure {
        let faults = why.faults().to_vec();
        let failure = Failure::Api { doing: doing.to_owned(), source: why };
        Failure::told(self.with_places(&failure.message(), &faults))
    }
}

/// Asks servers to say which part of the job each thing is about that they find wrong; others take no notice of it.
pub(crate) const WITH_FAULTS: (&str, &str) = ("faults", "json");

fn findings(faults: &[JobFault]) -> Vec<Finding<'_>> {
    faults.iter().map(|fault| Finding { path: &fault.path, message: &fault.message }).collect()
}

/// Reads the job that `path` names; `-` is standard input.
///
/// # Errors
/// What cannot be read, or is no job, with its place.
pub(crate) fn read(path: &str, given: &Given) -> Result<JobFile, Failure> {
    let json = given.switch("json");
    if given.switch("hcl1") {
        let told = "job files in HCL's first version are not read any more: remove -hcl1";
        return Err(Failure::told(format!("Error getting job struct: {told}")));
    }
    let has_variables = !given.all("var").is_empty() || !given.all("var-file").is_empty();
    if json && has_variables {
        return Err(Failure::told("Error getting job struct: cannot use variables with JSON files."));
    }
    let text = text_of(path)?;
    if json { from_json(path, text) } else { from_hcl(path, text, given) }
}

fn text_of(path: &str) -> Result<String, Failure> {
    let failed =
        |why: String| Failure::told(format!("Error getting job struct: Error getting jobfile from {path:?}: {why}"));
    if path.contains("://") {
        return Err(failed("fetching job files is not in this build; save the file and give its path".to_owned()));
    }
    if path == "-" {
        return text_from(io::stdin().lock()).map_err(failed);
    }
    let file = std::fs::File::open(path).map_err(|why| failed(format!("source path error: {why}")))?;
    text_from(file).map_err(failed)
}

/// Reads a text that may be without end.
fn text_from(source: impl io::Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|why| format!("source path error: {why}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes, the most that is read"));
    }
    String::from_utf8(bytes).map_err(|why| format!("it is no UTF-8: {why}"))
}

fn from_json(path: &str, text: String) -> Result<JobFile, Failure> {
    let shown = if path == "-" { "<stdin>" } else { path };
    let parsed = longshore_jobspec::parse_api(shown, &text).map_err(|why| Failure::Diagnosed {
        message: format!("Error getting job struct: Failed to parse JSON job from {shown}:"),
        diagnostics: why.diagnostics,
    })?;
    let submission = JobSubmission { source: text, format: "json".to_owned(), ..JobSubmission::default() };
    Ok(JobFile { job: parsed.job, submission, warnings: parsed.warnings, places: parsed.places })
}

fn from_hcl(path: &str, text: String, given: &Given) -> Result<JobFile, Failure> {
    let mut variables = Vec::new();
    for variable in given.all("var") {
        let Some((name, value)) = variable.split_once('=') else {
            let told = format!("Error getting job struct: -var {variable:?} has no \"=\": write -var name=value");
            return Err(Failure::told(told));
        };
        variables.push((name.to_owned(), value.to_owned()));
    }
    let mut files = Vec::new();
    for file in given.all("var-file") {
        let text = std::fs::File::open(file).map_err(|why| why.to_string()).and_then(text_from).map_err(|why| {
            Failure::told(format!("Error getting job struct: Error reading variable file {file:?}: {why}"))
        })?;
        files.push((file.clone(), text));
    }
    let environment: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(name, value)| {
            let name = name.to_str()?.strip_prefix("NOMAD_VAR_")?.to_owned();
            Some((name, value.to_str()?.to_owned()))
        })
        .collect();
    let shown = if path == "-" { "<stdin>" } else { path };
    let input = longshore_jobspec::Input {
        file: shown,
        text: &text,
        variables: &variables,
        variable_files: &files,
        environment: &environment,
        strict: given.switch_or("hcl2-strict", true),
        files: Some(&LocalFiles),
        seed: seed(),
    };
    let parsed = longshore_jobspec::parse(&input).map_err(|why| Failure::Diagnosed {
        message: format!("Error getting job struct: Error parsing job file from {shown}:"),
        diagnostics: why.diagnostics,
    })?;
    let submission = JobSubmission {
        format: "hcl2".to_owned(),
        variable_flags: variables.into_iter().collect(),
        variables: files.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n"),
        source: text,
    };
    Ok(JobFile { job: parsed.job, submission, warnings: parsed.warnings, places: parsed.places })
}

/// Without chance from the system those functions that need some say so.
fn seed() -> Option<[u8; 32]> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).ok().map(|()| seed)
}

/// What functions of a job file may read: files of the person who runs the command.
struct LocalFiles;

impl longshore_jobspec::Files for LocalFiles {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|why| why.to_string())?;
        file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|why| why.to_string())?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > FILE_BYTES_MAX) {
            return Err(format!("{path} has more than {FILE_BYTES_MAX} bytes"));
        }
        Ok(bytes)
    }

    fn exists(&self, path: &str) -> Result<bool, String> {
        match std::fs::metadata(path) {
            Ok(found) if found.is_file() => Ok(true),
            Ok(_) => Err(format!("{path} is not a regular file")),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(why) => Err(why.to_string()),
        }
    }

    fn absolute(&self, path: &str) -> Result<String, String> {
        std::path::absolute(path).map(|path| path.to_string_lossy().into_owned()).map_err(|why| why.to_string())
    }

    fn expand_home(&self, path: &str) -> Result<String, String> {
        let Some(rest) = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
            return Ok(path.to_owned());
        };
        let home = std::env::var("HOME").map_err(|_| "HOME is not set".to_owned())?;
        Ok(format!("{home}{rest}"))
    }

    fn matching(&self, folder: &str, glob: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        walk(Path::new(folder), &PathBuf::new(), &mut found).map_err(|why| format!("{folder}: {why}"))?;
        let pattern: Vec<&str> = glob.split('/').collect();
        found.retain(|path| matches_path(&pattern, &path.split('/').collect::<Vec<_>>()));
        found.sort();
        Ok(found)
    }
}

/// How many files a walk lists at most.
const WALK_MAX: usize = 10_000;

fn walk(root: &Path, below: &Path, found: &mut Vec<String>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, &path, found)?;
        } else if kind.is_file() {
            found.push(path.to_string_lossy().into_owned());
        }
        if found.len() > WALK_MAX {
            return Err(io::Error::other(format!("more than {WALK_MAX} files")));
        }
    }
    Ok(())
}

/// `*` stands for anything within one part of a path, `**` for any number of parts.
fn matches_path(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => {
            matches_path(rest, path) || path.split_first().is_some_and(|(_, below)| matches_path(pattern, below))
        }
        (Some((part, rest)), Some((name, below))) => {
            longshore_values::Glob::new(*part).matches(name) && matches_path(rest, below)
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(glob: &str, path: &str, expected: bool) {
        let (pattern, path): (Vec<&str>, Vec<&str>) = (glob.split('/').collect(), path.split('/').collect());
        assert_eq!(matches_path(&pattern, &path), expected, "{glob} against {path:?}");
    }

    #[test]
    fn globs_of_paths() {
        check("*.txt", "a.txt", true);
        check("*.txt", "b/a.txt", false);
        check("**/*.txt", "a.txt", true);
        check("**/*.txt", "b/c/a.txt", true);
        check("b/*", "b/a", true);
        check("b/**", "b/c/a", true);
        check("b/*", "c/a", false);
    }

    #[test]
    fn json_may_be_wrapped_or_bare() {
        for text in ["{\"Job\": {\"ID\": \"x\"}}", "{\"ID\": \"x\"}", "{\"job\": null, \"id\": \"x\"}"] {
            assert_eq!(from_json("a.json", text.to_owned()).unwrap().job.id.as_deref(), Some("x"), "{text}");
        }
        let why = from_json("a.json", "{".to_owned()).unwrap_err().to_string();
        assert!(why.starts_with("Error getting job struct: Failed to parse JSON job from a.json:"), "{why}");
        assert!(why.contains("a.json:1:1: a.json is no JSON: EOF"), "{why}");
    }
}
