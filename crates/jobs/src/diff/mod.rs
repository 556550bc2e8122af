//! What is different between two completed versions of a job, as `job plan` shows it.
//!
//! 1. Every value of a job is told when it differs, but for tokens, payloads and what servers fill in.
//! 2. Fields stand in the order of their names. A part that is new or gone has all its fields; within a changed block
//!    the unchanged fields stand beside the changed ones.
//! 3. Blocks with a name of their own (a service, a template's destination, a device) are compared field by field;
//!    those without one (a constraint, a network, a port) come and go whole, and their order says nothing.

mod compare;
mod parts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use longshore_api::{Job, JobDiff, TaskDiff, TaskGroupDiff};
use serde_json::{Map, Value};

use compare::{Block, Context, NONE, fields, kind_of, objects, of_each};

/// The differences from `old` to `new`; all of `new` is added when there is no old one.
pub fn diff(old: Option<&Job>, new: &Job) -> JobDiff {
    let id = new.id.clone().unwrap_or_default();
    let (old, new) = (old.map(written), written(new));
    let (old, new) = (old.as_ref(), Some(&new));
    let fields = fields(&parts::JOB, old, new, Context::OnlyChanged);
    let objects = objects(&parts::JOB, old, new);
    let groups = of_each(&inner(old, "TaskGroups"), &inner(new, "TaskGroups"), name_of);
    let task_groups: Vec<_> = groups.into_iter().map(|(name, old, new)| group_diff(name, old, new)).collect();
    let changed = !fields.is_empty() || !objects.is_empty() || task_groups.iter().any(|group| group.kind != NONE);
    JobDiff { kind: kind_of(old.is_some(), true, changed).to_owned(), id, fields, objects, task_groups }
}

/// A job as the API writes it.
fn written(job: &Job) -> Map<String, Value> {
    match serde_json::to_value(job) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}

/// The blocks of a list within a block.
fn inner<'a>(block: Block<'a>, key: &str) -> Vec<&'a Map<String, Value>> {
    let list = block.and_then(|members| members.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object).collect()
}

fn name_of(block: &Map<String, Value>) -> String {
    block.get("Name").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn group_diff(name: String, old: Block<'_>, new: Block<'_>) -> TaskGroupDiff {
    let fields = fields(&parts::GROUP, old, new, Context::OnlyChanged);
    let objects = objects(&parts::GROUP, old, new);
    let tasks = of_each(&inner(old, "Tasks"), &inner(new, "Tasks"), name_of);
    let tasks: Vec<_> =
        tasks.into_iter().map(|(name, old_task, new_task)| task_diff(name, (old, old_task), (new, new_task))).collect();
    let changed = !fields.is_empty() || !objects.is_empty() || tasks.iter().any(|task| task.kind != NONE);
    let kind = kind_of(old.is_some(), new.is_some(), changed).to_owned();
    TaskGroupDiff { kind, name, fields, objects, tasks, updates: BTreeMap::new() }
}

type OfGroup<'a> = (Block<'a>, Block<'a>);

fn task_diff(name: String, (old_group, old): OfGroup<'_>, (new_group, new): OfGroup<'_>) -> TaskDiff {
    let fields = fields(&parts::TASK, old, new, Context::OnlyChanged);
    let mut objects = objects(&parts::TASK, old, new);
    // A task's restart policy is its group's unless it says otherwise.
    let own = |group: Block<'_>, task: Block<'_>| {
        let policy = |block: Block<'_>| block.and_then(|members| members.get("RestartPolicy")).cloned();
        task.is_some() && policy(group) != policy(task)
    };
    if !own(old_group, old) && !own(new_group, new) {
        objects.retain(|object| object.name != "RestartPolicy");
    }
    let changed = !fields.is_empty() || !objects.is_empty();
    let kind = kind_of(old.is_some(), new.is_some(), changed).to_owned();
    TaskDiff { kind, name, fields, objects, annotations: Vec::new() }
}
