use longshore_api::{AllocListStub, Allocation, HostDiskStats, HostStats, Node, NodeListStub};

use crate::render::{alloc, blocks};
use crate::table::{pairs, table};
use crate::view::{View, bytes, mebibytes};

/// What the list of nodes shows beside what it always does.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ListOptions {
    /// `-os`.
    pub(crate) os: bool,
}

/// The list of nodes; `running` holds how many allocations run on each when that was asked for.
pub(crate) fn list(view: &View, nodes: &[NodeListStub], options: ListOptions, running: Option<&[usize]>) -> String {
    let shown =
        [true, true, true, true, true, options.os, view.verbose, view.verbose, true, true, true, running.is_some()];
    let columns = |row: [String; 12]| {
        row.into_iter().zip(shown).filter(|(_, shown)| *shown).map(|(cell, _)| cell).collect::<Vec<_>>()
    };
    let head = [
        "ID",
        "Node Pool",
        "DC",
        "Name",
        "Class",
        "OS",
        "Address",
        "Version",
        "Drain",
        "Eligibility",
        "Status",
        "Running Allocs",
    ];
    let mut rows = vec![columns(head.map(str::to_owned))];
    for (at, node) in nodes.iter().enumerate() {
        rows.push(columns([
            view.id(&node.id).to_owned(),
            node.node_pool.clone(),
            node.datacenter.clone(),
            node.name.clone(),
            node.node_class.clone(),
            node.attributes.get("os.name").cloned().unwrap_or_default(),
            node.address.clone(),
            node.version.clone(),
            node.drain.to_string(),
            node.scheduling_eligibility.clone(),
            node.status.clone(),
            running.and_then(|counts| counts.get(at)).map_or_else(String::new, usize::to_string),
        ]));
    }
    table(&rows)
}

/// Nodes that a prefix stands for.
pub(crate) fn matches(view: &View, nodes: &[NodeListStub]) -> String {
    let mut rows = vec![["ID", "DC", "Name", "Class", "Drain", "Eligibility", "Status"].map(str::to_owned).to_vec()];
    for node in nodes {
        rows.push(vec![
            view.id(&node.id).to_owned(),
            node.datacenter.clone(),
            node.name.clone(),
            node.node_class.clone(),
            node.drain.to_string(),
            node.scheduling_eligibility.clone(),
            node.status.clone(),
        ]);
    }
    table(&rows)
}

/// One node with what is asked for about it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Detail {
    pub(crate) node: Node,
    /// `None` when the node's agent could not be asked.
    pub(crate) stats: Option<HostStats>,
    pub(crate) allocs: Vec<Allocation>,
    /// The same, for the table.
    pub(crate) stubs: Vec<AllocListStub>,
    /// `-short`.
    pub(crate) short: bool,
    /// `-stats`.
    pub(crate) show_stats: bool,
}

/// One node in full.
pub(crate) fn status(view: &View, detail: &Detail) -> String {
    let node = &detail.node;
    let mut parts = vec![facts(view, detail)];
    if !detail.short {
        if view.verbose {
            parts.extend([host_volumes(view, node), host_networks(view, node), drivers(view, node)]);
        }
        parts.push(events(view, node));
        parts.push(allocated(view, detail));
        if let Some(stats) = &detail.stats {
            parts.push(host_use(view, node, stats));
            if detail.show_stats {
                parts.extend([cpu_stats(view, stats), memory_stats(view, stats), disk_stats(view, stats)]);
            }
        }
    }
    parts.push(format!("{}\n{}", view.bold("Allocations"), alloc::list(view, &detail.stubs)));
    if view.verbose && !detail.short {
        parts.push(map(view, "Attributes", &node.attributes));
        parts.push(map(view, "Meta", &node.meta));
    }
    blocks(&parts)
}

