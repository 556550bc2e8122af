use std::collections::{BTreeMap, BTreeSet};

use longshore_model::*;
use longshore_state::{AllocationChange, Change, DeploymentChange, JobChange, NodeChange};
use longshore_values::GoDuration;

use crate::world::{World, changed, job, node};

fn node_count(allocations: &[std::sync::Arc<Allocation>]) -> usize {
    allocations.iter().map(|alloc| alloc.node).collect::<BTreeSet<_>>().len()
}

#[test]
fn places_the_count_once_and_then_does_nothing() {
    let mut world = World::with_nodes(3);
    let web = job("web", JobType::Service, 3);
    world.register(&web);
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.places.len(), 3);
    assert!(outcome.plan.deployment.is_some());
    assert_eq!(outcome.annotations["web"].place, 3);
    let names: Vec<_> = world.live(&web).iter().map(|alloc| alloc.name.clone()).collect();
    assert_eq!(names, ["web.web[0]", "web.web[1]", "web.web[2]"]);
    assert_eq!(node_count(&world.live(&web)), 3, "anti-affinity spreads a service over nodes");
    let again = world.settle(&web);
    assert!(again.plan.is_empty(), "{:?}", again.plan);
    assert_eq!(again.annotations["web"].ignore, 3);
}

#[test]
fn a_deployment_ends_when_all_are_healthy_and_makes_its_version_stable() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 2);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let deployment = world.state.latest_deployment(&web.key).unwrap();
    assert_eq!(deployment.status, DeploymentStatus::Successful);
    assert_eq!(deployment.groups["web"].healthy_allocs, 2);
    assert!(world.state.job(&web.key).unwrap().stable);
    assert!(world.settle(&web).plan.is_empty());
}

#[test]
fn a_destructive_update_rolls_by_max_parallel_on_the_same_node() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 3);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let next = changed(&web, "2");
    world.register(&next);
    for round in 1..=3 {
        let outcome = world.settle(&next);
        assert_eq!(outcome.plan.places.len(), 1, "round {round}");
        assert_eq!(outcome.plan.stops.len(), 1);
        assert_eq!(outcome.plan.stops[0].description, "alloc is being updated due to job update");
        assert_eq!(outcome.plan.places[0].previous_alloc, Some(outcome.plan.stops[0].alloc));
        assert!(world.settle(&next).plan.is_empty(), "waits for health");
        world.all_healthy(&next);
    }
    world.settle(&next);
    assert_eq!(world.state.latest_deployment(&web.key).unwrap().status, DeploymentStatus::Successful);
    assert!(world.live(&next).iter().all(|alloc| alloc.job_version == 1));
}

#[test]
fn an_unhealthy_allocation_halts_the_roll_out() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 3);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let next = changed(&web, "2");
    world.register(&next);
    let placed = world.settle(&next).plan.places.remove(0);
    let placed = world.state.allocation(placed.id).unwrap().clone();
    world.report(&placed, ClientStatus::Running, Some(false));
    assert!(world.settle(&next).plan.is_empty());
}

#[test]
fn count_alone_changes_in_place() {
    let mut world = World::with_nodes(2);
    let web = job("web", JobType::Service, 3);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let mut fewer = web.clone();
    fewer.groups[0].count = 1;
    fewer.document_digest.push('1');
    world.register(&fewer);
    let outcome = world.settle(&fewer);
    assert_eq!(outcome.annotations["web"].stop, 2);
    assert_eq!(outcome.annotations["web"].in_place_update, 1);
    let live = world.live(&fewer);
    assert_eq!(live.len(), 1);
    assert_eq!((live[0].name.as_str(), live[0].job_version), ("web.web[0]", 1));
    assert_eq!(live[0].client_status, ClientStatus::Running, "what the node said stands");
}

