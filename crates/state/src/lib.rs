//! The cluster's memory: a machine that the journal drives. The same entries give the same state, on every server and
//! at every replay. No I/O, no clock, no chance.
//!
//! - S1: `apply` is total: a change that does not fit the state (unknown id, purged job) changes only what it can.
//! - S2: clones are snapshots: cheap, and nobody's later change shows in them.
//! - S3: every index, use and summary is kept current by `apply`; `State::breaches` compares them with the facts.
//! - S4: the index of a table never goes back and moves with every change of one of its rows.

mod apply;
mod breaches;
mod change;
mod image;
mod state;
mod summary;
mod usage;

pub use change::{
    AllocStop, AllocationChange, BadEntry, Change, DeploymentChange, DeploymentStatusChange, Effect, Entry,
    EvaluationChange, JobChange, NodeChange, PlanChange,
};
pub use image::BadImage;
pub use state::{State, Table};
pub use summary::{GroupSummary, JobSummary};
pub use usage::NodeUse;
