use longshore_model::SequentialIds;
use longshore_state::{Change, DeploymentChange};
use longshore_values::GoDuration;

use super::*;
use crate::testing::{World, changed, image, job};

const DEADLINE: GoDuration = GoDuration::minutes(10);

/// A deployment with two allocations under way.
fn under_way(change: impl FnOnce(&mut longshore_model::TaskGroup)) -> (World, Job) {
    let mut world = World::with_nodes(1);
    let web = changed(&job("web", 2), change);
    world.register(&web);
    world.settle(&web);
    assert_eq!(world.live(&web).len(), 2);
    (world, web)
}

fn latest<'a>(world: &'a World, job: &Job) -> &'a Deployment {
    world.state.latest_deployment(&job.key).unwrap()
}

fn judged(world: &World, job: &Job) -> Verdict {
    judge(&world.state, latest(world, job), world.now)
}

#[test]
fn without_news_it_waits_for_its_deadline() {
    let (world, web) = under_way(|_| {});
    assert_eq!(judged(&world, &web), Verdict::Wait { until: Some(world.now.plus(DEADLINE)) });
}

#[test]
fn health_leads_to_one_look() {
    let (mut world, web) = under_way(|_| {});
    let first = world.live(&web)[0].clone();
    world.pass(GoDuration::minutes(1));
    world.report(&first, ClientStatus::Running, Some(true));
    assert_eq!(judged(&world, &web), Verdict::Evaluate, "D2");
    let look = world.evaluation(&web);
    world.upsert(vec![look]);
    let wait = Verdict::Wait { until: Some(world.now.plus(DEADLINE)) };
    assert_eq!(judged(&world, &web), wait, "a look is under way, and what is healthy moves the deadline");
    let looks: Vec<_> = world.state.evaluations().filter(|it| it.status == EvalStatus::Pending).cloned().collect();
    let ended = looks.iter().map(|it| {
        let mut ended = Evaluation::clone(it);
        (ended.status, ended.snapshot_index) = (EvalStatus::Complete, world.state.index());
        ended
    });
    let ended = ended.collect();
    world.upsert(ended);
    assert_eq!(judged(&world, &web), wait, "it was seen");
}

#[test]
fn a_resumed_one_has_its_whole_time_again() {
    let (mut world, web) = under_way(|_| {});
    let set = |world: &mut World, status| {
        let change = DeploymentStatusChange {
            deployment: latest(world, &web).id,
            status,
            description: String::new(),
            revert: None,
            evaluation: None,
        };
        world.change(Change::Deployment(Box::new(DeploymentChange::Status(Box::new(change)))));
    };
    set(&mut world, DeploymentStatus::Paused);
    world.pass(DEADLINE);
    world.pass(DEADLINE);
    assert_eq!(judged(&world, &web), Verdict::Wait { until: None }, "paused");
    set(&mut world, DeploymentStatus::Running);
    assert_eq!(judged(&world, &web), Verdict::Wait { until: Some(world.now.plus(DEADLINE)) });
    world.pass(DEADLINE);
    assert_eq!(judged(&world, &web), Verdict::Fail { description: PROGRESS_DEADLINE.to_owned(), auto_revert: false });
}

#[test]
fn without_progress_it_fails_in_time() {
    let (mut world, web) = under_way(|group| group.update.as_mut().unwrap().auto_revert = true);
    world.pass(DEADLINE);
    assert_eq!(
        judged(&world, &web),
        Verdict::Fail { description: PROGRESS_DEADLINE.to_owned(), auto_revert: true },
        "D1"
    );
    for alloc in world.live(&web) {
        world.report(&alloc, ClientStatus::Running, Some(true));
    }
    world.pass(GoDuration::hours(1));
    assert_eq!(judged(&world, &web), Verdict::Evaluate, "with all healthy no deadline counts");
}

