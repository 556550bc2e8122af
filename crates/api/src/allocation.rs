use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{AllocMetric, AllocatedResources, DnsConfig, GoTime, Job, Resources, TaskState};

/// One placement of a group on a node. On the wire fields with zero values are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Allocation {
    #[serde(rename = "ID", skip_serializing_if = "is_default")]
    pub id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: String,
    #[serde(rename = "EvalID", skip_serializing_if = "is_default")]
    pub eval_id: String,
    /// `<job>.<group>[<index>]`.
    #[serde(skip_serializing_if = "is_default")]
    pub name: String,
    #[serde(rename = "NodeID", skip_serializing_if = "is_default")]
    pub node_id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub node_name: String,
    #[serde(rename = "JobID", skip_serializing_if = "is_default")]
    pub job_id: String,
    /// As of the version that the allocation was placed for.
    #[serde(skip_serializing_if = "is_default")]
    pub job: Option<Job>,
    #[serde(skip_serializing_if = "is_default")]
    pub task_group: String,
    /// The sum; kept for old clients, as the next two.
    #[serde(skip_serializing_if = "is_default")]
    pub resources: Option<Resources>,
    #[serde(skip_serializing_if = "is_default")]
    pub shared_resources: Option<Resources>,
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub task_resources: BTreeMap<String, Resources>,
    #[serde(skip_serializing_if = "is_default")]
    pub allocated_resources: Option<AllocatedResources>,
    #[serde(skip_serializing_if = "is_default")]
    pub metrics: Option<AllocMetric>,
    /// `run`, `stop` or `evict`.
    #[serde(skip_serializing_if = "is_default")]
    pub desired_status: String,
    #[serde(skip_serializing_if = "is_default")]
    pub desired_description: String,
    #[serde(skip_serializing_if = "is_default")]
    pub desired_transition: DesiredTransition,
    /// `pending`, `running`, `complete`, `failed`, `lost` or `unknown`.
    #[serde(skip_serializing_if = "is_default")]
    pub client_status: String,
    #[serde(skip_serializing_if = "is_default")]
    pub client_description: String,
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub task_states: BTreeMap<String, TaskState>,
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub alloc_states: Vec<AllocState>,
    #[serde(skip_serializing_if = "is_default")]
    pub previous_allocation: String,
    #[serde(skip_serializing_if = "is_default")]
    pub next_allocation: String,
    #[serde(rename = "DeploymentID", skip_serializing_if = "is_default")]
    pub deployment_id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub deployment_status: Option<AllocDeploymentStatus>,
    #[serde(skip_serializing_if = "is_default")]
    pub reschedule_tracker: Option<RescheduleTracker>,
    #[serde(skip_serializing_if = "is_default")]
    pub network_status: Option<AllocNetworkStatus>,
    #[serde(rename = "FollowupEvalID", skip_serializing_if = "is_default")]
    pub followup_eval_id: String,
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub preempted_allocations: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    pub preempted_by_allocation: String,
    #[serde(rename = "SigningKeyID", skip_serializing_if = "is_default")]
    pub signing_key_id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub create_index: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub modify_index: u64,
    /// Changes when the server changes it, not when the node reports.
    #[serde(skip_serializing_if = "is_default")]
    pub alloc_modify_index: u64,
    /// Nanoseconds since 1970.
    #[serde(skip_serializing_if = "is_default")]
    pub create_time: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub modify_time: i64,
}

/// An allocation in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocListStub {
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(rename = "EvalID")]
    pub eval_id: String,
    pub name: String,
    pub namespace: String,
    #[serde(rename = "NodeID")]
    pub node_id: String,
    pub node_name: String,
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub job_type: String,
    pub job_version: u64,
    pub task_group: String,
    /// Only when asked for (`?resources=true`).
    #[serde(skip_serializing_if = "is_default")]
    pub allocated_resources: Option<AllocatedResources>,
    pub desired_status: String,
    pub desired_description: String,
    pub client_status: String,
    pub client_description: String,
    pub desired_transition: DesiredTransition,
    #[serde(with = "null_if_empty")]
    pub task_states: BTreeMap<String, TaskState>,
    pub deployment_status: Option<AllocDeploymentStatus>,
    #[serde(rename = "FollowupEvalID")]
    pub followup_eval_id: String,
    pub next_allocation: String,
    pub reschedule_tracker: Option<RescheduleTracker>,
    #[serde(with = "null_if_empty")]
    pub preempted_allocations: Vec<String>,
    pub preempted_by_allocation: String,
    pub create_index: u64,
    pub modify_index: u64,
    pub create_time: i64,
    pub modify_time: i64,
}

/// What the scheduler should do with an allocation at its next look.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DesiredTransition {
    pub migrate: Option<bool>,
    pub reschedule: Option<bool>,
    pub force_reschedule: Option<bool>,
    pub no_shutdown_delay: Option<bool>,
}

/// An allocation's part in a deployment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocDeploymentStatus {
    /// `None` while undecided.
    pub healthy: Option<bool>,
    pub timestamp: GoTime,
    pub canary: bool,
    pub modify_index: u64,
}

/// The failures that led to this allocation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct RescheduleTracker {
    #[serde(with = "null_if_empty")]
    pub events: Vec<RescheduleEvent>,
}

/// One of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct RescheduleEvent {
    /// Nanoseconds since 1970.
    pub reschedule_time: i64,
    #[serde(rename = "PrevAllocID")]
    pub prev_alloc_id: String,
    #[serde(rename = "PrevNodeID")]
    pub prev_node_id: String,
    pub delay: GoDuration,
}

/// The network of a running allocation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocNetworkStatus {
    pub interface_name: String,
    pub address: String,
    #[serde(rename = "DNS")]
    pub dns: Option<DnsConfig>,
}

/// A change of state that is remembered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocState {
    /// 0: the client status.
    pub field: u64,
    pub value: String,
    pub time: GoTime,
}

/// The answer to `PUT /v1/allocation/:id/stop`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AllocStopResponse {
    #[serde(rename = "EvalID")]
    pub eval_id: String,
    pub index: u64,
}
