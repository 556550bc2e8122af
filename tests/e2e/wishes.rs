//! An update waits for its image: what runs is not stopped before a node has what the next version needs.

use std::time::Duration;

use longshore_harness::{
    Agent, CountingProxy, Engine, EngineSetup, Fault, Image, ImageSetup, Registry, Run, eventually,
};
use serde_json::Value;

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n    }\n  }\n}\n";

/// The newest deployment of a job.
#[track_caller]
fn deployment(agent: &Agent, id: &str) -> Value {
    agent.get(&format!("/v1/job/{id}/deployment")).unwrap()
}

#[track_caller]
fn wait_deployment(agent: &Agent, id: &str, status: &str) -> Value {
    eventually(SOON, format!("a deployment of {id} that is {status}"), || {
        let found = deployment(agent, id);
        if found["Status"] == status { Ok(found) } else { Err(found.to_string()) }
    })
    .unwrap()
}

/// Waits until the job's deployment says that it waits for an image.
#[track_caller]
fn wait_waiting(agent: &Agent, id: &str, image: &str) {
    let expected = format!("Deployment is running but waits for image {image} on node ");
    eventually(SOON, format!("{id} to wait for {image}"), || {
        let found = text(&deployment(agent, id), "StatusDescription");
        if found.starts_with(&expected) { Ok(()) } else { Err(found) }
    })
    .unwrap();
}

/// What runs of a job: its containers' ids with the time of their start, which tells a gap.
fn containers(machine: &Machine, allocations: &[String]) -> Vec<(String, String)> {
    let mut all: Vec<_> = machine
        .containers_of(allocations)
        .iter()
        .map(|it| {
            let facts = machine.engine.inspect_container(&it.id).unwrap();
            assert_eq!(facts["State"]["Running"], true, "{facts}");
            (it.id.clone(), text(&facts["State"], "StartedAt"))
        })
        .collect();
    all.sort();
    all
}

/// Nobody holds an image of that name, and it is not on the engine.
#[track_caller]
fn wait_nothing_left(machine: &Machine, agent: &Agent, name: &str) {
    machine.wait_image_gone(SOON, name);
    eventually(SOON, format!("no holder of {name}"), || match image_row(agent, name) {
        Some(row) if row["Holds"] != 0 => Err(row.to_string()),
        _ => Ok(()),
    })
    .unwrap();
}

#[test]
fn an_image_that_does_not_exist_fails_the_deployment_and_stops_nothing() {
    let machine = Machine::start();
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let job = Job::new("front", &name).count(2);
    run_job(&agent, &job);
    let running = wait_running(&agent, "front", 2);
    let before = containers(&machine, &running);

    let missing = format!("{}/shop/front:nope", machine.proxy.host());
    let next = Job { image: missing.clone(), ..job.clone() };
    let said = agent.job_run("front", &next.text()).unwrap();
    assert_eq!(said.code, 1, "{said:?}");
    let failed = wait_deployment(&agent, "front", "failed");
    let why = text(&failed, "StatusDescription");
    for word in [&format!("Failed due to image {missing} on node "), "not found", &machine.proxy.host()] {
        assert!(why.contains(word), "`{word}` is told: {why}");
    }
    assert_eq!(wait_running(&agent, "front", 2), running, "the same allocations");
    assert_eq!(containers(&machine, &running), before, "and containers, without a gap");
    assert_eq!(allocations(&agent, "front").len(), 2, "nothing was placed for it");
    wait_nothing_left(&machine, &agent, &missing);

    // The next version that can be had goes on from there.
    machine.push("shop/next");
    run_job(&agent, &Job { image: machine.name("shop/next"), ..job });
    let after = wait_running(&agent, "front", 2);
    assert!(after.iter().all(|id| !running.contains(id)), "{after:?}");
    machine.wait_image_gone(SOON, &name);
}

#[test]
fn a_registry_that_cannot_be_reached_is_named_while_it_is_tried_and_in_the_end() {
    let machine = Machine::start();
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let job = Job::new("front", &name);
    run_job(&agent, &job);
    let running = wait_running(&agent, "front", 1);

    let missing = "127.0.0.1:1/shop/front:2";
    let deadlines = "update {\n      healthy_deadline  = \"5s\"\n      progress_deadline = \"6s\"\n    }";
    let next = Job { image: missing.to_owned(), ..job }.group(deadlines);
    let said = agent.job_run("front", &next.text()).unwrap();
    assert_eq!(said.code, 1, "{said:?}");
    let failed = wait_deployment(&agent, "front", "failed");
    let why = text(&failed, "StatusDescription");
    let start = format!("Failed due to progress deadline while waiting for image {missing} on node ");
    for word in [start.as_str(), "127.0.0.1:1", "connection refused", "try:"] {
        assert!(why.contains(word), "`{word}` is told: {why}");
    }
    let waited = format!("Deployment is running but waits for image {missing} on node ");
    for words in [&waited, "connection refused", &start] {
        assert!(said.stdout.contains(words), "`{words}` is told meanwhile: {}", said.stdout);
    }
    let status = agent.cli(&["job", "status", "front"]).unwrap().success("show the job").unwrap().stdout;
    assert!(status.contains(&why), "{status}");
    assert_eq!(wait_running(&agent, "front", 1), running, "nothing was stopped");
    wait_nothing_left(&machine, &agent, missing);
}

