//! Deployments on their way to success or failure.

mod judge;
mod watcher;

#[cfg(test)]
pub(crate) use judge::{Verdict, judge};
pub(crate) use judge::{failure, look};
pub(crate) use watcher::{Wakes, run as run_watcher};
