use std::sync::Arc;

use imbl::{OrdMap, OrdSet, Vector};
use longshore_model::{
    AllocId, Allocation, Deployment, DeploymentId, EvalId, Evaluation, Job, JobKey, LogIndex, Node, NodeId,
};
use serde::{Deserialize, Serialize};

use crate::{JobSummary, NodeUse};

/// The tables that have an index of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Table {
    Jobs,
    Evaluations,
    Allocations,
    Deployments,
    Nodes,
}

/// Everything that the servers remember. A clone is a snapshot and costs next to nothing.
#[derive(Debug, Clone, Default)]
pub struct State {
    pub(crate) index: LogIndex,
    pub(crate) table_indexes: OrdMap<Table, LogIndex>,
    pub(crate) jobs: OrdMap<JobKey, Arc<Job>>,
    /// Newest first, the current one included.
    pub(crate) versions: OrdMap<JobKey, Vector<Arc<Job>>>,
    pub(crate) summaries: OrdMap<JobKey, JobSummary>,
    pub(crate) evaluations: OrdMap<EvalId, Arc<Evaluation>>,
    pub(crate) evaluations_by_job: OrdMap<JobKey, OrdSet<EvalId>>,
    pub(crate) allocations: OrdMap<AllocId, Arc<Allocation>>,
    pub(crate) allocations_by_job: OrdMap<JobKey, OrdSet<AllocId>>,
    pub(crate) allocations_by_node: OrdMap<NodeId, OrdSet<AllocId>>,
    pub(crate) allocations_by_evaluation: OrdMap<EvalId, OrdSet<AllocId>>,
    /// The last change of a node's allocations on the server's side, removal included: what a node watches.
    pub(crate) node_allocations_index: OrdMap<NodeId, LogIndex>,
    pub(crate) deployments: OrdMap<DeploymentId, Arc<Deployment>>,
    pub(crate) deployments_by_job: OrdMap<JobKey, OrdSet<DeploymentId>>,
    /// Active deployments by the nodes that they wish to have images.
    pub(crate) wishes_by_node: OrdMap<NodeId, OrdSet<DeploymentId>>,
    pub(crate) nodes: OrdMap<NodeId, Arc<Node>>,
    pub(crate) node_use: OrdMap<NodeId, NodeUse>,
}

impl State {
    /// The last entry that was applied.
    pub fn index(&self) -> LogIndex {
        self.index
    }

    /// The last change of a table; 0 when it was never written.
    pub fn table_index(&self, table: Table) -> LogIndex {
        self.table_indexes.get(&table).copied().unwrap_or_default()
    }

    pub fn job(&self, key: &JobKey) -> Option<&Arc<Job>> {
        self.jobs.get(key)
    }

    /// Sorted by namespace and id.
    pub fn jobs(&self) -> impl DoubleEndedIterator<Item = &Arc<Job>> {
        self.jobs.values()
    }

    /// Newest first.
    pub fn job_versions(&self, key: &JobKey) -> impl Iterator<Item = &Arc<Job>> {
        self.versions.get(key).into_iter().flatten()
    }

    pub fn job_version(&self, key: &JobKey, version: u64) -> Option<&Arc<Job>> {
        self.job_versions(key).find(|job| job.version == version)
    }

    pub fn summary(&self, key: &JobKey) -> Option<&JobSummary> {
        self.summaries.get(key)
    }

    pub fn evaluation(&self, id: EvalId) -> Option<&Arc<Evaluation>> {
        self.evaluations.get(&id)
    }

    pub fn evaluations(&self) -> impl DoubleEndedIterator<Item = &Arc<Evaluation>> {
        self.evaluations.values()
    }

    pub fn evaluations_of_job(&self, key: &JobKey) -> impl Iterator<Item = &Arc<Evaluation>> {
        self.evaluations_by_job.get(key).into_iter().flatten().filter_map(|id| self.evaluations.get(id))
    }

    pub fn allocation(&self, id: AllocId) -> Option<&Arc<Allocation>> {
        self.allocations.get(&id)
    }

    pub fn allocations(&self) -> impl DoubleEndedIterator<Item = &Arc<Allocation>> {
        self.allocations.values()
    }

    pub fn allocations_of_job(&self, key: &JobKey) -> impl Iterator<Item = &Arc<Allocation>> {
        self.allocations_by_job.get(key).into_iter().flatten().filter_map(|id| self.allocations.get(id))
    }

    pub fn allocations_of_node(&self, node: NodeId) -> impl Iterator<Item = &Arc<Allocation>> {
        self.allocations_by_node.get(&node).into_iter().flatten().filter_map(|id| self.allocations.get(id))
    }

    pub fn allocations_of_evaluation(&self, id: EvalId) -> impl Iterator<Item = &Arc<Allocation>> {
        self.allocations_by_evaluation.get(&id).into_iter().flatten().filter_map(|id| self.allocations.get(id))
    }

    pub fn allocations_of_deployment(&self, id: DeploymentId) -> impl Iterator<Item = &Arc<Allocation>> {
        self.deployment(id)
            .into_iter()
            .flat_map(|deployment| self.allocations_of_job(&deployment.job))
            .filter(move |alloc| alloc.deployment == Some(id))
    }

    /// The last change of a node's allocations on the server's side.
    pub fn node_allocations_index(&self, node: NodeId) -> LogIndex {
        self.node_allocations_index.get(&node).copied().unwrap_or_default()
    }

    pub fn deployment(&self, id: DeploymentId) -> Option<&Arc<Deployment>> {
        self.deployments.get(&id)
    }

    pub fn deployments(&self) -> impl DoubleEndedIterator<Item = &Arc<Deployment>> {
        self.deployments.values()
    }

    pub fn deployments_of_job(&self, key: &JobKey) -> impl Iterator<Item = &Arc<Deployment>> {
        self.deployments_by_job.get(key).into_iter().flatten().filter_map(|id| self.deployments.get(id))
    }

    /// The newest deployment of a job.
    pub fn latest_deployment(&self, key: &JobKey) -> Option<&Arc<Deployment>> {
        self.deployments_of_job(key).max_by_key(|deployment| (deployment.create_index, deployment.id))
    }

    pub fn node(&self, id: NodeId) -> Option<&Arc<Node>> {
        self.nodes.get(&id)
    }

    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = &Arc<Node>> {
        self.nodes.values()
    }

    /// What the allocations of a node take that have not ended on it.
    pub fn node_use(&self, id: NodeId) -> NodeUse {
        self.node_use.get(&id).cloned().unwrap_or_default()
    }
}
