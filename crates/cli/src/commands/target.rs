//! The allocation that a command is for, and the task of it.

use longshore_api::Allocation;

use crate::client::Client;
use crate::commands::Context;
use crate::failure::Failure;
use crate::resolve::one_allocation;

pub(super) struct Target {
    pub(super) alloc: Allocation,
    /// For the namespace of the allocation.
    pub(super) client: Client,
    /// `None`: all of them.
    pub(super) task: Option<String>,
}

/// Reads `<allocation> [<task>]` and `-task`.
///
/// # Errors
/// Other arguments, no such allocation, no such task in it.
pub(super) async fn of(context: &Context) -> Result<Target, Failure> {
    let (prefix, task) = match context.given.arguments.as_slice() {
        [prefix] => (prefix.clone(), None),
        [prefix, task] => (prefix.clone(), Some(task.clone())),
        _ => return Err(Failure::usage("This command takes up to two arguments: <alloc-id> <task>")),
    };
    let task = context.given.text("task").filter(|task| !task.is_empty()).map(str::to_owned).or(task);
    let alloc = one_allocation(&context.client, &context.view(), &prefix).await?;
    if let Some(task) = &task {
        must_have(&alloc, task)?;
    }
    let client = context.client.in_namespace(&alloc.namespace);
    Ok(Target { alloc, client, task })
}

/// The names of the tasks of an allocation's group, in the job's order.
pub(super) fn tasks(alloc: &Allocation) -> Vec<&str> {
    let groups = alloc.job.as_ref().map_or(&[][..], |job| job.task_groups.as_slice());
    let group = groups.iter().find(|group| group.name.as_deref() == Some(&alloc.task_group));
    group.map_or_else(Vec::new, |group| group.tasks.iter().map(|task| task.name.as_str()).collect())
}

/// # Errors
/// When the allocation has no task of that name.
pub(super) fn must_have(alloc: &Allocation, task: &str) -> Result<(), Failure> {
    let found = tasks(alloc);
    if found.contains(&task) {
        return Ok(());
    }
    Err(Failure::told(format!("Could not find task named: {task}, found:\n{}", found.join("\n"))))
}
