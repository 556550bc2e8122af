use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::GoTime;
use crate::empty::null_if_empty;

/// One roll-out of a job version.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Deployment {
    #[serde(rename = "ID")]
    pub id: String,
    pub namespace: String,
    #[serde(rename = "JobID")]
    pub job_id: String,
    pub job_version: u64,
    pub job_modify_index: u64,
    pub job_spec_modify_index: u64,
    pub job_create_index: u64,
    pub is_multiregion: bool,
    pub task_groups: BTreeMap<String, DeploymentState>,
    /// `running`, `paused`, `failed`, `successful` or `cancelled`.
    pub status: String,
    pub status_description: String,
    pub eval_priority: i64,
    pub create_index: u64,
    pub modify_index: u64,
}

/// Where one group of a deployment stands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DeploymentState {
    pub auto_revert: bool,
    pub auto_promote: bool,
    pub progress_deadline: GoDuration,
    pub require_progress_by: GoTime,
    pub promoted: bool,
    #[serde(with = "null_if_empty")]
    pub placed_canaries: Vec<String>,
    pub desired_canaries: i64,
    pub desired_total: i64,
    pub placed_allocs: i64,
    pub healthy_allocs: i64,
    pub unhealthy_allocs: i64,
}

/// `PUT /v1/deployment/pause/:id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DeploymentPauseRequest {
    #[serde(rename = "DeploymentID")]
    pub deployment_id: String,
    pub pause: bool,
}

/// `PUT /v1/deployment/promote/:id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DeploymentPromoteRequest {
    #[serde(rename = "DeploymentID")]
    pub deployment_id: String,
    pub all: bool,
    #[serde(with = "null_if_empty")]
    pub groups: Vec<String>,
}

/// `PUT /v1/deployment/allocation-health/:id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DeploymentAllocHealthRequest {
    #[serde(rename = "DeploymentID")]
    pub deployment_id: String,
    #[serde(rename = "HealthyAllocationIDs", with = "null_if_empty")]
    pub healthy_allocation_ids: Vec<String>,
    #[serde(rename = "UnhealthyAllocationIDs", with = "null_if_empty")]
    pub unhealthy_allocation_ids: Vec<String>,
}

/// `PUT /v1/deployment/fail/:id`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeploymentFailRequest {
    #[serde(rename = "DeploymentID")]
    pub deployment_id: String,
}

/// The answer to writes on a deployment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DeploymentUpdateResponse {
    #[serde(rename = "EvalID")]
    pub eval_id: String,
    pub eval_create_index: u64,
    pub deployment_modify_index: u64,
    pub reverted_job_version: Option<u64>,
    pub index: u64,
    pub last_contact: i64,
    pub known_leader: bool,
    pub next_token: String,
}
