use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::empty::null_if_empty;
use crate::{NetworkResource, TaskLifecycle};

/// What an allocation was given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedResources {
    pub tasks: BTreeMap<String, AllocatedTaskResources>,
    #[serde(with = "null_if_empty")]
    pub task_lifecycles: BTreeMap<String, Option<TaskLifecycle>>,
    pub shared: AllocatedSharedResources,
}

/// What its tasks share.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedSharedResources {
    #[serde(with = "null_if_empty")]
    pub networks: Vec<NetworkResource>,
    #[serde(rename = "DiskMB")]
    pub disk_mb: i64,
    #[serde(with = "null_if_empty")]
    pub ports: Vec<AllocatedPortMapping>,
}

/// What one task was given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedTaskResources {
    pub cpu: AllocatedCpuResources,
    pub memory: AllocatedMemoryResources,
    #[serde(with = "null_if_empty")]
    pub networks: Vec<NetworkResource>,
    #[serde(with = "null_if_empty")]
    pub devices: Vec<AllocatedDeviceResource>,
}

/// Processor.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedCpuResources {
    /// MHz.
    pub cpu_shares: i64,
    #[serde(with = "null_if_empty")]
    pub reserved_cores: Vec<u64>,
}

/// Memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AllocatedMemoryResources {
    #[serde(rename = "MemoryMB")]
    pub memory_mb: i64,
    #[serde(rename = "MemoryMaxMB")]
    pub memory_max_mb: i64,
}

/// Devices of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedDeviceResource {
    pub vendor: String,
    #[serde(rename = "Type")]
    pub kind: String,
    pub name: String,
    #[serde(with = "null_if_empty")]
    pub device_i_ds: Vec<String>,
}

/// One port.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocatedPortMapping {
    pub label: String,
    pub value: i64,
    pub to: i64,
    #[serde(rename = "HostIP")]
    pub host_ip: String,
}
