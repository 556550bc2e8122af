use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{LogIndex, NodeId, Resources, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeStatus {
    Initializing,
    Ready,
    Down,
    Disconnected,
}

impl NodeStatus {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Ready => "ready",
            Self::Down => "down",
            Self::Disconnected => "disconnected",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Eligibility {
    Eligible,
    Ineligible,
}

impl Eligibility {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Eligible => "eligible",
            Self::Ineligible => "ineligible",
        }
    }
}

/// What a node's driver says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeDriver {
    pub detected: bool,
    pub healthy: bool,
    pub health_description: String,
    pub update_time: Timestamp,
    pub attributes: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeNetwork {
    pub mode: String,
    pub device: String,
    pub ip: String,
    pub cidr: String,
    pub speed_mbits: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEvent {
    pub message: String,
    pub subsystem: String,
    pub at: Timestamp,
    pub details: BTreeMap<String, String>,
    pub create_index: LogIndex,
}

/// One machine that runs tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    pub datacenter: String,
    pub node_pool: String,
    pub class: String,
    /// Nodes of equal class are alike for every constraint without `unique.` attributes (scheduling facts 4.1).
    pub computed_class: String,
    pub http_address: String,
    pub attributes: BTreeMap<String, String>,
    pub meta: BTreeMap<String, String>,
    pub links: BTreeMap<String, String>,
    pub resources: Resources,
    pub reserved: Resources,
    pub reserved_ports: Vec<u16>,
    pub min_dynamic_port: u16,
    pub max_dynamic_port: u16,
    pub networks: Vec<NodeNetwork>,
    pub drivers: BTreeMap<String, NodeDriver>,
    pub status: NodeStatus,
    pub status_description: String,
    pub status_updated_at: Timestamp,
    pub eligibility: Eligibility,
    /// Newest last; the last ten.
    pub events: Vec<NodeEvent>,
    pub create_index: LogIndex,
    pub modify_index: LogIndex,
}

impl Node {
    /// Ready for new allocations.
    pub fn takes_placements(&self) -> bool {
        self.status == NodeStatus::Ready && self.eligibility == Eligibility::Eligible
    }

    /// What allocations may use: all minus reserved.
    pub fn available(&self) -> Resources {
        Resources {
            cpu_mhz: self.resources.cpu_mhz - self.reserved.cpu_mhz,
            memory_mb: self.resources.memory_mb - self.reserved.memory_mb,
            memory_max_mb: 0,
            disk_mb: self.resources.disk_mb - self.reserved.disk_mb,
        }
    }
}
