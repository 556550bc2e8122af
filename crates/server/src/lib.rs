//! The server role: everything between a request and the plan that a node sees.
//!
//! - R1: durable before visible. Nothing is answered, scheduled or shown on the strength of a change that the journal
//!   has not taken.
//! - R2: every decision that a change rests on is made against the newest state, by the one loop that writes.
//! - R3: each loop compares what is with what should be; events only wake it sooner. A start is nothing special.
//! - R4: at most one evaluation of a job is being worked on at a time.
//! - R5: a plan never overfills a node: capacity, ports and readiness are verified when it is applied.

mod clock;
mod collect;
mod config;
mod deployments;
mod error;
mod evaluations;
mod nodes;
mod operations;
mod plans;
mod published;
mod server;
mod snapshots;
#[cfg(test)]
mod testing;
mod worker;
mod writer;

pub use clock::SystemIds;
pub use config::{CollectConfig, HeartbeatConfig, ServerConfig};
pub use error::{Refusal, ServerError, StartError};
pub use evaluations::EvaluationCounts;
pub use operations::{
    DeploymentAnswer, Deregistration, EvalAnswer, GroupCounts, JobAnswer, NodeAnswer, PlannedJob, RegisterJob,
};
pub use server::Server;
