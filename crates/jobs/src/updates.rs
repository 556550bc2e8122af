use std::collections::BTreeMap;

use longshore_model::{Job, Task, TaskGroup};

/// What an allocation of a group has to go through to follow its job to another version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpdateKind {
    /// The very same registration of the job: nothing to do.
    Ignore,
    /// The running tasks stay; the allocation only takes over the new version (if its node still fits).
    InPlace,
    /// The allocation is replaced; `reason` names the first difference that asks for it, such as `task "web": image`.
    Destructive { reason: String },
}

/// How allocations of `group` follow from `old` to `new`, as Nomad 1.6 decides it.
///
/// A group that one of the versions lacks is a destructive difference; callers stop or place before they ask.
pub fn update_kind(old: &Job, new: &Job, group: &str) -> UpdateKind {
    // Equal documents of two registrations (a job that went back to an earlier version) are an update in place: the
    // newer deployment counts the allocations that it finds in order.
    if old.job_modify_index == new.job_modify_index && old.version == new.version {
        return UpdateKind::Ignore;
    }
    match destructive_difference(old, new, group) {
        Some(reason) => UpdateKind::Destructive { reason },
        None => UpdateKind::InPlace,
    }
}

fn destructive_difference(old_job: &Job, new_job: &Job, name: &str) -> Option<String> {
    let (Some(old), Some(new)) = (old_job.group(name), new_job.group(name)) else {
        return Some("the group is new or gone".to_owned());
    };
    if old.tasks.len() != new.tasks.len() {
        return Some("number of tasks".to_owned());
    }
    if old.ephemeral_disk != new.ephemeral_disk {
        return Some("ephemeral_disk".to_owned());
    }
    if old.networks != new.networks {
        return Some("network".to_owned());
    }
    if affinities(old_job, old).ne(affinities(new_job, new)) {
        return Some("affinity".to_owned());
    }
    if old_job.spreads.iter().chain(&old.spreads).ne(new_job.spreads.iter().chain(&new.spreads)) {
        return Some("spread".to_owned());
    }
    let new_tasks: BTreeMap<&str, &Task> = new.tasks.iter().map(|task| (task.name.as_str(), task)).collect();
    old.tasks.iter().find_map(|old_task| {
        let what = match new_tasks.get(old_task.name.as_str()).copied() {
            Some(new_task) => task_difference((old_job, old, old_task), (new_job, new, new_task))?,
            None => "renamed or gone",
        };
        Some(format!("task {:?}: {what}", old_task.name))
    })
}

fn affinities<'a>(job: &'a Job, group: &'a TaskGroup) -> impl Iterator<Item = &'a longshore_model::Affinity> {
    let of_tasks = group.tasks.iter().flat_map(|task| &task.affinities);
    job.affinities.iter().chain(&group.affinities).chain(of_tasks)
}

fn task_difference(old: (&Job, &TaskGroup, &Task), new: (&Job, &TaskGroup, &Task)) -> Option<&'static str> {
    let (old_task, new_task) = (old.2, new.2);
    let rows = [
        (old_task.driver != new_task.driver, "driver"),
        (old_task.user != new_task.user, "user"),
        (old_task.config != new_task.config, "config"),
        (old_task.env != new_task.env, "env"),
        (merged_meta(old) != merged_meta(new), "meta"),
        (old_task.resources != new_task.resources, "resources"),
        (old_task.logs.disabled != new_task.logs.disabled, "logs.disabled"),
    ];
    rows.into_iter().find_map(|(differs, what)| differs.then_some(what))
}

/// The meta that a task sees: the task's own over its group's over the job's.
fn merged_meta<'a>((job, group, task): (&'a Job, &'a TaskGroup, &'a Task)) -> BTreeMap<&'a str, &'a str> {
    job.meta.iter().chain(&group.meta).chain(&task.meta).map(|(key, value)| (key.as_str(), value.as_str())).collect()
}
