//! The machine that the node is: what it has, and what it tells of itself.

mod facts;
pub(crate) mod node;
mod stats;

pub(crate) use stats::read as read_stats;
pub use stats::{CpuStats, DiskStats, HostStats, MemoryStats};
