use std::collections::BTreeMap;
use std::fmt;

use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

use crate::{AllocMetric, DeploymentId, EvalId, JobKey, JobType, LogIndex, NodeId, Timestamp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvalStatus {
    Pending,
    Blocked,
    Complete,
    Failed,
    Canceled,
}

impl EvalStatus {
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Complete | Self::Failed | Self::Canceled)
    }
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Blocked => "blocked",
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
        }
    }
}

/// What made an evaluation (scheduling facts, section 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Trigger {
    JobRegister,
    JobDeregister,
    NodeUpdate,
    AllocStop,
    AllocFailure,
    DeploymentWatcher,
    QueuedAllocs,
    MaxPlanAttempts,
    FailedFollowUp,
    RollingUpdate,
    Scheduled,
}

impl Trigger {
    /// Nomad's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::JobRegister => "job-register",
            Self::JobDeregister => "job-deregister",
            Self::NodeUpdate => "node-update",
            Self::AllocStop => "alloc-stop",
            Self::AllocFailure => "alloc-failure",
            Self::DeploymentWatcher => "deployment-watcher",
            Self::QueuedAllocs => "queued-allocs",
            Self::MaxPlanAttempts => "max-plan-attempts",
            Self::FailedFollowUp => "failed-follow-up",
            Self::RollingUpdate => "rolling-update",
            Self::Scheduled => "scheduled",
        }
    }
}

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One look at what a job should have against what it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    pub id: EvalId,
    pub job: JobKey,
    pub kind: JobType,
    pub priority: u8,
    pub triggered_by: Trigger,
    pub status: EvalStatus,
    pub status_description: String,
    pub job_modify_index: LogIndex,
    pub node: Option<NodeId>,
    pub node_modify_index: LogIndex,
    pub deployment: Option<DeploymentId>,
    pub wait: GoDuration,
    /// Not before this instant; `NEVER` for at once.
    pub wait_until: Timestamp,
    pub next_eval: Option<EvalId>,
    pub previous_eval: Option<EvalId>,
    /// The evaluation that waits for room on behalf of this one.
    pub blocked_eval: Option<EvalId>,
    pub failed_groups: BTreeMap<String, AllocMetric>,
    /// For a blocked evaluation: computed class → whether it could ever take the group.
    pub class_eligibility: BTreeMap<String, bool>,
    /// Its constraints name unique attributes: any change of any node may unblock it.
    pub escaped_computed_class: bool,
    pub queued_allocations: BTreeMap<String, u32>,
    /// The state that the scheduler saw.
    pub snapshot_index: LogIndex,
    pub create_index: LogIndex,
    pub modify_index: LogIndex,
    pub create_time: Timestamp,
    pub modify_time: Timestamp,
}

impl Evaluation {
    /// A pending evaluation with nothing but its reason.
    pub fn pending(id: EvalId, job: JobKey, kind: JobType, priority: u8, by: Trigger, now: Timestamp) -> Self {
        Self {
            id,
            job,
            kind,
            priority,
            triggered_by: by,
            status: EvalStatus::Pending,
            status_description: String::new(),
            job_modify_index: LogIndex::default(),
            node: None,
            node_modify_index: LogIndex::default(),
            deployment: None,
            wait: GoDuration::ZERO,
            wait_until: Timestamp::NEVER,
            next_eval: None,
            previous_eval: None,
            blocked_eval: None,
            failed_groups: BTreeMap::new(),
            class_eligibility: BTreeMap::new(),
            escaped_computed_class: false,
            queued_allocations: BTreeMap::new(),
            snapshot_index: LogIndex::default(),
            create_index: LogIndex::default(),
            modify_index: LogIndex::default(),
            create_time: now,
            modify_time: now,
        }
    }
}
