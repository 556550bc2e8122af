use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::NetworkResource;
use crate::empty::null_if_empty;

/// What a node has.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeResources {
    pub cpu: NodeCpuResources,
    pub memory: NodeMemoryResources,
    pub disk: NodeDiskResources,
    #[serde(with = "null_if_empty")]
    pub devices: Vec<NodeDeviceResource>,
    #[serde(with = "null_if_empty")]
    pub node_networks: Vec<NodeNetworkResource>,
    #[serde(with = "null_if_empty")]
    pub networks: Vec<NetworkResource>,
    pub min_dynamic_port: i64,
    pub max_dynamic_port: i64,
}

/// Processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeCpuResources {
    /// MHz.
    pub cpu_shares: i64,
    pub total_cpu_cores: u64,
    #[serde(with = "null_if_empty")]
    pub reservable_cpu_cores: Vec<u64>,
}

/// Memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeMemoryResources {
    #[serde(rename = "MemoryMB")]
    pub memory_mb: i64,
}

/// Disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeDiskResources {
    #[serde(rename = "DiskMB")]
    pub disk_mb: i64,
}

/// One network card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeNetworkResource {
    pub mode: String,
    pub device: String,
    pub mac_address: String,
    /// Mbit/s.
    pub speed: i64,
    #[serde(with = "null_if_empty")]
    pub addresses: Vec<NodeNetworkAddress>,
}

/// One address of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeNetworkAddress {
    /// `ipv4` or `ipv6`.
    pub family: String,
    /// The host network's name.
    pub alias: String,
    pub address: String,
    pub reserved_ports: String,
    pub gateway: String,
}

/// Devices of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeDeviceResource {
    pub vendor: String,
    #[serde(rename = "Type")]
    pub kind: String,
    pub name: String,
    #[serde(with = "null_if_empty")]
    pub instances: Vec<NodeDevice>,
    #[serde(with = "null_if_empty")]
    pub attributes: BTreeMap<String, Value>,
}

/// One device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeDevice {
    #[serde(rename = "ID")]
    pub id: String,
    pub healthy: bool,
    pub health_description: String,
    pub locality: Option<NodeDeviceLocality>,
}

/// Where a device is plugged in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeDeviceLocality {
    #[serde(rename = "PciBusID")]
    pub pci_bus_id: String,
}

/// What of a node is not for tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeReservedResources {
    pub cpu: NodeReservedCpuResources,
    pub memory: NodeReservedMemoryResources,
    pub disk: NodeReservedDiskResources,
    pub networks: NodeReservedNetworkResources,
}

/// Processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeReservedCpuResources {
    pub cpu_shares: i64,
    #[serde(with = "null_if_empty")]
    pub reserved_cpu_cores: Vec<u64>,
}

/// Memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeReservedMemoryResources {
    #[serde(rename = "MemoryMB")]
    pub memory_mb: i64,
}

/// Disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeReservedDiskResources {
    #[serde(rename = "DiskMB")]
    pub disk_mb: i64,
}

/// Ports, such as `22,8500-8600`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeReservedNetworkResources {
    pub reserved_host_ports: String,
}

/// `GET /v1/client/stats`: how a machine is doing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HostStats {
    pub memory: Option<HostMemoryStats>,
    #[serde(rename = "CPU", with = "null_if_empty")]
    pub cpu: Vec<HostCpuStats>,
    #[serde(with = "null_if_empty")]
    pub disk_stats: Vec<HostDiskStats>,
    pub alloc_dir_stats: Option<HostDiskStats>,
    #[serde(with = "null_if_empty")]
    pub device_stats: Vec<Value>,
    /// Seconds.
    pub uptime: u64,
    /// Nanoseconds since 1970.
    pub timestamp: i64,
    #[serde(rename = "CPUTicksConsumed")]
    pub cpu_ticks_consumed: f64,
}

/// Memory, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HostMemoryStats {
    pub total: u64,
    pub available: u64,
    pub used: u64,
    pub free: u64,
}

/// One processor's use, in percent, and in MHz for the ticks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HostCpuStats {
    #[serde(rename = "CPU")]
    pub cpu: String,
    pub user: f64,
    pub system: f64,
    pub idle: f64,
    /// What clients of before 1.6 read in the place of `total_percent`.
    pub total: f64,
    pub total_percent: f64,
    pub total_ticks: f64,
}

/// One file system, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct HostDiskStats {
    pub device: String,
    pub mountpoint: String,
    pub size: u64,
    pub used: u64,
    pub available: u64,
    pub used_percent: f64,
    pub inodes_used_percent: f64,
}
