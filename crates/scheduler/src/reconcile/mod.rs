//! Compares what a job should have with what it has: what to stop, to update, to place. Knows nothing of nodes' room.

mod deployment;
mod group;
mod images;
mod names;
mod reschedule;

use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{
    AllocId, Allocation, ClientStatus, Deployment, DeploymentId, EvalId, Evaluation, IdSource, Job, JobKey, NodeId,
    NodeStatus, ReschedulePolicy, Timestamp,
};
use longshore_state::{AllocStop, DeploymentStatusChange, State};

pub(crate) use reschedule::next_delay;

use crate::GroupAnnotation;

pub(crate) const STOP_NOT_NEEDED: &str = "alloc not needed due to job update";
pub(crate) const STOP_UPDATED: &str = "alloc is being updated due to job update";
pub(crate) const STOP_MIGRATED: &str = "alloc is being migrated";
pub(crate) const STOP_LOST: &str = "alloc is lost since its node is down";
pub(crate) const STOP_RESCHEDULED: &str = "alloc was rescheduled because it failed";

/// Whether its group's policy lets a failed allocation be tried again, now or later.
pub fn may_reschedule(alloc: &Allocation, policy: Option<&ReschedulePolicy>, now: Timestamp) -> bool {
    reschedule::verdict(alloc, policy, now, false) != reschedule::Verdict::No
}

/// One allocation that is to be placed.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    pub(crate) group: String,
    pub(crate) name: String,
    pub(crate) previous: Option<Arc<Allocation>>,
    /// It takes over the history of a failed one.
    pub(crate) rescheduled: bool,
    /// Stops that count only when the placement finds a node (an update never stops what it cannot replace).
    pub(crate) stop_when_placed: Option<AllocStop>,
    /// Stops that count even when no node was found (what is lost or migrates).
    pub(crate) stop_in_any_case: Option<AllocStop>,
    /// What its node must have before it is placed, for the sake of what runs until then (K8); mostly nothing.
    pub(crate) images: Vec<String>,
}

/// What reconciling came to.
#[derive(Debug, Default)]
pub(crate) struct Reconciled {
    pub(crate) stops: Vec<AllocStop>,
    pub(crate) in_place: Vec<Arc<Allocation>>,
    pub(crate) placements: Vec<Placement>,
    pub(crate) follow_ups: Vec<(AllocId, EvalId)>,
    pub(crate) evaluations: Vec<Evaluation>,
    pub(crate) new_deployment: Option<Deployment>,
    pub(crate) deployment_updates: Vec<DeploymentStatusChange>,
    pub(crate) annotations: BTreeMap<String, GroupAnnotation>,
    active_deployment: Option<DeploymentId>,
}

impl Reconciled {
    /// The deployment that placements and in-place updates belong to.
    pub(crate) fn deployment_of_placements(&self) -> Option<DeploymentId> {
        self.new_deployment.as_ref().map(|deployment| deployment.id).or(self.active_deployment)
    }
}

/// What reconciling sees of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeTaint {
    Fine,
    /// Down or forgotten: what ran there is lost.
    Gone,
}

fn taint(state: &State, node: NodeId) -> NodeTaint {
    match state.node(node) {
        Some(node) if node.status != NodeStatus::Down => NodeTaint::Fine,
        _ => NodeTaint::Gone,
    }
}

/// The inputs that all groups share.
struct Picture<'a> {
    state: &'a State,
    evaluation: &'a Evaluation,
    job: &'a Job,
    /// The deployment of this very version that is active, or failed and so stops updates.
    deployment: Option<&'a Deployment>,
    now: Timestamp,
}

pub(crate) fn reconcile(
    state: &State,
    evaluation: &Evaluation,
    job: Option<&Job>,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Reconciled {
    let mut result = Reconciled::default();
    let latest = state.latest_deployment(&evaluation.job).map(AsRef::as_ref);
    deployment::cancel_outdated(latest, job, &mut result);
    lose_what_was_stopping(state, &evaluation.job, &mut result);
    let Some(job) = job.filter(|job| !job.stop) else {
        for alloc in state.allocations_of_job(&evaluation.job) {
            stop_for_good(state, alloc, &mut result);
        }
        return result;
    };
    let deployment = deployment::of_this_version(latest, job);
    result.active_deployment =
        deployment.filter(|deployment| deployment.status.is_active()).map(|deployment| deployment.id);
    let picture = Picture { state, evaluation, job, deployment, now };
    let mut by_group: BTreeMap<&str, Vec<Arc<Allocation>>> = BTreeMap::new();
    for alloc in state.allocations_of_job(&evaluation.job) {
        match job.group(&alloc.group) {
            Some(group) => by_group.entry(&group.name).or_default().push(Arc::clone(alloc)),
            None => stop_for_good(state, alloc, &mut result),
        }
    }
    let mut complete = true;
    for group in &job.groups {
        let allocations = by_group.remove(group.name.as_str()).unwrap_or_default();
        complete &= group::reconcile_group(&picture, group, allocations, &mut result, ids);
    }
    deployment::finish(&picture, complete, &mut result);
    result
}

/// A node that is gone cannot say any more that a stopped allocation has ended: without this it would never end.
fn lose_what_was_stopping(state: &State, job: &JobKey, result: &mut Reconciled) {
    for alloc in state.allocations_of_job(job) {
        if alloc.server_terminal() && alloc.occupies_node() && taint(state, alloc.node) == NodeTaint::Gone {
            result.stops.push(AllocStop {
                alloc: alloc.id,
                description: STOP_LOST.to_owned(),
                client_status: Some(ClientStatus::Lost),
                follow_up: None,
            });
        }
    }
}

/// An allocation of a stopped job or a removed group.
fn stop_for_good(state: &State, alloc: &Arc<Allocation>, result: &mut Reconciled) {
    if alloc.is_terminal() {
        return;
    }
    let lost = taint(state, alloc.node) == NodeTaint::Gone;
    result.annotations.entry(alloc.group.clone()).or_default().stop += 1;
    result.stops.push(AllocStop {
        alloc: alloc.id,
        description: if lost { STOP_LOST } else { STOP_NOT_NEEDED }.to_owned(),
        client_status: lost.then_some(ClientStatus::Lost),
        follow_up: None,
    });
}
