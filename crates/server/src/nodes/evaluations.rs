use std::collections::BTreeSet;

use longshore_model::{EvalId, Evaluation, IdSource, JobKey, JobType, Node, Timestamp, Trigger};
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
    let here = state.allocations_of_node(node.id).filter(|alloc| !alloc.is_terminal()).map(|alloc| &alloc.job);
    let keys: BTreeSet<&JobKey> = here.chain(system).collect();
    let look = |key: &JobKey| {
        let job = state.job(key)?;
        let id = EvalId::fresh(ids);
        let mut evaluation = Evaluation::pending(id, key.clone(), job.kind, job.priority, Trigger::NodeUpdate, now);
        evaluation.job_modify_index = job.job_modify_index;
        evaluation.node = Some(node.id);
        // The change that carries the evaluation is the next one.
        evaluation.node_modify_index = state.index().next();
        Some(evaluation)
    };
    keys.into_iter().filter_map(look).collect()
}
