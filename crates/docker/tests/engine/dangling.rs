//! Containers that carry our mark and that nobody knows.

use std::time::{Duration, Instant};

use longshore_harness::eventually;
use longshore_model::{AllocId, NodeId};
use longshore_values::GoDuration;
use serde_json::{Value, json};

use crate::world::{SOON, World, node, now, options, script, sleeper};

fn labels(agent: NodeId, alloc: u128) -> Value {
    let alloc = AllocId::from_u128(alloc).to_string();
    json!({
        "com.hashicorp.nomad.alloc_id": alloc,
        "longshore.agent": agent.to_string(),
        "longshore.allocation": alloc,
        "longshore.task": "web",
        "longshore.config_hash": "ab",
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_nobody_knows_goes_after_the_grace_unless_it_is_not_ours_or_not_wanted() {
    let mut options = options();
    let dangling = &mut options.gc.dangling_containers;
    dangling.period = GoDuration::milliseconds(200);
    dangling.creation_grace = GoDuration::seconds(1);
    dangling.enabled = false;
    let mut world = World::with(options).await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    let sleep = ["sleep", "1000"];
    world.engine.run_container("ours", &name, &sleep, &labels(node(), 900)).unwrap();
    world.engine.create_container("ours-created", &name, &sleep, &labels(node(), 901)).unwrap();
    world.engine.run_container("another-agents", &name, &sleep, &labels(NodeId::from_u128(0xdef), 902)).unwrap();
    world.engine.run_container("nomads", &name, &sleep, &json!({"com.hashicorp.nomad.alloc_id": "x"})).unwrap();
    world.engine.run_container("a-persons", &name, &sleep, &json!({})).unwrap();
    let of_task = format!("web-{}", id.alloc);
    let names = |world: &World| {
        let mut names: Vec<String> = world.engine.containers().unwrap().into_iter().map(|it| it.name).collect();
        names.sort();
        names
    };
    let mut all = vec![of_task.as_str(), "ours", "ours-created", "another-agents", "nomads", "a-persons"];
    all.sort_unstable();

    // Twice the grace and many periods: what is on would have removed it, as the last phase shows.
    let long_enough = Duration::from_millis(2_200);
    tokio::time::sleep(long_enough).await;
    assert_eq!(names(&world), all);
    world.options.gc.dangling_containers.enabled = true;
    world.options.gc.dangling_containers.dry_run = true;
    world.restart_driver().await;
    tokio::time::sleep(long_enough).await;
    assert_eq!(names(&world), all);

    world.options.gc.dangling_containers.dry_run = false;
    world.restart_driver().await;
    all.retain(|name| !name.starts_with("ours"));
    eventually(SOON, "ours to be removed", || {
        let found = names(&world);
        if found == all { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .unwrap();
    // Many sweeps see this one before it is old enough.
    let made = Instant::now();
    world.engine.create_container("ours-young", &name, &sleep, &labels(node(), 903)).unwrap();
    eventually(SOON, "the young one to be removed", || {
        let found = names(&world);
        if found == all { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .unwrap();
    assert!(made.elapsed() >= Duration::from_secs(1), "{:?}", made.elapsed());
    world.end_task(&id, &handle).await;
    assert_eq!(names(&world).len(), all.len() - 1);
}

/// A crash between create and its record leaves a container that no handle names: it goes with its allocation, not
/// only when the sweep finds it old enough.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_start_that_was_cut_off_left_goes_with_its_allocation() {
    let mut options = options();
    options.gc.dangling_containers.enabled = false;
    let mut world = World::with(options).await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    let sleep = ["sleep", "1000"];
    let same = id.alloc.as_u128();
    world.engine.create_container("cut-off-created", &name, &sleep, &labels(node(), same)).unwrap();
    world.engine.run_container("cut-off-running", &name, &sleep, &labels(node(), same)).unwrap();
    world.engine.run_container("another-agents", &name, &sleep, &labels(NodeId::from_u128(0xdef), same)).unwrap();
    world.engine.run_container("another-allocations", &name, &sleep, &labels(node(), 900)).unwrap();
    world.end_task(&id, &handle).await;
    let mut left: Vec<String> = world.engine.containers().unwrap().into_iter().map(|it| it.name).collect();
    left.sort();
    assert_eq!(left, ["another-agents", "another-allocations"]);
}

/// Stopped while it was being started, and the agent killed then: the engine had started it all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_start_left_that_was_cut_off_goes_when_its_ended_allocation_is_forgotten() {
    let mut world = World::with(options()).await;
    let (_, name) = world.push("acme/web", "1");
    let (id, _) = world.run_task(sleeper(&name)).await;
    world.restart_driver_with_all_ended_at(Some(now())).await;
    world.forget(&id).await;
    assert_eq!(world.engine.containers().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ended_ones_that_are_to_be_kept_stay_when_nobody_knows_them_any_more() {
    let mut options = options();
    options.gc.container = false;
    let dangling = &mut options.gc.dangling_containers;
    dangling.period = GoDuration::milliseconds(100);
    dangling.creation_grace = GoDuration::milliseconds(500);
    let mut world = World::with(options).await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(script(&name, "exit 0")).await;
    world.end_task(&id, &handle).await;
    // Never ran, of nobody: its end is the proof that sweeps have come by.
    let goes = |world: &World, name: &str, alloc: u128, image: &str| {
        world.engine.create_container(name, image, &["sleep", "1"], &labels(node(), alloc)).unwrap();
        eventually(SOON, "the sweep", || {
            let found = world.engine.containers().map_err(|error| error.to_string())?;
            if found.iter().any(|container| container.name == name) { Err(format!("{found:?}")) } else { Ok(()) }
        })
        .unwrap();
    };
    goes(&world, "sweep-1", 900, &name);
    world.restart_driver_with_all_ended_at(Some(now())).await;
    goes(&world, "sweep-2", 901, &name);
    let left: Vec<String> = world.engine.containers().unwrap().into_iter().map(|it| it.name).collect();
    assert_eq!(left, [format!("web-{}", id.alloc)]);
}
