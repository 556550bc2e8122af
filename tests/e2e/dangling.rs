//! Containers that carry our mark and that no allocation knows.

use std::time::{Duration, Instant};

use longshore_harness::eventually;
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

/// A container with the mark of an allocation that never was, and one without any mark.
fn strays(machine: &Machine) -> (String, String) {
    let (_, name) = machine.push("shop/stray");
    machine.engine.pull(&name).unwrap();
    let nobody = "0a1b2c3d-1111-2222-3333-444455556666";
    let labels = json!({
        "com.hashicorp.nomad.alloc_id": nobody,
        "longshore.agent": nobody,
        "longshore.allocation": nobody,
        "longshore.task": "main",
        "longshore.config_hash": "00",
        "longshore.image": name,
    });
    let ours = machine.engine.run_container("stray", &name, &[], &labels).unwrap();
    let other = machine.engine.run_container("bystander", &name, &[], &json!({ "made": "by hand" })).unwrap();
    (ours, other)
}

#[test]
fn a_container_that_no_allocation_knows_goes_after_the_grace_and_not_before() {
    let machine = Machine::start();
    let made = Instant::now();
    let (ours, other) = strays(&machine);
    let agent = machine.agent(&agent_file(false));
    // A container of a task that runs is no stray, however old it is.
    let (_, name) = machine.push("shop/alive");
    run_job(&agent, &Job::new("alive", &name));
    let alive = machine.containers_of(&wait_running(&agent, "alive", 1)).remove(0);

    let ids = || -> Vec<String> { machine.engine.containers().unwrap().into_iter().map(|it| it.id).collect() };
    eventually(GRACE + Duration::from_secs(60), "the removal of the stray container", || {
        if ids().contains(&ours) { Err("it is there".to_owned()) } else { Ok(()) }
    })
    .unwrap();
    assert!(made.elapsed() >= GRACE, "gone after {:?}", made.elapsed());
    assert!(ids().contains(&other) && ids().contains(&alive.id), "{:?}", ids());
    assert!(agent.log().contains(&ours[..12]), "the removal is told");
}

#[test]
fn with_dry_run_it_is_only_reported() {
    let machine = Machine::start();
    let (ours, _) = strays(&machine);
    let agent = machine.agent(&agent_file(true));
    eventually(GRACE + Duration::from_secs(60), "a line about the stray container", || {
        if agent.log().contains(&ours[..12]) { Ok(()) } else { Err(agent.log_tail(3)) }
    })
    .unwrap();
    assert!(machine.engine.containers().unwrap().iter().any(|it| it.id == ours));
}