#[test]
fn no_room_is_told_and_blocks() {
    let mut world = World::with_nodes(1);
    let mut web = job("web", JobType::Service, 3);
    web.groups[0].tasks[0].resources.memory_mb = 3_000;
    world.register(&web);
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.places.len(), 2);
    let metric = &outcome.evaluation.failed_groups["web"];
    assert_eq!((metric.nodes_evaluated, metric.nodes_exhausted), (1, 1));
    assert_eq!(metric.dimension_exhausted["memory"], 1);
    assert_eq!(outcome.evaluation.queued_allocations["web"], 1);
    let blocked = outcome.blocked.unwrap();
    assert_eq!((blocked.status, blocked.triggered_by), (EvalStatus::Blocked, Trigger::QueuedAllocs));
    assert!(blocked.class_eligibility["v1:1"], "its class could take it");
    assert_eq!(outcome.evaluation.blocked_eval, Some(blocked.id));
    assert_eq!(blocked.failed_groups, outcome.evaluation.failed_groups, "who waits says for what");
    // Woken without room having come, it goes on waiting as it was.
    let again = crate::plan(&world.state, &blocked, world.now, &mut world.ids).evaluation;
    assert_eq!((again.status, &again.status_description), (EvalStatus::Blocked, &blocked.status_description));
    assert_eq!(again.status_description, "created to place remaining allocations");
    assert!(again.failed_groups.contains_key("web"));
}

#[test]
fn constraints_exclude_with_their_words() {
    let mut world = World::with_nodes(2);
    let mut web = job("web", JobType::Service, 1);
    web.constraints.push(Constraint {
        left: "${attr.kernel.name}".to_owned(),
        operator: Operator::Equal,
        operator_text: "=".to_owned(),
        right: "windows".to_owned(),
    });
    world.register(&web);
    let outcome = world.settle(&web);
    let metric = &outcome.evaluation.failed_groups["web"];
    assert_eq!(metric.nodes_filtered, 2);
    assert_eq!(metric.constraint_filtered["${attr.kernel.name} = windows"], 2);
    assert!(!outcome.blocked.unwrap().class_eligibility["v1:1"]);
}

#[test]
fn a_missing_driver_and_a_foreign_datacenter_exclude() {
    let mut world = World::with_nodes(1);
    let mut web = job("web", JobType::Service, 1);
    web.groups[0].tasks[0].driver = "exec".to_owned();
    world.register(&web);
    assert_eq!(world.settle(&web).evaluation.failed_groups["web"].constraint_filtered["missing drivers"], 1);
    let mut far = job("far", JobType::Service, 1);
    far.datacenters = vec!["dc9".to_owned(), "eu-*".to_owned()];
    world.register(&far);
    let metric = world.settle(&far).evaluation.failed_groups["web"].clone();
    assert_eq!((metric.nodes_evaluated, metric.nodes_in_pool), (0, 1));
    assert_eq!(metric.nodes_available, BTreeMap::from([("dc9".to_owned(), 0)]));
}

#[test]
fn fixed_ports_collide_and_dynamic_ones_do_not() {
    let mut world = World::with_nodes(2);
    let mut web = job("web", JobType::Service, 3);
    let port = |label: &str, fixed, to| PortAsk { label: label.to_owned(), fixed, to, host_network: String::new() };
    web.groups[0].networks = vec![NetworkAsk {
        mode: "host".to_owned(),
        hostname: String::new(),
        dns: longshore_model::Dns::default(),
        ports: vec![port("http", Some(8080), 0), port("admin", None, -1)],
    }];
    world.register(&web);
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.places.len(), 2);
    let metric = &outcome.evaluation.failed_groups["web"];
    assert_eq!(metric.dimension_exhausted["network: reserved port collision http=8080"], 2);
    for alloc in &outcome.plan.places {
        let ports = &alloc.resources.ports;
        assert_eq!((ports[0].value, ports[0].is_static), (8080, true));
        assert!((20_000..=20_003).contains(&ports[1].value));
        assert_eq!(ports[1].to, ports[1].value);
    }
}

#[test]
fn dynamic_ports_run_out() {
    let mut world = World::with_nodes(1);
    let mut web = job("web", JobType::Batch, 5);
    web.groups[0].networks = vec![NetworkAsk {
        mode: "host".to_owned(),
        hostname: String::new(),
        dns: longshore_model::Dns::default(),
        ports: vec![PortAsk { label: "a".to_owned(), fixed: None, to: 0, host_network: String::new() }],
    }];
    world.register(&web);
    let outcome = world.settle(&web);
    let ports: BTreeSet<u16> = outcome.plan.places.iter().map(|alloc| alloc.resources.ports[0].value).collect();
    assert_eq!(ports.len(), 4);
    let metric = &outcome.evaluation.failed_groups["web"];
    assert_eq!(metric.dimension_exhausted["network: dynamic port selection failed"], 1);
}

