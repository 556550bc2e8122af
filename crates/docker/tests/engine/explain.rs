//! What people are told about an image that is there, one that is not, and one that could not be had.

use longshore_driver::{Driver as _, Explained};
use longshore_model::Provenance;

use crate::world::{World, sleeper};

async fn explain(world: &World, name: &str) -> Explained {
    world.driver.images().unwrap().explain(name).await.unwrap()
}

/// What is told, in one text.
pub(crate) async fn told(world: &World, name: &str) -> String {
    match explain(world, name).await {
        Explained::Known(known) => known.lines.join("\n"),
        unknown @ Explained::Unknown { .. } => panic!("{unknown:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_is_told_once_and_what_was_meant_is_guessed() {
    let mut world = World::new().await;
    let (image, name) = world.push("acme/web", "1");
    let (id, handle) = world.run_task(sleeper(&name)).await;
    let listed = world.driver.images().unwrap().list().await.unwrap();
    let names: Vec<_> = listed.iter().map(|image| (image.name.as_str(), image.provenance)).collect();
    assert_eq!(
        names,
        [(name.as_str(), Provenance::Obtained)],
        "the digest name that the pull left is no row of its own"
    );
    let digests = world.engine.images().unwrap().into_iter().flat_map(|image| image.digests).collect::<Vec<_>>();
    let [by_digest] = digests.as_slice() else { panic!("{digests:?}") };
    let text = told(&world, by_digest).await;
    assert!(text.contains(&format!("it goes with {name}")), "{text}");

    let (untagged, host) = (name.trim_end_matches(":1"), world.registry.host());
    let unknown = explain(&world, untagged).await;
    let near = vec![name.clone()];
    assert_eq!(unknown, Explained::Unknown { looked_for: format!("{untagged}:latest"), near: near.clone() });
    let unknown = explain(&world, "web").await;
    assert_eq!(unknown, Explained::Unknown { looked_for: "docker.io/library/web:latest".to_owned(), near });
    let unknown = explain(&world, &format!("{host}/other:1")).await;
    assert_eq!(unknown, Explained::Unknown { looked_for: format!("{host}/other:1"), near: Vec::new() });
    let by_id = told(&world, &image.id().trim_start_matches("sha256:")[..12]).await;
    assert!(by_id.starts_with(&format!("{name} is held")), "{by_id}");
    assert!(world.driver.images().unwrap().explain("Not A Name").await.is_err());

    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_pull_is_told_with_its_reason_and_what_comes_next() {
    let mut world = World::new().await;
    let name = format!("{}/acme/none:1", world.registry.host());
    let id = world.accept(sleeper(&name)).await;
    for _ in 0..2 {
        world.start(&id, sleeper(&name)).await.unwrap_err();
    }
    let report = world.report(&name).await.unwrap();
    assert_eq!((report.provenance, report.state.as_str()), (Provenance::Absent, "absent"));
    let why = "not on the engine, wanted by 1; the last pull failed (the registry has no such image)";
    assert_eq!(report.reason, why);
    let text = told(&world, &name).await;
    for part in ["failed 2 times in a row, last 0s ago: could not pull", "manifest unknown", "is started anew"] {
        assert!(text.contains(part), "{text}\nhas no {part}");
    }
    world.forget(&id).await;
    let text = told(&world, &name).await;
    assert!(text.contains("It is not tried again: nothing needs it."), "{text}");
}
