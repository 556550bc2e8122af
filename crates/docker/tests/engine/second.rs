//! Two agents on one engine: one keeps its images, the other looks on until it can take over.

use longshore_driver::Driver as _;
use longshore_model::{NodeId, Provenance};

use crate::world::{DELAY, Node, World, options, sleeper};

async fn note(node: &Node) -> Option<String> {
    node.driver.images().unwrap().keeper_note().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_agent_on_an_engine_removes_nothing_until_the_first_one_ends() {
    let mut world = World::new().await;
    let (_, of_first) = world.push("acme/first", "1");
    let (_, of_second) = world.push("acme/second", "1");
    let (_, later) = world.push("acme/later", "1");
    let (first_id, first_handle) = world.run_task(sleeper(&of_first)).await;
    assert_eq!(note(&world).await, None);

    let id = NodeId::from_u128(0xdef);
    let mut second = Node::new(&world.run, &world.engine, id, options()).await;
    let (second_id, second_handle) = second.run_task(sleeper(&of_second)).await;
    let told = note(&second).await.unwrap();
    let holder = format!("another agent (process {} of node {}, engine in ", std::process::id(), crate::world::node());
    assert!(told.contains(&holder) && told.contains("removes none"), "{told}");
    let health = second.driver.fingerprint().await;
    assert!(health.healthy && health.description == format!("Healthy, but {told}"), "{}", health.description);
    // To each it is foreign what the other brought, and to the second also what it brought itself.
    for name in [&of_first, &of_second] {
        let image = second.report(name).await.unwrap();
        assert_eq!((image.provenance, image.state.as_str()), (Provenance::Foreign, "foreign"), "{image:?}");
    }
    let own = second.report(&of_second).await.unwrap();
    assert_eq!(own.reason, "another agent keeps this engine's images");
    let refused = second.driver.images().unwrap().pull(&later, false).await.unwrap_err();
    assert_eq!(refused.reason, longshore_driver::Reason::KeptElsewhere, "{refused}");
    assert_eq!(own.holders[0].id, second_id.alloc.to_string());
    assert_eq!(world.report(&of_second).await.unwrap().provenance, Provenance::Foreign);
    assert_eq!(world.report(&of_first).await.unwrap().provenance, Provenance::Obtained);

    // The first removes its own on time, and not the other's.
    second.end_task(&second_id, &second_handle).await;
    world.end_task(&first_id, &first_handle).await;
    world.wait_images(&[&of_second]);

    // A task of the second lives through the take-over with its hold.
    let (over_id, over_handle) = second.run_task(sleeper(&of_second)).await;
    world.driver.shutdown().await;
    let taken_over = tokio::time::timeout(crate::world::SOON, async {
        while note(&second).await.is_some() {
            second.driver.fingerprint_changed().await;
        }
    });
    taken_over.await.unwrap();
    assert_eq!(second.driver.fingerprint().await.description, "Healthy");
    assert_eq!(second.report(&of_second).await.unwrap().holders[0].id, over_id.alloc.to_string());

    let (later_id, later_handle) = second.run_task(sleeper(&later)).await;
    assert_eq!(second.report(&later).await.unwrap().provenance, Provenance::Obtained);
    // What it knows is in a ledger now.
    second.restart_driver().await;
    assert_eq!(second.report(&later).await.unwrap().holders[0].id, later_id.alloc.to_string());
    second.end_task(&later_id, &later_handle).await;
    second.end_task(&over_id, &over_handle).await;
    let ended = crate::world::now();
    world.wait_images(&[&of_second]);
    assert!(crate::world::now().since(ended) < DELAY.saturating_add(longshore_values::GoDuration::seconds(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_looks_on_knows_its_tasks_again_after_a_restart() {
    let world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    // The first has the lock before the second asks for it.
    assert_eq!(world.report(&name).await, None);
    let mut second = Node::new(&world.run, &world.engine, NodeId::from_u128(0xdef), options()).await;
    let (id, handle) = second.run_task(sleeper(&name)).await;
    second.restart_driver().await;
    assert_eq!(second.report(&name).await.unwrap().holders[0].id, id.alloc.to_string());
    second.end_task(&id, &handle).await;
    // Its container is seen to be gone a look later.
    let holders = async {
        while !second.report(&name).await.unwrap().holders.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(crate::world::SOON, holders).await.unwrap();
}
