use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::{
    AllocId, AllocMetric, AllocatedGroup, DeploymentId, EvalId, Job, JobKey, LogIndex, NodeId, TaskState, Timestamp,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DesiredStatus {
    Run,
    Stop,
    Evict,
}

impl DesiredStatus {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Stop => "stop",
            Self::Evict => "evict",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientStatus {
    Pending,
    Running,
    Complete,
    Failed,
    Lost,
    Unknown,
}

impl ClientStatus {
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Failed | Self::Lost)
    }
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Lost => "lost",
            Self::Unknown => "unknown",
        }
    }
}

/// What the server asks the scheduler to do with an allocation at its next look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredTransition {
    pub migrate: bool,
    pub reschedule: bool,
    pub force_reschedule: bool,
    /// Its end, when it is told to stop, waits for no shutdown delay.
    #[serde(default)]
    pub no_shutdown_delay: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocDeploymentStatus {
    /// `None` while undecided.
    pub healthy: Option<bool>,
    pub timestamp: Timestamp,
    pub canary: bool,
    pub modify_index: LogIndex,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescheduleTracker {
    pub events: Vec<RescheduleEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RescheduleEvent {
    pub at: Timestamp,
    pub previous_alloc: AllocId,
    pub previous_node: NodeId,
    pub delay: GoDuration,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocNetworkStatus {
    pub interface_name: String,
    pub address: String,
}

/// One placement of a task group on one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    pub id: AllocId,
    pub eval: EvalId,
    pub node: NodeId,
    pub node_name: String,
    pub job: JobKey,
    /// The version that this allocation was placed for, or last updated in place to.
    pub job_version: u64,
    /// The job as of `job_version`; shared by all allocations of that version. Not serialised: whoever writes an
    /// allocation writes its job once beside it, and joins them on reading.
    #[serde(skip, default = "Job::absent")]
    pub job_spec: Arc<Job>,
    pub group: String,
    /// `<job>.<group>[<index>]`.
    pub name: String,
    pub resources: AllocatedGroup,
    pub desired_status: DesiredStatus,
    pub desired_description: String,
    pub desired_transition: DesiredTransition,
    pub client_status: ClientStatus,
    pub client_description: String,
    pub task_states: BTreeMap<String, TaskState>,
    pub deployment: Option<DeploymentId>,
    pub deployment_status: Option<AllocDeploymentStatus>,
    pub network_status: Option<AllocNetworkStatus>,
    pub previous_alloc: Option<AllocId>,
    pub next_alloc: Option<AllocId>,
    pub followup_eval: Option<EvalId>,
    pub reschedule_tracker: RescheduleTracker,
    pub metrics: AllocMetric,
    pub create_index: LogIndex,
    pub modify_index: LogIndex,
    /// Changes when the server changes the allocation, not when the node reports: what a node watches.
    pub alloc_modify_index: LogIndex,
    pub create_time: Timestamp,
    pub modify_time: Timestamp,
}

impl Allocation {
    /// The name of the `index`-th allocation of a group.
    pub fn name_of(job: &str, group: &str, index: u32) -> String {
        format!("{job}.{group}[{index}]")
    }

    /// The number in the brackets of the name; 0 when there is none.
    pub fn index(&self) -> u32 {
        let inner = self.name.rsplit_once('[').and_then(|(_, rest)| rest.strip_suffix(']'));
        inner.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    }

    /// The server wants it stopped.
    pub fn server_terminal(&self) -> bool {
        matches!(self.desired_status, DesiredStatus::Stop | DesiredStatus::Evict)
    }

    /// Wanted no more, or ended on the node.
    pub fn is_terminal(&self) -> bool {
        self.server_terminal() || self.client_status.is_terminal()
    }

    /// Whether it still takes room on its node: until the node has said that it ended.
    pub fn occupies_node(&self) -> bool {
        !self.client_status.is_terminal()
    }

    pub fn is_healthy(&self) -> bool {
        self.deployment_status.is_some_and(|status| status.healthy == Some(true))
    }

    pub fn is_unhealthy(&self) -> bool {
        self.deployment_status.is_some_and(|status| status.healthy == Some(false))
    }

    /// All its main tasks ended with success: a batch allocation that need not run again.
    pub fn ran_successfully(&self) -> bool {
        !self.task_states.is_empty()
            && self.task_states.values().all(|state| state.phase == crate::TaskPhase::Dead && !state.failed)
    }
}

/// What a node says of one allocation: the whole present state, not a difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllocationReport {
    pub alloc: AllocId,
    pub client_status: ClientStatus,
    pub client_description: String,
    pub task_states: BTreeMap<String, TaskState>,
    /// Health for `deployment` and when it was decided; `None` while undecided.
    pub healthy: Option<(bool, Timestamp)>,
    /// The deployment that the health was decided for. Nodes of older builds do not name it.
    #[serde(default)]
    pub deployment: Option<DeploymentId>,
    pub network_status: Option<AllocNetworkStatus>,
}

impl AllocationReport {
    /// Its verdict on the allocation as a part of `deployment`: one that was made for another deployment is none.
    pub fn health_in(&self, deployment: Option<DeploymentId>) -> Option<(bool, Timestamp)> {
        let present = deployment?;
        self.healthy.filter(|_| self.deployment.is_none_or(|judged| judged == present))
    }
}
