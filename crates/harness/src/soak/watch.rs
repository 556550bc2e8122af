//! Eyes on the engine while a soak runs: from what each container was made, and whether that is there as long as it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;

use super::shared::Shared;
use super::witness::is_task;
use crate::EventRecorder;

/// Looks until the end. An engine that is down shows nothing, and that is no finding.
pub(super) fn watch(shared: &Shared, events: &EventRecorder) {
    let mut heard = 0;
    while !shared.ending() {
        let new = events.since(heard);
        heard += new.len();
        for event in new.iter().filter(|event| event.action == "create" && is_task(event)) {
            let facts = shared.engine_says(&format!("/containers/{}/json", event.subject));
            if let Some(content) = facts.ok().as_ref().and_then(|facts| facts["Image"].as_str()) {
                shared.note_content(&event.subject, content);
            }
        }
        if let Ok(list) = shared.engine_says("/containers/json") {
            two_of_one(shared, &list);
        }
        shared.pass(Duration::from_millis(40));
    }
}

/// Two running containers of one task in one answer of the engine: this sees also what was made while no events came.
fn two_of_one(shared: &Shared, list: &Value) {
    let mut seen: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for row in list.as_array().into_iter().flatten() {
        let label = |key: &str| row["Labels"][key].as_str().map(str::to_owned);
        let (Some(allocation), Some(task)) = (label("com.hashicorp.nomad.alloc_id"), label("longshore.task")) else {
            continue;
        };
        let of_task = seen.entry((allocation, task)).or_default();
        of_task.insert(row["Id"].as_str().unwrap_or_default().to_owned());
    }
    for ((allocation, task), containers) in seen {
        if containers.len() > 1 {
            shared.found(format!("two containers of task {task} of {allocation} run at once: {containers:?}"));
        }
    }
}
