//! What is different between two completed versions of a job, as `job plan` shows it.
//!
//! Fields stand in the order of their names. A part that is new or gone has all its fields; within a changed block
//! the unchanged fields stand beside the changed ones. Tokens never appear.

mod blocks;
mod flat;

use std::collections::BTreeMap;

use longshore_api::{Job, JobDiff, ObjectDiff, Task, TaskDiff, TaskGroup, TaskGroupDiff};

use blocks::{Objects, names, object, of_each};
use flat::{Context, fields, flatten};

const NONE: &str = "None";
const ADDED: &str = "Added";
const DELETED: &str = "Deleted";
const EDITED: &str = "Edited";

/// Parts of a job that are compared as blocks, or that are no part of what its owner wrote.
const NOT_FIELDS_OF_JOB: &[&str] = &[
    "ID",
    "Status",
    "StatusDescription",
    "Version",
    "Stable",
    "SubmitTime",
    "CreateIndex",
    "ModifyIndex",
    "JobModifyIndex",
    "ConsulToken",
    "VaultToken",
    "NomadTokenID",
    "Payload",
    "Datacenters",
    "Constraints",
    "Affinities",
    "Spreads",
    "TaskGroups",
    "Update",
    "Multiregion",
    "Periodic",
    "ParameterizedJob",
    "Reschedule",
    "Migrate",
];

const NOT_FIELDS_OF_GROUP: &[&str] = &[
    "Name",
    "Update",
    "Migrate",
    "Constraints",
    "Scaling",
    "RestartPolicy",
    "Tasks",
    "EphemeralDisk",
    "ReschedulePolicy",
    "Affinities",
    "Spreads",
    "Networks",
    "Consul",
    "Services",
    "Volumes",
];

const NOT_FIELDS_OF_TASK: &[&str] = &[
    "Name",
    "Config",
    "Services",
    "Vault",
    "Templates",
    "Constraints",
    "Affinities",
    "Resources",
    "RestartPolicy",
    "DispatchPayload",
    "Lifecycle",
    "LogConfig",
    "Artifacts",
    "VolumeMounts",
    "ScalingPolicies",
    "CSIPluginConfig",
    "Identity",
];

/// The differences from `old` to `new`; all of `new` is added when there is no old one.
pub fn diff(old: Option<&Job>, new: &Job) -> JobDiff {
    let flat = |job: &Job| flatten(job, NOT_FIELDS_OF_JOB);
    let fields = fields(old.map(flat).as_ref(), Some(&flat(new)), Context::OnlyChanged);
    let mut objects = Objects::default();
    objects.push(names("Datacenters", old.map(|job| job.datacenters.as_slice()), Some(&new.datacenters)));
    objects.constraints(old.map(|job| job.constraints.as_slice()), Some(&new.constraints));
    objects.affinities(old.map(|job| job.affinities.as_slice()), Some(&new.affinities));
    objects.spreads(old.map(|job| job.spreads.as_slice()), Some(&new.spreads));
    let task_groups = of_each(
        old.map(|job| job.task_groups.as_slice()),
        Some(&new.task_groups),
        |group| group.name.clone().unwrap_or_default(),
        group_diff,
    );
    let changed = !fields.is_empty() || !objects.0.is_empty() || task_groups.iter().any(|group| group.kind != NONE);
    let kind = if old.is_none() {
        ADDED
    } else if changed {
        EDITED
    } else {
        NONE
    };
    JobDiff { kind: kind.to_owned(), id: new.id.clone().unwrap_or_default(), fields, objects: objects.0, task_groups }
}

/// Added, deleted, edited or the same, by which sides are there.
fn kind_of(old: bool, new: bool, changed: bool) -> String {
    match (old, new, changed) {
        (false, _, _) => ADDED,
        (_, false, _) => DELETED,
        (true, true, true) => EDITED,
        (true, true, false) => NONE,
    }
    .to_owned()
}

