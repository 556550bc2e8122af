use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::empty::{is_default, null_if_empty};
use crate::{AllocMetric, GoTime};

/// One look at what a job should have. On the wire fields with zero values are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Evaluation {
    #[serde(rename = "ID", skip_serializing_if = "is_default")]
    pub id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: String,
    #[serde(skip_serializing_if = "is_default")]
    pub priority: i64,
    /// The scheduler: the job's type.
    #[serde(rename = "Type", skip_serializing_if = "is_default")]
    pub kind: String,
    #[serde(skip_serializing_if = "is_default")]
    pub triggered_by: String,
    #[serde(rename = "JobID", skip_serializing_if = "is_default")]
    pub job_id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub job_modify_index: u64,
    #[serde(rename = "NodeID", skip_serializing_if = "is_default")]
    pub node_id: String,
    #[serde(skip_serializing_if = "is_default")]
    pub node_modify_index: u64,
    #[serde(rename = "DeploymentID", skip_serializing_if = "is_default")]
    pub deployment_id: String,
    /// `pending`, `blocked`, `complete`, `failed` or `canceled`.
    #[serde(skip_serializing_if = "is_default")]
    pub status: String,
    #[serde(skip_serializing_if = "is_default")]
    pub status_description: String,
    #[serde(skip_serializing_if = "is_default")]
    pub wait: GoDuration,
    #[serde(skip_serializing_if = "is_default")]
    pub wait_until: GoTime,
    #[serde(skip_serializing_if = "is_default")]
    pub next_eval: String,
    #[serde(skip_serializing_if = "is_default")]
    pub previous_eval: String,
    /// The evaluation that waits for room on behalf of this one.
    #[serde(skip_serializing_if = "is_default")]
    pub blocked_eval: String,
    /// Only when asked for.
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub related_evals: Vec<EvaluationStub>,
    /// By group: why what has no room has none.
    #[serde(
        rename = "FailedTGAllocs",
        deserialize_with = "null_if_empty::deserialize",
        skip_serializing_if = "is_default"
    )]
    pub failed_tg_allocs: BTreeMap<String, AllocMetric>,
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub class_eligibility: BTreeMap<String, bool>,
    #[serde(skip_serializing_if = "is_default")]
    pub quota_limit_reached: String,
    #[serde(skip_serializing_if = "is_default")]
    pub escaped_computed_class: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub annotate_plan: bool,
    /// By group.
    #[serde(deserialize_with = "null_if_empty::deserialize", skip_serializing_if = "is_default")]
    pub queued_allocations: BTreeMap<String, i64>,
    #[serde(rename = "LeaderACL", skip_serializing_if = "is_default")]
    pub leader_acl: String,
    #[serde(skip_serializing_if = "is_default")]
    pub snapshot_index: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub create_index: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub modify_index: u64,
    /// Nanoseconds since 1970.
    #[serde(skip_serializing_if = "is_default")]
    pub create_time: i64,
    #[serde(skip_serializing_if = "is_default")]
    pub modify_time: i64,
}

/// An evaluation beside another.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EvaluationStub {
    #[serde(rename = "ID")]
    pub id: String,
    pub namespace: String,
    pub priority: i64,
    #[serde(rename = "Type")]
    pub kind: String,
    pub triggered_by: String,
    #[serde(rename = "JobID")]
    pub job_id: String,
    #[serde(rename = "NodeID")]
    pub node_id: String,
    #[serde(rename = "DeploymentID")]
    pub deployment_id: String,
    pub status: String,
    pub status_description: String,
    pub wait_until: GoTime,
    pub next_eval: String,
    pub previous_eval: String,
    pub blocked_eval: String,
    pub create_index: u64,
    pub modify_index: u64,
    pub create_time: i64,
    pub modify_time: i64,
}
