//! The nouns that decisions are made about. No I/O, no clock, no wire names: what clients see is `longshore-api`'s.

mod allocation;
mod constraint;
mod deployment;
mod digest;
mod evaluation;
mod ids;
mod image_ref;
mod job;
mod metric;
mod node;
mod provenance;
mod resources;
mod task;
mod timestamp;
mod wish;

pub use allocation::{
    AllocDeploymentStatus, AllocNetworkStatus, Allocation, AllocationReport, ClientStatus, DesiredStatus,
    DesiredTransition, RescheduleEvent, RescheduleTracker,
};
pub use constraint::{Affinity, Constraint, Operator, Spread, SpreadTarget};
pub use deployment::{Deployment, DeploymentGroup, DeploymentStatus};
pub use digest::{BadDigest, ContentId, Digest};
pub use evaluation::{EvalStatus, Evaluation, Trigger};
pub use ids::{AllocId, BadId, DeploymentId, EvalId, IdSource, JobKey, LogIndex, NodeId, SequentialIds};
pub use image_ref::{BadImageRef, ImageRef};
pub use job::{
    DelayFunction, Dns, EphemeralDisk, HealthCheck, Job, JobStatus, JobType, Lifecycle, LifecycleHook, LogConfig,
    NetworkAsk, PortAsk, ReschedulePolicy, RestartMode, RestartPolicy, Task, TaskGroup, UpdatePolicy,
};
pub use metric::{AllocMetric, NodeScore};
pub use node::{Eligibility, Node, NodeDriver, NodeEvent, NodeNetwork, NodeStatus};
pub use provenance::Provenance;
pub use resources::{AllocatedGroup, AllocatedPort, AllocatedTask, Resources};
pub use task::{TaskEvent, TaskPhase, TaskState};
pub use timestamp::Timestamp;
pub use wish::{ImageWish, WishAnswer, WishReport, is_image_known_before_start};
