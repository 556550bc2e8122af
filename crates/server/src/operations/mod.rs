//! What requests ask of the server. Reading is done on `Server::snapshot`.

mod allocations;
mod deployments;
mod jobs;
mod nodes;
mod planning;

use longshore_model::{EvalId, LogIndex};

pub use deployments::DeploymentAnswer;
pub use jobs::{Deregistration, GroupCounts, JobAnswer, RegisterJob};
pub use nodes::NodeAnswer;
pub use planning::PlannedJob;

/// The answer to a request that leads to one evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalAnswer {
    pub eval: EvalId,
    pub index: LogIndex,
}
