//! A full disk under the engine.

use longshore_driver::{Driver as _, ErrorClass};
use longshore_harness::{EngineSetup, Image, ImageSetup};

use crate::world::{World, options, sleeper};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_does_not_fit_is_told_with_figures_and_leaves_nothing() {
    let setup = EngineSetup { disk_bytes: Some(64 << 20), ..EngineSetup::default() };
    let mut world = World::on(setup, options()).await;
    let big = Image::build(&ImageSetup { padding_bytes: 80 << 20, ..ImageSetup::default() }).unwrap();
    world.registry.push(&big, "acme/big", "1").unwrap();
    let name = format!("{}/acme/big:1", world.registry.host());

    let id = world.accept(sleeper(&name)).await;
    let error = world.start(&id, sleeper(&name)).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Retry);
    let text = error.full_text();
    let root = world.engine.data_root().display().to_string();
    for part in [
        name.as_str(),
        "no space left on the engine's disk",
        "MiB are free at",
        &root,
        "layers",
        "stopped early",
        "try: free room",
    ] {
        assert!(text.contains(part), "{text}\nhas no {part}");
    }
    world.forget(&id).await;
    assert_eq!(world.driver.images().unwrap().list().await.unwrap(), []);
    world.wait_images(&[]);

    // What was fetched of it is gone: there is room for one that fits.
    let (_, small) = world.push("acme/small", "1");
    let (id, handle) = world.run_task(sleeper(&small)).await;
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}