#[test]
fn a_stopped_job_keeps_nothing() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 2);
    world.register(&web);
    world.settle(&web);
    world.change(Change::Job(Box::new(JobChange::Deregister {
        key: web.key.clone(),
        purge: false,
        no_shutdown_delay: false,
        evaluation: None,
    })));
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.stops.len(), 2);
    assert!(outcome.evaluation.queued_allocations.is_empty());
    assert_eq!(world.live(&web).len(), 0);
    let deployment = world.state.latest_deployment(&web.key).unwrap();
    assert_eq!(deployment.status_description, "Cancelled because job is stopped");
    world.register(&web);
    world.settle(&web);
    assert_eq!(world.live(&web).len(), 2);
    world.change(Change::Job(Box::new(JobChange::Deregister {
        key: web.key.clone(),
        purge: true,
        no_shutdown_delay: false,
        evaluation: None,
    })));
    world.settle(&web);
    assert_eq!(world.live(&web).len(), 0);
}

#[test]
fn a_plan_for_a_job_that_was_purged_meanwhile_places_nothing() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 1);
    world.register(&web);
    let outcome = world.evaluate(&web);
    world.change(Change::Job(Box::new(JobChange::Deregister {
        key: web.key.clone(),
        purge: true,
        no_shutdown_delay: false,
        evaluation: None,
    })));
    world.register(&web);
    world.change(Change::Plan(Box::new(outcome.plan)));
    assert_eq!(world.live(&web).len(), 0);
}

#[test]
fn what_runs_on_a_lost_node_is_replaced() {
    let mut world = World::with_nodes(2);
    let web = job("web", JobType::Service, 2);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let gone = world.live(&web)[0].clone();
    world.change(Change::Node(NodeChange::Status {
        node: gone.node,
        status: NodeStatus::Down,
        event: None,
        evaluations: Vec::new(),
    }));
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.stops[0].client_status, Some(ClientStatus::Lost));
    let live = world.live(&web);
    assert_eq!(live.len(), 2);
    assert!(live.iter().all(|alloc| alloc.node != gone.node));
    assert_eq!(world.state.allocation(gone.id).unwrap().client_status, ClientStatus::Lost);
    assert!(live.iter().any(|alloc| alloc.name == gone.name && alloc.previous_alloc == Some(gone.id)));
}

#[test]
fn a_failed_service_is_rescheduled_when_its_time_comes() {
    let mut world = World::with_nodes(2);
    let web = job("web", JobType::Service, 1);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let failed = world.live(&web)[0].clone();
    world.report(&failed, ClientStatus::Failed, None);
    let outcome = world.settle(&web);
    assert!(outcome.plan.places.is_empty());
    let later = outcome.plan.evaluations[0].clone();
    assert_eq!(later.wait_until, world.now.plus(GoDuration::seconds(30)));
    assert_eq!(outcome.plan.follow_ups, [(failed.id, later.id)]);
    assert!(world.settle(&web).plan.is_empty(), "one follow-up is enough");
    world.now = world.now.plus(GoDuration::seconds(30));
    let outcome = crate::plan(&world.state, &later, world.now, &mut world.ids);
    world.change(Change::Plan(Box::new(outcome.plan.clone())));
    let again = world.live(&web);
    assert_eq!(again.len(), 1);
    assert_ne!(again[0].node, failed.node, "the node where it failed counts as worse");
    assert_eq!(again[0].reschedule_tracker.events.len(), 1);
    assert_eq!(again[0].previous_alloc, Some(failed.id));
    assert_eq!(world.state.allocation(failed.id).unwrap().next_alloc, Some(again[0].id));
}

#[test]
fn a_finished_batch_job_stays_finished_until_it_changes() {
    let mut world = World::with_nodes(1);
    let batch = job("batch", JobType::Batch, 1);
    world.register(&batch);
    let outcome = world.settle(&batch);
    assert!(outcome.plan.deployment.is_none());
    let alloc = world.live(&batch)[0].clone();
    world.report(&alloc, ClientStatus::Complete, None);
    assert!(world.settle(&batch).plan.is_empty());
    assert_eq!(world.state.job(&batch.key).unwrap().status, JobStatus::Dead);
    let next = changed(&batch, "2");
    world.register(&next);
    assert_eq!(world.settle(&next).plan.places.len(), 1);
}

