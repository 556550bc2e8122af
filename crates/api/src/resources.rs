use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{Affinity, Constraint};

/// What a task asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Resources {
    /// MHz.
    #[serde(rename = "CPU")]
    pub cpu: Option<i64>,
    /// Whole cores; excludes `cpu`.
    pub cores: Option<i64>,
    #[serde(rename = "MemoryMB")]
    pub memory_mb: Option<i64>,
    #[serde(rename = "MemoryMaxMB")]
    pub memory_max_mb: Option<i64>,
    #[serde(rename = "DiskMB")]
    pub disk_mb: Option<i64>,
    /// Deprecated and without effect.
    #[serde(rename = "IOPS")]
    pub iops: Option<i64>,
    #[serde(with = "null_if_empty")]
    pub networks: Vec<NetworkResource>,
    #[serde(with = "null_if_empty")]
    pub devices: Vec<RequestedDevice>,
    /// Since 1.7.
    #[serde(rename = "NUMA", skip_serializing_if = "Option::is_none")]
    pub numa: Option<Numa>,
    /// The room of the secrets folder; since 1.9.
    #[serde(rename = "SecretsMB", skip_serializing_if = "Option::is_none")]
    pub secrets_mb: Option<i64>,
}

/// The network of a group, as asked for or as given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NetworkResource {
    /// `host`, `bridge`, `none` or `cni/…`.
    pub mode: String,
    pub device: String,
    #[serde(rename = "CIDR")]
    pub cidr: String,
    #[serde(rename = "IP")]
    pub ip: String,
    #[serde(skip_serializing_if = "is_default")]
    pub hostname: String,
    #[serde(rename = "MBits")]
    pub mbits: Option<i64>,
    #[serde(rename = "DNS")]
    pub dns: Option<DnsConfig>,
    /// Since 1.8.
    #[serde(rename = "CNI", skip_serializing_if = "Option::is_none")]
    pub cni: Option<CniConfig>,
    /// With a number that the job names.
    #[serde(with = "null_if_empty")]
    pub reserved_ports: Vec<Port>,
    /// With a number that the scheduler chooses.
    #[serde(with = "null_if_empty")]
    pub dynamic_ports: Vec<Port>,
}

/// A port of a network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Port {
    pub label: String,
    /// On the host; 0 for a dynamic port that is not yet placed.
    pub value: i64,
    /// In the task's network: 0 for the same, -1 likewise but told to the task.
    pub to: i64,
    pub host_network: String,
    /// Since 1.10.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_collision: bool,
}

/// Name resolution inside of a group's network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DnsConfig {
    #[serde(with = "null_if_empty")]
    pub servers: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub searches: Vec<String>,
    #[serde(with = "null_if_empty")]
    pub options: Vec<String>,
}

/// A device that a task asks for.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct RequestedDevice {
    /// `type`, `vendor/type` or `vendor/type/model`.
    pub name: String,
    pub count: Option<u64>,
    #[serde(with = "null_if_empty")]
    pub constraints: Vec<Constraint>,
    #[serde(with = "null_if_empty")]
    pub affinities: Vec<Affinity>,
}

/// Where a task's memory and cores lie in relation to each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Numa {
    /// `none`, `prefer` or `require`.
    pub affinity: String,
    /// Devices that must be near, too.
    #[serde(with = "null_if_empty")]
    pub devices: Vec<String>,
}

/// What is handed to a network plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct CniConfig {
    #[serde(with = "null_if_empty")]
    pub args: BTreeMap<String, String>,
}
