use std::collections::BTreeMap;

use longshore_driver::{StartRequest, TaskId};
use longshore_engine::{CreateContainer, Healthcheck, HostConfig, LogSettings};
use longshore_model::ImageRef;
use sha2::{Digest as _, Sha256};

use super::config::TaskConfig;
use super::labels::{OWN_CONFIG_HASH, labels};
use super::network::{dns, network_mode, networking, port_bindings};
use super::resources::{pids_limit, set_cpu, set_memory, ulimits};
use super::security::{capabilities, check_modes, devices, security_options};
use super::volumes::{binds, mounts};
use crate::options::Options;

/// Why no container can be made of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTask {
    #[error("config.{key}: {why}")]
    Wrong { key: String, why: String },
    #[error("config.{key}: {what} is not allowed on this node (plugin \"docker\" {{ config {{ {setting} }} }})")]
    NotAllowed { key: String, what: String, setting: &'static str },
    #[error(
        "config.{key}: {what} is outside of the allocation's folder, and volumes are not enabled on this node (plugin \"docker\" {{ config {{ volumes {{ enabled = true }} }} }})"
    )]
    HostPath { key: String, what: String },
    #[error("config.{key}: {what} would show the secrets of another task")]
    OthersSecrets { key: String, what: String },
    #[error("config.ports names {label:?}, but the group has no port of that label")]
    NoSuchPort { label: String },
    #[error("the network of the group (mode {mode:?}) was not made before its task")]
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
        mac_address: config.mac_address.clone(),
        healthcheck: config.healthcheck_disabled.then(|| Healthcheck { test: vec!["NONE".to_owned()] }),
        labels: labels(request, &options.extra_labels, &config.image, &config.labels),
        tty: config.tty,
        open_stdin: config.interactive,
        exposed_ports: BTreeMap::new(),
        host_config: host_config(request, config, options, cpus)?,
        networking_config: networking(config)?,
    };
    body.exposed_ports = body.host_config.port_bindings.keys().map(|port| (port.clone(), BTreeMap::new())).collect();
    let hash = config_hash(&body).map_err(|why| BadTask::Body(why.to_string()))?;
    body.labels.insert(OWN_CONFIG_HASH.to_owned(), hash.clone());
    Ok((body, hash))
}

/// The engine pulls from wherever a job says; where that may be is the operator's to say.
pub(crate) fn check_registry(name: &ImageRef, options: &Options) -> Result<(), BadTask> {
    let allowed = options.allow_registries.iter();
    let is_allowed = |text: &str| allowed.clone().any(|glob| glob.matches(text));
    if is_allowed(name.full()) || name.registry().is_some_and(is_allowed) {
        return Ok(());
    }
    let what = name.full().to_owned();
    Err(BadTask::NotAllowed { key: "image".to_owned(), what, setting: "allow_registries = [ … ]" })
}

/// A digest of all that the container is made from.
pub(crate) fn config_hash(body: &CreateContainer) -> Result<String, serde_json::Error> {
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
    check_modes(config, options)?;
    let network_mode = network_mode(request, config, options)?;
    let shares_group = config.network_mode.is_empty() && request.network.is_some();
    let dns = dns(request, config, &network_mode);
    let mut host = HostConfig {
        binds: binds(&request.dirs, config, &options.volumes)?,
        mounts: mounts(&request.dirs, &config.mounts, &options.volumes)?,
        volume_driver: config.volume_driver.clone(),
        devices: devices(config, options)?,
        security_opt: security_options(&request.dirs, config, options)?,
        ulimits: ulimits(config)?,
        storage_opt: config.storage_opt.clone(),
        ipc_mode: config.ipc_mode.clone(),
        pid_mode: config.pid_mode.clone(),
        uts_mode: config.uts_mode.clone(),
        userns_mode: config.userns_mode.clone(),
        cgroupns_mode: config.cgroupns.clone(),
        runtime: config.runtime.clone(),
        oom_score_adj: config.oom_score_adj.unwrap_or(options.oom_score_adj),
        port_bindings: port_bindings(request, config, &network_mode)?,
        network_mode,
        pids_limit: Some(pids_limit(config, options)?),
        cap_add,
        cap_drop,
        privileged: config.privileged,
        readonly_rootfs: config.readonly_rootfs,
        init: config.init.then_some(true),
        shm_size: config.shm_size,
        extra_hosts: if shares_group { Vec::new() } else { config.extra_hosts.clone() },
        dns: dns.servers,
        dns_search: dns.searches,
        dns_options: dns.options,
        group_add: config.group_add.clone(),
        sysctls: config.sysctl.clone(),
        log_config: Some(log_settings(config, options)),
        ..HostConfig::default()
    };
    set_cpu(&mut host, request, config, cpus);
    set_memory(&mut host, request, config)?;
    Ok(host)
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