#[test]
fn an_update_that_finds_no_room_stops_nothing() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 1);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let mut huge = changed(&web, "2");
    huge.groups[0].tasks[0].resources.memory_mb = 100_000;
    world.register(&huge);
    let outcome = world.settle(&huge);
    assert!(outcome.plan.stops.is_empty());
    assert_eq!(outcome.evaluation.failed_groups["web"].dimension_exhausted["memory"], 1);
    assert_eq!(world.live(&huge)[0].job_version, 0);
}

#[test]
fn distinct_hosts_and_spread() {
    let mut world = World::with_nodes(4);
    let mut web = job("web", JobType::Batch, 5);
    web.constraints.push(Constraint {
        left: String::new(),
        operator: Operator::DistinctHosts,
        operator_text: "distinct_hosts".to_owned(),
        right: "true".to_owned(),
    });
    world.register(&web);
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.places.len(), 4);
    assert_eq!(outcome.evaluation.failed_groups["web"].constraint_filtered["distinct_hosts"], 4);

    let mut even = job("even", JobType::Service, 4);
    even.spreads.push(Spread { attribute: "${meta.rack}".to_owned(), weight: 100, targets: Vec::new() });
    world.register(&even);
    world.settle(&even);
    let racks: Vec<String> =
        world.live(&even).iter().map(|alloc| world.state.node(alloc.node).unwrap().meta["rack"].clone()).collect();
    assert_eq!(racks.iter().filter(|rack| *rack == "r0").count(), 2, "{racks:?}");
}

#[test]
fn a_batch_packs_onto_few_nodes() {
    let mut world = World::with_nodes(3);
    let batch = job("batch", JobType::Batch, 1);
    world.register(&batch);
    world.settle(&batch);
    let other = job("other", JobType::Batch, 1);
    world.register(&other);
    world.settle(&other);
    assert_eq!(world.live(&batch)[0].node, world.live(&other)[0].node);
}

#[test]
fn the_state_image_restores_everything() {
    let mut world = World::with_nodes(2);
    let web = job("web", JobType::Service, 2);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.register(&changed(&web, "2"));
    world.settle(&web);
    let restored = longshore_state::State::from_image(&world.state.to_image().unwrap()).unwrap();
    assert_eq!(restored.breaches(), Vec::<String>::new());
    assert_eq!(restored.to_image().unwrap(), world.state.to_image().unwrap());
    for (before, after) in world.state.allocations().zip(restored.allocations()) {
        assert_eq!(before, after);
    }
}

/// As if a person stopped it.
fn stop_by_hand(world: &mut World, alloc: &Allocation) {
    let migrate = DesiredTransition { migrate: true, ..DesiredTransition::default() };
    let transitions = BTreeMap::from([(alloc.id, migrate)]);
    world.change(Change::Allocation(AllocationChange::Transition { transitions, evaluations: Vec::new() }));
}

fn put_down(world: &mut World, node: NodeId) {
    let status = NodeStatus::Down;
    world.change(Change::Node(NodeChange::Status { node, status, event: None, evaluations: Vec::new() }));
}

fn port(label: &str, fixed: Option<u16>) -> PortAsk {
    PortAsk { label: label.to_owned(), fixed, to: 0, host_network: String::new() }
}

#[test]
fn what_was_stopping_on_a_lost_node_is_lost_too() {
    for purge in [false, true] {
        let mut world = World::with_nodes(1);
        let web = job("web", JobType::Service, 1);
        world.register(&web);
        world.settle(&web);
        world.all_healthy(&web);
        let alloc = world.live(&web)[0].clone();
        world.change(Change::Job(Box::new(JobChange::Deregister {
            key: web.key.clone(),
            purge,
            no_shutdown_delay: false,
            evaluation: None,
        })));
        world.settle(&web);
        assert!(world.settle(&web).plan.is_empty(), "its node will say when it has ended");
        put_down(&mut world, alloc.node);
        world.settle(&web);
        assert_eq!(world.state.allocation(alloc.id).unwrap().client_status, ClientStatus::Lost);
        assert!(world.settle(&web).plan.is_empty());
    }
}

