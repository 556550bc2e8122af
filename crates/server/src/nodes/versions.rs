//! Versions of jobs that can be gone back to: what a node is told of them, so that it can keep their images.

use std::collections::BTreeSet;
use std::sync::Arc;

use longshore_link::EarlierVersion;
use longshore_model::{JobKey, NodeId};
use longshore_state::State;

/// Of every job that has an allocation on the node, running or not: its stable versions that a newer one follows.
pub(super) fn of_node(state: &State, node: NodeId) -> Vec<EarlierVersion> {
    let jobs: BTreeSet<&JobKey> = state.allocations_of_node(node).map(|alloc| &alloc.job).collect();
    jobs.into_iter().flat_map(|job| earlier(state, job)).collect()
}

/// Newest first. That a job was stopped is no version to go back from.
fn earlier(state: &State, job: &JobKey) -> Vec<EarlierVersion> {
    let (mut found, mut newer_stable, mut is_followed) = (Vec::new(), 0, false);
    for version in state.job_versions(job) {
        if version.stop {
            continue;
        }
        if version.stable && is_followed {
            found.push(EarlierVersion { job: Arc::clone(version), newer_stable });
        }
        newer_stable += usize::from(version.stable);
        is_followed = true;
    }
    found
}

#[cfg(test)]
mod tests {
    use longshore_model::{ClientStatus, Job};
    use longshore_state::{Change, JobChange};

    use super::*;
    use crate::testing::{World, changed, image, job, node};

    /// `version-newer_stable`, as the node is told.
    fn told(world: &World) -> String {
        let earlier = of_node(&world.state, node(1).id).into_iter();
        let words: Vec<_> = earlier.map(|it| format!("{}-{}", it.job.version, it.newer_stable)).collect();
        words.join(" ")
    }

    fn make_stable(world: &mut World, job: &Job, version: u64) {
        let change = JobChange::Stability { key: job.key.clone(), version, stable: true };
        world.change(Change::Job(Box::new(change)));
    }

    #[test]
    fn stable_versions_that_others_follow_are_told_until_the_job_is_purged() {
        let mut world = World::with_nodes(1);
        let web = job("web", 1);
        world.register(&web);
        world.settle(&web);
        let alloc = world.live(&web)[0].clone();
        world.report(&alloc, ClientStatus::Running, Some(true));
        make_stable(&mut world, &web, 0);
        assert_eq!(told(&world), "", "it is the current one");
        for tag in 2..=4 {
            let next = changed(&web, |group| image(group, &format!("web:{tag}")));
            world.register(&next);
        }
        assert_eq!(told(&world), "0-0", "none that follows is stable");
        let before = world.state.node_allocations_index(node(1).id);
        make_stable(&mut world, &web, 1);
        assert!(world.state.node_allocations_index(node(1).id) > before, "the node is woken");
        make_stable(&mut world, &web, 3);
        assert_eq!(told(&world), "1-1 0-2", "2 never became stable");
        let deregister = |purge| {
            let (key, no_shutdown_delay) = (web.key.clone(), false);
            Change::Job(Box::new(JobChange::Deregister { key, purge, no_shutdown_delay, evaluation: None }))
        };
        world.change(deregister(false));
        assert_eq!(told(&world), "1-1 0-2", "stopped is not replaced");
        let before = world.state.node_allocations_index(node(1).id);
        world.change(deregister(true));
        assert_eq!(told(&world), "");
        assert!(world.state.node_allocations_index(node(1).id) > before, "the node is woken");
    }
}
