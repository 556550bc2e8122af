//! What may be forgotten (scheduling facts, section 10). Decides only.
//!
//! - C1: nothing goes that runs, is wanted, or that a pending look may still need.
//! - C2: an evaluation goes with its allocations, or stays with them.

use std::collections::BTreeSet;

use longshore_model::{
    AllocId, Allocation, ClientStatus, DeploymentId, EvalId, Evaluation, Job, JobKey, JobStatus, JobType, LogIndex,
    NodeId, NodeStatus, Timestamp,
};
use longshore_state::State;

/// Indexes up to which things count as old, by kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cutoffs {
    pub(crate) evaluations: LogIndex,
    pub(crate) batch_evaluations: LogIndex,
    pub(crate) jobs: LogIndex,
    pub(crate) deployments: LogIndex,
    pub(crate) nodes: LogIndex,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Garbage {
    pub(crate) evaluations: Vec<EvalId>,
    pub(crate) allocations: Vec<AllocId>,
    /// Forgotten whole, with their evaluations and allocations above.
    pub(crate) jobs: Vec<JobKey>,
    pub(crate) deployments: Vec<DeploymentId>,
    pub(crate) nodes: Vec<NodeId>,
}

impl Garbage {
    pub(crate) fn count(&self) -> usize {
        self.evaluations.len() + self.allocations.len() + self.jobs.len() + self.deployments.len() + self.nodes.len()
    }
}

pub(crate) fn select(state: &State, cutoffs: &Cutoffs, now: Timestamp) -> Garbage {
    let mut garbage = Garbage::default();
    let mut gone_allocs = BTreeSet::new();
    for job in state.jobs().filter(|job| job_is_old(job, cutoffs.jobs)) {
        let evaluations: Vec<_> = state.evaluations_of_job(&job.key).collect();
        let allocations: Vec<_> = state.allocations_of_job(&job.key).collect();
        let all_over = evaluations.iter().all(|it| it.status.is_terminal() && it.modify_index <= cutoffs.jobs)
            && allocations.iter().all(|it| ended_on_node(it) && it.modify_index <= cutoffs.jobs);
        if all_over {
            garbage.jobs.push(job.key.clone());
            garbage.evaluations.extend(evaluations.iter().map(|it| it.id));
            gone_allocs.extend(allocations.iter().map(|it| it.id));
        }
    }
    for evaluation in state.evaluations() {
        let job = state.job(&evaluation.job);
        if job.is_some_and(|job| garbage.jobs.binary_search(&job.key).is_ok()) {
            continue;
        }
        let (whole, allocations) = of_evaluation(state, evaluation, job.map(AsRef::as_ref), cutoffs, now);
        gone_allocs.extend(allocations);
        if whole {
            garbage.evaluations.push(evaluation.id);
        }
    }
    for deployment in state.deployments() {
        let live = state
            .allocations_of_deployment(deployment.id)
            .any(|alloc| !gone_allocs.contains(&alloc.id) && !alloc.is_terminal());
        if !deployment.status.is_active() && deployment.modify_index <= cutoffs.deployments && !live {
            garbage.deployments.push(deployment.id);
        }
    }
    for node in state.nodes().filter(|node| node.status == NodeStatus::Down && node.modify_index <= cutoffs.nodes) {
        if state.allocations_of_node(node.id).all(|alloc| gone_allocs.contains(&alloc.id) || alloc.is_terminal()) {
            garbage.nodes.push(node.id);
        }
    }
    garbage.allocations = gone_allocs.into_iter().collect();
    garbage
}

fn job_is_old(job: &Job, cutoff: LogIndex) -> bool {
    job.status == JobStatus::Dead && job.modify_index <= cutoff
}

/// Whether the whole evaluation goes, and which of its allocations.
fn of_evaluation(
    state: &State,
    evaluation: &Evaluation,
    job: Option<&Job>,
    cutoffs: &Cutoffs,
    now: Timestamp,
) -> (bool, Vec<AllocId>) {
    let batch = evaluation.kind == JobType::Batch || job.is_some_and(|job| job.kind == JobType::Batch);
    let cutoff = if batch { cutoffs.batch_evaluations } else { cutoffs.evaluations };
    if !evaluation.status.is_terminal() || evaluation.modify_index > cutoff {
        return (false, Vec::new());
    }
    let mut whole = true;
    // What a batch job has done is what keeps it from being done again.
    if batch && let Some(job) = job {
        let over = job.stop && job.status == JobStatus::Dead;
        let old = state
            .allocations_of_evaluation(evaluation.id)
            .all(|alloc| over || alloc.job_spec.create_index < job.create_index);
        if !old {
            return (false, Vec::new());
        }
    }
    let mut allocations = Vec::new();
    for alloc in state.allocations_of_evaluation(evaluation.id) {
        if may_forget(alloc, job, cutoff, now) {
            allocations.push(alloc.id);
        } else {
            whole = false;
        }
    }
    (whole, allocations)
}

fn may_forget(alloc: &Allocation, job: Option<&Job>, cutoff: LogIndex, now: Timestamp) -> bool {
    if !ended_on_node(alloc) || alloc.modify_index > cutoff {
        return false;
    }
    let Some(job) = job.filter(|job| !job.stop && job.status != JobStatus::Dead) else { return true };
    if alloc.server_terminal() || alloc.client_status != ClientStatus::Failed || alloc.next_alloc.is_some() {
        return true;
    }
    // A failed one that will be tried again carries the history of its attempts.
    let policy = job.group(&alloc.group).and_then(|group| group.reschedule.as_ref());
    !longshore_scheduler::may_reschedule(alloc, policy, now)
}

/// Nothing of it runs any more.
fn ended_on_node(alloc: &Allocation) -> bool {
    alloc.client_status.is_terminal()
}

#[cfg(test)]
mod tests;