#[test]
fn an_unhealthy_allocation_that_was_replaced_holds_nothing_up() {
    let mut world = World::with_nodes(2);
    let web = job("web", JobType::Service, 2);
    world.register(&web);
    world.settle(&web);
    world.all_healthy(&web);
    world.settle(&web);
    let next = changed(&web, "2");
    world.register(&next);
    let placed = world.settle(&next).plan.places.remove(0);
    world.report(&placed, ClientStatus::Failed, Some(false));
    let deployment = placed.deployment.unwrap();
    let allowed = DeploymentChange::AllowReschedule { deployment, allocations: vec![placed.id], evaluation: None };
    world.change(Change::Deployment(Box::new(allowed)));
    world.now = world.now.plus(GoDuration::seconds(31));
    let again = world.settle(&next);
    assert_eq!(again.plan.places.len(), 1, "tried again, and nothing else meanwhile");
    assert_eq!(again.plan.places[0].previous_alloc, Some(placed.id));
    world.all_healthy(&next);
    assert_eq!(world.settle(&next).annotations["web"].destructive_update, 1, "the roll-out goes on");
    world.all_healthy(&next);
    world.settle(&next);
    assert_eq!(world.state.deployment(deployment).unwrap().status, DeploymentStatus::Successful);
}

#[test]
fn the_successor_of_a_stopped_batch_allocation_is_left_alone() {
    let mut world = World::with_nodes(1);
    let batch = job("batch", JobType::Batch, 1);
    world.register(&batch);
    world.settle(&batch);
    let first = world.live(&batch)[0].clone();
    world.report(&first, ClientStatus::Running, None);
    stop_by_hand(&mut world, &first);
    let successor = world.settle(&batch).plan.places.remove(0);
    world.report(&successor, ClientStatus::Running, None);
    world.report(&first, ClientStatus::Complete, None);
    let outcome = world.settle(&batch);
    assert!(outcome.plan.is_empty(), "{:?}", outcome.plan.stops);
}

#[test]
fn an_update_in_place_keeps_what_was_asked_for_meanwhile() {
    let mut world = World::with_nodes(1);
    let web = job("web", JobType::Service, 1);
    world.register(&web);
    world.settle(&web);
    let mut more = web.clone();
    more.groups[0].count = 2;
    more.document_digest.push('2');
    world.register(&more);
    let outcome = world.evaluate(&more);
    let alloc = world.live(&web)[0].clone();
    stop_by_hand(&mut world, &alloc);
    world.change(Change::Plan(Box::new(outcome.plan)));
    let updated = world.state.allocation(alloc.id).unwrap();
    assert_eq!((updated.job_version, updated.desired_transition.migrate), (1, true));
    assert_eq!(world.settle(&more).annotations["web"].migrate, 1);
}

#[test]
fn what_failed_and_finds_no_room_excludes_nobody() {
    let mut world = World::with_nodes(1);
    let mut batch = job("batch", JobType::Batch, 1);
    batch.constraints.push(Constraint {
        left: String::new(),
        operator: Operator::DistinctHosts,
        operator_text: "distinct_hosts".to_owned(),
        right: "true".to_owned(),
    });
    let mut small = batch.groups[0].clone();
    small.name = "xs".to_owned();
    batch.groups[0].tasks[0].resources.memory_mb = 5_000;
    batch.groups.push(small);
    world.register(&batch);
    assert_eq!(world.settle(&batch).plan.places[0].group, "web", "the other is excluded by it");
    let failed = world.live(&batch)[0].clone();
    world.report(&failed, ClientStatus::Failed, None);
    let mut other = job("other", JobType::Batch, 1);
    other.groups[0].tasks[0].resources.memory_mb = 5_000;
    world.register(&other);
    world.settle(&other);
    world.now = world.now.plus(GoDuration::seconds(10));
    let outcome = world.settle(&batch);
    assert_eq!(outcome.evaluation.failed_groups["web"].dimension_exhausted["memory"], 1);
    assert_eq!(outcome.plan.places.iter().map(|alloc| alloc.group.as_str()).collect::<Vec<_>>(), ["xs"]);
}

