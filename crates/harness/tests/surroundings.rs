//! The surroundings themselves, tried on real programs: what the other tests rely on must be true.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use longshore_harness::{
    Address, Body, CountingProxy, Engine, Fault, Image, Leftover, Registry, Removal, Rule, Run, eventually,
    reap_leftovers, request,
};
use serde_json::json;

const SOON: Duration = Duration::from_secs(20);

#[test]
fn an_engine_a_registry_and_a_proxy_work_together_and_leave_nothing() {
    let run = Run::start().unwrap();
    let mut engine = Engine::start(&run).unwrap();
    let registry = Registry::start(&engine).unwrap();
    let proxy = CountingProxy::start(&engine, &registry).unwrap();
    let events = engine.record_events();
    events.wait_connected(1).unwrap();

    // A pull through the proxy is counted, the image has the id that was foretold, and the push left no trace.
    let image = Image::sleeper().unwrap();
    registry.push(&image, "shop/web", "1").unwrap();
    assert_eq!(engine.images().unwrap(), []);
    let name = format!("{}/shop/web:1", proxy.host());
    engine.pull(&name).unwrap();
    assert_eq!(engine.image_id(&name).unwrap(), Some(image.id()));
    assert!(proxy.seen_of("shop/web").iter().any(longshore_harness::SeenRequest::is_blob));
    assert_eq!(proxy.seen_of("shop/other").len(), 0);
    assert!(registry.access_log().iter().any(|line| line.contains("/v2/shop/web/")));

    // A container of it runs, and outlives a kill of the engine until the next start.
    engine.run_container("one", &name, &[], &json!({ "made": "by hand" })).unwrap();
    let container = engine.containers().unwrap().remove(0);
    assert_eq!((container.state.as_str(), container.label("made")), ("running", Some("by hand")));
    engine.kill9();
    assert!(engine.containers().is_err());
    engine.resume().unwrap();
    assert_eq!(engine.containers().unwrap()[0].state, "exited");
    events.wait_connected(2).unwrap();
    assert!(matches!(engine.remove_image(&name).unwrap(), Removal::Conflict(_)));
    engine.remove_container("one").unwrap();
    assert!(matches!(engine.remove_image(&name).unwrap(), Removal::Done(list) if list.len() > 2));
    assert_eq!(engine.remove_image(&name).unwrap(), Removal::Absent);
    eventually(SOON, "the events of the pull and the removal", || {
        let heard = events.events();
        let has = |action: &str| heard.iter().any(|event| event.kind == "image" && event.action == action);
        if has("pull") && has("delete") { Ok(()) } else { Err(format!("{heard:?}")) }
    })
    .unwrap();

    // One content under two names by an archive.
    engine.load(&image, &["first:1", "second:1"]).unwrap();
    assert_eq!(engine.images().unwrap()[0].tags, ["first:1", "second:1"]);

    // Faults bite, and only as often as they are told to.
    proxy.add(Rule {
        path_holds: "/manifests/".into(),
        times: Some(2),
        fault: Fault::error(429, "TOOMANYREQUESTS", "slow down"),
    });
    let refused = engine.pull(&name).unwrap_err().to_string();
    assert!(refused.contains("toomanyrequests"), "{refused}");
    engine.pull(&name).unwrap();
    proxy.always("/v2/", Fault::Login { user: "sailor".into(), password: "wrong".into() });
    engine.remove_image(&name).unwrap();
    let refused = engine.pull(&name).unwrap_err().to_string();
    assert!(refused.contains("no basic auth credentials"), "{refused}");

    let id = run.id().to_owned();
    engine.run_container("two", "first:1", &["/bin/sleep", "600"], &json!({})).unwrap();
    assert!(run.leftovers().iter().any(|it| matches!(it, Leftover::ControlGroup(_))), "{:?}", run.leftovers());
    drop((events, proxy, registry, engine));
    run.clean().unwrap();
    assert_eq!(run.leftovers(), []);
    drop(run);
    assert!(!Path::new("/var/tmp").join(id).exists());
}

/// The machine's own engine is another one: ours has its own containerd, bridge and addresses.
#[test]
fn two_engines_do_not_meet() {
    let (run_a, run_b) = (Run::start().unwrap(), Run::start().unwrap());
    let (engine_a, engine_b) = (Engine::start(&run_a).unwrap(), Engine::start(&run_b).unwrap());
    engine_a.load(&Image::sleeper().unwrap(), &["only:a"]).unwrap();
    engine_a.run_container("same-name", "only:a", &["/bin/sleep", "600"], &json!({})).unwrap();
    assert_eq!(engine_b.images().unwrap(), []);
    assert!(engine_b.containers().unwrap().is_empty());
    let _registry_a = Registry::start(&engine_a).unwrap();
    let _registry_b = Registry::start(&engine_b).unwrap();
}

/// A run whose owner is killed in the middle is taken away by the next one. The owner is this very test binary, started again.
#[test]
fn leftovers_of_a_killed_run_are_taken_away() {
    if let Ok(note) = std::env::var("HARNESS_LEAVE_BEHIND") {
        let run = Run::start().unwrap();
        let engine = Engine::start(&run).unwrap();
        engine.load(&Image::sleeper().unwrap(), &["left:1"]).unwrap();
        engine.run_container("left", "left:1", &["/bin/sleep", "600"], &json!({})).unwrap();
        std::fs::write(note, run.id()).unwrap();
        loop {
            std::thread::park();
        }
    }
    let run = Run::start().unwrap();
    let note = run.dir().join("note");
    let mut owner = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "leftovers_of_a_killed_run_are_taken_away"])
        .env("HARNESS_LEAVE_BEHIND", &note)
        .spawn()
        .unwrap();
    let id = eventually(Duration::from_secs(60), "the run that will be left behind", || {
        std::fs::read_to_string(&note).ok().filter(|id| !id.is_empty()).ok_or_else(|| "not yet".to_owned())
    });
    owner.kill().unwrap();
    owner.wait().unwrap();
    let id = id.unwrap();
    let dir = Path::new("/var/tmp").join(&id);
    let socket = Address::Unix(dir.join("d.sock"));
    request(&socket, "GET", "/_ping", &[], Body::Empty, SOON).expect("its engine still runs");
    // Another test that starts at this moment may be the one that takes it away.
    reap_leftovers().unwrap();
    assert!(!dir.exists());
    assert!(!Path::new("/run/netns").join(&id).exists());
    assert!(!Path::new("/sys/fs/cgroup/memory").join(&id).exists());
}

/// A disk of its own gets full where others do not, and goes with the run.
#[test]
fn a_full_disk_can_be_had() {
    let run = Run::start().unwrap();
    let place = run.mount_disk("small", 8 << 20).unwrap();
    let written = std::fs::write(place.join("filler"), vec![1; 16 << 20]);
    assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    run.clean().unwrap();
    assert_eq!(run.leftovers(), []);
}
