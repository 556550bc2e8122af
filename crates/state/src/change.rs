use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{
    AllocId, Allocation, AllocationReport, ClientStatus, Deployment, DeploymentId, DeploymentStatus, DesiredTransition,
    Eligibility, EvalId, Evaluation, ImageWish, Job, JobKey, LogIndex, Node, NodeEvent, NodeId, NodeStatus, Timestamp,
    WishReport,
};
use serde::{Deserialize, Serialize};

/// One entry of the journal: what changes, and the proposer's clock, so that replay never asks one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Timestamp,
    pub change: Change,
}

/// The first byte of an encoded entry: the number of its form.
const ENTRY_FORM: u8 = 1;

/// Why bytes are no entry.
#[derive(Debug, thiserror::Error)]
pub enum BadEntry {
    #[error("the entry is empty")]
    Empty,
    #[error("the entry has form {0}, this build reads form {ENTRY_FORM}: a newer Longshore wrote it")]
    NewerForm(u8),
    #[error("the entry cannot be understood")]
    Content(#[source] serde_json::Error),
}

impl Entry {
    pub fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = vec![ENTRY_FORM];
        serde_json::to_writer(&mut bytes, self)?;
        Ok(bytes)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, BadEntry> {
        match bytes.split_first() {
            None => Err(BadEntry::Empty),
            Some((&ENTRY_FORM, content)) => serde_json::from_slice(content).map_err(BadEntry::Content),
            Some((form, _)) => Err(BadEntry::NewerForm(*form)),
        }
    }
}

/// Everything that can happen to the cluster's memory; one nested enum a noun.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Change {
    Job(Box<JobChange>),
    Evaluation(EvaluationChange),
    Allocation(AllocationChange),
    Node(NodeChange),
    Deployment(Box<DeploymentChange>),
    Plan(Box<PlanChange>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JobChange {
    /// A new job, a new version, or the same again (then only the evaluation is new).
    Register {
        job: Arc<Job>,
        evaluation: Option<Evaluation>,
    },
    /// Stopped; with `purge` forgotten as well.
    Deregister {
        key: JobKey,
        purge: bool,
        /// The end of its allocations, also of those that are ending already, waits for no shutdown delay.
        #[serde(default)]
        no_shutdown_delay: bool,
        evaluation: Option<Evaluation>,
    },
    Stability {
        key: JobKey,
        version: u64,
        stable: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum EvaluationChange {
    Upsert(Vec<Evaluation>),
    /// Collected as old: forgotten with their allocations.
    Collect {
        evaluations: Vec<EvalId>,
        allocations: Vec<AllocId>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AllocationChange {
    /// What nodes say, with the evaluations that follow from it.
    Report { reports: Vec<AllocationReport>, evaluations: Vec<Evaluation> },
    /// What the scheduler is to do at its next look.
    Transition { transitions: BTreeMap<AllocId, DesiredTransition>, evaluations: Vec<Evaluation> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum NodeChange {
    /// New, or what a known node says of itself; status, eligibility and events of a known one stay.
    Register {
        node: Box<Node>,
        evaluations: Vec<Evaluation>,
    },
    Status {
        node: NodeId,
        status: NodeStatus,
        event: Option<NodeEvent>,
        evaluations: Vec<Evaluation>,
    },
    Eligibility {
        node: NodeId,
        eligibility: Eligibility,
        event: Option<NodeEvent>,
        evaluations: Vec<Evaluation>,
    },
    Remove(Vec<NodeId>),
    /// Removed whatever it runs, with the evaluations that follow from it.
    Purge {
        node: NodeId,
        evaluations: Vec<Evaluation>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum DeploymentChange {
    /// `revert` is the job to go back to, as a new version.
    Status(Box<DeploymentStatusChange>),
    /// Health that a person set.
    Health {
        deployment: DeploymentId,
        healthy: Vec<AllocId>,
        unhealthy: Vec<AllocId>,
        evaluation: Option<Evaluation>,
    },
    /// Failed allocations of an active deployment that may be tried again.
    AllowReschedule {
        deployment: DeploymentId,
        allocations: Vec<AllocId>,
        evaluation: Option<Evaluation>,
    },
    /// What a node says of the images that deployments wished it to have.
    WishesAnswered {
        node: NodeId,
        reports: Vec<WishReport>,
        evaluations: Vec<Evaluation>,
    },
    Collect(Vec<DeploymentId>),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeploymentStatusChange {
    pub deployment: DeploymentId,
    pub status: DeploymentStatus,
    pub description: String,
    /// The job that auto revert submits again.
    pub revert: Option<Arc<Job>>,
    pub evaluation: Option<Evaluation>,
}

/// What a scheduler decided and the plan applier found to fit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanChange {
    pub evaluation: Option<EvalId>,
    /// The job that was planned, as of which registration: placements of another one are dropped.
    pub job_create_index: LogIndex,
    pub stops: Vec<AllocStop>,
    /// New allocations, and known ones that are updated in place (same id).
    pub places: Vec<Allocation>,
    /// Failed allocations that a later evaluation will look at.
    pub follow_ups: Vec<(AllocId, EvalId)>,
    /// A new deployment.
    pub deployment: Option<Deployment>,
    pub deployment_updates: Vec<DeploymentStatusChange>,
    /// Images that a deployment has to wait for: a wish takes the place of an earlier one of its allocation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wishes: Vec<(DeploymentId, ImageWish)>,
    /// Evaluations that go with the plan (delayed reschedules).
    pub evaluations: Vec<Evaluation>,
}

impl PlanChange {
    /// Whether applying it would change nothing.
    pub fn is_empty(&self) -> bool {
        self.stops.is_empty()
            && self.places.is_empty()
            && self.follow_ups.is_empty()
            && self.deployment.is_none()
            && self.deployment_updates.is_empty()
            && self.wishes.is_empty()
            && self.evaluations.is_empty()
    }
}

/// An allocation that is wanted no more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AllocStop {
    pub alloc: AllocId,
    pub description: String,
    /// What it is on its node as well, when the node cannot say so (`Lost`).
    pub client_status: Option<ClientStatus>,
    pub follow_up: Option<EvalId>,
}

/// What somebody may want to do because of a change. Acting on it late or twice does no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Effect {
    /// The evaluation is pending (or waits for its time).
    EvaluationPending(EvalId),
    EvaluationBlocked(EvalId),
    EvaluationEnded(EvalId),
    /// The node's allocations changed on the server's side.
    NodeAllocations(NodeId),
    /// Room, readiness or attributes of the node changed for the better.
    NodeCapacity(NodeId),
    Deployment(DeploymentId),
}
