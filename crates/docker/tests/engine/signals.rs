//! Ends of all kinds, signals, what a task uses, names that are taken, networks that are shared.

use std::time::{Duration, Instant};

use longshore_docker::Options;
use longshore_driver::Driver as _;
use longshore_harness::eventually;
use longshore_values::GoDuration;
use serde_json::json;

use crate::world::{SOON, World, options, script, sleeper};

fn said(world: &World, id: &longshore_driver::TaskId, text: &str) {
    eventually(SOON, format!("{text:?} in the log"), || match world.log(id, "stdout") {
        log if log.contains(text) => Ok(()),
        log => Err(log),
    })
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_ends_by_its_signal_or_by_force_when_its_time_is_over() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let trap =
        "trap 'echo usr1' USR1; trap 'echo quit; exit 7' QUIT; trap '' TERM; echo up; while :; do sleep 0.1; done";
    let (id, handle) = world.run_task(script(&name, trap)).await;
    said(&world, &id, "up");
    world.driver.signal(&handle, "SIGUSR1").await.unwrap();
    said(&world, &id, "usr1");
    let usage = world.driver.usage(&handle).await.unwrap().unwrap();
    assert!(usage.memory.usage > 0 && usage.cpu.percent < 400.0, "{usage:?}");
    world.driver.stop(&handle, "SIGQUIT", GoDuration::seconds(20)).await.unwrap();
    let exit = world.driver.wait(&handle).await.unwrap();
    assert_eq!((exit.exit_code, exit.oom_killed), (7, false), "{exit:?}");
    assert!(world.driver.usage(&handle).await.is_err(), "nothing is measured of what does not run");
    world.driver.destroy(&handle).await.unwrap();
    world.forget(&id).await;

    // Deaf to the usual signal: by force, and not before its time is over.
    let (id, handle) = world.run_task(script(&name, trap)).await;
    said(&world, &id, "up");
    let before = Instant::now();
    world.driver.stop(&handle, "", GoDuration::seconds(1)).await.unwrap();
    assert!(before.elapsed() >= Duration::from_secs(1) && before.elapsed() < Duration::from_secs(15));
    assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 137);
    world.driver.destroy(&handle).await.unwrap();
    world.forget(&id).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_beyond_its_memory_is_ended_and_that_is_told() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    // `dd` holds its whole buffer; the limit is 32 MB.
    let (id, handle) = world.run_task(script(&name, "exec dd if=/dev/zero of=/dev/null bs=256M count=1")).await;
    let exit = world.driver.wait(&handle).await.unwrap();
    assert!(exit.oom_killed, "{exit:?}");
    assert_eq!((exit.exit_code, exit.message.as_str()), (137, "OOM Killed"));
    world.driver.destroy(&handle).await.unwrap();
    world.forget(&id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_others_have_is_told_and_left_alone() {
    let mut world = World::with(Options { container_exists_attempts: 1, ..options() }).await;
    let (_, name) = world.push("acme/web", "1");
    let id = world.accept(sleeper(&name)).await;
    let container = format!("web-{}", id.alloc);
    world.engine.pull(&name).unwrap();
    let theirs = world.engine.run_container(&container, &name, &[], &json!({})).unwrap();
    let error = world.start(&id, sleeper(&name)).await.unwrap_err();
    let text = error.full_text();
    assert!(
        text.contains(&format!("the container name {container} is taken by a container that is not this")),
        "{text}"
    );
    let found = world.engine.containers().unwrap();
    assert_eq!(
        found.iter().map(|one| (one.id.as_str(), one.state.as_str())).collect::<Vec<_>>(),
        [(theirs.as_str(), "running")]
    );
    // Asked for no further attempt, it is told at once as well.
    let mut once = sleeper(&name);
    once["container_exists_attempts"] = json!(0);
    let text = world.start(&id, once).await.unwrap_err().full_text();
    assert!(text.contains("already in use"), "{text}");
    world.engine.remove_container(&theirs).unwrap();
    let started = world.start(&id, sleeper(&name)).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
    world.end_task(&id, &started.handle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_shares_the_network_of_another() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let serve = "echo up; while :; do echo from the first | nc -l -p 8080 >/dev/null; done";
    let (first, first_handle) = world.run_task(script(&name, serve)).await;
    said(&world, &first, "up");
    let mut second = script(&name, "until nc 127.0.0.1 8080 </dev/null; do sleep 0.1; done");
    second["network_mode"] = json!(format!("container:web-{}", first.alloc));
    let (second, second_handle) = world.run_task(second).await;
    assert_eq!(world.driver.wait(&second_handle).await.unwrap().exit_code, 0);
    said(&world, &second, "from the first");
    for (id, handle) in [(second, second_handle), (first, first_handle)] {
        world.end_task(&id, &handle).await;
    }
    // A network that is not there is told by name, and leaves nothing.
    let mut lost = sleeper(&name);
    lost["network_mode"] = json!("nowhere");
    let id = world.accept(lost.clone()).await;
    let text = world.start(&id, lost).await.unwrap_err().full_text();
    assert!(text.contains("network nowhere not found"), "{text}");
    assert!(world.engine.containers().unwrap().is_empty());
    world.forget(&id).await;
}
