//! Evaluations on their way to a worker: the queue, those that wait for room, and what becomes of the superfluous.

mod blocked;
mod broker;
mod clerk;
mod queue;

pub(crate) use broker::Broker;
pub use broker::EvaluationCounts;
pub(crate) use clerk::{cancelled, run as run_clerk};
