use std::collections::BTreeMap;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::{AllocId, DeploymentId, ImageWish, JobKey, LogIndex, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeploymentStatus {
    Running,
    Paused,
    Failed,
    Successful,
    Cancelled,
}

impl DeploymentStatus {
    pub fn is_active(self) -> bool {
        matches!(self, Self::Running | Self::Paused)
    }
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Failed => "failed",
            Self::Successful => "successful",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Where one group of a deployment stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeploymentGroup {
    pub auto_revert: bool,
    pub auto_promote: bool,
    pub promoted: bool,
    pub placed_canaries: Vec<AllocId>,
    pub desired_canaries: u32,
    pub desired_total: u32,
    pub placed_allocs: u32,
    pub healthy_allocs: u32,
    pub unhealthy_allocs: u32,
    pub progress_deadline: GoDuration,
    pub require_progress_by: Timestamp,
}

/// One roll-out of a job version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deployment {
    pub id: DeploymentId,
    pub job: JobKey,
    pub job_version: u64,
    pub job_modify_index: LogIndex,
    pub job_spec_modify_index: LogIndex,
    pub job_create_index: LogIndex,
    pub groups: BTreeMap<String, DeploymentGroup>,
    /// Images that nodes are to have before what runs is stopped; one an allocation that waits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wishes: Vec<ImageWish>,
    pub status: DeploymentStatus,
    pub status_description: String,
    pub create_index: LogIndex,
    pub modify_index: LogIndex,
}