#[test]
fn what_runs_goes_on_until_a_slow_registry_has_given_the_image() {
    let machine = Machine::start();
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let (_, slow) = machine.push("shop/slow");
    let job = Job::new("front", &name).count(2);
    run_job(&agent, &job);
    let running = wait_running(&agent, "front", 2);
    let before = containers(&machine, &running);

    machine.proxy.always("shop/slow/blobs/", Fault::Hang);
    submit(&agent, &Job { image: slow.clone(), ..job });
    wait_waiting(&agent, "front", &slow);
    eventually(SOON, "the pull to hang", || {
        if machine.proxy.seen_of("shop/slow").iter().any(|it| it.is_blob()) {
            Ok(())
        } else {
            Err("no blob yet".to_owned())
        }
    })
    .unwrap();
    assert_eq!(containers(&machine, &running), before, "nothing was stopped");
    assert_eq!(allocations(&agent, "front").len(), 2, "nothing was placed");
    let row = image_row(&agent, &slow).expect("the wish holds its image");
    assert_eq!(row["Holds"], 1, "{row}");

    machine.proxy.clear();
    let done = wait_deployment(&agent, "front", "successful");
    assert_eq!(done["StatusDescription"], "Deployment completed successfully");
    let after = wait_running(&agent, "front", 2);
    assert!(after.iter().all(|id| !running.contains(id)), "{after:?}");
    let stops: Vec<_> = allocations(&agent, "front").iter().map(|it| text(it, "DesiredDescription")).collect();
    assert_eq!(stops.iter().filter(|why| *why == "alloc is being updated due to job update").count(), 2, "{stops:?}");
    eventually(SOON, "only the tasks to hold it", || {
        let row = image_row(&agent, &slow).ok_or("there is no such row")?;
        if row["Holds"] == 2 { Ok(()) } else { Err(row.to_string()) }
    })
    .unwrap();
    machine.wait_image_gone(SOON, &name);
}

#[test]
fn a_stop_and_a_newer_version_call_the_pull_off() {
    let machine = Machine::start();
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let (_, slow) = machine.push("shop/slow");
    machine.push("shop/quick");
    let job = Job::new("front", &name);
    run_job(&agent, &job);
    let first = wait_running(&agent, "front", 1);

    machine.proxy.always("shop/slow/blobs/", Fault::Hang);
    submit(&agent, &Job { image: slow.clone(), ..job.clone() });
    wait_waiting(&agent, "front", &slow);
    // A person mends the mistake: nobody waits for the slow one any more.
    run_job(&agent, &Job { image: machine.name("shop/quick"), ..job.clone() });
    let second = wait_running(&agent, "front", 1);
    assert_ne!(first, second);
    wait_nothing_left(&machine, &agent, &slow);

    submit(&agent, &Job { image: slow.clone(), ..job });
    wait_waiting(&agent, "front", &slow);
    stop_job(&machine, &agent, "front");
    assert_eq!(wait_deployment(&agent, "front", "cancelled")["StatusDescription"], "Cancelled because job is stopped");
    wait_nothing_left(&machine, &agent, &slow);
}

#[test]
fn an_agent_that_was_killed_goes_on_with_the_wish() {
    let machine = Machine::start();
    let mut agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let (_, slow) = machine.push("shop/slow");
    let job = Job::new("front", &name);
    run_job(&agent, &job);
    let running = wait_running(&agent, "front", 1);
    let before = containers(&machine, &running);

    machine.proxy.always("shop/slow/blobs/", Fault::Hang);
    submit(&agent, &Job { image: slow.clone(), ..job });
    wait_waiting(&agent, "front", &slow);
    agent.kill9();
    agent.resume().unwrap();
    wait_waiting(&agent, "front", &slow);
    assert_eq!(containers(&machine, &running), before);
    machine.proxy.clear();
    wait_deployment(&agent, "front", "successful");
    assert_ne!(wait_running(&agent, "front", 1), running);
    stop_job(&machine, &agent, "front");
    wait_nothing_left(&machine, &agent, &slow);
    machine.wait_image_gone(Duration::from_secs(60), &name);
}

#[test]
fn an_image_that_does_not_fit_on_the_disk_fails_the_deployment_and_stops_nothing() {
    let run = Run::start().unwrap();
    let disk = EngineSetup { disk_bytes: Some(64 << 20), ..EngineSetup::default() };
    let engine = Engine::start_with(&run, disk).unwrap();
    let registry = Registry::start(&engine).unwrap();
    let proxy = CountingProxy::start(&engine, &registry).unwrap();
    let machine = Machine { proxy, registry, engine, run };
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let big = Image::build(&ImageSetup { padding_bytes: 80 << 20, ..ImageSetup::default() }).unwrap();
    machine.registry.push(&big, "shop/big", "1").unwrap();
    let big = machine.name("shop/big");
    let job = Job::new("front", &name).config("image_pull_timeout = \"10s\"");
    run_job(&agent, &job);
    let running = wait_running(&agent, "front", 1);
    let before = containers(&machine, &running);

    submit(&agent, &Job { image: big.clone(), ..job });
    let failed = wait_deployment(&agent, "front", "failed");
    let why = text(&failed, "StatusDescription");
    assert!(why.starts_with(&format!("Failed due to image {big} on node ")), "{why}");
    assert!(why.contains("no space left"), "{why}");
    assert_eq!(wait_running(&agent, "front", 1), running);
    assert_eq!(containers(&machine, &running), before);
    wait_nothing_left(&machine, &agent, &big);
}
