//! A node and a job as tests begin with them.

use longshore_model::{Job, JobType, TaskGroup};
/// 4,000 MHz and 8,192 MB: eight allocations of `job`.
pub(crate) use longshore_samples::node;
use longshore_samples::with_digest;

/// A service with one group `web` of `count`, one task `main` of 500 MHz and 256 MB, `max_parallel` 1.
pub(crate) fn job(id: &str, count: u32) -> Job {
    longshore_samples::job(id, JobType::Service, count)
}

/// The job after a change of its group or its task, as a client would send it.
pub(crate) fn changed(job: &Job, change: impl FnOnce(&mut TaskGroup)) -> Job {
    let mut job = job.clone();
    change(&mut job.groups[0]);
    with_digest(job)
}

pub(crate) fn image(group: &mut TaskGroup, image: &str) {
    group.tasks[0].config = serde_json::json!({"image": image});
}
