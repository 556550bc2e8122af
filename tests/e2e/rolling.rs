//! Rolling updates on one node, with no delay at all between the last use of an image and its removal.

use std::time::Duration;

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"0s\"\n    }\n  }\n}\n";

#[test]
fn ten_updates_ask_no_registry_and_a_fresh_start_asks_once() {
    let machine = Machine::start();
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/front");
    let job = Job::new("front", &name).count(3);
    run_job(&agent, &job);
    let mut running = wait_running(&agent, "front", 3);
    let asked = machine.requests("shop/front");
    for round in 0..10u32 {
        let changed = match round % 2 {
            0 => job.clone().memory(40 + round),
            _ => job.clone().task(&format!("env {{ ROUND = \"{round}\" }}")),
        };
        run_job(&agent, &changed);
        let now = wait_running(&agent, "front", 3);
        assert!(now.iter().all(|id| !running.contains(id)), "update {round} replaces all three");
        running = now;
        assert_eq!(machine.requests("shop/front"), asked, "update {round}: {:?}", machine.proxy.seen_of("shop/front"));
    }

    stop_job(&machine, &agent, "front");
    machine.wait_image_gone(Duration::from_secs(10), &name);
    run_job(&agent, &job.memory(33));
    let manifests =
        |from: usize| machine.proxy.seen_of("shop/front").iter().skip(from).filter(|it| it.is_manifest()).count();
    let (heads_and_gets, pulls) = (manifests(asked), machine.requests("shop/front") - asked);
    assert!(pulls > 0);
    // One pull asks HEAD for the tag and, when the engine does not know that manifest yet, GET for its digest.
    assert!((1..=2).contains(&heads_and_gets), "{:?}", machine.proxy.seen_of("shop/front"));
}
