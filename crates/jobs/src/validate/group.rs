use longshore_api::{Job, TaskGroup};
use longshore_values::GoDuration;

use super::{Faults, access, network, placement, policies, repeated, service, storage, task};
use crate::fault::Fault;

/// The most allocations of one group, as Nomad 2.0 limits them.
const COUNT_MAX: i64 = 50_000;
const DISK_MB_MIN: i64 = 10;

pub(super) fn group(job: &Job, group: &TaskGroup) -> Vec<Fault> {
    let mut faults = Faults::default();
    let kind = job.kind.as_deref().unwrap_or_default();
    let count = group.count.unwrap_or(0);
    faults.when(group.name.as_deref().unwrap_or_default().is_empty(), || "Missing task group name".to_owned());
    faults.at("count", count < 0, || "Task group count can't be negative".to_owned());
    faults.at("count", count > COUNT_MAX, || format!("Task group count of {count} is more than {COUNT_MAX}"));
    faults.when(group.tasks.is_empty(), || "Missing tasks for task group".to_owned());
    let (stop_after, max_disconnect) = (group.stop_after_client_disconnect, group.max_client_disconnect);
    faults.at("max_client_disconnect", stop_after.is_some() && max_disconnect.is_some(), || {
        "Task group cannot be configured with both max_client_disconnect and stop_after_client_disconnect".to_owned()
    });
    faults.at("max_client_disconnect", max_disconnect.is_some_and(GoDuration::is_negative), || {
        "max_client_disconnect cannot be negative".to_owned()
    });
    faults.at("stop_after_client_disconnect", stop_after.is_some() && !matches!(kind, "service" | "batch"), || {
        "stop_after_client_disconnect can only be set in batch and service jobs".to_owned()
    });
    faults.0.extend(placement::constraints(&group.constraints));
    if kind == "system" {
        faults.at("affinity", !group.affinities.is_empty(), || "System jobs may not have an affinity block".to_owned());
        faults.at("spread", !group.spreads.is_empty(), || "System jobs may not have a spread block".to_owned());
    } else {
        faults.0.extend(placement::affinities(&group.affinities));
        faults.0.extend(placement::spreads(&group.spreads));
    }
    if let Some(restart) = &group.restart_policy {
        faults.nested("restart", "", policies::restart(restart));
    }
    match &group.reschedule_policy {
        Some(_) if matches!(kind, "system" | "sysbatch") => {
            faults.at("reschedule", true, || "System jobs should not have a reschedule policy".to_owned());
        }
        Some(reschedule) => faults.nested("reschedule", "", policies::reschedule(reschedule)),
        None => {}
    }
    if let Some(disk) = &group.ephemeral_disk {
        let size = disk.size_mb.unwrap_or(0);
        faults.at("ephemeral_disk → size", size < DISK_MB_MIN, || {
            format!("minimum DiskMB value is {DISK_MB_MIN}; got {size}")
        });
        faults.at("ephemeral_disk → size", size > task::AMOUNT_MAX, || {
            format!("a DiskMB value of {size} is more than any node has")
        });
    }
    if let Some(update) = &group.update {
        faults.at("update", kind != "service", || format!("Job type {kind:?} does not allow update block"));
        faults.nested("update", "", policies::update(update));
    }
    if let Some(migrate) = &group.migrate {
        if kind == "service" {
            faults.nested("migrate", "", policies::migrate(migrate));
        } else {
            faults.at("migrate", true, || format!("Job type {kind:?} does not allow migrate block"));
        }
    }
    faults.at("shutdown_delay", group.shutdown_delay.is_some_and(GoDuration::is_negative), || {
        "ShutdownDelay must be a positive value".to_owned()
    });
    faults.at("stop_after_client_disconnect", stop_after.is_some_and(|span| span <= GoDuration::ZERO), || {
        "stop_after_client_disconnect must be a positive value".to_owned()
    });
    if let Some(scaling) = &group.scaling {
        faults.nested("scaling", "", access::of_group(group, scaling));
    }
    faults.0.extend(storage::volumes(job, group));
    faults.0.extend(network::networks(&group.networks));
    faults.0.extend(task_names(group));
    faults.0.extend(service::services(group));
    for one in &group.tasks {
        let prefix = format!("Task {} validation failed: ", one.name);
        faults.nested(&format!("task {:?}", one.name), &prefix, task::task(group, one));
    }
    faults.0
}

fn task_names(group: &TaskGroup) -> Vec<Fault> {
    let mut faults = Faults::default();
    for (at, task) in group.tasks.iter().enumerate() {
        faults.when(task.name.is_empty(), || format!("Task {} missing name", at + 1));
    }
    let names = group.tasks.iter().map(|task| task.name.as_str()).filter(|name| !name.is_empty());
    for (at, name, first) in repeated(names) {
        faults.at(&format!("task {name:?}"), true, || format!("Task {at} redefines '{name}' from task {first}"));
    }
    let leaders = group.tasks.iter().filter(|task| task.leader).count();
    faults.when(leaders > 1, || "Only one task may be marked as leader".to_owned());
    let has_main = group.tasks.iter().any(|task| task.lifecycle.is_none());
    faults.when(!group.tasks.is_empty() && !has_main, || {
        "Task group must have at least one task that is not a lifecycle hook".to_owned()
    });
    faults.0
}
