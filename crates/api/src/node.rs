use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::empty::{is_default, null_if_empty};
use crate::{GoTime, NodeReservedResources, NodeResources, Resources};

/// One machine that runs tasks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Node {
    #[serde(rename = "ID")]
    pub id: String,
    /// Always empty.
    #[serde(rename = "SecretID")]
    pub secret_id: String,
    pub datacenter: String,
    pub name: String,
    pub cgroup_parent: String,
    #[serde(rename = "HTTPAddr")]
    pub http_addr: String,
    #[serde(rename = "TLSEnabled")]
    pub tls_enabled: bool,
    #[serde(with = "null_if_empty")]
    pub attributes: BTreeMap<String, String>,
    pub node_resources: Option<NodeResources>,
    pub reserved_resources: Option<NodeReservedResources>,
    /// Kept for old clients, as `reserved`.
    pub resources: Option<Resources>,
    pub reserved: Option<Resources>,
    #[serde(with = "null_if_empty")]
    pub links: BTreeMap<String, String>,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
    pub node_class: String,
    pub node_pool: String,
    pub computed_class: String,
    pub drain_strategy: Option<DrainStrategy>,
    /// Whether there is a drain strategy; kept for old clients.
    pub drain: bool,
    /// `eligible` or `ineligible`.
    pub scheduling_eligibility: String,
    /// `initializing`, `ready`, `down` or `disconnected`.
    pub status: String,
    pub status_description: String,
    /// Seconds since 1970.
    pub status_updated_at: i64,
    /// Newest last; the last ten.
    #[serde(with = "null_if_empty")]
    pub events: Vec<NodeEvent>,
    #[serde(with = "null_if_empty")]
    pub drivers: BTreeMap<String, DriverInfo>,
    #[serde(rename = "CSIControllerPlugins", with = "null_if_empty")]
    pub csi_controller_plugins: BTreeMap<String, Value>,
    #[serde(rename = "CSINodePlugins", with = "null_if_empty")]
    pub csi_node_plugins: BTreeMap<String, Value>,
    #[serde(with = "null_if_empty")]
    pub host_volumes: BTreeMap<String, ClientHostVolumeConfig>,
    #[serde(with = "null_if_empty")]
    pub host_networks: BTreeMap<String, ClientHostNetworkConfig>,
    pub last_drain: Option<DrainMetadata>,
    pub last_missed_heartbeat_index: u64,
    pub last_alloc_update_index: u64,
    pub create_index: u64,
    pub modify_index: u64,
}

/// `PUT /v1/node/:id/eligibility`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeEligibilityRequest {
    #[serde(rename = "NodeID")]
    pub node_id: String,
    /// `eligible` or `ineligible`.
    pub eligibility: String,
}

/// The answer to it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeEligibilityResponse {
    pub node_modify_index: u64,
    #[serde(rename = "EvalIDs", with = "null_if_empty")]
    pub eval_ids: Vec<String>,
    pub eval_create_index: u64,
    pub index: u64,
}

/// The answer to `PUT /v1/node/:id/evaluate` and `PUT /v1/node/:id/purge`. What only nodes read is zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeUpdateResponse {
    #[serde(rename = "HeartbeatTTL")]
    pub heartbeat_ttl: GoDuration,
    #[serde(rename = "EvalIDs", with = "null_if_empty")]
    pub eval_ids: Vec<String>,
    pub eval_create_index: u64,
    pub node_modify_index: u64,
    #[serde(rename = "LeaderRPCAddr")]
    pub leader_rpc_addr: String,
    pub num_nodes: i64,
    #[serde(with = "null_if_empty")]
    pub servers: Vec<Value>,
    pub scheduling_eligibility: String,
    pub features: u64,
    pub index: u64,
    pub last_contact: i64,
    pub known_leader: bool,
    pub next_token: String,
}

/// A node in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeListStub {
    /// Without the port.
    pub address: String,
    #[serde(rename = "ID")]
    pub id: String,
    /// Only when asked for (`?os=true`).
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub attributes: BTreeMap<String, String>,
    pub datacenter: String,
    pub name: String,
    pub node_pool: String,
    pub node_class: String,
    pub version: String,
    pub drain: bool,
    pub scheduling_eligibility: String,
    pub status: String,
    pub status_description: String,
    #[serde(with = "null_if_empty")]
    pub drivers: BTreeMap<String, DriverInfo>,
    #[serde(with = "null_if_empty")]
    pub host_volumes: BTreeMap<String, ClientHostVolumeConfig>,
    /// Only when asked for (`?resources=true`), as the next.
    #[serde(skip_serializing_if = "is_default")]
    pub node_resources: Option<NodeResources>,
    #[serde(skip_serializing_if = "is_default")]
    pub reserved_resources: Option<NodeReservedResources>,
    pub last_drain: Option<DrainMetadata>,
    pub create_index: u64,
    pub modify_index: u64,
}

/// How a node is being emptied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DrainStrategy {
    pub deadline: GoDuration,
    pub ignore_system_jobs: bool,
    pub force_deadline: GoTime,
    pub started_at: GoTime,
}

/// How a node was last emptied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DrainMetadata {
    pub started_at: GoTime,
    pub updated_at: GoTime,
    /// `draining`, `complete` or `canceled`.
    pub status: String,
    #[serde(rename = "AccessorID")]
    pub accessor_id: String,
    #[serde(with = "null_if_empty")]
    pub meta: BTreeMap<String, String>,
}

/// Something that happened to a node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NodeEvent {
    pub message: String,
    pub subsystem: String,
    #[serde(with = "null_if_empty")]
    pub details: BTreeMap<String, String>,
    pub timestamp: GoTime,
    pub create_index: u64,
}

/// What a node says of one of its drivers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DriverInfo {
    #[serde(with = "null_if_empty")]
    pub attributes: BTreeMap<String, String>,
    pub detected: bool,
    pub healthy: bool,
    pub health_description: String,
    pub update_time: GoTime,
}

/// A folder of the node that jobs may mount.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ClientHostVolumeConfig {
    pub name: String,
    pub path: String,
    pub read_only: bool,
}

/// A network of the node that jobs may name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ClientHostNetworkConfig {
    pub name: String,
    #[serde(rename = "CIDR")]
    pub cidr: String,
    pub interface: String,
    pub reserved_ports: String,
}
