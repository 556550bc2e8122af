use longshore_model::{Job, NodeStatus};
use longshore_state::{Change, NodeChange};

use super::*;
use crate::testing::{World, changed, image, job, node};

fn reasons(verified: &Verified) -> Vec<&'static str> {
    verified.rejections.iter().map(|rejection| rejection.reason).collect()
}

/// Plans `job` on an empty node, lets `meanwhile` happen, and verifies.
fn after(job: &Job, meanwhile: impl FnOnce(&mut World)) -> Verified {
    let mut world = World::with_nodes(1);
    world.register(job);
    let outcome = world.plan(job);
    assert!(!outcome.plan.places.is_empty(), "nothing was planned");
    meanwhile(&mut world);
    verify(&world.state, outcome.plan, outcome.all_at_once)
}

fn status(world: &mut World, status: NodeStatus) {
    let node = node(1).id;
    world.change(Change::Node(NodeChange::Status { node, status, event: None, evaluations: Vec::new() }));
}

#[test]
fn what_still_fits_is_applied_whole() {
    let verified = after(&job("web", 8), |_| {});
    assert_eq!((verified.plan.places.len(), verified.progress), (8, true));
    assert!(verified.rejections.is_empty());
}

#[test]
fn a_node_that_changed_takes_nothing() {
    let web = job("web", 1);
    let gone = after(&web, |world| world.change(Change::Node(NodeChange::Remove(vec![node(1).id]))));
    assert_eq!(reasons(&gone), ["node does not exist"]);
    let down = after(&web, |world| status(world, NodeStatus::Down));
    assert_eq!(reasons(&down), ["node is not ready for placements"]);
    assert!(down.plan.places.is_empty() && !down.progress);
    let ineligible = after(&web, |world| {
        world.change(Change::Node(NodeChange::Eligibility {
            node: node(1).id,
            eligibility: Eligibility::Ineligible,
            event: None,
            evaluations: Vec::new(),
        }));
    });
    assert_eq!(reasons(&ineligible), ["node is not eligible"]);
}

#[test]
fn room_that_another_plan_took_is_gone() {
    let other = job("other", 5);
    let verified = after(&job("web", 5), |world| {
        world.register(&other);
        world.settle(&other);
    });
    assert_eq!(reasons(&verified), ["cpu"], "V1: 8 fit");
    assert!(verified.plan.places.is_empty(), "V2");
}

#[test]
fn a_port_that_another_plan_took_is_gone() {
    let with_port = |id: &str| {
        changed(&job(id, 1), |group| {
            group.networks = vec![longshore_model::NetworkAsk {
                mode: "host".to_owned(),
                hostname: String::new(),
                dns: longshore_model::Dns::default(),
                ports: vec![longshore_model::PortAsk {
                    label: "http".to_owned(),
                    fixed: Some(8_080),
                    to: 0,
                    host_network: String::new(),
                }],
            }];
        })
    };
    let other = with_port("other");
    let verified = after(&with_port("web"), |world| {
        world.register(&other);
        world.settle(&other);
    });
    assert_eq!(reasons(&verified), ["network: port collision"]);
}

#[test]
fn a_rejected_part_stops_nothing() {
    let mut world = World::with_nodes(1);
    let web = job("web", 1);
    world.register(&web);
    world.settle(&web);
    let newer = changed(&web, |group| image(group, "web:2"));
    world.register(&newer);
    let outcome = world.plan(&newer);
    assert_eq!((outcome.plan.places.len(), outcome.plan.stops.len()), (1, 1));
    let fits = verify(&world.state, outcome.plan.clone(), false);
    assert_eq!((fits.plan.places.len(), fits.plan.stops.len()), (1, 1), "what is stopped makes room");

    let other = job("other", 7);
    world.register(&other);
    world.settle(&other);
    let still = verify(&world.state, outcome.plan.clone(), false);
    assert!(still.rejections.is_empty(), "7 others, one stopped, one placed: 8");

    status(&mut world, NodeStatus::Down);
    let down = verify(&world.state, outcome.plan, false);
    assert_eq!((down.plan.places.len(), down.plan.stops.len(), down.progress), (0, 0, false), "V2");
}

#[test]
fn all_at_once_is_all_or_nothing() {
    for (all_at_once, placed) in [(false, 5), (true, 0)] {
        let mut world = World::with_nodes(2);
        let web = job("web", 10);
        world.register(&web);
        let outcome = world.plan(&web);
        world.change(Change::Node(NodeChange::Remove(vec![node(1).id])));
        let verified = verify(&world.state, outcome.plan, all_at_once);
        assert_eq!(reasons(&verified), ["node does not exist"]);
        assert_eq!(verified.plan.places.len(), placed);
        assert_eq!(verified.plan.deployment.is_some(), !all_at_once);
    }
}

#[test]
fn in_place_updates_need_no_room() {
    let mut world = World::with_nodes(1);
    let web = job("web", 8);
    world.register(&web);
    world.settle(&web);
    let newer = changed(&web, |group| group.tasks[0].kill_timeout = longshore_values::GoDuration::seconds(9));
    world.register(&newer);
    let outcome = world.plan(&newer);
    assert_eq!((outcome.plan.places.len(), outcome.plan.stops.len()), (8, 0));
    let verified = verify(&world.state, outcome.plan, false);
    assert!(verified.rejections.is_empty() && verified.plan.places.len() == 8);
}

#[test]
fn a_replacement_that_is_left_out_elsewhere_stops_nothing_either() {
    let mut world = World::with_nodes(2);
    let web = job("web", 1);
    world.register(&web);
    world.settle(&web);
    let old = world.live(&web)[0].clone();
    world.change(Change::Node(NodeChange::Eligibility {
        node: old.node,
        eligibility: Eligibility::Ineligible,
        event: None,
        evaluations: Vec::new(),
    }));
    let newer = changed(&web, |group| image(group, "web:2"));
    world.register(&newer);
    let outcome = world.plan(&newer);
    let elsewhere = outcome.plan.places[0].node;
    assert_eq!((outcome.plan.stops.len(), elsewhere == old.node), (1, false));
    world.change(Change::Node(NodeChange::Remove(vec![elsewhere])));
    let verified = verify(&world.state, outcome.plan, false);
    assert_eq!(reasons(&verified), ["node does not exist"]);
    assert_eq!((verified.plan.stops.len(), verified.progress), (0, false), "V2");
}
