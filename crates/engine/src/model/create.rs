//! What a container is made from.

use std::collections::BTreeMap;

use serde::Serialize;

/// What a container is made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct CreateContainer {
    /// A reference, or an image's id.
    pub image: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cmd: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    pub env: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub working_dir: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub hostname: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    /// Read by engines up to API 1.43; later ones read that of the endpoint, and take both when they agree.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mac_address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub healthcheck: Option<Healthcheck>,
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "is_false")]
    pub tty: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub open_stdin: bool,
    /// `80/tcp` → nothing.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exposed_ports: BTreeMap<String, BTreeMap<String, String>>,
    pub host_config: HostConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networking_config: Option<NetworkingConfig>,
}

/// How the engine asks a container for its health; `["NONE"]` switches off what the image says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Healthcheck {
    pub test: Vec<String>,
}

/// What the container is in each of its networks, by the network's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct NetworkingConfig {
    pub endpoints_config: BTreeMap<String, EndpointConfig>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct EndpointConfig {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    #[serde(rename = "IPAMConfig", skip_serializing_if = "Option::is_none")]
    pub ipam_config: Option<IpamConfig>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mac_address: String,
}

/// Addresses that the container asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IpamConfig {
    #[serde(rename = "IPv4Address", skip_serializing_if = "String::is_empty")]
    pub ipv4_address: String,
    #[serde(rename = "IPv6Address", skip_serializing_if = "String::is_empty")]
    pub ipv6_address: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct HostConfig {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binds: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub network_mode: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub port_bindings: BTreeMap<String, Vec<PortBinding>>,
    #[serde(skip_serializing_if = "is_zero")]
    pub cpu_shares: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub cpu_period: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub cpu_quota: i64,
    /// Bytes.
    #[serde(skip_serializing_if = "is_zero")]
    pub memory: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_reservation: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub memory_swap: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_swappiness: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pids_limit: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cap_add: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cap_drop: Vec<String>,
    #[serde(skip_serializing_if = "is_false")]
    pub privileged: bool,
    #[serde(skip_serializing_if = "is_false")]
    pub readonly_rootfs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<bool>,
    #[serde(skip_serializing_if = "is_zero")]
    pub shm_size: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extra_hosts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns_search: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dns_options: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub group_add: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_config: Option<LogSettings>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Mount>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub volume_driver: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceMapping>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub storage_opt: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ulimits: Vec<Ulimit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub security_opt: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ipc_mode: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pid_mode: String,
    #[serde(rename = "UTSMode", skip_serializing_if = "String::is_empty")]
    pub uts_mode: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub userns_mode: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cgroupns_mode: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub runtime: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cpuset_cpus: String,
    #[serde(skip_serializing_if = "is_zero")]
    pub oom_score_adj: i64,
}

/// Something of the host, a volume or memory, at a path in the container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Mount {
    /// `bind`, `volume` or `tmpfs`.
    #[serde(rename = "Type")]
    pub kind: String,
    pub target: String,
    /// A path of the host, or a volume's name; none for `tmpfs`, and for a volume without a name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(skip_serializing_if = "is_false")]
    pub read_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bind_options: Option<BindOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume_options: Option<VolumeOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tmpfs_options: Option<TmpfsOptions>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct BindOptions {
    pub propagation: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct VolumeOptions {
    #[serde(skip_serializing_if = "is_false")]
    pub no_copy: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver_config: Option<VolumeDriver>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct VolumeDriver {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct TmpfsOptions {
    #[serde(skip_serializing_if = "is_zero")]
    pub size_bytes: i64,
    /// Permission bits.
    #[serde(skip_serializing_if = "is_zero")]
    pub mode: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct DeviceMapping {
    pub path_on_host: String,
    pub path_in_container: String,
    /// Letters of `rwm`.
    pub cgroup_permissions: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Ulimit {
    pub name: String,
    /// −1 for no limit, as is `hard`.
    pub soft: i64,
    pub hard: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct LogSettings {
    #[serde(rename = "Type")]
    pub kind: String,
    pub config: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct PortBinding {
    #[serde(rename = "HostIp")]
    pub host_ip: String,
    pub host_port: String,
}

fn is_zero(n: &i64) -> bool {
    *n == 0
}

fn is_false(on: &bool) -> bool {
    !*on
}
