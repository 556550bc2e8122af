use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a task asks for, or what a node has: processor in MHz, memory and disk in MB (2^20 bytes).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    pub cpu_mhz: i64,
    pub memory_mb: i64,
    /// The ceiling when memory may be oversubscribed; 0 for none.
    pub memory_max_mb: i64,
    /// Only groups (through `ephemeral_disk`) and nodes have disk; 0 for tasks.
    pub disk_mb: i64,
}

/// What one task was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatedTask {
    pub cpu_mhz: i64,
    pub memory_mb: i64,
    pub memory_max_mb: i64,
}

/// A port that was given to a group: host side, and the port inside of the task's network (0: the same).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatedPort {
    pub label: String,
    pub value: u16,
    /// 0 when the job says nothing.
    pub to: u16,
    pub host_ip: String,
    /// Whether the job asked for this very number.
    pub is_static: bool,
}

/// What one allocation was given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocatedGroup {
    pub tasks: BTreeMap<String, AllocatedTask>,
    pub disk_mb: i64,
    pub ports: Vec<AllocatedPort>,
    /// The group network's mode (`host`, `bridge`, `none`), when the group has a network.
    pub network_mode: Option<String>,
    /// The node's address and device that the ports are on.
    pub network_ip: String,
    pub network_device: String,
}

impl AllocatedGroup {
    /// The sum over tasks, with the group's disk.
    pub fn total(&self) -> Resources {
        let mut sum = Resources { disk_mb: self.disk_mb, ..Resources::default() };
        for task in self.tasks.values() {
            sum.cpu_mhz += task.cpu_mhz;
            sum.memory_mb += task.memory_mb;
            sum.memory_max_mb += task.memory_max_mb.max(task.memory_mb);
        }
        sum
    }
}
