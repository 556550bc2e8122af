use std::collections::BTreeMap;

use longshore_driver::{StartRequest, TaskId};
use longshore_engine::{CreateContainer, HostConfig, LogSettings, PortBinding};
use sha2::{Digest as _, Sha256};

use super::config::TaskConfig;
use super::labels::{OWN_CONFIG_HASH, labels};
use super::volumes::{BadVolume, binds};
use crate::options::{Options, capability};

/// Why no container can be made of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTask {
    #[error(transparent)]
    Volume(#[from] BadVolume),
    #[error("config.ports names {label:?}, but the group has no port of that label")]
    NoSuchPort { label: String },
    #[error(
        "network mode {mode:?} of the group is not in this build: use the task's network_mode, or the group's host mode"
    )]
    GroupNetwork { mode: String },
    #[error(
        "config.privileged is not allowed on this node (plugin \"docker\" {{ config {{ allow_privileged = true }} }})"
    )]
    Privileged,
    #[error("config.cap_add: {} not allowed on this node (plugin \"docker\" {{ config {{ allow_caps = [ … ] }} }})", .caps.join(", "))]
    Capabilities { caps: Vec<String> },
    #[error("config.pids_limit {asked} is above this node's limit of {limit}")]
    PidsLimit { asked: i64, limit: i64 },
    #[error("memory of {reserved} MB is above its limit of {limit} MB")]
    Memory { reserved: i64, limit: i64 },
    #[error("the container cannot be described")]
    Body(String),
}

/// `<task>-<allocation id>`, as Nomad has it: the same for every attempt of a task.
pub(crate) fn container_name(id: &TaskId) -> String {
    format!("{}-{}", id.task.replace('/', "_"), id.alloc)
}

/// The container of a task, but for its image, which the keeper grants; and its config hash, which is among its labels.
pub(crate) fn container_body(
    request: &StartRequest,
    config: &TaskConfig,
    options: &Options,
    cpus: u32,
) -> Result<(CreateContainer, String), BadTask> {
    let mut body = CreateContainer {
        image: String::new(),
        cmd: command(config),
        entrypoint: config.entrypoint.clone(),
        env: request.env.iter().map(|(key, value)| format!("{key}={value}")).collect(),
        working_dir: config.work_dir.clone(),
        hostname: config.hostname.clone(),
        user: request.user.clone(),
        labels: labels(request, &options.extra_labels, &config.image, &config.labels),
        tty: config.tty,
        open_stdin: config.interactive,
        exposed_ports: BTreeMap::new(),
        host_config: host_config(request, config, options, cpus)?,
    };
    body.exposed_ports = body.host_config.port_bindings.keys().map(|port| (port.clone(), BTreeMap::new())).collect();
    let hash = config_hash(&body).map_err(|why| BadTask::Body(why.to_string()))?;
    body.labels.insert(OWN_CONFIG_HASH.to_owned(), hash.clone());
    Ok((body, hash))
}

