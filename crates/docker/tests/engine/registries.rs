//! Registries that ask for a login, and registries that are silent.

use std::time::{Duration, Instant};

use longshore_driver::{Driver as _, ErrorClass};
use longshore_harness::{CountingProxy, Fault, Rule};
use longshore_values::GoDuration;
use serde_json::{Value, json};

use crate::explain::told;
use crate::world::{SOON, World, options, sleeper};

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
    assert_parts(&told(&world, &name).await, &["last asked with the credentials of the file auth.config ("]);
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
        &[
            &name,
            &registry,
            "within image_pull_timeout (700ms); it was at: waiting for the registry",
            "hint: see whether the registry is slow",
        ],
    );
    assert_eq!(world.messages(), ["Downloading image"]);

    let text = refused(&mut world, sleeper(&name)).await;
    assert_parts(&text, &[&name, "timed out: no answer from the registry for 1.5s", "try: see whether the registry"]);
    proxy.clear();
    proxy.always("/blobs/", Fault::Hang);
    let text = refused(&mut world, sleeper(&name)).await;
    assert_parts(
        &text,
        &[&name, "timed out: no progress for 1.5s (0 of 1 layers", "try: see whether the registry answers"],
    );
    proxy.clear();

    // Slow is not silent: each piece of it starts the limit anew.
    let big = longshore_harness::Image::build(&longshore_harness::ImageSetup {
        padding_bytes: 1 << 20,
        ..longshore_harness::ImageSetup::default()
    })
    .unwrap();
    world.registry.push(&big, "acme/big", "1").unwrap();
    proxy.always("/blobs/", Fault::Throttle { bytes_a_second: 1 << 20 });
    let began = Instant::now();
    let (id, handle) = world.run_task(sleeper(&format!("{}/acme/big:1", proxy.host()))).await;
    assert!(began.elapsed() > Duration::from_millis(1_800), "{:?}", began.elapsed());
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}

/// Waits until the task's watchers were told this.
async fn hears(world: &World, part: &str) {
    let deadline = Instant::now() + SOON;
    let mut heard = Vec::new();
    loop {
        heard.extend(world.messages());
        if heard.iter().any(|message| message.contains(part)) {
            return;
        }
        assert!(Instant::now() < deadline, "{heard:?} has no {part}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_asks_for_patience_gets_it() {
    let mut world = World::new().await;
    world.push("acme/web", "1");
    world.push("acme/api", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    let [web, api] = ["acme/web", "acme/api"].map(|repository| format!("{}/{repository}:1", proxy.host()));
    proxy.always("/manifests/", Fault::error(429, "TOOMANYREQUESTS", "slow down"));

    let (first, second) = (world.accept(sleeper(&web)).await, world.accept(sleeper(&api)).await);
    let starts = [(&first, &web), (&second, &api)].map(|(id, name)| world.request(id, sleeper(name)));
    let driver = world.driver.clone();
    let [start_first, start_second] = starts;
    let first_start = tokio::spawn(async move { driver.start(start_first).await });
    hears(&world, "asking the registry again in ").await;
    let driver = world.driver.clone();
    let second_start = tokio::spawn(async move { driver.start(start_second).await });
    hears(&world, "Downloading image").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(proxy.seen_of("acme/api").is_empty(), "whoever comes meanwhile leaves the registry in peace");
    proxy.clear();
    for (id, start) in [(&first, first_start), (&second, second_start)] {
        let started = start.await.unwrap().unwrap_or_else(|error| panic!("{}", error.full_text()));
        world.end_task(id, &started.handle).await;
    }
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_may_pass_is_tried_again_within_the_attempt() {
    let mut world = World::new().await;
    world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    let name = format!("{}/acme/web:1", proxy.host());
    // An engine asks twice for a manifest that it does not get: by HEAD, then by GET.
    let fault = Fault::Status { code: 503, headers: Vec::new(), body: String::new() };
    proxy.add(Rule { path_holds: "/manifests/".to_owned(), times: Some(2), fault });
    let (id, handle) = world.run_task(sleeper(&name)).await;
    assert!(proxy.seen_of("acme/web").iter().filter(|seen| seen.is_manifest()).count() > 2);
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_helper_is_asked_anew_when_its_token_was_too_old() {
    let mut world = World::new().await;
    world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    proxy.always("", Fault::Login { user: "ann".into(), password: "token-2".into() });
    let host = proxy.host();
    let name = format!("{host}/acme/web:1");
    // Each answer is another token.
    let script = "#!/bin/sh\ncd $(dirname $0)\necho x >> asked\nn=$(wc -l < asked)\necho \"{\\\"Username\\\":\\\"ann\\\",\\\"Secret\\\":\\\"token-$((n))\\\"}\"\n";
    let program = world.run.write("helpers/docker-credential-turn", script).unwrap();
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let folder = program.parent().unwrap().display().to_string();
    world.options.auth.helper = Some("turn".to_owned());
    world.options.auth.helper_env = [("PATH".to_owned(), format!("{folder}:/usr/bin:/bin"))].into();
    world.restart_driver().await;
    let (id, handle) = world.run_task(sleeper(&name)).await;
    let text = told(&world, &name).await;
    assert_parts(&text, &["last asked with the credentials of the helper docker-credential-turn, which auth.helper"]);
    assert!(!text.contains("token-"), "{text}");
    world.end_task(&id, &handle).await;
    world.wait_images(&[]);
    // Twice in a row is an answer.
    let text = refused(&mut world, sleeper(&name)).await;
    assert_parts(&text, &["access denied", "of the helper docker-credential-turn, which auth.helper names)"]);
    assert_eq!(std::fs::read_to_string(format!("{folder}/asked")).unwrap().lines().count(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_registry_that_cannot_be_asked_and_what_is_there() {
    let mut world = World::new().await;
    let (_, name) = world.push("acme/web", "1");
    let proxy = CountingProxy::start(&world.engine, &world.registry).unwrap();
    let name = name.replace(&world.registry.host(), &proxy.host());
    let with = |choice: &str| {
        let mut config = sleeper(&name);
        config["pull"] = json!(choice);
        config
    };
    let (holder, holder_handle) = world.run_task(sleeper(&name)).await;
    let asked = proxy.seen().len();
    let (id, handle) = world.run_task(with("missing")).await;
    world.end_task(&id, &handle).await;
    assert_eq!(proxy.seen().len(), asked);
    let (id, handle) = world.run_task(with("changed")).await;
    world.end_task(&id, &handle).await;
    assert!(proxy.seen().len() > asked);
    let down = [
        (Fault::error(500, "UNKNOWN", "out of order"), "registry unreachable"),
        (Fault::error(429, "TOOMANYREQUESTS", "slow down"), "the registry limits requests"),
    ];
    for (fault, why) in down {
        proxy.clear();
        proxy.always("", fault);
        world.messages();
        let began = Instant::now();
        let (id, handle) = world.run_task(with("changed")).await;
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        let told = world.messages().pop().unwrap();
        assert_parts(&told, &["was already present, and the registry could not be asked for a newer one", why]);
        world.end_task(&id, &handle).await;
    }
    proxy.clear();
    proxy.always("", Fault::error(500, "UNKNOWN", "out of order"));
    let id = world.accept(with("always")).await;
    let text = world.start(&id, with("always")).await.unwrap_err().full_text();
    assert_parts(&text, &[&name, "registry unreachable"]);
    world.forget(&id).await;
    world.end_task(&holder, &holder_handle).await;
    world.wait_images(&[]);
}
