//! What people ask for: that an image stays, and that what nobody needs goes now.

use std::time::Duration;

use longshore_docker::GcOptions;
use longshore_driver::{Driver as _, ErrorClass, Reason};
use longshore_values::GoDuration;

use crate::explain::told;
use crate::world::{DELAY, World, options, sleeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pin_keeps_an_image_until_it_is_taken_back_and_over_a_restart() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let images = world.driver.clone();
    let pin = images.images().unwrap().pin(&format!("{}/acme/*", world.registry.host()), "ann").await.unwrap();
    assert_eq!((pin.who.as_str(), pin.names.len()), ("ann", 0));
    let (id, handle) = world.run_task(sleeper(&name)).await;
    world.end_task(&id, &handle).await;
    world.restart_driver().await;
    let report = world.report(&name).await.unwrap();
    assert_eq!((report.state.as_str(), report.due_at), ("held", None));
    assert_eq!(report.reason, format!("pinned by `{}`", pin.pattern));
    tokio::time::sleep(Duration::from_nanos(DELAY.as_nanoseconds().unsigned_abs()) * 2).await;
    world.wait_images(&[&name]);
    let driver = world.driver.clone();
    let images = driver.images().unwrap();
    assert_eq!(images.pins().await.unwrap().iter().map(|pin| &pin.names).collect::<Vec<_>>(), [&vec![name.clone()]]);
    // What is pinned is not collected either.
    assert_eq!(images.collect(false).await.unwrap(), []);
    assert!(images.unpin(&pin.pattern).await.unwrap());
    assert!(!images.unpin(&pin.pattern).await.unwrap());
    world.wait_images(&[]);
    // A name is kept in the form in which people are told of it.
    assert_eq!(images.pin("redis", "ann").await.unwrap().pattern, "redis:latest");
    for bad in ["", "Not A Name", "a\nb*"] {
        assert_eq!(images.pin(bad, "ann").await.unwrap_err().class, ErrorClass::Fatal, "{bad:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collection_takes_what_nobody_needs_whatever_the_settings() {
    let gc = GcOptions { image: false, ..options().gc };
    let mut world = World::with(longshore_docker::Options { gc, ..options() }).await;
    let (_, idle) = world.push("acme/idle", "1");
    let (_, held) = world.push("acme/held", "1");
    let (_, theirs) = world.push("acme/theirs", "1");
    world.engine.pull(&theirs).unwrap();
    let (id, handle) = world.run_task(sleeper(&idle)).await;
    world.end_task(&id, &handle).await;
    let (holder, holding) = world.run_task(sleeper(&held)).await;
    assert!(told(&world, &idle).await.contains("gc.image is false"));
    let driver = world.driver.clone();
    let images = driver.images().unwrap();
    for (dry_run, outcome) in [(true, "would be removed"), (false, "removed")] {
        let gone = images.collect(dry_run).await.unwrap();
        let gone: Vec<_> =
            gone.iter().map(|image| (image.name.as_str(), image.removed, image.outcome.as_str())).collect();
        assert_eq!(gone, [(idle.as_str(), !dry_run, outcome)]);
        assert_eq!(world.report(&idle).await.is_none(), !dry_run);
    }
    let images = world.engine.images().unwrap();
    let mut left: Vec<_> = images.into_iter().flat_map(|image| image.tags).collect();
    left.sort();
    assert_eq!(left, [held.clone(), theirs.clone()]);
    world.driver.stop(&holding, "", GoDuration::seconds(5)).await.unwrap();
    world.end_task(&holder, &holding).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_comes_for_a_person_who_asks_and_stays_for_a_while() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let driver = world.driver.clone();
    let images = driver.images().unwrap();
    // The first question of a driver waits for its engine.
    world.report(&name).await;
    let (one, other) = tokio::join!(images.pull(&name, false), images.pull(&name, false));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.content_id, other.content_id);
    assert!(one.message.contains(" pulled in "), "{}", one.message);
    let present = images.pull(&name, false).await.unwrap();
    assert_eq!(present.message, format!("Image ready: {name} was already present"));
    let report = world.report(&name).await.unwrap();
    let kinds: Vec<_> = report.holders.iter().map(|holder| (holder.kind.as_str(), holder.id.as_str())).collect();
    assert_eq!(kinds, [("pull", name.as_str())], "however often it was asked for");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    assert!(world.messages().iter().any(|message| message.ends_with("was already present")));
    world.end_task(&id, &handle).await;
    assert_eq!(world.report(&name).await.unwrap().due_at, None);

    let missing = format!("{}/acme/none:1", world.registry.host());
    let error = images.pull(&missing, false).await.unwrap_err();
    assert!(error.message.contains("no such image"), "{error}");
    assert_eq!(error.reason, Reason::NotFound);
    assert!(world.report(&missing).await.is_none(), "nothing is held for it");
    assert_eq!(images.pull("Not A Name", false).await.unwrap_err().class, ErrorClass::Fatal);
}
