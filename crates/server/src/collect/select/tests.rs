use longshore_model::{DelayFunction, ReschedulePolicy};
use longshore_state::{Change, JobChange, NodeChange};
use longshore_values::GoDuration;

use super::*;
use crate::testing::{World, changed, job, node};

fn counts(garbage: &Garbage) -> [usize; 5] {
    [
        garbage.jobs.len(),
        garbage.evaluations.len(),
        garbage.allocations.len(),
        garbage.deployments.len(),
        garbage.nodes.len(),
    ]
}

/// (jobs, evaluations, allocations, deployments, nodes) with everything counting as old.
fn all_old(world: &World) -> [usize; 5] {
    counts(&select(&world.state, &Cutoffs::none(), world.now))
}

fn running(job: &Job) -> World {
    let mut world = World::with_nodes(1);
    world.register(job);
    world.settle(job);
    for alloc in world.live(job) {
        world.report(&alloc, ClientStatus::Running, Some(true));
    }
    world.settle(job);
    world
}

fn end_all(world: &mut World, job: &Job, status: ClientStatus) {
    let open: Vec<_> = world.state.allocations_of_job(&job.key).cloned().collect();
    for alloc in open.iter().filter(|alloc| !alloc.client_status.is_terminal()) {
        world.report(alloc, status, None);
    }
}

#[test]
fn what_runs_stays() {
    let web = job("web", 2);
    let world = running(&web);
    // The evaluation without allocations is over, and so is the deployment's: it has live ones.
    assert_eq!(all_old(&world), [0, 1, 0, 0, 0], "C1");
}

#[test]
fn a_stopped_job_goes_whole_when_nothing_of_it_runs() {
    let web = job("web", 2);
    let mut world = running(&web);
    world.stop(&web);
    world.settle(&web);
    assert_eq!(all_old(&world)[0], 0, "C1: its allocations still run");
    end_all(&mut world, &web, ClientStatus::Complete);
    assert_eq!(all_old(&world), [1, 3, 2, 1, 0]);
    let open = world.evaluation(&web);
    world.upsert(vec![open]);
    assert_eq!(all_old(&world)[0], 0, "C1: somebody is about to look");
}

#[test]
fn what_is_young_stays() {
    let web = job("web", 2);
    let mut world = running(&web);
    let before = world.state.index();
    world.stop(&web);
    world.settle(&web);
    end_all(&mut world, &web, ClientStatus::Complete);
    let cutoffs =
        Cutoffs { evaluations: before, batch_evaluations: before, jobs: before, deployments: before, nodes: before };
    assert_eq!(counts(&select(&world.state, &cutoffs, world.now)), [0, 1, 0, 1, 0]);
}

#[test]
fn a_failed_allocation_stays_while_it_may_be_tried_again() {
    let policy = |unlimited| ReschedulePolicy {
        attempts: 0,
        interval: GoDuration::ZERO,
        delay: GoDuration::hours(1),
        delay_function: DelayFunction::Constant,
        max_delay: GoDuration::hours(1),
        unlimited,
    };
    for (unlimited, goes) in [(true, 0), (false, 1)] {
        let web = changed(&job("web", 2), |group| {
            group.reschedule = Some(policy(unlimited));
            group.update = None;
        });
        let mut world = running(&web);
        let first = world.live(&web)[0].clone();
        world.report(&first, ClientStatus::Failed, None);
        let garbage = select(&world.state, &Cutoffs::none(), world.now);
        assert_eq!(garbage.allocations.len(), goes, "unlimited: {unlimited}");
        assert!(!garbage.evaluations.contains(&first.eval), "C2: the other one runs");
    }
}

#[test]
fn what_a_batch_job_has_done_is_remembered_with_it() {
    let mut batch = changed(&job("once", 2), |group| group.update = None);
    batch.kind = JobType::Batch;
    let mut world = running(&batch);
    let first = world.live(&batch)[0].clone();
    world.report(&first, ClientStatus::Complete, None);
    assert_eq!(all_old(&world), [0, 1, 0, 0, 0], "the second one still runs");
    end_all(&mut world, &batch, ClientStatus::Complete);
    assert_eq!(all_old(&world), [1, 2, 2, 0, 0]);
}

#[test]
fn a_purged_job_leaves_what_then_goes() {
    let web = job("web", 1);
    let mut world = running(&web);
    let purge = JobChange::Deregister { key: web.key.clone(), purge: true, no_shutdown_delay: false, evaluation: None };
    world.change(Change::Job(Box::new(purge)));
    world.settle(&web);
    end_all(&mut world, &web, ClientStatus::Complete);
    assert_eq!(all_old(&world), [0, 3, 1, 1, 0]);
}

#[test]
fn a_node_goes_when_it_is_down_and_empty() {
    let web = job("web", 1);
    let mut world = running(&web);
    let status = NodeStatus::Down;
    let node = node(1).id;
    world.change(Change::Node(NodeChange::Status { node, status, event: None, evaluations: Vec::new() }));
    assert_eq!(all_old(&world)[4], 0, "C1");
    world.settle(&web);
    assert_eq!(all_old(&world)[4], 1);
}
