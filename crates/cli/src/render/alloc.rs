use std::collections::BTreeMap;

use longshore_api::{
    AllocListStub, AllocResourceUsage, Allocation, Node, ResourceUsage, TaskGroup, TaskLifecycle, TaskState,
};
use longshore_values::GoDuration;

use crate::render::{blocks, metric, usage};
use crate::table::{pairs, table, table_with_blanks};
use crate::view::{View, mebibytes};

/// The table of allocations.
pub(crate) fn list(view: &View, allocs: &[AllocListStub]) -> String {
    if allocs.is_empty() {
        return "No allocations placed".to_owned();
    }
    let mut rows = vec![head(view)];
    for alloc in allocs {
        rows.push(row(view, alloc));
    }
    table(&rows)
}

fn head(view: &View) -> Vec<String> {
    let names: &[&str] = if view.verbose {
        &["ID", "Eval ID", "Node ID", "Node Name", "Task Group", "Version", "Desired", "Status", "Created", "Modified"]
    } else {
        &["ID", "Node ID", "Task Group", "Version", "Desired", "Status", "Created", "Modified"]
    };
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn row(view: &View, alloc: &AllocListStub) -> Vec<String> {
    let mut row = vec![view.id(&alloc.id).to_owned()];
    if view.verbose {
        row.push(alloc.eval_id.clone());
    }
    row.push(view.id(&alloc.node_id).to_owned());
    if view.verbose {
        row.push(alloc.node_name.clone());
    }
    row.extend([
        alloc.task_group.clone(),
        alloc.job_version.to_string(),
        alloc.desired_status.clone(),
        alloc.client_status.clone(),
        view.ago(alloc.create_time),
        view.ago(alloc.modify_time),
    ]);
    row
}

/// One allocation in full. `node` is known when it could be asked for.
#[cfg(test)]
pub(crate) fn status(view: &View, alloc: &Allocation, node: Option<&Node>, reschedule_at: Option<i64>) -> String {
    measured_status(view, alloc, node, reschedule_at, None)
}

/// One allocation in full, with what its tasks use when that was asked for.
pub(crate) fn measured_status(
    view: &View,
    alloc: &Allocation,
    node: Option<&Node>,
    reschedule_at: Option<i64>,
    used: Option<&AllocResourceUsage>,
) -> String {
    let mut parts = vec![pairs(&facts(view, alloc, reschedule_at)), addresses(view, alloc)];
    if node.is_some_and(|node| node.status == "down") {
        parts.push("Omitting resource statistics since the node is down.".to_owned());
    }
    let lifecycles = lifecycles(alloc);
    for name in in_order(&alloc.task_states, &lifecycles) {
        if let Some(state) = alloc.task_states.get(name) {
            let used = usage::of_task(used, name);
            parts.push(task(view, alloc, name, state, lifecycles.get(name), used));
        }
    }
    if let (true, Some(metrics)) = (view.verbose, &alloc.metrics) {
        parts.push(format!("{}\n{}", view.bold("Placement Metrics"), metric::scores(view, metrics)));
    }
    blocks(&parts)
}

/// One allocation in short.
pub(crate) fn short(view: &View, alloc: &Allocation) -> String {
    let facts = pairs(&[
        ("ID", alloc.id.clone()),
        ("Name", alloc.name.clone()),
        ("Created", view.ago(alloc.create_time)),
        ("Modified", view.ago(alloc.modify_time)),
    ]);
    let lifecycles = lifecycles(alloc);
    let mut rows = vec![["Name", "State", "Last Event", "Time", "Lifecycle"].map(str::to_owned).to_vec()];
    for name in in_order(&alloc.task_states, &lifecycles) {
        let Some(state) = alloc.task_states.get(name) else { continue };
        let last = state.events.last();
        rows.push(vec![
            name.to_owned(),
            state.state.clone(),
            last.map_or_else(|| "<none>".to_owned(), |event| event.kind.clone()),
            last.map_or_else(|| "<none>".to_owned(), |event| view.time(event.time)),
            lifecycles.get(name).map_or_else(|| "main".to_owned(), lifecycle_words),
        ]);
    }
    blocks(&[facts, format!("{}\n{}", view.bold("Tasks"), table(&rows))])
}

fn facts(view: &View, alloc: &Allocation, reschedule_at: Option<i64>) -> Vec<(&'static str, String)> {
    let version = alloc.job.as_ref().and_then(|job| job.version).unwrap_or(0);
    let mut rows = vec![
        ("ID", alloc.id.clone()),
        ("Eval ID", view.id(&alloc.eval_id).to_owned()),
        ("Name", alloc.name.clone()),
        ("Node ID", view.id(&alloc.node_id).to_owned()),
        ("Node Name", alloc.node_name.clone()),
        ("Job ID", alloc.job_id.clone()),
        ("Job Version", version.to_string()),
        ("Client Status", alloc.client_status.clone()),
        ("Client Description", alloc.client_description.clone()),
        ("Desired Status", alloc.desired_status.clone()),
        ("Desired Description", alloc.desired_description.clone()),
        ("Created", view.ago(alloc.create_time)),
        ("Modified", view.ago(alloc.modify_time)),
    ];
    if !alloc.deployment_id.is_empty() {
        let health = match alloc.deployment_status.as_ref().and_then(|status| status.healthy) {
            None => "unset",
            Some(true) => "healthy",
            Some(false) => "unhealthy",
        };
        rows.push(("Deployment ID", view.id(&alloc.deployment_id).to_owned()));
        rows.push(("Deployment Health", health.to_owned()));
        if alloc.deployment_status.as_ref().is_some_and(|status| status.canary) {
            rows.push(("Canary", "true".to_owned()));
        }
    }
    if let Some(attempts) = reschedule_attempts(view, alloc) {
        rows.push(("Reschedule Attempts", attempts));
    }
    if !alloc.next_allocation.is_empty() {
        rows.push(("Replacement Alloc ID", view.id(&alloc.next_allocation).to_owned()));
    }
    if let Some(at) = reschedule_at {
        rows.push(("Reschedule Eligibility", view.relative(at)));
    }
    if let (true, Some(metrics)) = (view.verbose, &alloc.metrics) {
        rows.push(("Evaluated Nodes", metrics.nodes_evaluated.to_string()));
        rows.push(("Filtered Nodes", metrics.nodes_filtered.to_string()));
        rows.push(("Exhausted Nodes", metrics.nodes_exhausted.to_string()));
        rows.push(("Allocation Time", metrics.allocation_time.to_string()));
        rows.push(("Failures", metrics.coalesced_failures.to_string()));
    }
    rows
}

/// `1/2`: failures within the policy's interval, of how many are allowed; nothing for an allocation that never failed.
fn reschedule_attempts(view: &View, alloc: &Allocation) -> Option<String> {
    let events = &alloc.reschedule_tracker.as_ref().filter(|tracker| !tracker.events.is_empty())?.events;
    let policy = group(alloc)?.reschedule_policy.as_ref()?;
    if policy.unlimited == Some(true) {
        return None;
    }
    let allowed = policy.attempts.unwrap_or(0);
    let interval = policy.interval.unwrap_or(GoDuration::ZERO).as_nanoseconds();
    let since = view.now.saturating_sub(interval);
    let used = events.iter().filter(|event| event.reschedule_time > since).count();
    Some(format!("{used}/{allowed}"))
}

fn group(alloc: &Allocation) -> Option<&TaskGroup> {
    alloc.job.as_ref()?.task_groups.iter().find(|group| group.name.as_deref() == Some(alloc.task_group.as_str()))
}

fn lifecycles(alloc: &Allocation) -> BTreeMap<String, TaskLifecycle> {
    let tasks = group(alloc).map_or(&[][..], |group| group.tasks.as_slice());
    tasks.iter().filter_map(|task| Some((task.name.clone(), task.lifecycle.clone()?))).collect()
}

/// What runs beside the main tasks first, by name; then sidecars; then the main tasks.
fn in_order<'a>(states: &'a BTreeMap<String, TaskState>, lifecycles: &BTreeMap<String, TaskLifecycle>) -> Vec<&'a str> {
    let rank = |name: &str| match lifecycles.get(name) {
        Some(lifecycle) if !is_sidecar(lifecycle) => 0,
        Some(_) => 1,
        None => 2,
    };
    let mut names: Vec<&str> = states.keys().map(String::as_str).collect();
    names.sort_by_key(|name| (rank(name), *name));
    names
}

