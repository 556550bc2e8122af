//! Containers that carry our mark and that no allocation knows.

use std::time::{Duration, Instant};

use longshore_harness::{Agent, eventually};
use serde_json::json;

use crate::support::*;

/// The shortest grace that can be set.
const GRACE: Duration = Duration::from_secs(60);

fn agent_file(dry_run: bool) -> String {
    format!(
        "plugin \"docker\" {{\n  config {{\n    gc {{\n      dangling_containers {{\n        dry_run = {dry_run}\n        \
         period = \"1s\"\n        creation_grace = \"1m\"\n      }}\n    }}\n  }}\n}}\n"
    )
}

const NOBODY: &str = "0a1b2c3d-1111-2222-3333-444455556666";

/// Starts a container with the mark that this agent puts on its own, for an allocation that never was.
fn stray(machine: &Machine, container: &str, image: &str, agent: &str) -> String {
    let labels = json!({
        "com.hashicorp.nomad.alloc_id": NOBODY,
        "longshore.agent": agent,
        "longshore.allocation": NOBODY,
        "longshore.task": "main",
        "longshore.config_hash": "00",
        "longshore.image": image,
    });
    machine.engine.run_container(container, image, &[], &labels).unwrap()
}

fn node_id(agent: &Agent) -> String {
    text(&agent.get("/v1/nodes").unwrap()[0], "ID")
}

#[test]
fn a_container_that_no_allocation_knows_goes_after_the_grace_and_not_before() {
    let machine = Machine::start();
    let agent = machine.agent(&agent_file(false));
    let (_, image) = machine.push("shop/stray");
    machine.engine.pull(&image).unwrap();
    let made = Instant::now();
    let ours = stray(&machine, "stray", &image, &node_id(&agent));
    let of_network = json!({
        "com.hashicorp.nomad.alloc_id": NOBODY,
        "longshore.agent": node_id(&agent),
        "longshore.allocation": NOBODY,
        "longshore.network": "true",
        "longshore.config_hash": "00",
    });
    let network = machine.engine.run_container(&format!("nomad_init_{NOBODY}"), &image, &[], &of_network).unwrap();
    // Another agent's, another orchestrator's and a person's are none of our business, and neither is a task that runs.
    let others = [
        stray(&machine, "of-another-agent", &image, NOBODY),
        machine
            .engine
            .run_container("of-nomad", &image, &[], &json!({ "com.hashicorp.nomad.alloc_id": NOBODY }))
            .unwrap(),
        machine.engine.run_container("of-a-person", &image, &[], &json!({ "made": "by hand" })).unwrap(),
    ];
    let (_, name) = machine.push("shop/alive");
    run_job(&agent, &Job::new("alive", &name));
    let alive = machine.containers_of(&wait_running(&agent, "alive", 1)).remove(0);

    let ids = || -> Vec<String> { machine.engine.containers().unwrap().into_iter().map(|it| it.id).collect() };
    eventually(GRACE + Duration::from_secs(60), "the removal of the stray container", || {
        let there = ids();
        if there.contains(&ours) || there.contains(&network) { Err("it is there".to_owned()) } else { Ok(()) }
    })
    .unwrap();
    assert!(made.elapsed() >= GRACE, "gone after {:?}", made.elapsed());
    assert!(ids().contains(&alive.id), "{:?}", ids());
    assert!(others.iter().all(|id| ids().contains(id)), "{:?}", ids());
    assert!(agent.log().contains(&ours), "the removal is told");
}

#[test]
fn with_dry_run_it_is_only_reported() {
    let machine = Machine::start();
    let agent = machine.agent(&agent_file(true));
    let (_, image) = machine.push("shop/stray");
    machine.engine.pull(&image).unwrap();
    let ours = stray(&machine, "stray", &image, &node_id(&agent));
    eventually(GRACE + Duration::from_secs(60), "a line about the stray container", || {
        if agent.log().contains(&ours) { Ok(()) } else { Err(agent.log_tail(3)) }
    })
    .unwrap();
    assert!(machine.engine.containers().unwrap().iter().any(|it| it.id == ours));
}
