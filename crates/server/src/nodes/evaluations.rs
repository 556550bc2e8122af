use std::collections::BTreeSet;

use longshore_model::{EvalId, Evaluation, IdSource, JobKey, JobType, Node, NodeId, Timestamp, Trigger};
use longshore_state::State;
use longshore_values::Glob;

/// One evaluation for each job that a change of the node concerns: those with something on it, and the system jobs
/// that want to be on it.
pub(crate) fn evaluations_for_node(
    state: &State,
    node: &Node,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Vec<Evaluation> {
    let system = state
        .jobs()
        .filter(|job| matches!(job.kind, JobType::System | JobType::Sysbatch) && !job.stop)
        .filter(|job| job.node_pool == node.node_pool || job.node_pool == "all")
        .filter(|job| job.datacenters.iter().any(|pattern| Glob::new(pattern).matches(&node.datacenter)))
        .map(|job| &job.key);
    let keys: BTreeSet<&JobKey> = jobs_on(state, node.id).chain(system).collect();
    looks(state, keys, node.id, now, ids)
}

/// One evaluation for each job that has something on a node, which may be unknown by now.
pub(crate) fn evaluations_for_allocations(
    state: &State,
    node: NodeId,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Vec<Evaluation> {
    looks(state, jobs_on(state, node).collect(), node, now, ids)
}

fn jobs_on(state: &State, node: NodeId) -> impl Iterator<Item = &JobKey> {
    state.allocations_of_node(node).filter(|alloc| !alloc.is_terminal()).map(|alloc| &alloc.job)
}

fn looks(
    state: &State,
    keys: BTreeSet<&JobKey>,
    node: NodeId,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Vec<Evaluation> {
    let look = |key: &JobKey| {
        let job = state.job(key)?;
        let id = EvalId::fresh(ids);
        let mut evaluation = Evaluation::pending(id, key.clone(), job.kind, job.priority, Trigger::NodeUpdate, now);
        evaluation.job_modify_index = job.job_modify_index;
        evaluation.node = Some(node);
        // The change that carries the evaluation is the next one.
        evaluation.node_modify_index = state.index().next();
        Some(evaluation)
    };
    keys.into_iter().filter_map(look).collect()
}