#[test]
fn a_failed_allocation_is_tried_again_or_fails_the_deployment() {
    let (mut world, web) = under_way(|_| {});
    let first = world.live(&web)[0].clone();
    world.report(&first, ClientStatus::Running, Some(false));
    assert!(matches!(judged(&world, &web), Verdict::Wait { .. }), "it runs: the deadline decides");
    world.report(&first, ClientStatus::Failed, Some(false));
    assert_eq!(judged(&world, &web), Verdict::Reschedule(vec![first.id]));
    let change = DeploymentChange::AllowReschedule {
        deployment: latest(&world, &web).id,
        allocations: vec![first.id],
        evaluation: None,
    };
    world.change(Change::Deployment(Box::new(change)));
    assert!(matches!(judged(&world, &web), Verdict::Wait { .. }), "allowed once");

    for change in [
        (|group: &mut longshore_model::TaskGroup| group.reschedule = None) as fn(&mut longshore_model::TaskGroup),
        |group| group.update.as_mut().unwrap().progress_deadline = GoDuration::ZERO,
    ] {
        let (mut world, web) = under_way(change);
        let first = world.live(&web)[0].clone();
        world.report(&first, ClientStatus::Failed, Some(false));
        assert_eq!(judged(&world, &web), Verdict::Fail { description: UNHEALTHY.to_owned(), auto_revert: false }, "D1");
    }
}

#[test]
fn what_is_held_or_over_is_left_alone() {
    for status in [DeploymentStatus::Paused, DeploymentStatus::Failed] {
        let (mut world, web) = under_way(|_| {});
        let change = DeploymentStatusChange {
            deployment: latest(&world, &web).id,
            status,
            description: String::new(),
            revert: None,
            evaluation: None,
        };
        world.change(Change::Deployment(Box::new(DeploymentChange::Status(Box::new(change)))));
        world.pass(DEADLINE);
        assert_eq!(judged(&world, &web), Verdict::Wait { until: None });
    }
}

#[test]
fn it_goes_back_to_another_stable_version_once() {
    let (mut world, web) = under_way(|group| group.update.as_mut().unwrap().auto_revert = true);
    let described = |world: &World| {
        let deployment = latest(world, &web);
        failure(&world.state, deployment, "Failed", true, world.now, &mut SequentialIds::default())
    };
    let none = described(&world);
    assert_eq!((none.revert, none.description.as_str()), (None, "Failed - no stable job version to auto revert to"));

    let stable = longshore_state::JobChange::Stability { key: web.key.clone(), version: 0, stable: true };
    world.change(Change::Job(Box::new(stable)));
    let newer = changed(&web, |group| image(group, "web:2"));
    world.register(&newer);
    world.settle(&newer);
    let back = described(&world);
    assert_eq!(back.revert.map(|job| job.version), Some(0));
    insta::assert_snapshot!(back.description, @"Failed - rolling back to job version 0");

    // Version 2 is version 0 again; when that fails too, there is nothing to go back to.
    world.register(&web);
    world.settle(&web);
    let same = described(&world);
    assert!(same.revert.is_none(), "D3");
    insta::assert_snapshot!(
        same.description,
        @"Failed - not rolling back to stable job version 0 as current job has same specification"
    );
    assert!(
        failure(&world.state, latest(&world, &web), "Failed", false, world.now, &mut SequentialIds::default())
            .description
            .ends_with("Failed")
    );
}

#[test]
fn what_its_owner_said_last_is_not_undone() {
    for stop in [true, false] {
        let (mut world, web) = under_way(|group| group.update.as_mut().unwrap().auto_revert = true);
        let stable = longshore_state::JobChange::Stability { key: web.key.clone(), version: 0, stable: true };
        world.change(Change::Job(Box::new(stable)));
        world.register(&changed(&web, |group| image(group, "web:2")));
        world.settle(&web);
        world.pass(DEADLINE);
        assert_eq!(
            judged(&world, &web),
            Verdict::Fail { description: PROGRESS_DEADLINE.to_owned(), auto_revert: true }
        );
        if stop {
            world.stop(&web);
        } else {
            world.register(&changed(&web, |group| image(group, "web:3")));
        }
        assert_eq!(judged(&world, &web), Verdict::Wait { until: None }, "D4");
        let deployment = latest(&world, &web);
        let by_hand = failure(&world.state, deployment, "By hand", true, world.now, &mut SequentialIds::default());
        assert_eq!((by_hand.revert, by_hand.description.as_str()), (None, "By hand"), "D4");
    }
}
