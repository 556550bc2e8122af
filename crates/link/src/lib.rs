//! What a node and its server say to each other: the trait and its messages. Within one process it is a call.
//!
//! - L1: a node learns of allocations only through `watch_allocations`, and a server of their fate only through
//!   `report`; both may be repeated and change nothing then.
//! - L2: `report` and `report_images` have made what they were told durable when they return.

use std::sync::Arc;

use async_trait::async_trait;
pub use longshore_model::AllocationReport;
use longshore_model::{Allocation, DeploymentId, Job, LogIndex, Node, NodeId, Timestamp, WishReport};
use longshore_values::GoDuration;
use serde::{Deserialize, Serialize};

/// Why a server could not answer.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The server does not know the node: it must register (again).
    #[error("the server does not know node {0}")]
    UnknownNode(NodeId),
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The server could not make it durable, or could not be reached; the same call may succeed later.
    #[error("the server could not {doing}: {why}")]
    Unavailable { doing: &'static str, why: String },
}

/// The answer to a registration or heartbeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatOrder {
    /// The next heartbeat is due within this span.
    pub ttl: GoDuration,
}

/// All allocations of a node that the server has not collected yet, and what it is wished to have ready.
#[derive(Debug, Clone)]
pub struct NodeAllocations {
    /// Ask again with this index.
    pub index: LogIndex,
    pub allocations: Vec<Arc<Allocation>>,
    /// All that is wished: what is not listed any more is over.
    pub wishes: Vec<WishedImages>,
    /// All versions that jobs with an allocation here may go back to.
    pub earlier: Vec<EarlierVersion>,
}

/// A stable version of a job that a newer one follows: what it needs may be wanted again.
#[derive(Debug, Clone)]
pub struct EarlierVersion {
    pub job: Arc<Job>,
    /// How many newer versions have become stable. None while an update away from it is under way, or has failed.
    pub newer_stable: usize,
}

/// The images of a group's tasks, wished for before an allocation of it is placed here (K8).
#[derive(Debug, Clone)]
pub struct WishedImages {
    pub deployment: DeploymentId,
    /// The version that the tasks are those of.
    pub job: Arc<Job>,
    pub group: String,
    /// When it was wished last: an answer names it.
    pub since: Timestamp,
    /// After this instant nobody counts on them any more.
    pub expires_at: Timestamp,
}

/// A server, as a node sees it.
#[async_trait]
pub trait ServerLink: Send + Sync {
    /// Makes the node known, or what it says of itself newer.
    async fn register(&self, node: Node) -> Result<HeartbeatOrder, LinkError>;

    async fn heartbeat(&self, node: NodeId) -> Result<HeartbeatOrder, LinkError>;

    /// Returns when the node's allocations have changed after `after` (at once for 0), or after some minutes as they are.
    async fn watch_allocations(&self, node: NodeId, after: LogIndex) -> Result<NodeAllocations, LinkError>;

    /// The present state of allocations of `node`.
    async fn report(&self, node: NodeId, reports: Vec<AllocationReport>) -> Result<(), LinkError>;

    /// What became of wishes to `node`. Durable when it returns; repeating it changes nothing.
    async fn report_images(&self, node: NodeId, reports: Vec<WishReport>) -> Result<(), LinkError>;
}
