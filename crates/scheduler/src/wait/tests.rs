use longshore_model::*;
use longshore_state::{AllocationChange, Change, DeploymentChange, JobChange, NodeChange};
use longshore_values::GoDuration;

use super::LIFE;
use crate::Outcome;
use crate::world::{World, job, node};

/// A job that runs and is healthy, and its next version with another image.
fn with_update(nodes: u32, count: u32) -> (World, Job, Job) {
    let mut world = World::with_nodes(nodes);
    let web = job("web", JobType::Service, count);
    world.register(&web);
    for _ in 0..=count {
        world.settle(&web);
        world.all_healthy(&web);
    }
    world.settle(&web);
    assert_eq!(world.live(&web).len(), count as usize);
    let next = with_image(&web, "web:2");
    world.register(&next);
    (world, web, next)
}

fn with_image(job: &Job, image: &str) -> Job {
    let mut job = job.clone();
    job.groups[0].tasks[0].config = serde_json::json!({ "image": image });
    job.document_digest.push_str(image);
    job
}

fn deployment(world: &World, job: &Job) -> Deployment {
    Deployment::clone(world.state.latest_deployment(&job.key).unwrap())
}

fn answer(world: &mut World, job: &Job, node: NodeId, answer: WishAnswer) {
    let deployment = deployment(world, job);
    let report = WishReport { deployment: deployment.id, group: "web".to_owned(), since: world.now, answer };
    let (reports, evaluations) = (vec![report], Vec::new());
    world.change(Change::Deployment(Box::new(DeploymentChange::WishesAnswered { node, reports, evaluations })));
}

/// (placed, stopped, newly wished)
fn counts(outcome: &Outcome) -> (usize, usize, usize) {
    let plan = &outcome.plan;
    (plan.places.len(), plan.stops.len(), plan.wishes.len())
}

#[test]
fn nothing_is_stopped_before_the_image_is_there() {
    let (mut world, _, next) = with_update(1, 2);
    let outcome = world.settle(&next);
    assert_eq!(counts(&outcome), (0, 0, 1), "as many as are replaced at a time");
    assert_eq!(outcome.evaluation.deployment, Some(deployment(&world, &next).id), "a monitor goes on with it");
    let waiting = deployment(&world, &next);
    assert_eq!(waiting.status_description, "Deployment is running but waits for image web:2 on node n1");
    assert_eq!(waiting.wishes[0].images, ["web:2"]);
    let deadline = world.now.plus(GoDuration::minutes(10));
    assert_eq!(waiting.groups["web"].require_progress_by, deadline, "waiting counts as time without progress");

    world.now = world.now.plus(GoDuration::seconds(5));
    assert_eq!(counts(&world.settle(&next)), (0, 0, 0), "it waits on");
    let node = waiting.wishes[0].node;
    answer(&mut world, &next, node, WishAnswer::Ready);
    assert_eq!(deployment(&world, &next).status_description, "Deployment is running");
    let outcome = world.settle(&next);
    assert_eq!(counts(&outcome), (1, 1, 0));
    assert_eq!(outcome.plan.places[0].node, node);

    let placed = &outcome.plan.places[0];
    assert_eq!(deployment(&world, &next).wishes.len(), 1, "kept until the replacement runs");
    world.report(placed, ClientStatus::Running, Some(true));
    assert_eq!(deployment(&world, &next).wishes, []);
    assert_eq!(counts(&world.settle(&next)), (1, 1, 0), "what runs there has the image");
    world.all_healthy(&next);
    world.settle(&next);
    assert_eq!(deployment(&world, &next).status, DeploymentStatus::Successful);
}

#[test]
fn what_failed_stops_nothing() {
    let (mut world, web, next) = with_update(2, 2);
    world.settle(&next);
    let node = deployment(&world, &next).wishes[0].node;
    answer(&mut world, &next, node, WishAnswer::Failed { why: "no such image".to_owned() });
    assert_eq!(counts(&world.settle(&next)), (0, 0, 0));
    assert_eq!(world.live(&web).iter().filter(|alloc| alloc.job_version == 0).count(), 2);
}

#[test]
fn a_wish_stays_with_its_node_until_that_cannot_take_it() {
    let (mut world, _, next) = with_update(3, 1);
    world.settle(&next);
    let wish = deployment(&world, &next).wishes[0].clone();
    for _ in 0..10 {
        assert_eq!(counts(&world.settle(&next)), (0, 0, 0), "whatever the evaluation's id");
    }
    let down = NodeChange::Status { node: wish.node, status: NodeStatus::Down, event: None, evaluations: Vec::new() };
    assert_ne!(world.live(&next)[0].node, wish.node, "what runs is not on the node that goes down");
    world.change(Change::Node(down));
    assert_eq!(counts(&world.settle(&next)), (0, 0, 1));
    let wishes = deployment(&world, &next).wishes;
    assert_eq!(wishes.len(), 1, "the new one takes the place of the old one");
    assert_ne!(wishes[0].node, wish.node);
}

