//! After the soak: all jobs are stopped, and what should be gone is gone.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::PERSON;
use super::shared::Shared;
use crate::{Body, eventually};

const STOPPED_WITHIN: Duration = Duration::from_secs(120);
/// The delay, ten seconds after the end of a recovery, and time for a busy machine; a refused removal is tried again
/// after 5 s and 10 s.
const GONE_WITHIN: Duration = Duration::from_secs(60);

type Look<'a> = &'a dyn Fn() -> Result<(), String>;

/// Stops all and notes what is left.
pub(super) fn calm(shared: &Shared, data_dir: &Path) {
    let steps: [(&str, Duration, Look<'_>); 6] = [
        ("all jobs to be stopped", STOPPED_WITHIN, &|| stop_all(shared)),
        ("the end of all allocations", STOPPED_WITHIN, &|| no_allocation_lives(shared)),
        ("the end of all containers", STOPPED_WITHIN, &|| nothing(shared, "/containers/json?all=1", |_| true)),
        ("the end of all images but a person's", GONE_WITHIN, &|| {
            nothing(shared, "/images/json", |row| row["RepoTags"] != serde_json::json!([PERSON]))
        }),
        ("an agent that knows of no image of ours", GONE_WITHIN, &|| no_row_of_ours(shared)),
        ("no folder or mount of an allocation after a collection", GONE_WITHIN, &|| no_files(shared, data_dir)),
    ];
    for (what, within, look) in steps {
        if let Err(error) = eventually(within, what, look) {
            shared.found(format!("after the calm: {error}"));
        }
    }
    match shared.engine_says(&format!("/images/{PERSON}/json")) {
        Ok(_) => {}
        Err(error) => shared.found(format!("a person's image has gone: {error}")),
    }
    let person_made = |row: &Value| !["bridge", "host", "none"].contains(&row["Name"].as_str().unwrap_or_default());
    if let Err(left) = nothing(shared, "/networks", person_made) {
        shared.found(format!("networks are left: {left}"));
    }
}

fn told<T>(result: crate::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn stop_all(shared: &Shared) -> Result<(), String> {
    let jobs = told(shared.agent_says("/v1/jobs"))?;
    let mut open = Vec::new();
    for job in rows(&jobs).iter().filter(|job| job["Stop"] != true) {
        let id = job["ID"].as_str().unwrap_or_default().to_owned();
        told(
            shared.ask_agent("DELETE", &format!("/v1/job/{id}"), Body::Empty).and_then(|it| it.success("stop a job")),
        )?;
        open.push(id);
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} were not stopped")) }
}

fn no_allocation_lives(shared: &Shared) -> Result<(), String> {
    let all = told(shared.agent_says("/v1/allocations"))?;
    let living = rows(&all).iter().filter(|it| it["ClientStatus"] == "pending" || it["ClientStatus"] == "running");
    let living: Vec<String> =
        living.map(|it| format!("{} of {} is {}", it["ID"], it["JobID"], it["ClientStatus"])).collect();
    if living.is_empty() { Ok(()) } else { Err(living.join(", ")) }
}

/// Whether the engine lists nothing of the kind that counts.
fn nothing(shared: &Shared, path: &str, counts: impl Fn(&Value) -> bool) -> Result<(), String> {
    let all = told(shared.engine_says(path))?;
    let left: Vec<String> = rows(&all).iter().filter(|row| counts(row)).map(ToString::to_string).collect();
    if left.is_empty() {
        return Ok(());
    }
    let says = shared.agent_says("/v1/client/images").map(|it| it.to_string()).unwrap_or_default();
    Err(format!("{}; the agent says {says}", left.join("; ")))
}

fn no_row_of_ours(shared: &Shared) -> Result<(), String> {
    let said = told(shared.agent_says("/v1/client/images"))?;
    let ours: Vec<String> =
        rows(&said["Images"]).iter().filter(|row| row["Name"] != PERSON).map(ToString::to_string).collect();
    if ours.is_empty() { Ok(()) } else { Err(ours.join("; ")) }
}

fn no_files(shared: &Shared, data_dir: &Path) -> Result<(), String> {
    told(shared.ask_agent("PUT", "/v1/system/gc", Body::Empty).and_then(|it| it.success("collect")))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    let within = data_dir.join("alloc").display().to_string();
    let mut left: Vec<String> = mounts.lines().filter(|line| line.contains(&within)).map(str::to_owned).collect();
    let folders = fs::read_dir(data_dir.join("alloc")).into_iter().flatten().flatten();
    left.extend(folders.map(|entry| entry.path().display().to_string()));
    if left.is_empty() { Ok(()) } else { Err(left.join("; ")) }
}