fn facts(view: &View, detail: &Detail) -> String {
    let node = &detail.node;
    let names = |names: Vec<&String>| names.into_iter().cloned().collect::<Vec<_>>().join(",");
    let mut rows = vec![
        ("ID", node.id.clone()),
        ("Name", node.name.clone()),
        ("Node Pool", node.node_pool.clone()),
        ("Class", node.node_class.clone()),
        ("DC", node.datacenter.clone()),
        ("Drain", drain(view, node)),
        ("Eligibility", node.scheduling_eligibility.clone()),
        ("Status", node.status.clone()),
        ("CSI Controllers", names(node.csi_controller_plugins.keys().collect())),
        ("CSI Drivers", names(node.csi_node_plugins.keys().collect())),
    ];
    if let (false, Some(stats)) = (detail.short, &detail.stats) {
        let seconds = i64::try_from(stats.uptime).unwrap_or(i64::MAX);
        rows.push(("Uptime", longshore_values::GoDuration::seconds(seconds).to_string()));
    }
    if !view.verbose || detail.short {
        rows.push(("Host Volumes", names(node.host_volumes.keys().collect())));
        rows.push(("Host Networks", names(node.host_networks.keys().collect())));
        rows.push(("CSI Volumes", String::new()));
        rows.push((if detail.short { "Drivers" } else { "Driver Status" }, driver_words(node, detail.short)));
    }
    pairs(&rows)
}

fn driver_words(node: &Node, short: bool) -> String {
    let drivers = node.drivers.iter().filter(|(_, driver)| driver.detected);
    let words = drivers.filter(|(_, driver)| driver.healthy || !short).map(|(name, driver)| match driver.healthy {
        true => name.clone(),
        false => format!("{name} (unhealthy)"),
    });
    words.collect::<Vec<_>>().join(",")
}

fn drain(view: &View, node: &Node) -> String {
    let Some(strategy) = &node.drain_strategy else { return "false".to_owned() };
    let deadline = if strategy.deadline.is_negative() {
        "force drain".to_owned()
    } else if strategy.force_deadline.is_zero() {
        "no deadline".to_owned()
    } else {
        format!("{} deadline", view.time(strategy.force_deadline.as_nanoseconds()))
    };
    let system = if strategy.ignore_system_jobs { "; ignoring system jobs" } else { "" };
    format!("true; {deadline}{system}")
}

fn host_volumes(view: &View, node: &Node) -> String {
    if node.host_volumes.is_empty() {
        return String::new();
    }
    let mut rows = vec![["Name", "ReadOnly", "Source"].map(str::to_owned).to_vec()];
    for (name, volume) in &node.host_volumes {
        rows.push(vec![name.clone(), volume.read_only.to_string(), volume.path.clone()]);
    }
    format!("{}\n{}", view.bold("Host Volumes"), table(&rows))
}

fn host_networks(view: &View, node: &Node) -> String {
    if node.host_networks.is_empty() {
        return String::new();
    }
    let mut rows = vec![["Name", "CIDR", "Interface", "ReservedPorts"].map(str::to_owned).to_vec()];
    for (name, network) in &node.host_networks {
        rows.push(vec![name.clone(), network.cidr.clone(), network.interface.clone(), network.reserved_ports.clone()]);
    }
    format!("{}\n{}", view.bold("Host Networks"), table(&rows))
}

fn drivers(view: &View, node: &Node) -> String {
    let mut rows = vec![["Driver", "Detected", "Healthy", "Message", "Time"].map(str::to_owned).to_vec()];
    for (name, driver) in &node.drivers {
        rows.push(vec![
            name.clone(),
            driver.detected.to_string(),
            driver.healthy.to_string(),
            driver.health_description.clone(),
            view.time(driver.update_time.as_nanoseconds()),
        ]);
    }
    format!("{}\n{}", view.bold("Drivers"), table(&rows))
}

fn events(view: &View, node: &Node) -> String {
    let mut head = ["Time", "Subsystem", "Message"].map(str::to_owned).to_vec();
    if view.verbose {
        head.push("Details".to_owned());
    }
    let mut rows = vec![head];
    for event in node.events.iter().rev() {
        let subsystem = match event.details.get("driver") {
            Some(driver) => format!("Driver: {driver}"),
            None => event.subsystem.clone(),
        };
        let mut row = vec![view.time(event.timestamp.as_nanoseconds()), subsystem, event.message.clone()];
        if view.verbose {
            let details: Vec<String> = event.details.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            row.push(details.join(", "));
        }
        rows.push(row);
    }
    format!("{}\n{}", view.bold("Node Events"), table(&rows))
}

