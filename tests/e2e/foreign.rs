//! What others brought is left alone.

use std::time::Duration;

use longshore_harness::Image;

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n    }\n  }\n}\n";

#[test]
fn what_was_there_before_is_there_afterwards() {
    let machine = Machine::start();
    let (_, used) = machine.push("other/used");
    let (_, unused) = machine.push("other/unused");
    let (_, twice) = machine.push("other/twice");
    let (old, moving) = machine.push("other/moving");
    for name in [&used, &unused, &twice, &moving] {
        machine.engine.pull(name).unwrap();
    }
    machine.engine.tag(&twice, "other/second-name", "1").unwrap();
    let before = machine.engine.images().unwrap();
    assert_eq!(before.len(), 4);
    let new = Image::sleeper().unwrap();
    machine.registry.push(&new, "other/moving", "1").unwrap();

    let agent = machine.agent(AGENT);
    run_job(&agent, &Job::new("used", &used));
    run_job(&agent, &Job::new("twice", "other/second-name:1"));
    run_job(&agent, &Job::new("moving", &moving).config("force_pull = true"));
    // One of our own comes and goes, so that the keeper is seen to remove something.
    let (_, ours) = machine.push("shop/ours");
    run_job(&agent, &Job::new("ours", &ours));
    for job in ["used", "twice", "moving", "ours"] {
        stop_job(&machine, &agent, job);
    }
    machine.wait_image_gone(Duration::from_secs(20), &ours);

    let after = machine.engine.images().unwrap();
    let plain = |id: &str, list: &[longshore_harness::ImageListing]| list.iter().find(|it| it.id == id).cloned();
    for image in before.iter().filter(|it| it.id != old.id()) {
        assert_eq!(plain(&image.id, &after).as_ref(), Some(image));
    }
    assert!(plain(&old.id(), &after).is_some(), "the old content of the moved tag is still there: {after:#?}");
    let log = agent.log();
    let told = log.lines().any(|it| it.contains("other/moving") && it.contains(&old.id()["sha256:".len()..][..12]));
    assert!(told, "the moved tag is told:\n{log}");
    // The name at its new place came by a pull of ours, so it goes like any other.
    machine.wait_image_gone(Duration::from_secs(20), &moving);
}

/// `gc { foreign = "collect" }`: what nobody needs goes, whoever brought it.
#[test]
fn what_others_brought_is_collected_when_the_settings_say_so() {
    let machine = Machine::start();
    let (_, idle) = machine.push("other/idle");
    let (_, used) = machine.push("other/used");
    let (_, kept) = machine.push("other/kept");
    let (_, ours) = machine.push("shop/ours");
    for name in [&idle, &used, &kept] {
        machine.engine.pull(name).unwrap();
    }
    machine.engine.tag(&used, "mine/second", "1").unwrap();
    // In any state: this one never ran.
    let container = machine.engine.create_container("theirs", &used, &["true"], &serde_json::json!({})).unwrap();
    let more = "image_delay = \"1s\"\n      foreign = \"collect\"\n      keep = [\"*/other/kept:*\"]";
    let agent = machine.agent(&AGENT.replace("image_delay = \"1s\"", more));
    run_job(&agent, &Job::new("ours", &ours));
    machine.wait_image_gone(Duration::from_secs(20), &idle);
    stop_job(&machine, &agent, "ours");
    machine.wait_image_gone(Duration::from_secs(20), &ours);
    for name in [used.as_str(), "mine/second:1", &kept] {
        assert!(machine.has_image(name), "{name}");
    }
    let row = image_row(&agent, "mine/second:1").unwrap();
    assert!(text(&row, "Provenance") == "foreign" && text(&row, "Why").contains("container"), "{row}");
    assert!(agent.log().contains("which others brought: gc.foreign has it removed"), "the audit line");

    machine.engine.remove_container(&container).unwrap();
    machine.wait_image_gone(Duration::from_secs(20), &used);
    machine.wait_image_gone(Duration::from_secs(20), "mine/second:1");
    assert!(machine.has_image(&kept));
}
