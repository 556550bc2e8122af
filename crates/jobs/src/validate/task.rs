use longshore_api::{Resources, Task, TaskGroup};
use longshore_values::GoDuration;
use serde_json::Value;

use super::{Faults, access, files, launch, placement, policies, storage};
use crate::fault::Fault;

const CPU_MIN: i64 = 1;
/// With what log files and containers add to it, a name must stay a name of a file.
const NAME_BYTES_MAX: usize = 200;
const MEMORY_MB_MIN: i64 = 10;
/// Amounts of a node never come near this; sums of such amounts must not overflow.
pub(super) const AMOUNT_MAX: i64 = 1 << 40;
/// A job is written into entries and snapshots, a few levels further in; their reader stops at 128.
const CONFIG_LEVELS_MAX: usize = 64;

pub(super) fn task(group: &TaskGroup, task: &Task) -> Vec<Fault> {
    let mut faults = Faults::default();
    faults.when(task.name.is_empty(), || "Missing task name".to_owned());
    faults.when(task.name.contains(['/', '\\']), || "Task name cannot include slashes".to_owned());
    faults.when(task.name.contains('\0'), || "Task name cannot include null characters".to_owned());
    faults.when(matches!(task.name.as_str(), "." | ".."), || "Task name cannot be a relative path".to_owned());
    // Its folder stands beside `alloc`, and its log files carry its name.
    faults.when(task.name == "alloc", || "Task name cannot be \"alloc\"".to_owned());
    faults.when(task.name.len() > NAME_BYTES_MAX, || format!("Task name is longer than {NAME_BYTES_MAX} bytes"));
    faults.at("driver", task.driver.is_empty(), || "Missing task driver".to_owned());
    for (key, value) in &task.env {
        faults.at(&format!("env → {key}"), key.is_empty() || key.contains(['=', '\0']), || {
            format!("env: {key:?} cannot name a variable of the environment")
        });
        faults.at(&format!("env → {key}"), value.contains('\0'), || {
            format!("env: the value of {key:?} contains a null character")
        });
    }
    faults.at("config", task.config.values().any(|value| levels(value) > CONFIG_LEVELS_MAX), || {
        format!("config is nested more than {CONFIG_LEVELS_MAX} levels deep")
    });
    let kill_timeout = task.kill_timeout.unwrap_or_default();
    faults.at("kill_timeout", kill_timeout.is_negative(), || "KillTimeout must be a positive value".to_owned());
    let progress = group.update.as_ref().and_then(|update| update.progress_deadline).unwrap_or_default();
    faults.at("kill_timeout", !progress.is_zero() && kill_timeout > progress, || {
        format!("KillTimout ({kill_timeout}) longer than the group's ProgressDeadline ({progress})")
    });
    faults.at("shutdown_delay", task.shutdown_delay < GoDuration::ZERO, || {
        "ShutdownDelay must be a positive value".to_owned()
    });
    match &task.resources {
        Some(asked) => {
            let inner = Fault::nested("", resources(asked));
            faults.nested("resources", "", inner.into_iter().collect());
        }
        None => faults.at("resources", true, || "Missing task resources".to_owned()),
    }
    logs(group, task, &mut faults);
    let cron = task.schedule.as_ref().and_then(|schedule| schedule.cron.as_ref());
    if let Some(cron) = cron.filter(|cron| !cron.timezone.is_empty()) {
        faults.within("schedule → cron → timezone", launch::time_zone(&cron.timezone));
    }
    let own = task.restart_policy.as_ref().filter(|own| group.restart_policy.as_ref() != Some(own));
    if let Some(restart) = own {
        faults.nested("restart", "", policies::restart(restart));
    }
    faults.0.extend(placement::constraints(&task.constraints));
    for (at, constraint) in task.constraints.iter().enumerate() {
        faults.at(
            &format!("constraint[{at}] → operator"),
            matches!(constraint.operand.as_str(), "distinct_hosts" | "distinct_property"),
            || format!("Constraint {} has disallowed Operand at task level: {}", at + 1, constraint.operand),
        );
    }
    faults.0.extend(placement::affinities(&task.affinities));
    faults.0.extend(files::of_task(task));
    faults.0.extend(storage::mounts(group, task));
    if let Some(vault) = &task.vault {
        faults.nested("vault", "Vault validation failed: ", access::vault(vault));
    }
    for scaling in &task.scaling_policies {
        faults.nested("scaling", "Scaling policy invalid: ", access::bounds(scaling));
    }
    if let Some(lifecycle) = &task.lifecycle {
        match lifecycle.hook.as_str() {
            "prestart" | "poststart" | "poststop" => {}
            "" => faults.at("lifecycle → hook", true, || "no lifecycle hook provided".to_owned()),
            other => faults.at("lifecycle → hook", true, || format!("invalid hook: {other}")),
        }
    }
    faults.0
}

/// How many lists and objects lie within each other.
fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

fn resources(asked: &Resources) -> Vec<Fault> {
    let mut faults = Faults::default();
    let (cpu, cores) = (asked.cpu.unwrap_or(0), asked.cores.unwrap_or(0));
    let (memory, ceiling) = (asked.memory_mb.unwrap_or(0), asked.memory_max_mb.unwrap_or(0));
    faults.at("cores", cores < 0, || format!("cores can't be negative; got {cores}"));
    faults
        .at("cores", cores > 0 && cpu > 0, || "Task can only ask for 'cpu' or 'cores' resource, not both.".to_owned());
    faults.at("cpu", cores <= 0 && cpu < CPU_MIN, || format!("minimum CPU value is {CPU_MIN}; got {cpu}"));
    faults.at("memory", memory < MEMORY_MB_MIN, || format!("minimum MemoryMB value is {MEMORY_MB_MIN}; got {memory}"));
    faults.at("memory_max", ceiling != 0 && ceiling < memory, || {
        format!("MemoryMaxMB value ({ceiling}) should be larger than MemoryMB value ({memory})")
    });
    faults.0.extend(access::devices(&asked.devices));
    let largest = cpu.max(memory).max(ceiling);
    faults.when(largest > AMOUNT_MAX, || format!("an amount of {largest} is more than any node has"));
    faults.when(asked.disk_mb.unwrap_or(0) != 0, || {
        "Task can't ask for disk resources, they have to be specified at the task group level.".to_owned()
    });
    faults.0
}

fn logs(group: &TaskGroup, task: &Task, faults: &mut Faults) {
    let Some(config) = &task.log_config else { return };
    let (files, size) = (config.max_files.unwrap_or(0), config.max_file_size_mb.unwrap_or(0));
    let mut of_logs = Faults::default();
    of_logs.at("max_files", files < 1, || format!("minimum number of files is 1; got {files}"));
    of_logs.at("max_file_size", size < 1, || format!("minimum file size is 1MB; got {size}"));
    let sound = of_logs.0.is_empty();
    faults.nested("logs", "", of_logs.0);
    let disk = group.ephemeral_disk.as_ref().and_then(|disk| disk.size_mb).unwrap_or(0);
    let stored = files.saturating_mul(size);
    faults.at("logs", sound && stored >= disk, || {
        format!("log storage ({stored} MB) must be less than requested disk capacity ({disk} MB)")
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Defaults fill resources in; what comes without them is refused all the same.
    #[test]
    fn a_task_needs_resources() {
        let bare = Task { name: "t".to_owned(), driver: "exec".to_owned(), ..Task::default() };
        let told: Vec<String> = task(&TaskGroup::default(), &bare).iter().map(ToString::to_string).collect();
        assert!(told.iter().any(|fault| fault.contains("Missing task resources")), "{told:?}");
    }
}
