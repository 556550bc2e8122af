//! What a job may ask for and this version does not act on. Each is refused by the path to its block, in the form
//! `group "web" → task "server" → artifact`, so that whoever has the file can show the line.

use longshore_api::{Consul, Job, NetworkResource, Service, Task, TaskGroup};

use crate::fault::Fault;

struct Refusals {
    faults: Vec<Fault>,
}

impl Refusals {
    fn when(&mut self, asked: bool, path: &str, block: &str) {
        if asked {
            let path = if path.is_empty() { block.to_owned() } else { format!("{path} → {block}") };
            let hint = "this version of Longshore does not act on it, so the job is not accepted";
            let told = Fault::plain(format!("{path}: {hint}; remove it from the job"));
            self.faults.push(told.within(&path));
        }
    }

    fn because(&mut self, path: &str, block: &str, why: &str) {
        let path = if path.is_empty() { block.to_owned() } else { format!("{path} → {block}") };
        self.faults.push(Fault::plain(format!("{path}: {why}")).within(&path));
    }
}

/// Blocks and settings of a job with defaults filled in that this version does not act on.
pub(crate) fn refusals(job: &Job) -> Vec<Fault> {
    let mut refused = Refusals { faults: Vec::new() };
    if let Some(kind @ ("system" | "sysbatch")) = job.kind.as_deref() {
        refused.because("", "type", &format!("jobs of type {kind:?} are not run by this version of Longshore"));
    }
    refused.when(job.periodic.is_some(), "", "periodic");
    refused.when(job.parameterized_job.is_some(), "", "parameterized");
    refused.when(job.multiregion.is_some(), "", "multiregion");
    refused.when(job.ui.is_some(), "", "ui");
    for group in &job.task_groups {
        of_group(group, &mut refused);
    }
    refused.faults
}

fn of_group(group: &TaskGroup, refused: &mut Refusals) {
    let path = format!("group {:?}", group.name.as_deref().unwrap_or_default());
    if let Some(update) = &group.update {
        let update_path = format!("{path} → update");
        refused.when(update.canary.is_some_and(|canary| canary > 0), &update_path, "canary");
        refused.when(update.auto_promote == Some(true), &update_path, "auto_promote");
    }
    refused.when(group.scaling.is_some(), &path, "scaling");
    refused.when(group.consul.as_ref().is_some_and(asks_consul), &path, "consul");
    for name in group.volumes.keys() {
        refused.when(true, &path, &format!("volume {name:?}"));
    }
    refused.when(group.stop_after_client_disconnect.is_some(), &path, "stop_after_client_disconnect");
    refused.when(group.max_client_disconnect.is_some(), &path, "max_client_disconnect");
    refused.when(group.disconnect.is_some(), &path, "disconnect");
    refused.when(group.prevent_reschedule_on_lost == Some(true), &path, "prevent_reschedule_on_lost");
    refused.when(group.max_run_duration.is_some(), &path, "max_run_duration");
    if let Some(disk) = &group.ephemeral_disk {
        let disk_path = format!("{path} → ephemeral_disk");
        refused.when(disk.sticky == Some(true), &disk_path, "sticky");
        refused.when(disk.migrate == Some(true), &disk_path, "migrate");
    }
    for network in &group.networks {
        of_network(network, &format!("{path} → network"), refused);
    }
    for service in &group.services {
        of_service(service, &path, refused);
    }
    for task in &group.tasks {
        of_task(task, &format!("{path} → task {:?}", task.name), refused);
    }
}

fn asks_consul(consul: &Consul) -> bool {
    [&consul.namespace, &consul.cluster, &consul.partition].iter().any(|text| !text.is_empty())
}

fn of_network(network: &NetworkResource, path: &str, refused: &mut Refusals) {
    let mode = network.mode.as_str();
    if !matches!(mode, "" | "host" | "bridge" | "none") {
        let why = format!("network mode {mode:?} is not set up by this version of Longshore; \"bridge\" is");
        refused.because(path, "mode", &why);
    }
    if matches!(mode, "" | "host") && !network.hostname.is_empty() {
        refused.because(
            path,
            "hostname",
            "a group has a name of its own only in a network of mode \"bridge\" or \"none\"",
        );
    }
    refused.when(network.cni.is_some(), path, "cni");
    for port in network.reserved_ports.iter().chain(&network.dynamic_ports) {
        refused.when(port.ignore_collision, &format!("{path} → port {:?}", port.label), "ignore_collision");
    }
}

fn of_service(service: &Service, path: &str, refused: &mut Refusals) {
    let path = format!("{path} → service");
    refused.when(service.connect.is_some(), &path, "connect");
    refused.when(service.identity.is_some(), &path, "identity");
}

fn of_task(task: &Task, path: &str, refused: &mut Refusals) {
    for (asked, block) in [
        (!task.artifacts.is_empty(), "artifact"),
        (!task.templates.is_empty(), "template"),
        (task.vault.is_some(), "vault"),
        (!task.volume_mounts.is_empty(), "volume_mount"),
        (task.csi_plugin_config.is_some(), "csi_plugin"),
        (task.dispatch_payload.is_some(), "dispatch_payload"),
        (!task.scaling_policies.is_empty(), "scaling"),
        (task.identity.as_ref().is_some_and(|identity| identity.env || identity.file), "identity"),
        (!task.kind.is_empty(), "kind"),
        (!task.identities.is_empty(), "identity"),
        (task.schedule.is_some(), "schedule"),
        (task.consul.as_ref().is_some_and(asks_consul), "consul"),
    ] {
        refused.when(asked, path, block);
    }
    for action in &task.actions {
        refused.when(true, path, &format!("action {:?}", action.name));
    }
    for secret in &task.secrets {
        refused.when(true, path, &format!("secret {:?}", secret.name));
    }
    if let Some(resources) = &task.resources {
        let resources_path = format!("{path} → resources");
        refused.when(resources.cores.is_some_and(|cores| cores > 0), &resources_path, "cores");
        for device in &resources.devices {
            refused.when(true, &resources_path, &format!("device {:?}", device.name));
        }
        refused.when(!resources.networks.is_empty(), &resources_path, "network");
        let numa = resources.numa.as_ref();
        refused.when(numa.is_some_and(|numa| numa.affinity != "none"), &resources_path, "numa");
        refused.when(resources.secrets_mb.is_some(), &resources_path, "secrets");
    }
    for service in &task.services {
        of_service(service, path, refused);
    }
}
