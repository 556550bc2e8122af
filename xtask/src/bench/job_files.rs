use std::process::Stdio;

use crate::shell::{self, Outcome, cargo};

/// How long job files take to read and to complete, by their size, as a section of the report.
pub(super) fn measure() -> Outcome<String> {
    let mut command = cargo();
    command.args(["bench", "--locked", "--package", "longshore-jobs", "--bench", "job_files"]);
    let shown = shell::show(&command);
    println!("\n$ {shown}");
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("could not run `{shown}`: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{shown}` failed ({})", output.status).into());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    if table.is_empty() {
        return Err(format!("`{shown}` printed no table").into());
    }
    Ok(format!(
        "## F1: job files by their size\n\n\
         `{shown}`, medians of seven. Each file holds groups of about 1.2 kB with variables, templates, checks and \
         directives. Goal: linear in the size, so that the time a megabyte stays the same from 0.3 MB on (the smallest file \
         pays for what each file has once); a file of 2 kB in well under a millisecond.\n\n{}\n\n",
        table.join("\n")
    ))
}
