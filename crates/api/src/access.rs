//! What is asked of allocations on their node: signals, restarts, files, use of resources.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::GoTime;
use crate::empty::null_if_empty;

/// `PUT /v1/client/allocation/:id/signal`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocSignalRequest {
    /// Empty: all of them.
    pub task: String,
    pub signal: String,
}

/// `PUT /v1/client/allocation/:id/restart`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocRestartRequest {
    /// Empty: all that run.
    pub task_name: String,
    pub all_tasks: bool,
}

/// An answer that has nothing to tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct GenericResponse {
    pub index: u64,
}

/// A file or folder of an allocation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocFileInfo {
    pub name: String,
    pub is_dir: bool,
    /// Bytes.
    pub size: i64,
    /// `drwxr-xr-x`, in Go's letters.
    pub file_mode: String,
    pub mod_time: GoTime,
    /// Of `stat` alone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content_type: String,
}

/// What an allocation uses, as its node has measured it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocResourceUsage {
    pub resource_usage: Option<ResourceUsage>,
    #[serde(deserialize_with = "null_if_empty::deserialize")]
    pub tasks: BTreeMap<String, TaskResourceUsage>,
    /// Nanoseconds since 1970.
    pub timestamp: i64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskResourceUsage {
    pub resource_usage: Option<ResourceUsage>,
    pub timestamp: i64,
    /// By process; `null` where nobody measures them.
    pub pids: Option<BTreeMap<String, ResourceUsage>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ResourceUsage {
    pub memory_stats: Option<TaskMemoryStats>,
    pub cpu_stats: Option<TaskCpuStats>,
    pub device_stats: Option<Vec<serde_json::Value>>,
}

/// Bytes. `measured` names those that mean something.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskMemoryStats {
    #[serde(rename = "RSS")]
    pub rss: u64,
    pub cache: u64,
    pub swap: u64,
    pub mapped_file: u64,
    pub usage: u64,
    pub max_usage: u64,
    pub kernel_usage: u64,
    pub kernel_max_usage: u64,
    pub measured: Option<Vec<String>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TaskCpuStats {
    pub system_mode: f64,
    pub user_mode: f64,
    /// MHz.
    pub total_ticks: f64,
    pub throttled_periods: u64,
    /// Nanoseconds.
    pub throttled_time: u64,
    pub percent: f64,
    pub measured: Option<Vec<String>>,
}