fn group_diff(name: &str, old: Option<&TaskGroup>, new: Option<&TaskGroup>) -> TaskGroupDiff {
    let flat = |group: &TaskGroup| flatten(group, NOT_FIELDS_OF_GROUP);
    let fields = fields(old.map(flat).as_ref(), new.map(flat).as_ref(), Context::OnlyChanged);
    let mut objects = Objects::default();
    objects.constraints(old.map(|group| group.constraints.as_slice()), new.map(|group| group.constraints.as_slice()));
    objects.affinities(old.map(|group| group.affinities.as_slice()), new.map(|group| group.affinities.as_slice()));
    objects.push(object(
        "RestartPolicy",
        old.and_then(|g| g.restart_policy.as_ref()),
        new.and_then(|g| g.restart_policy.as_ref()),
        &[],
    ));
    objects.push(object(
        "ReschedulePolicy",
        old.and_then(|g| g.reschedule_policy.as_ref()),
        new.and_then(|g| g.reschedule_policy.as_ref()),
        &[],
    ));
    objects.push(object(
        "EphemeralDisk",
        old.and_then(|g| g.ephemeral_disk.as_ref()),
        new.and_then(|g| g.ephemeral_disk.as_ref()),
        &[],
    ));
    objects.spreads(old.map(|group| group.spreads.as_slice()), new.map(|group| group.spreads.as_slice()));
    objects.push(object(
        "Update",
        old.and_then(|g| g.update.as_ref()),
        new.and_then(|g| g.update.as_ref()),
        &["Stagger"],
    ));
    // A migrate policy is told when it changes, not when it comes with a new group.
    if let (Some(old), Some(new)) = (old.and_then(|g| g.migrate.as_ref()), new.and_then(|g| g.migrate.as_ref())) {
        objects.push(object("Migrate", Some(old), Some(new), &[]));
    }
    objects.networks(old.map(|group| group.networks.as_slice()), new.map(|group| group.networks.as_slice()));
    objects.services(old.map(|group| group.services.as_slice()), new.map(|group| group.services.as_slice()));
    let tasks = of_each(
        old.map(|group| group.tasks.as_slice()),
        new.map(|group| group.tasks.as_slice()),
        |task| task.name.clone(),
        |name, old_task, new_task| task_diff(name, (old, old_task), (new, new_task)),
    );
    let changed = !fields.is_empty() || !objects.0.is_empty() || tasks.iter().any(|task| task.kind != NONE);
    TaskGroupDiff {
        kind: kind_of(old.is_some(), new.is_some(), changed),
        name: name.to_owned(),
        fields,
        objects: objects.0,
        tasks,
        updates: BTreeMap::new(),
    }
}

type OfGroup<'a> = (Option<&'a TaskGroup>, Option<&'a Task>);

fn task_diff(name: &str, (old_group, old): OfGroup<'_>, (new_group, new): OfGroup<'_>) -> TaskDiff {
    let flat = |task: &Task| flatten(task, NOT_FIELDS_OF_TASK);
    let fields = fields(old.map(flat).as_ref(), new.map(flat).as_ref(), Context::OnlyChanged);
    let mut objects = Objects::default();
    objects.constraints(old.map(|task| task.constraints.as_slice()), new.map(|task| task.constraints.as_slice()));
    objects.affinities(old.map(|task| task.affinities.as_slice()), new.map(|task| task.affinities.as_slice()));
    objects.push(object("Config", old.map(|task| &task.config), new.map(|task| &task.config), &[]));
    objects.push(object(
        "Resources",
        old.and_then(|t| t.resources.as_ref()),
        new.and_then(|t| t.resources.as_ref()),
        &["Networks", "Devices"],
    ));
    objects.push(object(
        "Lifecycle",
        old.and_then(|t| t.lifecycle.as_ref()),
        new.and_then(|t| t.lifecycle.as_ref()),
        &[],
    ));
    objects.push(object(
        "LogConfig",
        old.and_then(|t| t.log_config.as_ref()),
        new.and_then(|t| t.log_config.as_ref()),
        &["Enabled"],
    ));
    // A task's restart policy is its group's unless it says otherwise.
    let own = |group: Option<&TaskGroup>, task: Option<&Task>| {
        task.is_some_and(|task| group.is_some_and(|group| group.restart_policy != task.restart_policy))
    };
    if own(old_group, old) || own(new_group, new) {
        objects.push(object(
            "RestartPolicy",
            old.and_then(|t| t.restart_policy.as_ref()),
            new.and_then(|t| t.restart_policy.as_ref()),
            &[],
        ));
    }
    objects.services(old.map(|task| task.services.as_slice()), new.map(|task| task.services.as_slice()));
    let changed = !fields.is_empty() || !objects.0.is_empty();
    TaskDiff {
        kind: kind_of(old.is_some(), new.is_some(), changed),
        name: name.to_owned(),
        fields,
        objects: objects.0,
        annotations: Vec::new(),
    }
}

/// Whether a block's differences are worth telling.
fn told(diff: ObjectDiff) -> Option<ObjectDiff> {
    (diff.kind != NONE).then_some(diff)
}