fn is_sidecar(lifecycle: &TaskLifecycle) -> bool {
    lifecycle.sidecar
}

fn lifecycle_words(lifecycle: &TaskLifecycle) -> String {
    let hook = lifecycle.hook.as_str();
    if is_sidecar(lifecycle) { format!("{hook} sidecar") } else { hook.to_owned() }
}

fn addresses(view: &View, alloc: &Allocation) -> String {
    let Some(shared) = alloc.allocated_resources.as_ref().map(|resources| &resources.shared) else {
        return String::new();
    };
    if shared.ports.is_empty() {
        return String::new();
    }
    let mut rows = vec![["Label", "Dynamic", "Address"].map(str::to_owned).to_vec()];
    for port in &shared.ports {
        let inside = if port.to > 0 { format!(" -> {}", port.to) } else { String::new() };
        let address = format!("{}:{}{inside}", port.host_ip, port.value);
        rows.push(vec![format!("*{}", port.label), "yes".to_owned(), address]);
    }
    let mode = shared.networks.first().map_or("", |network| network.mode.as_str());
    let mode = if mode.is_empty() { String::new() } else { format!(" (mode = {mode:?})") };
    let title = format!("Allocation Addresses{mode}:");
    format!("{}\n{}", view.bold(&title), table(&rows))
}

