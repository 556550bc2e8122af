//! The node role: runs the allocations that a server gives to this node, and keeps on disk what it needs to go on with
//! them after a restart of agent or machine.
//!
//! - C1: an allocation is accepted (holds, then record) before anything of it starts, and before the one that it
//!   replaces is told to stop.
//! - C2: what happens to a task is on disk before it is acted on, and before anybody is told.
//! - C3: killing this process at any moment starts no task twice and leaves none behind: whatever runs is found again.
//! - C4: drivers forget an allocation only when nothing of it can start again.

mod allocations;
mod asked;
mod client;
mod clock;
mod config;
mod database;
mod directories;
mod error;
mod files;
mod host;
mod identity;
mod lost;
mod registration;
mod reports;
mod rules;
mod runner;
mod shared;
#[cfg(test)]
mod testing;
mod versions;
mod wishes;

pub use asked::{AskError, MeasuredTask};
pub use client::{Client, PreparedClient};
pub use config::{ClientConfig, ENV_DENYLIST};
pub use directories::remove_folder;
pub use error::{ClientError, ReadLogError};
pub use files::{AllocFile, FileInfo, FilesError};
pub use host::{CpuStats, DiskStats, HostStats, MemoryStats};
pub use registration::Heartbeat;
