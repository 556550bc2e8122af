//! What others do to the engine behind the driver's back, and what the driver leaves there.

use std::time::Duration;

use longshore_driver::{Driver as _, ErrorClass, Recovered};
use longshore_harness::{Body, eventually};
use longshore_values::GoDuration;
use serde_json::{Value, json};

use crate::world::{SOON, World, options, script, sleeper};

fn names(world: &World, path: &str, list: &str, key: &str) -> Vec<String> {
    let answer = world.engine.call("GET", path, Body::Empty).unwrap().success("list").unwrap().json().unwrap();
    let rows = if list.is_empty() { answer } else { answer[list].clone() };
    let mut names: Vec<String> =
        rows.as_array().into_iter().flatten().map(|row| row[key].as_str().unwrap_or_default().to_owned()).collect();
    names.sort();
    names
}

fn volumes(world: &World) -> Vec<String> {
    names(world, "/volumes", "Volumes", "Name")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_removed_by_hand_is_told_and_the_next_attempt_makes_another() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    world.engine.remove_container(&format!("web-{}", id.alloc)).unwrap();
    let exit = world.driver.wait(&handle).await.unwrap();
    assert_eq!(exit.exit_code, 137);
    assert!(exit.message.contains("was removed by somebody else"), "{exit:?}");
    for _ in 0..2 {
        world.driver.stop(&handle, "", GoDuration::seconds(1)).await.unwrap();
        world.driver.destroy(&handle).await.unwrap();
    }
    let again = world.start(&id, sleeper(&name)).await.unwrap();
    assert_ne!(again.handle, handle);
    // The same while no agent looks.
    world.engine.remove_container(&format!("web-{}", id.alloc)).unwrap();
    world.restart_driver().await;
    let recovered = world.driver.recover(&again.handle, world.request(&id, sleeper(&name))).await.unwrap();
    assert!(matches!(recovered, Recovered::Gone), "{recovered:?}");
    world.forget(&id).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_network_removed_by_hand_fails_the_next_start_by_name_and_leaves_nothing() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let config = json!({"image": name, "network_mode": "shop"});
    let create = |world: &World| {
        let body = json!({"Name": "shop"});
        world.engine.call("POST", "/networks/create", Body::Json(&body)).unwrap().success("make a network").unwrap();
    };
    create(&world);
    let (id, handle) = world.run_task(config.clone()).await;
    let container = format!("web-{}", id.alloc);
    let body = json!({"Container": container, "Force": true});
    let cut = world.engine.call("POST", "/networks/shop/disconnect", Body::Json(&body)).unwrap();
    cut.success("disconnect").unwrap();
    world.engine.call("DELETE", "/networks/shop", Body::Empty).unwrap().success("remove the network").unwrap();
    // It goes on, cut off; only another start needs the network.
    assert_eq!(world.engine.containers().unwrap()[0].state, "running");
    world.driver.stop(&handle, "", GoDuration::seconds(5)).await.unwrap();
    world.driver.wait(&handle).await.unwrap();
    world.driver.destroy(&handle).await.unwrap();
    let error = world.start(&id, config.clone()).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Retry, "somebody may make it again");
    assert!(error.full_text().contains("network shop not found"), "{}", error.full_text());
    assert!(world.engine.containers().unwrap().is_empty());
    create(&world);
    let again = world.start(&id, config).await.unwrap();
    world.end_task(&id, &again.handle).await;
    assert_eq!(names(&world, "/networks", "", "Name"), ["bridge", "host", "none", "shop"], "not ours to remove");
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_removed_by_hand_stops_nothing_and_is_brought_again() {
    let mut world = World::new().await;
    let (image, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    world.engine.call("DELETE", &format!("/images/{name}?force=1"), Body::Empty).unwrap().success("remove").unwrap();
    assert_eq!(world.engine.containers().unwrap()[0].state, "running");
    world.driver.stop(&handle, "", GoDuration::seconds(5)).await.unwrap();
    assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 0);
    world.driver.destroy(&handle).await.unwrap();
    let again = world.start(&id, sleeper(&name)).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
    let container = &world.engine.containers().unwrap()[0];
    assert_eq!((container.image.as_str(), container.image_id.as_str()), (name.as_str(), image.id().as_str()));
    world.end_task(&id, &again.handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anonymous_volumes_go_with_their_container_and_named_ones_stay() {
    let mut options = options();
    options.volumes.enabled = true;
    let mut world = World::with(options).await;
    let (_, name) = world.push("acme/web", "1");
    let mut config: Value = sleeper(&name);
    config["mount"] = json!([{"target": "/scratch"}, {"target": "/kept", "source": "kept"}]);
    let (id, handle) = world.run_task(config.clone()).await;
    assert_eq!(volumes(&world).len(), 2);
    world.driver.stop(&handle, "", GoDuration::seconds(5)).await.unwrap();
    world.driver.wait(&handle).await.unwrap();
    world.driver.destroy(&handle).await.unwrap();
    assert_eq!(volumes(&world), ["kept"]);
    // A start that fails after the container was made.
    let mut wrong = config.clone();
    wrong["command"] = json!("/nope");
    world.start(&id, wrong).await.unwrap_err();
    assert_eq!(volumes(&world), ["kept"]);
    // One that only its allocation's end finds.
    world.start(&id, config).await.unwrap();
    world.restart_driver().await;
    world.forget(&id).await;
    assert_eq!(volumes(&world), ["kept"]);
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ended_containers_are_kept_where_the_operator_says_so() {
    let mut options = options();
    options.gc.container = false;
    options.gc.dangling_containers.period = GoDuration::milliseconds(100);
    options.gc.dangling_containers.creation_grace = GoDuration::milliseconds(100);
    let mut world = World::with(options).await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(script(&name, "exit 3")).await;
    assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 3);
    world.driver.destroy(&handle).await.unwrap();
    // The next attempt of the same task needs its name, and gets it.
    let again = world.start(&id, script(&name, "exit 4")).await.unwrap();
    assert_eq!(world.driver.wait(&again.handle).await.unwrap().exit_code, 4);
    world.driver.destroy(&again.handle).await.unwrap();
    world.forget(&id).await;
    // An unknown one that runs is swept; many sweeps later the ended one is still there, and so is its image.
    let alloc = longshore_model::AllocId::from_u128(950).to_string();
    let labels = json!({
        "com.hashicorp.nomad.alloc_id": alloc, "longshore.agent": crate::world::node().to_string(),
        "longshore.allocation": alloc, "longshore.task": "web", "longshore.config_hash": "ab",
    });
    world.engine.run_container("nobodys", &name, &["sleep", "1000"], &labels).unwrap();
    eventually(SOON, "the sweep", || {
        let left: Vec<String> = world.engine.containers().unwrap().into_iter().map(|it| it.name).collect();
        if left == [format!("web-{}", id.alloc)] { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    let left = world.engine.containers().unwrap();
    assert_eq!((left.len(), left[0].state.as_str()), (1, "exited"));
    world.wait_images(&[&name]);
    world.engine.remove_container(&left[0].name).unwrap();
    world.wait_images(&[]);
}

/// What carries our marks but is of another configuration, task or agent is not taken for what was started.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_very_container_is_adopted() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    let own = world.engine.containers().unwrap().remove(0);
    let labels = own.labels.clone();
    for (key, value) in [
        ("longshore.config_hash", "0123456789abcdef0123456789abcdef"),
        ("longshore.agent", "00000000-0000-0000-0000-000000000def"),
        ("longshore.task", "other"),
        ("longshore.allocation", "00000000-0000-0000-0000-000000000001"),
    ] {
        let mut other = labels.clone();
        other[key] = json!(value);
        let container = world.engine.run_container("other", &name, &["sleep", "1000"], &other).unwrap();
        let mut pointed = handle.clone();
        pointed.state["container_id"] = json!(container);
        let recovered = world.driver.recover(&pointed, world.request(&id, sleeper(&name))).await.unwrap();
        assert!(matches!(recovered, Recovered::Gone), "{key}: {recovered:?}");
        assert_eq!(world.engine.containers().unwrap().len(), 2, "{key}: not ours to remove");
        world.engine.remove_container("other").unwrap();
    }
    let recovered = world.driver.recover(&handle, world.request(&id, sleeper(&name))).await.unwrap();
    assert!(matches!(recovered, Recovered::Running { .. }), "{recovered:?}");
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}
