use std::collections::BTreeMap;
use std::sync::Arc;

use longshore_model::{EvalId, Evaluation, IdSource, Job, JobKey, JobType, Node, Timestamp, Trigger};
use longshore_state::State;
use longshore_values::Glob;

/// One evaluation for each job that a change of the node concerns: those that have something on it that has not ended
/// there, be it stopped or its job purged, those that wait for an image there, and the system jobs that want to be on it.
pub(crate) fn evaluations_for_node(
    state: &State,
    node: &Node,
    now: Timestamp,
    ids: &mut dyn IdSource,
) -> Vec<Evaluation> {
    let here = state.allocations_of_node(node.id).filter(|alloc| alloc.occupies_node());
    let mut jobs: BTreeMap<&JobKey, &Arc<Job>> = here.map(|alloc| (&alloc.job, &alloc.job_spec)).collect();
    let system = state
        .jobs()
        .filter(|job| matches!(job.kind, JobType::System | JobType::Sysbatch) && !job.stop)
        .filter(|job| job.node_pool == node.node_pool || job.node_pool == "all")
        .filter(|job| job.datacenters.iter().any(|pattern| Glob::new(pattern).matches(&node.datacenter)));
    jobs.extend(system.map(|job| (&job.key, job)));
    // What they wait for here may have to be waited for elsewhere.
    let wishing = state.deployments_wishing(node.id).filter_map(|deployment| state.job(&deployment.job));
    jobs.extend(wishing.map(|job| (&job.key, job)));
    let look = |(key, placed): (&JobKey, &Arc<Job>)| {
        let job = state.job(key).unwrap_or(placed);
        let id = EvalId::fresh(ids);
        let mut evaluation = Evaluation::pending(id, key.clone(), job.kind, job.priority, Trigger::NodeUpdate, now);
        evaluation.job_modify_index = job.job_modify_index;
        evaluation.node = Some(node.id);
        // The change that carries the evaluation is the next one.
        evaluation.node_modify_index = state.index().next();
        evaluation
    };
    jobs.into_iter().map(look).collect()
}

#[cfg(test)]
mod tests {
    use longshore_model::{ClientStatus, SequentialIds};
    use longshore_state::{Change, JobChange};

    use super::*;
    use crate::testing::{World, job, node};

    #[test]
    fn whatever_has_not_ended_there_is_looked_at() {
        let looks = |world: &World| {
            evaluations_for_node(&world.state, &node(1), world.now, &mut SequentialIds::default()).len()
        };
        let mut world = World::with_nodes(1);
        let web = job("web", 1);
        world.register(&web);
        assert_eq!(looks(&world), 0);
        world.settle(&web);
        let alloc = world.live(&web)[0].clone();
        assert_eq!(looks(&world), 1);
        world.stop(&web);
        world.settle(&web);
        assert_eq!(looks(&world), 1, "stopped, and not ended yet");
        let purge =
            JobChange::Deregister { key: web.key.clone(), purge: true, no_shutdown_delay: false, evaluation: None };
        world.change(Change::Job(Box::new(purge)));
        assert_eq!(looks(&world), 1, "the node may be lost before it has ended");
        world.report(&alloc, ClientStatus::Complete, None);
        assert_eq!(looks(&world), 0);
    }
}