/// What tasks on the node were given, of what it has for them.
fn allocated(view: &View, detail: &Detail) -> String {
    let node = &detail.node;
    let live = detail.allocs.iter().filter(|alloc| matches!(alloc.client_status.as_str(), "pending" | "running"));
    let (mut cpu, mut memory, mut disk) = (0, 0, 0);
    for resources in live.filter_map(|alloc| alloc.allocated_resources.as_ref()) {
        disk += resources.shared.disk_mb;
        cpu += resources.tasks.values().map(|task| task.cpu.cpu_shares).sum::<i64>();
        memory += resources.tasks.values().map(|task| task.memory.memory_mb).sum::<i64>();
    }
    let total = node.node_resources.clone().unwrap_or_default();
    let reserved = node.reserved_resources.clone().unwrap_or_default();
    let row = vec![
        format!("{cpu}/{} MHz", total.cpu.cpu_shares - reserved.cpu.cpu_shares),
        format!("{}/{}", mebibytes(memory), mebibytes(total.memory.memory_mb - reserved.memory.memory_mb)),
        format!("{}/{}", mebibytes(disk), mebibytes(total.disk.disk_mb - reserved.disk.disk_mb)),
    ];
    let rows = [["CPU", "Memory", "Disk"].map(str::to_owned).to_vec(), row];
    format!("{}\n{}", view.bold("Allocated Resources"), table(&rows))
}

fn host_use(view: &View, node: &Node, stats: &HostStats) -> String {
    let memory = stats.memory.clone().unwrap_or_default();
    let total = node.node_resources.as_ref().map_or(0, |resources| resources.cpu.cpu_shares);
    let disk = root_disk(node, stats);
    let row = vec![
        format!("{:.0}/{total} MHz", stats.cpu_ticks_consumed.floor()),
        format!("{}/{}", bytes(memory.used), bytes(memory.total)),
        disk.map_or_else(String::new, |disk| format!("{}/{}", bytes(disk.used), bytes(disk.size))),
    ];
    let rows = [["CPU", "Memory", "Disk"].map(str::to_owned).to_vec(), row];
    format!("{}\n{}", view.bold("Host Resource Utilization"), table(&rows))
}

/// The disk that the node's storage attribute names, else the first.
fn root_disk<'a>(node: &Node, stats: &'a HostStats) -> Option<&'a HostDiskStats> {
    let volume = node.attributes.get("unique.storage.volume");
    stats.disk_stats.iter().find(|disk| Some(&disk.device) == volume).or(stats.disk_stats.first())
}

fn cpu_stats(view: &View, stats: &HostStats) -> String {
    let cpus = stats.cpu.iter().map(|cpu| {
        pairs(&[
            ("CPU", cpu.cpu.clone()),
            ("User", format!("{:.2}%", cpu.user)),
            ("System", format!("{:.2}%", cpu.system)),
            ("Idle", format!("{:.2}%", cpu.idle)),
        ])
    });
    format!("{}\n{}", view.bold("CPU Stats"), blocks(&cpus.collect::<Vec<_>>()))
}

fn memory_stats(view: &View, stats: &HostStats) -> String {
    let memory = stats.memory.clone().unwrap_or_default();
    let rows = pairs(&[
        ("Total", bytes(memory.total)),
        ("Available", bytes(memory.available)),
        ("Used", bytes(memory.used)),
        ("Free", bytes(memory.free)),
    ]);
    format!("{}\n{rows}", view.bold("Memory Stats"))
}

fn disk_stats(view: &View, stats: &HostStats) -> String {
    let disks = stats.disk_stats.iter().map(|disk| {
        pairs(&[
            ("Device", disk.device.clone()),
            ("MountPoint", disk.mountpoint.clone()),
            ("Size", bytes(disk.size)),
            ("Used", bytes(disk.used)),
            ("Available", bytes(disk.available)),
            ("Used Percent", format!("{:.2}%", disk.used_percent)),
            ("Inodes Percent", format!("{:.2}%", disk.inodes_used_percent)),
        ])
    });
    format!("{}\n{}", view.bold("Disk Stats"), blocks(&disks.collect::<Vec<_>>()))
}

fn map(view: &View, title: &str, map: &std::collections::BTreeMap<String, String>) -> String {
    if map.is_empty() {
        return String::new();
    }
    let rows: Vec<(&str, &String)> = map.iter().map(|(key, value)| (key.as_str(), value)).collect();
    format!("{}\n{}", view.bold(title), pairs(&rows))
}
