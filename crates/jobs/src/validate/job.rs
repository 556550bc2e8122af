use longshore_api::Job;

use super::{Faults, group, launch, placement, repeated};
use crate::fault::Fault;

/// Longer than any that people write; a table of them is still one that people can read.
const NAME_BYTES_MAX: usize = 1_024;

pub(crate) fn job(job: &Job) -> Vec<Fault> {
    let mut faults = Faults::default();
    let text = |slot: &Option<String>| slot.clone().unwrap_or_default();
    let (id, name, kind) = (text(&job.id), text(&job.name), text(&job.kind));
    faults.at("region", text(&job.region).is_empty(), || "Missing job region".to_owned());
    faults.at("job", id.is_empty(), || "Missing job ID".to_owned());
    faults.at("job", id.contains(' '), || "Job ID contains a space".to_owned());
    faults.at("job", id.contains('\0'), || "Job ID contains a null character".to_owned());
    // What is shown in tables and written to terminals must not be able to steer them.
    faults.at("job", id.chars().any(|c| c.is_control() && c != '\0'), || {
        "Job ID contains a control character".to_owned()
    });
    faults.at("job", id.len() > NAME_BYTES_MAX, || format!("Job ID is longer than {NAME_BYTES_MAX} bytes"));
    faults.at("name", name.is_empty(), || "Missing job name".to_owned());
    faults.at("name", name.chars().any(|c| c.is_control() && c != '\0'), || {
        "Job Name contains a control character".to_owned()
    });
    faults.at("name", name.len() > NAME_BYTES_MAX, || format!("Job Name is longer than {NAME_BYTES_MAX} bytes"));
    faults.at("name", name.contains('\0'), || "Job Name contains a null character".to_owned());
    faults.when(job.payload.is_some(), || "job can't be submitted with a payload, only dispatched".to_owned());
    faults.at("namespace", text(&job.namespace).is_empty(), || "Job must be in a namespace".to_owned());
    match kind.as_str() {
        "service" | "batch" | "system" | "sysbatch" => {}
        "" => faults.at("type", true, || "Missing job type".to_owned()),
        "_core" | "core" => faults.at("type", true, || "job type cannot be core".to_owned()),
        other => faults.at("type", true, || format!("Invalid job type: {other:?}")),
    }
    let priority = job.priority.unwrap_or(0);
    faults.at("priority", !(1..=100).contains(&priority), || "job priority must be between [1, 100]".to_owned());
    faults.at("datacenters", job.datacenters.is_empty(), || "Missing job datacenters".to_owned());
    faults.at("datacenters", job.datacenters.iter().any(String::is_empty), || {
        "Job datacenter must be non-empty string".to_owned()
    });
    faults.at("job", job.task_groups.is_empty(), || "Missing job task groups".to_owned());
    faults.0.extend(placement::constraints(&job.constraints));
    if kind == "system" {
        faults.at("affinity", !job.affinities.is_empty(), || "System jobs may not have an affinity block".to_owned());
        faults.at("spread", !job.spreads.is_empty(), || "System jobs may not have a spread block".to_owned());
    } else {
        faults.0.extend(placement::affinities(&job.affinities));
        faults.0.extend(placement::spreads(&job.spreads));
    }
    for (at, group) in job.task_groups.iter().enumerate() {
        let name = text(&group.name);
        faults.when(name.is_empty(), || format!("Job task group {} missing name", at + 1));
        if matches!(kind.as_str(), "system" | "sysbatch") {
            let count = group.count.unwrap_or(0);
            faults.at(&format!("group {name:?} → count"), count > 1, || {
                format!("Job task group {name} has count {count}. Count cannot exceed 1 with {kind} scheduler")
            });
        }
    }
    let names = job.task_groups.iter().filter_map(|group| group.name.as_deref()).filter(|name| !name.is_empty());
    for (at, name, first) in repeated(names) {
        faults.at(&format!("group {name:?}"), true, || {
            format!("Job task group {at} redefines '{name}' from group {first}")
        });
    }
    for group in &job.task_groups {
        let name = text(&group.name);
        let prefix = format!("Task group {name} validation failed: ");
        faults.nested(&format!("group {name:?}"), &prefix, group::group(job, group));
    }
    let of_batch = matches!(kind.as_str(), "batch" | "sysbatch");
    faults.at("periodic", job.periodic.is_some() && !of_batch, || {
        "Periodic can only be used with \"batch\" or \"sysbatch\" scheduler".to_owned()
    });
    if let Some(periodic) = &job.periodic {
        faults.nested("periodic", "", launch::periodic(periodic));
    }
    if let Some(parameterized) = &job.parameterized_job {
        faults.nested("parameterized", "", launch::parameterized(parameterized));
    }
    faults.at("parameterized", job.parameterized_job.is_some() && !of_batch, || {
        "Parameterized job can only be used with \"batch\" or \"sysbatch\" scheduler".to_owned()
    });
    faults.0
}