#[test]
fn what_runs_there_vouches_only_for_images_that_it_holds() {
    for (phase, wished) in [(TaskPhase::Running, 0), (TaskPhase::Dead, 1)] {
        let (mut world, _, next) = with_update(1, 2);
        world.settle(&next);
        let node = deployment(&world, &next).wishes[0].node;
        answer(&mut world, &next, node, WishAnswer::Ready);
        let placed = world.settle(&next).plan.places[0].clone();
        let mut report = world.told(&placed, ClientStatus::Running, Some(true));
        report.task_states.insert("init".to_owned(), TaskState { phase, ..TaskState::default() });
        world.change(Change::Allocation(AllocationChange::Report { reports: vec![report], evaluations: Vec::new() }));
        assert_eq!(counts(&world.settle(&next)), (1 - wished, 1 - wished, wished), "{phase:?}");
    }
}

#[test]
fn a_ready_node_that_went_away_is_not_counted_on() {
    let (mut world, _, next) = with_update(3, 1);
    world.settle(&next);
    let wish = deployment(&world, &next).wishes[0].clone();
    answer(&mut world, &next, wish.node, WishAnswer::Ready);
    let eligibility = Eligibility::Ineligible;
    let (node, evaluations) = (wish.node, Vec::new());
    world.change(Change::Node(NodeChange::Eligibility { node, eligibility, event: None, evaluations }));
    assert_eq!(counts(&world.settle(&next)), (0, 0, 1));
    assert_ne!(deployment(&world, &next).wishes[0].node, wish.node);
}

#[test]
fn an_answer_that_is_too_old_is_asked_for_again() {
    let (mut world, _, next) = with_update(1, 1);
    world.settle(&next);
    let node = deployment(&world, &next).wishes[0].node;
    answer(&mut world, &next, node, WishAnswer::Ready);
    world.now = world.now.plus(LIFE);
    assert_eq!(counts(&world.settle(&next)), (0, 0, 1));
    answer(&mut world, &next, node, WishAnswer::Ready);
    assert_eq!(counts(&world.settle(&next)), (1, 1, 0));
}

#[test]
fn as_many_wait_as_are_replaced_at_a_time_and_room_is_counted_once() {
    let mut world = World::with_nodes(1);
    let mut web = job("web", JobType::Service, 3);
    // Three fill the node: the trial of one must not take room from the next, nor lend any to another group.
    web.groups[0].tasks[0].resources.memory_mb = 2_600;
    web.groups[0].update.as_mut().unwrap().max_parallel = 3;
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let mut next = with_image(&web, "web:2");
    let mut aside = next.groups[0].clone();
    aside.name = "xs".to_owned();
    aside.count = 1;
    next.groups.push(aside);
    world.register(&next);
    let outcome = world.settle(&next);
    assert_eq!(counts(&outcome), (0, 0, 3));
    assert!(outcome.evaluation.failed_groups.contains_key("xs"), "there is no room while they wait");
    let node = node(1).id;
    answer(&mut world, &next, node, WishAnswer::Ready);
    let outcome = world.settle(&next);
    assert_eq!(outcome.plan.stops.len(), 3);
}

#[test]
fn what_does_not_run_is_replaced_at_once() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 1);
    world.register(&web);
    world.settle(&web);
    let next = with_image(&web, "web:2");
    world.register(&next);
    assert_eq!(counts(&world.settle(&next)), (1, 1, 0), "it never came to run");
}

#[test]
fn jobs_without_roll_out_wait_for_nothing() {
    let (mut world, _, mut next) = with_update(1, 1);
    next.groups[0].update = None;
    next.document_digest.push('x');
    world.register(&next);
    assert_eq!(counts(&world.settle(&next)), (1, 1, 0));
}

#[test]
fn a_stopped_job_and_a_newer_version_end_the_wish() {
    let (mut world, _, next) = with_update(1, 1);
    world.settle(&next);
    assert_eq!(world.state.deployments_wishing(node(1).id).count(), 1);
    let asked = world.state.node_allocations_index(node(1).id);
    let third = with_image(&next, "web:3");
    world.register(&third);
    world.settle(&third);
    let wishing: Vec<_> = world.state.deployments_wishing(node(1).id).collect();
    assert_eq!(wishing.len(), 1);
    assert_eq!(wishing[0].wishes[0].images, ["web:3"]);
    assert!(world.state.node_allocations_index(node(1).id) > asked, "the node hears of it");
    let asked = world.state.node_allocations_index(node(1).id);
    let stop =
        JobChange::Deregister { key: third.key.clone(), purge: false, no_shutdown_delay: false, evaluation: None };
    world.change(Change::Job(Box::new(stop)));
    let outcome = world.settle(&third);
    assert_eq!(outcome.plan.stops.len(), 1, "a stop waits for nothing");
    assert_eq!(world.state.deployments_wishing(node(1).id).count(), 0);
    assert!(world.state.node_allocations_index(node(1).id) > asked);
}

#[test]
fn a_drain_waits_for_nothing() {
    let (mut world, _, next) = with_update(2, 1);
    world.settle(&next);
    let alloc = world.live(&next)[0].clone();
    let transitions = [(alloc.id, DesiredTransition { migrate: true, ..Default::default() })].into();
    let evaluations = Vec::new();
    world.change(Change::Allocation(AllocationChange::Transition { transitions, evaluations }));
    assert_eq!(counts(&world.settle(&next)), (1, 1, 0));
}