fn config_hash(body: &CreateContainer) -> Result<String, serde_json::Error> {
    let digest = Sha256::digest(serde_json::to_vec(body)?);
    Ok(digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

fn command(config: &TaskConfig) -> Option<Vec<String>> {
    let command: Vec<String> = config.command.iter().chain(&config.args).cloned().collect();
    (!command.is_empty()).then_some(command)
}

fn host_config(
    request: &StartRequest,
    config: &TaskConfig,
    options: &Options,
    cpus: u32,
) -> Result<HostConfig, BadTask> {
    if config.privileged && !options.allow_privileged {
        return Err(BadTask::Privileged);
    }
    let (cap_add, cap_drop) = capabilities(config, options)?;
    let network_mode = network_mode(request, config)?;
    let mut host = HostConfig {
        binds: binds(&request.dirs, &config.volumes, &options.volumes)?,
        port_bindings: port_bindings(request, config, &network_mode)?,
        network_mode,
        pids_limit: Some(pids_limit(config, options)?),
        cap_add,
        cap_drop,
        privileged: config.privileged,
        readonly_rootfs: config.readonly_rootfs,
        init: config.init.then_some(true),
        shm_size: config.shm_size,
        extra_hosts: config.extra_hosts.clone(),
        dns: config.dns_servers.clone(),
        dns_search: config.dns_search_domains.clone(),
        dns_options: config.dns_options.clone(),
        group_add: config.group_add.clone(),
        sysctls: config.sysctl.clone(),
        log_config: Some(log_settings(config, options)),
        ..HostConfig::default()
    };
    set_cpu(&mut host, request, config, cpus);
    set_memory(&mut host, request, config)?;
    Ok(host)
}

/// The engine takes at most this many shares; a node with more is scaled down to it.
const CPU_SHARES_MAX: i64 = 262_144;
const CPU_SHARES_MIN: i64 = 2;
const CPU_CFS_PERIOD: i64 = 100_000;
/// The kernel refuses less than a millisecond; a small share of a large node would be less.
const CPU_CFS_QUOTA_MIN: i64 = 1_000;
const MB: i64 = 1 << 20;

fn set_cpu(host: &mut HostConfig, request: &StartRequest, config: &TaskConfig, cpus: u32) {
    let (asked, total) = (request.resources.cpu_mhz, request.node_cpu_mhz);
    host.cpu_shares = if total < CPU_SHARES_MAX {
        asked.max(CPU_SHARES_MIN)
    } else {
        let scaled = i128::from(asked) * i128::from(CPU_SHARES_MAX) / i128::from(total);
        i64::try_from(scaled).unwrap_or(CPU_SHARES_MAX).max(CPU_SHARES_MIN)
    };
    if config.cpu_hard_limit && total > 0 {
        let period = config.cpu_cfs_period.filter(|period| *period > 0).unwrap_or(CPU_CFS_PERIOD);
        host.cpu_period = period;
        // Within 53 bits: a period is at most a second, a share of the node at most 1.
        let quota = (asked as f64 / total as f64 * period as f64) as i64 * i64::from(cpus);
        host.cpu_quota = quota.max(CPU_CFS_QUOTA_MIN);
    }
}

fn set_memory(host: &mut HostConfig, request: &StartRequest, config: &TaskConfig) -> Result<(), BadTask> {
    let (asked, max) = (request.resources.memory_mb, request.resources.memory_max_mb);
    let (limit, reserved) = match (max, config.memory_hard_limit.max(max)) {
        (-1, _) => (0, asked),
        (_, 0) => (asked, 0),
        (_, high) => (high, asked),
    };
    if limit > 0 && reserved > limit {
        return Err(BadTask::Memory { reserved, limit });
    }
    host.memory = limit * MB;
    host.memory_reservation = reserved * MB;
    // Equal to the memory: no swap.
    host.memory_swap = host.memory;
    Ok(())
}

fn pids_limit(config: &TaskConfig, options: &Options) -> Result<i64, BadTask> {
    match (config.pids_limit, options.pids_limit) {
        (Some(asked), limit) if limit > 0 && asked > limit => Err(BadTask::PidsLimit { asked, limit }),
        (Some(asked), _) if asked > 0 => Ok(asked),
        (_, limit) if limit > 0 => Ok(limit),
        _ => Ok(-1),
    }
}

/// What the engine gives a container that asks for nothing, beyond what Nomad allows.
const ENGINE_ONLY_CAP: &str = "net_raw";

fn capabilities(config: &TaskConfig, options: &Options) -> Result<(Vec<String>, Vec<String>), BadTask> {
    let normal = |caps: &[String]| caps.iter().map(|cap| capability(cap)).collect::<Vec<_>>();
    let (mut add, mut drop) = (normal(&config.cap_add), normal(&config.cap_drop));
    let allowed = |cap: &str| options.allow_caps.iter().any(|allowed| allowed == cap || allowed == "all");
    let excess: Vec<String> = add.iter().filter(|cap| !allowed(cap)).cloned().collect();
    if !excess.is_empty() {
        return Err(BadTask::Capabilities { caps: excess });
    }
    let defaults = Options::default().allow_caps;
    let engine_gives = defaults.iter().map(String::as_str).chain([ENGINE_ONLY_CAP]);
    for cap in engine_gives.filter(|cap| !allowed(cap)) {
        if !drop.iter().any(|dropped| dropped == cap) {
            drop.push(cap.to_owned());
        }
    }
    for list in [&mut add, &mut drop] {
        if list.iter().any(|cap| cap == "all") {
            *list = vec!["all".to_owned()];
        }
    }
    Ok((add, drop))
}

fn network_mode(request: &StartRequest, config: &TaskConfig) -> Result<String, BadTask> {
    match request.network_mode.as_deref() {
        // A task's own mode comes first; a group with a namespace of its own would need one that nothing makes yet.
        Some(mode) if mode == "bridge" || mode == "none" || mode.starts_with("cni/") => {
            Err(BadTask::GroupNetwork { mode: mode.to_owned() })
        }
        _ if !config.network_mode.is_empty() => Ok(config.network_mode.clone()),
        _ => Ok("default".to_owned()),
    }
}

fn port_bindings(
    request: &StartRequest,
    config: &TaskConfig,
    network_mode: &str,
) -> Result<BTreeMap<String, Vec<PortBinding>>, BadTask> {
    let mut bindings: BTreeMap<String, Vec<PortBinding>> = BTreeMap::new();
    for label in &config.ports {
        let Some(port) = request.ports.iter().find(|port| port.label == *label) else {
            return Err(BadTask::NoSuchPort { label: label.clone() });
        };
        // As in Nomad: ports belong to the container whose network is shared.
        if network_mode.starts_with("container:") {
            continue;
        }
        let inside = if port.to == 0 { port.value } else { port.to };
        let binding = PortBinding { host_ip: port.host_ip.clone(), host_port: port.value.to_string() };
        for protocol in ["tcp", "udp"] {
            let of_port = bindings.entry(format!("{inside}/{protocol}")).or_default();
            if !of_port.contains(&binding) {
                of_port.push(binding.clone());
            }
        }
    }
    Ok(bindings)
}

fn log_settings(config: &TaskConfig, options: &Options) -> LogSettings {
    match &config.logging {
        Some(logging) if !(logging.kind.is_empty() && logging.config.is_empty()) => {
            LogSettings { kind: logging.kind.clone(), config: logging.config.clone() }
        }
        _ => LogSettings { kind: options.logging.kind.clone(), config: options.logging.config.clone() },
    }
}

#[cfg(test)]
mod tests;
