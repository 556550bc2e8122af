//! What goes wrong, told so that it helps, and leaving nothing behind.

use longshore_driver::{DelaySink, Driver as _, ErrorClass, PrefetchId, PrefetchRequest, Recovered};
use longshore_harness::{CountingProxy, Fault, eventually};
use longshore_model::JobKey;
use longshore_values::GoDuration;
use serde_json::{Value, json};

use crate::world::{SOON, World, now, script, sleeper};

/// The error of a start that fails, and proof that nothing is left of it once the task is over for good.
async fn failing(world: &mut World, config: Value) -> (ErrorClass, String) {
    let id = world.accept(config.clone()).await;
    let error = world.start(&id, config).await.unwrap_err();
    assert!(world.engine.containers().unwrap().is_empty());
    world.forget(&id).await;
    (error.class, error.full_text())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn registries_that_do_not_give() {
    let mut world = World::new().await;
    let host = world.registry.host();
    let (class, text) = failing(&mut world, sleeper("127.0.0.1:1/web:1")).await;
    assert_eq!(class, ErrorClass::Retry);
    for part in ["127.0.0.1:1/web:1", "registry unreachable", "connection refused", "try: "] {
        assert!(text.contains(part), "{text} has no {part}");
    }
    let (class, text) = failing(&mut world, sleeper(&format!("{host}/acme/none:1"))).await;
    assert_eq!(class, ErrorClass::Retry);
    for part in [&format!("{host}/acme/none:1"), "no such image", "manifest unknown", "try: "] {
        assert!(text.contains(part), "{text} has no {part}");
    }
    assert_eq!(world.driver.images().unwrap().list().await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_that_cannot_start() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (class, text) = failing(&mut world, json!({"image": name, "comand": "x"})).await;
    assert_eq!(class, ErrorClass::Fatal);
    assert!(text.contains("config has no key \"comand\""), "{text}");
    let (class, text) = failing(&mut world, json!({"image": name, "network_mode": "none", "command": "/nope"})).await;
    assert_eq!(class, ErrorClass::Fatal);
    assert!(text.contains("/nope") && text.contains("hint: check command"), "{text}");
    let (class, _) = failing(&mut world, json!({"image": name, "volumes": ["/etc:/x"]})).await;
    assert_eq!(class, ErrorClass::Fatal);
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_is_called_off_leaves_nothing() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let id = world.accept(sleeper(&name)).await;
    for wait_millis in [0, 5, 20, 60, 120, 200, 300] {
        let start = world.driver.start(world.request(&id, sleeper(&name)));
        if let Ok(started) = tokio::time::timeout(std::time::Duration::from_millis(wait_millis), start).await {
            // A fast machine was done before: nothing was called off.
            world.driver.destroy(&started.unwrap().handle).await.unwrap();
        }
        eventually(SOON, "no container", || match world.engine.containers() {
            Ok(containers) if containers.is_empty() => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .unwrap_or_else(|error| panic!("after {wait_millis} ms: {error}"));
    }
    world.forget(&id).await;
    world.wait_images(&[]);
}

/// Between making an image and naming it an engine asks its containerd, which may take long. Called off then, it would
/// leave content that nobody could tell from somebody else's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_that_is_called_off_before_the_image_has_its_name_leaves_nothing() {
    let mut world = World::new().await;
    world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    let name = format!("{}/acme/web:1", proxy.host());
    for _ in 0..3 {
        let id = world.accept(sleeper(&name)).await;
        proxy.always("/blobs/", Fault::Hang);
        let asked = proxy.seen().iter().filter(|seen| seen.is_blob()).count();
        let (driver, request) = (world.driver.clone(), world.request(&id, sleeper(&name)));
        let start = tokio::spawn(async move { driver.start(request).await.map(|_| ()) });
        eventually(SOON, "a blob to be asked for", || {
            let now = proxy.seen().iter().filter(|seen| seen.is_blob()).count();
            if now > asked { Ok(()) } else { Err(format!("{now}")) }
        })
        .unwrap();
        let held = world.engine.hold_containerd();
        proxy.clear();
        eventually(SOON, "an image without a name", || match world.engine.images() {
            Ok(images) if images.iter().any(|image| image.tags.iter().all(|tag| tag == "<none>:<none>")) => Ok(()),
            other => Err(format!("{other:?}")),
        })
        .unwrap();
        start.abort();
        assert!(start.await.unwrap_err().is_cancelled());
        world.forget(&id).await;
        // Long enough to be cut off, however late messages come.
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        drop(held);
        world.wait_images(&[]);
    }
}

/// Whoever called it off looks no more: the answer is there, and nobody takes it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_succeeds_as_it_is_called_off_leaves_nothing() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let id = world.accept(sleeper(&name)).await;
    let driver = world.driver.clone();
    let mut start = driver.start(world.request(&id, sleeper(&name)));
    assert!(tokio::time::timeout(std::time::Duration::ZERO, &mut start).await.is_err());
    eventually(SOON, "the container to run", || match world.engine.containers() {
        Ok(containers) if containers.iter().any(|container| container.state == "running") => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    // The attempt has an inspection left; without a look from us, nothing tells that it is over.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    drop(start);
    eventually(SOON, "no container", || match world.engine.containers() {
        Ok(containers) if containers.is_empty() => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    world.forget(&id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn books_that_could_not_be_opened_are_opened_when_what_was_in_their_way_is_gone() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    let state = world.state_folder();
    let aside = state.with_extension("aside");
    world.driver.shutdown().await;
    std::fs::rename(&state, &aside).unwrap();
    std::fs::write(&state, "in the way").unwrap();
    world.restart_driver().await;
    let health = async |healthy: bool| {
        let found = async {
            loop {
                let told = world.driver.fingerprint().await;
                if told.healthy == healthy && (!healthy || world.driver.images().unwrap().list().await.is_ok()) {
                    return told.description;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(SOON, found).await.unwrap()
    };
    assert!(health(false).await.contains("put into its folder"));
    let wished = PrefetchRequest {
        id: PrefetchId { job: JobKey::new("default", "job"), version: 1, group: "g".into(), task: "t".into() },
        config: json!({ "image": name, "image_pull_timeout": "1s" }),
        expires_at: now().plus(GoDuration::hours(1)),
        delays: DelaySink::new(|_| {}),
    };
    let why = world.driver.prefetch(wished.clone()).await.unwrap_err().full_text();
    assert!(why.contains("put into its folder"), "{why}");
    std::fs::remove_file(&state).unwrap();
    std::fs::rename(&aside, &state).unwrap();
    // Long enough for the next try.
    let patient = PrefetchRequest { config: json!({ "image": name, "image_pull_timeout": "30s" }), ..wished };
    world.driver.prefetch(patient).await.unwrap();
    assert_eq!(health(true).await, "Healthy");
    let holders = world.report(&name).await.unwrap().holders;
    assert!(holders.iter().any(|holder| holder.id == id.alloc.to_string()), "{holders:?}");
    world.end_task(&id, &handle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_engine_dies_under_a_running_task() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    world.engine.kill9();
    let driver = world.driver.clone();
    let wait = driver.wait(&handle);
    world.engine.resume().unwrap();
    let exit = wait.await.unwrap();
    // Without live-restore the next engine stops it; its own handler may end it with 0.
    assert!(matches!(exit.exit_code, 0 | 137 | 143), "{exit:?}");
    world.driver.destroy(&handle).await.unwrap();
    let started = world.start(&id, sleeper(&name)).await.unwrap();
    world.end_task(&id, &started.handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_crash_left_is_taken_up_by_the_next_attempt() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let id = world.accept(sleeper(&name)).await;
    let first = world.start(&id, sleeper(&name)).await.unwrap();
    // As if the agent had died before it noted the handle: the next attempt finds the container and goes on with it.
    world.restart_driver().await;
    let second = world.start(&id, sleeper(&name)).await.unwrap();
    assert_eq!(first.handle, second.handle);
    assert_eq!(world.engine.containers().unwrap().len(), 1);
    // Another config is another container.
    let other = script(&name, "sleep 100");
    let third = world.start(&id, other.clone()).await.unwrap();
    assert_ne!(first.handle, third.handle);
    assert_eq!(world.engine.containers().unwrap().len(), 1);
    let gone = world.driver.recover(&first.handle, world.request(&id, other)).await.unwrap();
    assert!(matches!(gone, Recovered::Gone), "{gone:?}");
    world.driver.stop(&third.handle, "SIGKILL", GoDuration::seconds(5)).await.unwrap();
    assert_eq!(world.driver.wait(&third.handle).await.unwrap().exit_code, 137);
    world.driver.destroy(&third.handle).await.unwrap();
    world.driver.destroy(&third.handle).await.unwrap();
    world.forget(&id).await;
    world.forget(&id).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_else_s_container_of_that_name_is_left_alone() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let id = world.accept(sleeper(&name)).await;
    world.engine.pull(&name).unwrap();
    // The engine's images are somebody else's now, all of them.
    world.engine.run_container(&format!("web-{}", id.alloc), &name, &["sleep", "100"], &json!({})).unwrap();
    let error = world.start(&id, sleeper(&name)).await.unwrap_err();
    assert!(error.message.contains("is taken by a container that is not this agent's"), "{error}");
    assert_eq!(world.engine.containers().unwrap().len(), 1);
    assert!(world.client().ping().await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_goes_on_after_the_engine_was_restarted_under_it() {
    let mut world = World::new().await;
    world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    let name = format!("{}/acme/web:1", proxy.host());
    proxy.always("/blobs/", Fault::Hang);
    let id = world.accept(sleeper(&name)).await;
    let (driver, request) = (world.driver.clone(), world.request(&id, sleeper(&name)));
    let start = tokio::spawn(async move { driver.start(request).await });
    eventually(SOON, "a blob to be asked for", || match proxy.seen().iter().any(|seen| seen.is_blob()) {
        true => Ok(()),
        false => Err("none yet".to_owned()),
    })
    .unwrap();
    world.engine.kill9();
    proxy.clear();
    world.engine.resume().unwrap();
    let started = start.await.unwrap().unwrap_or_else(|error| panic!("{}", error.full_text()));
    world.end_task(&id, &started.handle).await;
    world.wait_images(&[]);
}
