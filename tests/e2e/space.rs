//! Room on the engine's disk: with a mark, or when a pull finds none, idle images go before their time, and only then.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use longshore_harness::{Agent, CountingProxy, Engine, EngineSetup, Image, ImageSetup, Registry, Run, eventually};

use serde_json::Value;

use crate::full_disk::free_bytes;
use crate::support::*;

const DISK_BYTES: u64 = 256 << 20;
const IMAGE_BYTES: usize = 24 << 20;
const MIB: u64 = 1 << 20;

/// What tasks may use of the disk is told, so that a full one does not keep them away.
fn agent_file(gc: &str) -> String {
    format!(
        "client {{\n  disk_total_mb = 4096\n  disk_free_mb  = 4096\n}}\n\
         plugin \"docker\" {{\n  config {{\n    gc {{\n      image_delay = \"1h\"\n{gc}    }}\n  }}\n}}\n"
    )
}

fn machine() -> Machine {
    let run = Run::start().unwrap();
    let setup = EngineSetup { disk_bytes: Some(DISK_BYTES), ..EngineSetup::default() };
    let engine = Engine::start_with(&run, setup).unwrap();
    let registry = Registry::start(&engine).unwrap();
    let proxy = CountingProxy::start(&engine, &registry).unwrap();
    Machine { proxy, registry, engine, run }
}

fn push_big(machine: &Machine, repository: &str) -> String {
    let image = Image::build(&ImageSetup { padding_bytes: IMAGE_BYTES, ..ImageSetup::default() }).unwrap();
    machine.registry.push(&image, repository, "1").unwrap();
    machine.name(repository)
}

/// Images that nothing needs any more.
#[track_caller]
fn leave_idle(machine: &Machine, agent: &Agent, names: &[&str]) -> Vec<String> {
    let idle = names.iter().map(|repository| {
        let name = push_big(machine, repository);
        let id = repository.replace('/', "-");
        run_job(agent, &Job::new(&id, &name));
        stop_job(machine, agent, &id);
        wait_idle(agent, &name);
        name
    });
    idle.collect()
}

/// Which of these went, and which are left. Which goes first depends on how long each took to bring, which is decided
/// and tested in the keeper.
fn went(machine: &Machine, idle: &[String]) -> (Vec<String>, Vec<String>) {
    idle.iter().cloned().partition(|name| !machine.has_image(name))
}

/// Takes room, so that so many bytes are left.
fn fill_to(disk: &Path, name: &str, left_bytes: u64) {
    let mut file = File::create(disk.join(name)).unwrap();
    let piece = vec![1; 256 << 10];
    while free_bytes(disk) > left_bytes {
        file.write_all(&piece).unwrap();
        file.sync_data().unwrap();
    }
}

fn explained(agent: &Agent, name: &str) -> String {
    agent.cli(&["image", "explain", name]).unwrap().success("explain").unwrap().stdout
}

/// Whether the agent takes the disk to be above its mark.
fn pressure(agent: &Agent) -> Option<u64> {
    let metrics = agent.get("/v1/metrics").unwrap();
    let gauges = metrics["Gauges"].as_array()?;
    let ours =
        |gauge: &&Value| gauge["Name"] == "longshore.images.pressure" && gauge["Labels"]["reason"] == "disk_high";
    gauges.iter().find(ours)?["Value"].as_f64().map(|value| value as u64)
}

#[test]
fn a_pull_that_finds_no_room_has_idle_images_go_and_comes_to_its_end() {
    let machine = machine();
    let disk = machine.engine.data_root();
    let agent = machine.agent(&agent_file(""));
    let idle = leave_idle(&machine, &agent, &["acme/a", "acme/b", "acme/c", "acme/d"]);
    let (_, small) = machine.push("acme/small");

    // A full disk alone is no reason for anything to go early.
    fill_to(&disk, "filler", 12 * MIB);
    run_job(&agent, &Job::new("small", &small));
    assert!(idle.iter().all(|name| machine.has_image(name)));

    let big = push_big(&machine, "acme/big");
    run_job(&agent, &Job::new("big", &big));
    let (gone, left) = went(&machine, &idle);
    assert!(!gone.is_empty() && !left.is_empty(), "no more than it takes: {gone:?} of {idle:?}");
    assert!(machine.has_image(&small) && machine.has_image(&big));
    let said = explained(&agent, &gone[0]);
    assert!(said.contains("no space left on the engine's disk") && said.contains("Longshore removed it"), "{said}");
}

#[test]
fn what_does_not_fit_is_told_with_figures_and_why_nothing_can_go() {
    let machine = machine();
    let disk = machine.engine.data_root();
    let agent = machine.agent(&agent_file("      image = false\n"));
    let idle = leave_idle(&machine, &agent, &["acme/a"]);
    fill_to(&disk, "filler", 8 * MIB);
    let big = push_big(&machine, "acme/big");
    submit(&agent, &Job::new("big", &big).group("restart {\n      attempts = 0\n      mode     = \"fail\"\n    }"));
    let events = eventually(SOON, "the failure of the start", || {
        let allocation = allocations(&agent, "big").first().map(|it| text(it, "ID")).ok_or("no allocation")?;
        let events = event_texts(&agent, &allocation, "main").join("\n");
        if events.contains("no space left") { Ok(events) } else { Err(events) }
    });
    let events = events.unwrap();
    assert!(events.contains("are still to be downloaded, and ") && events.contains("MiB are free at"), "{events}");
    assert!(machine.has_image(&idle[0]), "gc.image = false holds whatever is short");
}

#[test]
fn over_the_mark_idle_images_go_until_the_low_one() {
    let machine = machine();
    let disk = machine.engine.data_root();
    let agent = machine.agent(&agent_file("      disk_high = 70\n      disk_low = 60\n"));
    let idle = leave_idle(&machine, &agent, &["acme/a", "acme/b", "acme/c"]);
    let (_, small) = machine.push("acme/small");
    run_job(&agent, &Job::new("small", &small));
    assert!(idle.iter().all(|name| machine.has_image(name)), "there is room enough");

    let about = nix::sys::statvfs::statvfs(&disk).unwrap();
    let total = about.blocks() * about.fragment_size();
    fill_to(&disk, "filler", total * 28 / 100);
    let used_percent = || (total - free_bytes(&disk)) * 100 / total;
    assert!(used_percent() > 70);
    // It is measured every minute without any event.
    let over_a_minute = Duration::from_secs(100);
    let low = || if used_percent() < 60 { Ok(()) } else { Err(used_percent().to_string()) };
    eventually(over_a_minute, "the low mark", low).unwrap();
    eventually(SOON, "the end of the pressure", || match pressure(&agent) {
        Some(0) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .unwrap();
    let (gone, left) = went(&machine, &idle);
    assert!(!gone.is_empty() && !left.is_empty(), "no more than it takes: {gone:?} of {idle:?}");
    assert!(used_percent() >= 60 - IMAGE_BYTES as u64 * 100 / total - 2, "{}% are used", used_percent());
    assert!(machine.has_image(&small));
    let said = explained(&agent, &gone[0]);
    assert!(said.contains("over the disk mark gc.disk_high"), "{said}");
    let metrics = agent.get("/v1/metrics").unwrap().to_string();
    for gauge in ["longshore.images.disk_free_bytes", "longshore.images.pressure", "longshore.images.pressed_total"] {
        assert!(metrics.contains(gauge), "no {gauge}");
    }
}
