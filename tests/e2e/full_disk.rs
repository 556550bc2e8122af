//! A disk that is full, under the engine and the agent alike: the agent goes on, starts again, and makes room.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use longshore_harness::{Agent, CountingProxy, Engine, EngineSetup, Image, ImageSetup, Registry, Run, eventually};

use crate::support::*;

/// What tasks may use of the disk is told, so that a full one does not keep them away.
const AGENT: &str = "client {\n  disk_total_mb = 4096\n  disk_free_mb  = 4096\n}\nplugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n    }\n  }\n}\n";
const DISK_BYTES: u64 = 192 << 20;
const IMAGE_BYTES: usize = 24 << 20;

fn machine() -> Machine {
    let run = Run::start().unwrap();
    let engine =
        Engine::start_with(&run, EngineSetup { disk_bytes: Some(DISK_BYTES), ..EngineSetup::default() }).unwrap();
    let registry = Registry::start(&engine).unwrap();
    let proxy = CountingProxy::start(&engine, &registry).unwrap();
    Machine { proxy, registry, engine, run }
}

pub(crate) fn free_bytes(disk: &Path) -> u64 {
    let about = nix::sys::statvfs::statvfs(disk).unwrap();
    about.blocks_available() * about.fragment_size()
}

/// Takes all room that is left, to the last block.
fn fill(disk: &Path, name: &str) {
    let mut file = File::create(disk.join(name)).unwrap();
    for size in [1 << 20, 4096, 512] {
        let piece = vec![1; size];
        while file.write_all(&piece).is_ok() {}
        let _ = file.sync_all();
    }
    assert!(free_bytes(disk) < 64 << 10, "{} bytes are free", free_bytes(disk));
}

/// Bytes that the stores of the agent have set aside.
fn set_aside(data_dir: &Path) -> u64 {
    let engines = std::fs::read_dir(data_dir.join("client/engines")).unwrap();
    let ledgers = engines.flatten().map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == "reserve"));
    let stores = [data_dir.join("client/node.reserve"), data_dir.join("server/journal.reserve")];
    let blocks = |path: &Path| std::fs::metadata(path).map_or(0, |about| about.blocks() * 512);
    stores.into_iter().chain(ledgers).map(|path| blocks(&path)).sum()
}

const ALL_SET_ASIDE_BYTES: u64 = (4 + 8 + 8) << 20;

#[track_caller]
fn wait_set_aside(agent: &Agent, data_dir: &Path) {
    eventually(SOON, "the agent to have set room aside", || {
        // What is set aside is made whole with the next writes.
        agent.cli(&["system", "gc"]).map_err(|error| error.to_string())?;
        let bytes = set_aside(data_dir);
        if bytes >= ALL_SET_ASIDE_BYTES { Ok(()) } else { Err(format!("{bytes} bytes")) }
    })
    .unwrap();
}

#[track_caller]
fn stop_and_wait_for_room(machine: &Machine, agent: &Agent, disk: &Path, image: &str) {
    stop_job(machine, agent, "big");
    machine.wait_image_gone(SOON, image);
    eventually(SOON, "room on the disk", || {
        let free = free_bytes(disk);
        if free >= IMAGE_BYTES as u64 / 2 { Ok(()) } else { Err(format!("{free} bytes are free")) }
    })
    .unwrap();
}

#[test]
fn an_agent_on_a_full_disk_goes_on_starts_again_and_makes_room() {
    let machine = machine();
    let disk = machine.engine.data_root();
    let data_dir = disk.join("longshore");
    let (_, small) = machine.push("acme/small");
    let big = Image::build(&ImageSetup { padding_bytes: IMAGE_BYTES, ..ImageSetup::default() }).unwrap();
    machine.registry.push(&big, "acme/big", "1").unwrap();
    let big = machine.name("acme/big");
    let setup = machine.setup("agent").file("agent.hcl", AGENT).argument("-data-dir");
    let mut agent = Agent::start(&machine.run, setup.argument(data_dir.to_str().unwrap())).unwrap();
    run_job(&agent, &Job::new("small", &small));
    let kept = wait_running(&agent, "small", 1);
    let container = machine.containers_of(&kept)[0].id.clone();

    // While the agent runs.
    run_job(&agent, &Job::new("big", &big));
    wait_set_aside(&agent, &data_dir);
    fill(&disk, "filler-1");
    stop_and_wait_for_room(&machine, &agent, &disk, &big);
    // A pull needs more than what the image had taken.
    std::fs::remove_file(disk.join("filler-1")).unwrap();

    // While it runs, and while it is down: nothing is left of what its end has freed.
    run_job(&agent, &Job::new("big", &big));
    wait_set_aside(&agent, &data_dir);
    let before = wait_running(&agent, "big", 1);
    let big_container = machine.containers_of(&before)[0].id.clone();
    fill(&disk, "filler-2");
    agent.kill9();
    fill(&disk, "filler-3");
    agent.resume().unwrap();
    assert_eq!((wait_running(&agent, "small", 1), wait_running(&agent, "big", 1)), (kept.clone(), before.clone()));
    let ids = |allocations: &[String]| -> Vec<String> {
        machine.containers_of(allocations).into_iter().map(|it| it.id).collect()
    };
    assert_eq!((ids(&kept), ids(&before)), (vec![container.clone()], vec![big_container]), "adopted as they were");
    stop_and_wait_for_room(&machine, &agent, &disk, &big);

    // With room again everything works as ever.
    for name in ["filler-2", "filler-3"] {
        std::fs::remove_file(disk.join(name)).unwrap();
    }
    run_job(&agent, &Job::new("big", &big));
    stop_job(&machine, &agent, "big");
    machine.wait_image_gone(SOON, &big);
    assert_eq!(ids(&kept), [container]);
    wait_set_aside(&agent, &data_dir);
}
