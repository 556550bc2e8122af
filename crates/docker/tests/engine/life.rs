//! From acceptance to removal.

use longshore_driver::{Driver as _, Recovered};
use longshore_harness::eventually;
use longshore_values::GoDuration;
use serde_json::json;

use crate::world::{DELAY, SOON, World, now, script, sleeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_runs_and_its_image_goes_when_its_time_has_come() {
    let mut world = World::new().await;
    let (image, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(script(&name, "echo $GREETING; echo oops >&2; exit 3")).await;
    let messages = world.messages();
    assert_eq!(messages[0], "Downloading image");
    assert!(messages[1].starts_with(&format!("Image ready: {name} pulled in ")), "{messages:?}");

    let exit = world.driver.wait(&handle).await.unwrap();
    assert_eq!((exit.exit_code, exit.oom_killed), (3, false));
    assert_eq!((world.log(&id, "stdout"), world.log(&id, "stderr")), ("hello\n".to_owned(), "oops\n".to_owned()));
    let container = &world.engine.containers().unwrap()[0];
    assert_eq!(container.name, format!("web-{}", id.alloc));
    assert_eq!((container.image.as_str(), container.image_id.as_str()), (name.as_str(), image.id().as_str()));
    assert_eq!(container.label("com.hashicorp.nomad.alloc_id"), Some(id.alloc.to_string().as_str()));
    assert_eq!(container.label("longshore.image"), Some(name.as_str()));

    world.driver.destroy(&handle).await.unwrap();
    let held = world.report(&name).await.unwrap();
    assert_eq!((held.state.as_str(), held.due_at), ("held", None));
    assert_eq!((held.holders[0].kind.as_str(), held.holders[0].id.as_str()), ("task", id.alloc.to_string().as_str()));

    let before = now();
    world.forget(&id).await;
    // Its container is seen to be gone a look later.
    let idle = async {
        loop {
            let report = world.report(&name).await.unwrap();
            if report.state == "idle" {
                return report;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let idle = tokio::time::timeout(SOON, idle).await.unwrap();
    assert_eq!(idle.due_at.unwrap().since(idle.idle_since.unwrap()), DELAY);
    assert!(idle.idle_since.unwrap() >= before);
    world.wait_images(&[]);
    let took = now().since(before);
    assert!(took >= DELAY && took < DELAY.saturating_add(GoDuration::seconds(2)), "{took}");
    let mut report = world.report(&name).await;
    while report.is_some() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        report = world.report(&name).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_task_finds_the_image_and_asks_no_registry() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (first, first_handle) = world.run_task(sleeper(&name)).await;
    let asked = world.registry.access_log().len();
    world.messages();
    let (second, second_handle) = world.run_task(sleeper(&name)).await;
    assert_eq!(world.messages(), [format!("Image ready: {name} was already present")]);
    assert_eq!(world.registry.access_log().len(), asked);
    assert_eq!(world.report(&name).await.unwrap().holders.iter().filter(|holder| holder.kind == "task").count(), 2);
    world.end_task(&first, &first_handle).await;
    assert_eq!(world.report(&name).await.unwrap().state, "held");
    // Asked for afresh, each start asks the registry.
    let mut fresh = sleeper(&name);
    fresh["force_pull"] = json!(true);
    let (third, third_handle) = world.run_task(fresh).await;
    assert!(world.registry.access_log().len() > asked);
    world.end_task(&second, &second_handle).await;
    world.end_task(&third, &third_handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_task_is_found_again_and_its_log_goes_on_without_doubles() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let config = script(&name, "i=0; while [ $i -lt 400 ]; do echo line $i; i=$((i+1)); usleep 10000; done");
    let (id, handle) = world.run_task(config.clone()).await;
    for round in 1..=3 {
        let enough = format!("line {}\n", round * 60);
        eventually(SOON, "some of the log", || {
            if world.log(&id, "stdout").contains(&enough) { Ok(()) } else { Err(String::new()) }
        })
        .unwrap();
        world.restart_driver().await;
        let recovered = world.driver.recover(&handle, world.request(&id, config.clone())).await.unwrap();
        assert!(matches!(recovered, Recovered::Running { .. }), "{recovered:?}");
    }
    assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 0);
    let lines: String = (0..400).map(|i| format!("line {i}\n")).collect();
    assert_eq!(world.log(&id, "stdout"), lines);
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_of_a_terminal_is_taken_as_it_comes() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let mut config = script(&name, "tty; echo oops >&2; sleep 1; printf 'no end'; sleep 1");
    config["tty"] = json!(true);
    let (id, handle) = world.run_task(config.clone()).await;
    eventually(SOON, "the first lines", || match world.log(&id, "stdout") {
        log if log.contains("oops") => Ok(()),
        log => Err(log),
    })
    .unwrap();
    // Nothing twice after a restart.
    world.restart_driver().await;
    world.driver.recover(&handle, world.request(&id, config)).await.unwrap();
    assert_eq!(world.driver.wait(&handle).await.unwrap().exit_code, 0);
    assert_eq!(world.log(&id, "stdout"), "/dev/pts/0\r\noops\r\nno end");
    assert_eq!(world.log(&id, "stderr"), "");
    world.end_task(&id, &handle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_was_there_before_stays() {
    let mut world = World::new().await;
    let image = longshore_harness::Image::sleeper().unwrap();
    world.engine.load(&image, &["found:1"]).unwrap();
    let before = world.engine.images().unwrap();
    let (id, handle) = world.run_task(sleeper("found:1")).await;
    assert_eq!(world.messages(), ["Image ready: found:1 was already present"]);
    world.end_task(&id, &handle).await;
    // Long enough for a removal that should not be.
    let (_, other) = world.push("acme/other", "1");
    let (id, handle) = world.run_task(sleeper(&other)).await;
    world.end_task(&id, &handle).await;
    world.wait_images(&["found:1"]);
    assert_eq!(world.engine.images().unwrap(), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_archive_of_the_task_is_loaded_and_goes_like_a_pull() {
    let mut world = World::new().await;
    let image = longshore_harness::Image::sleeper().unwrap();
    let mut config = sleeper("packed/web:1");
    config["load"] = json!("web.tar");
    let id = world.accept(config.clone()).await;
    let local = world.request(&id, config.clone()).dirs.local;
    std::fs::write(local.join("web.tar"), image.archive(&["packed/web:1", "redis:7"]).unwrap()).unwrap();
    let error = world.start(&id, config.clone()).await.unwrap_err();
    assert!(error.message.contains("carries packed/web:1, redis:7"), "{error}");
    assert_eq!(world.engine.images().unwrap(), []);
    std::fs::write(local.join("web.tar"), image.archive(&["packed/web:1"]).unwrap()).unwrap();
    let started = world.start(&id, config).await.unwrap_or_else(|error| panic!("{}", error.full_text()));
    let messages = world.messages();
    assert_eq!(messages[0], "Loading image");
    assert!(messages[1].starts_with("Image ready: packed/web:1 loaded in "), "{messages:?}");
    world.end_task(&id, &started.handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_infra_image_stays_with_the_setting_that_names_it() {
    let mut world = World::new().await;
    let (_, web) = world.push("acme/web", "1");
    let (_, infra) = world.push("acme/pause", "1");
    let (_, other) = world.push("acme/pause", "2");
    world.options.infra_image = Some(infra.parse().unwrap());
    world.restart_driver().await;
    assert!(world.report(&infra).await.is_none(), "it is brought when a network needs it");
    // A task that happens to use it brings it.
    let (task, handle) = world.run_task(sleeper(&infra)).await;
    let id = world.accept_with_network(sleeper(&web)).await;
    let kinds = |report: longshore_driver::ImageReport| {
        report.holders.into_iter().map(|holder| holder.kind).filter(|kind| kind != "container").collect::<Vec<_>>()
    };
    assert_eq!(kinds(world.report(&infra).await.unwrap()), ["task", "network", "agent"]);
    world.end_task(&task, &handle).await;
    world.options.infra_image = Some(other.parse().unwrap());
    world.restart_driver().await;
    assert_eq!(kinds(world.report(&infra).await.unwrap()), ["network", "agent"], "a network stands on it");
    world.forget(&id).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_node_knows_nothing_of_any_more_is_given_back() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let (known, handle) = world.run_task(sleeper(&name)).await;
    let (_, lost_name) = world.push("acme/lost", "1");
    world.run_task(sleeper(&lost_name)).await;
    let node_knows = std::collections::BTreeSet::from([known.alloc]);
    world.driver.compare(node_knows.clone()).await.unwrap();
    assert_eq!(world.engine.containers().unwrap().len(), 2, "one comparison alone may have met something on its way");
    world.driver.compare(node_knows.clone()).await.unwrap();
    world.wait_images(&[&name]);
    assert_eq!(world.engine.containers().unwrap().len(), 1);
    world.driver.compare(node_knows).await.unwrap();
    assert_eq!(world.report(&name).await.unwrap().holders.len(), 2, "the task and its container");
    world.end_task(&known, &handle).await;
    world.wait_images(&[]);
}