#[test]
fn a_node_without_enough_dynamic_ports_is_passed_over() {
    let mut world = World::with_nodes(1);
    let mut wide = node(2);
    wide.max_dynamic_port = 20_010;
    world.change(Change::Node(NodeChange::Register { node: Box::new(wide.clone()), evaluations: Vec::new() }));
    let mut batch = job("batch", JobType::Batch, 1);
    let constraint = Constraint {
        left: "${meta.rack}".to_owned(),
        operator: Operator::Equal,
        operator_text: "=".to_owned(),
        right: "r1".to_owned(),
    };
    batch.affinities.push(Affinity { constraint, weight: 100 });
    let ports = vec![port("a", Some(20_001)), port("b", None), port("c", None), port("d", None), port("e", None)];
    batch.groups[0].networks = vec![NetworkAsk {
        mode: "host".to_owned(),
        hostname: String::new(),
        dns: longshore_model::Dns::default(),
        ports,
    }];
    world.register(&batch);
    let outcome = world.settle(&batch);
    assert_eq!(outcome.plan.places.len(), 1, "{:?}", outcome.evaluation.failed_groups);
    assert_eq!(outcome.plan.places[0].node, wide.id, "the other has 3 beside the fixed one");
}

#[test]
fn a_sick_driver_excludes_its_node_and_not_its_class() {
    let mut world = World::with_nodes(2);
    let mut sick = node(1);
    sick.drivers.get_mut("docker").unwrap().healthy = false;
    world.change(Change::Node(NodeChange::Register { node: Box::new(sick), evaluations: Vec::new() }));
    let web = job("web", JobType::Service, 1);
    world.register(&web);
    assert_eq!(world.settle(&web).plan.places[0].node, node(2).id);

    let mut world = World::with_nodes(1);
    let mut sick = node(1);
    sick.drivers.get_mut("docker").unwrap().healthy = false;
    world.change(Change::Node(NodeChange::Register { node: Box::new(sick), evaluations: Vec::new() }));
    world.register(&web);
    let outcome = world.settle(&web);
    assert_eq!(outcome.evaluation.failed_groups["web"].constraint_filtered["missing drivers"], 1);
    assert!(outcome.blocked.unwrap().class_eligibility["v1:1"], "it goes on when the driver is well again");
}

#[test]
fn a_group_that_is_not_rolled_out_has_no_part_in_a_deployment() {
    let mut world = World::with_nodes(1);
    let mut web = job("web", JobType::Service, 1);
    let mut aside = web.groups[0].clone();
    aside.name = "aside".to_owned();
    aside.update.as_mut().unwrap().max_parallel = 0;
    web.groups.push(aside);
    world.register(&web);
    let outcome = world.settle(&web);
    assert!(outcome.plan.deployment.unwrap().groups.contains_key("web"));
    for alloc in &outcome.plan.places {
        assert_eq!(alloc.deployment.is_some(), alloc.group == "web", "{}", alloc.name);
    }
}

#[test]
fn patterns_are_compiled_once_for_all_nodes_and_placements() {
    let mut world = World::with_nodes(0);
    for number in 1..=1_000 {
        let mut node = node(number);
        node.computed_class = format!("v1:{number}");
        node.attributes.insert("os.version".to_owned(), format!("{}.{}", number % 40, number % 7));
        world.change(Change::Node(NodeChange::Register { node: Box::new(node), evaluations: Vec::new() }));
    }
    let constraint = |left: &str, operator, operator_text: &str, right: &str| Constraint {
        left: left.to_owned(),
        operator,
        operator_text: operator_text.to_owned(),
        right: right.to_owned(),
    };
    let mut web = job("web", JobType::Service, 5);
    web.constraints = vec![
        constraint("${attr.os.version}", Operator::Version, "version", ">= 20, < 39"),
        constraint("${node.unique.name}", Operator::Regexp, "regexp", "^n[0-9]*[02468]$"),
    ];
    let wish = constraint("${meta.rack}", Operator::Regexp, "regexp", "^r[0-9]+$");
    web.groups[0].affinities = vec![Affinity { constraint: wish, weight: 50 }];
    world.register(&web);
    let before = crate::place::COMPILED.get();
    let outcome = world.settle(&web);
    assert_eq!(outcome.plan.places.len(), 5);
    for place in &outcome.plan.places {
        let node = world.state.node(place.node).unwrap();
        let number: u32 = node.name[1..].parse().unwrap();
        assert!(number.is_multiple_of(2) && (20..39).contains(&(number % 40)), "{}", node.name);
    }
    assert_eq!(crate::place::COMPILED.get() - before, 3);
}
