//! What the server does for nodes: registration, heartbeats, their allocations, their reports.

mod evaluations;
mod heartbeats;
mod link;
mod reports;
mod versions;
mod watcher;
mod wishes;

pub(crate) use evaluations::evaluations_for_node;
pub(crate) use reports::{Report, run as run_reporter};
pub(crate) use watcher::Pulse;