fn task(
    view: &View,
    alloc: &Allocation,
    name: &str,
    state: &TaskState,
    lifecycle: Option<&TaskLifecycle>,
    used: Option<&ResourceUsage>,
) -> String {
    let lifecycle = lifecycle.map_or(String::new(), |lifecycle| format!(" ({})", lifecycle_words(lifecycle)));
    let head = view.bold(&format!("Task {name:?}{lifecycle} is {:?}", state.state));
    let resources = resources(alloc, name, used);
    let mut parts = vec![format!("{head}\n{resources}").trim_end_matches('\n').to_owned()];
    parts.extend(used.map(usage::tables).unwrap_or_default());
    parts.extend([volumes(alloc, name), events(view, state)]);
    blocks(&parts)
}

fn resources(alloc: &Allocation, name: &str, used: Option<&ResourceUsage>) -> String {
    let Some(given) = alloc.allocated_resources.as_ref().and_then(|resources| resources.tasks.get(name)) else {
        return String::new();
    };
    let disk = alloc.allocated_resources.as_ref().map_or(0, |resources| resources.shared.disk_mb);
    let cores = given.cpu.reserved_cores.len();
    let cpu = if cores > 0 { format!("CPU ({cores} cores)") } else { "CPU".to_owned() };
    let mut rows = vec![
        vec![cpu, "Memory".to_owned(), "Disk".to_owned(), "Addresses".to_owned()],
        vec![
            usage::cpu(used, given.cpu.cpu_shares),
            usage::memory(used, mebibytes(given.memory.memory_mb)),
            mebibytes(disk),
            task_addresses(alloc, name).first().cloned().unwrap_or_default(),
        ],
    ];
    let max = given.memory.memory_max_mb;
    if max > 0 && max != given.memory.memory_mb {
        rows.push(vec![String::new(), format!("Max: {}", mebibytes(max)), String::new(), String::new()]);
    }
    for address in task_addresses(alloc, name).into_iter().skip(1) {
        rows.push(vec![String::new(), String::new(), String::new(), address]);
    }
    format!("Task Resources:\n{}", table_with_blanks(&rows))
}

/// Ports of a task's own network, the deprecated place for them.
fn task_addresses(alloc: &Allocation, name: &str) -> Vec<String> {
    let networks = alloc
        .allocated_resources
        .as_ref()
        .and_then(|resources| resources.tasks.get(name))
        .map_or(&[][..], |given| given.networks.as_slice());
    networks
        .iter()
        .flat_map(|network| {
            let ports = network.dynamic_ports.iter().chain(&network.reserved_ports);
            ports.map(|port| format!("{}: {}:{}", port.label, network.ip, port.value))
        })
        .collect()
}

/// Host volumes that the task mounts.
fn volumes(alloc: &Allocation, name: &str) -> String {
    let Some(group) = group(alloc) else { return String::new() };
    let Some(task) = group.tasks.iter().find(|task| task.name == name) else { return String::new() };
    let mut rows = vec![vec!["ID".to_owned(), "Read Only".to_owned()]];
    for mount in &task.volume_mounts {
        let Some(request) = mount.volume.as_ref().and_then(|volume| group.volumes.get(volume)) else { continue };
        if request.kind == "host" {
            rows.push(vec![request.name.clone(), request.read_only.to_string()]);
        }
    }
    if rows.len() == 1 { String::new() } else { format!("Host Volumes:\n{}", table(&rows)) }
}

fn events(view: &View, state: &TaskState) -> String {
    let time = |ns: i64| if ns == 0 { "N/A".to_owned() } else { view.time(ns) };
    let facts = pairs(&[
        ("Started At", time(state.started_at.as_nanoseconds())),
        ("Finished At", time(state.finished_at.as_nanoseconds())),
        ("Total Restarts", state.restarts.to_string()),
        ("Last Restart", time(state.last_restart.as_nanoseconds())),
    ]);
    let mut rows = vec![["Time", "Type", "Description"].map(str::to_owned).to_vec()];
    for event in state.events.iter().rev() {
        rows.push(vec![view.time(event.time), event.kind.clone(), event.display_message.clone()]);
    }
    blocks(&[format!("Task Events:\n{facts}"), format!("Recent Events:\n{}", table(&rows))])
}
