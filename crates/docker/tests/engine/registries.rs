//! Registries that ask for a login, and registries that are silent.

use std::time::Duration;

use longshore_driver::{Driver as _, ErrorClass};
use longshore_harness::{CountingProxy, Fault};
use longshore_values::GoDuration;
use serde_json::{Value, json};

use crate::world::{World, options, sleeper};

/// The text of a start that fails and may be tried again; nothing is left of it.
async fn refused(world: &mut World, config: Value) -> String {
    let id = world.accept(config.clone()).await;
    let error = world.start(&id, config).await.unwrap_err();
    assert_eq!(error.class, ErrorClass::Retry, "{error}");
    world.forget(&id).await;
    assert!(world.engine.containers().unwrap().is_empty());
    assert_eq!(world.driver.images().unwrap().list().await.unwrap(), []);
    error.full_text()
}

#[track_caller]
fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text}\nhas no {part}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn logins() {
    let mut world = World::new().await;
    world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    proxy.always("", Fault::Login { user: "ann".into(), password: "open-sesame".into() });
    let host = proxy.host();
    let name = format!("{host}/acme/web:1");

    let text = refused(&mut world, sleeper(&name)).await;
    let registry = format!("from registry {host}");
    assert_parts(
        &text,
        &[&name, &registry, "access denied", "(asked without credentials)", "try: check the task's auth"],
    );
    let mut wrong = sleeper(&name);
    wrong["auth"] = json!({"username": "ann", "password": "not-this-one"});
    let text = refused(&mut world, wrong.clone()).await;
    assert_parts(&text, &[&name, &registry, "access denied", "the credentials of the task's auth block"]);
    assert!(!text.contains("not-this-one"), "{text}");

    let mut right = sleeper(&name);
    right["auth"] = json!({"username": "ann", "password": "open-sesame"});
    let (id, handle) = world.run_task(right).await;
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);

    // The agent's file, read anew at each pull. "ann:wrong", then "ann:open-sesame".
    let file = |auth: &str| json!({"auths": {(host.as_str()): {"auth": auth}}}).to_string();
    world.options.auth.config = Some(world.run.write("config.json", file("YW5uOndyb25n")).unwrap());
    world.restart_driver().await;
    let text = refused(&mut world, sleeper(&name)).await;
    assert_parts(&text, &["access denied", "the credentials of the file auth.config"]);
    world.run.write("config.json", file("YW5uOm9wZW4tc2VzYW1l")).unwrap();
    let (id, handle) = world.run_task(sleeper(&name)).await;
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);

    // A source that fails stops the pull, unless the task says otherwise.
    world.run.write("config.json", "{").unwrap();
    let text = refused(&mut world, sleeper(&name)).await;
    assert_parts(&text, &[&name, "config.json is not in the form of Docker's", "auth_soft_fail = true"]);
    let mut soft = sleeper(&name);
    soft["auth_soft_fail"] = json!(true);
    assert_parts(&refused(&mut world, soft).await, &["access denied", "(asked without credentials)"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silence_has_limits() {
    let mut options = options();
    options.pull_activity_timeout = GoDuration::milliseconds(1_500);
    let mut world = World::with(options).await;
    world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    let name = format!("{}/acme/web:1", proxy.host());

    proxy.always("/manifests/", Fault::Hang);
    let mut short = sleeper(&name);
    short["image_pull_timeout"] = json!("700ms");
    let text = refused(&mut world, short).await;
    let registry = format!("from {}", proxy.host());
    assert_parts(
        &text,
        &[&name, &registry, "within image_pull_timeout (700ms)", "hint: see whether the registry is slow"],
    );
    assert_eq!(world.messages(), ["Downloading image"]);

    let text = refused(&mut world, sleeper(&name)).await;
    assert_parts(&text, &[&name, "timed out: no progress for 1.5s", "try: see whether the registry answers"]);
    proxy.clear();

    // Slow is not silent: each piece of it starts the limit anew.
    let big = longshore_harness::Image::build(&longshore_harness::ImageSetup {
        padding_bytes: 1 << 20,
        ..longshore_harness::ImageSetup::default()
    })
    .unwrap();
    world.registry.push(&big, "acme/big", "1").unwrap();
    proxy.always("/blobs/", Fault::Throttle { bytes_a_second: 1 << 20 });
    let began = std::time::Instant::now();
    let (id, handle) = world.run_task(sleeper(&format!("{}/acme/big:1", proxy.host()))).await;
    assert!(began.elapsed() > Duration::from_millis(1_800), "{:?}", began.elapsed());
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}
