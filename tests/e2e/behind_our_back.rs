//! What others do to the engine: tasks end up as their job says, and their events tell what happened.

use longshore_harness::{Agent, Body, Engine, EngineSetup, Registry, Run, eventually};

use crate::support::*;

const PATIENT: &str = "restart {\n      attempts = 10\n      interval = \"10m\"\n      delay    = \"200ms\"\n      mode     = \"delay\"\n    }";

/// Waits until the job's one task runs in another container than the one given, and returns that one's id.
fn wait_another(machine: &Machine, allocation: &[String], before: &str) -> String {
    eventually(SOON, "another container", || {
        let now = machine.containers_of(allocation);
        match &now[..] {
            [one] if one.id != before && one.state == "running" => Ok(one.id.clone()),
            _ => Err(format!("{now:?}")),
        }
    })
    .unwrap()
}

/// A fresh event that holds all of these words.
#[track_caller]
fn told(agent: &Agent, allocation: &str, words: &[&str]) {
    eventually(SOON, format!("an event with {words:?}"), || {
        let events = event_texts(agent, allocation, "main");
        let has = |event: &String| words.iter().all(|word| event.contains(word));
        if events.iter().any(has) { Ok(()) } else { Err(format!("{events:#?}")) }
    })
    .unwrap();
}

#[test]
fn removed_containers_networks_and_images_and_an_engine_that_is_restarted() {
    let mut machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/tough");
    let network = serde_json::json!({"Name": "shop"});
    let make_network = |machine: &Machine| {
        machine.engine.call("POST", "/networks/create", Body::Json(&network)).unwrap().success("network").unwrap();
    };
    make_network(&machine);
    let job = Job::new("tough", &name).group(PATIENT).config("network_mode = \"shop\"");
    run_job(&agent, &job);
    let allocation = wait_running(&agent, "tough", 1);
    let first = machine.containers_of(&allocation).remove(0).id;

    machine.engine.remove_container(&first).unwrap();
    let second = wait_another(&machine, &allocation, &first);
    told(&agent, &allocation[0], &["Terminated", "137"]);

    // The image goes by force, and nothing happens until it is needed again.
    machine.engine.call("DELETE", &format!("/images/{name}?force=1"), Body::Empty).unwrap().success("remove").unwrap();
    assert_eq!(machine.containers_of(&allocation)[0].state, "running");
    machine.engine.remove_container(&second).unwrap();
    let third = wait_another(&machine, &allocation, &second);
    assert!(machine.has_image(&name));

    // The network goes; the next start says so until somebody makes it again.
    let cut = serde_json::json!({"Container": third, "Force": true});
    machine.engine.call("POST", "/networks/shop/disconnect", Body::Json(&cut)).unwrap().success("cut").unwrap();
    machine.engine.call("DELETE", "/networks/shop", Body::Empty).unwrap().success("remove the network").unwrap();
    machine.engine.remove_container(&third).unwrap();
    told(&agent, &allocation[0], &["Driver Failure", "network shop not found"]);
    assert!(machine.containers_of(&allocation).is_empty(), "a start that failed left its container");
    make_network(&machine);
    let fourth = wait_another(&machine, &allocation, &third);

    // Without live-restore an engine that ends takes its containers along: told as what it was.
    machine.engine.kill9();
    machine.engine.resume().unwrap();
    let fifth = wait_another(&machine, &allocation, &fourth);
    assert_eq!(wait_running(&agent, "tough", 1), allocation, "the same allocation all along");
    assert_ne!(fifth, fourth);
    stop_job(&machine, &agent, "tough");
    let left: Vec<_> = allocations(&agent, "tough").iter().map(|it| text(it, "ClientStatus")).collect();
    assert_eq!(left, ["complete"]);
}

/// However often its engine is restarted, that is held against no task.
#[test]
fn restarts_of_the_engine_do_not_count_as_ends_of_the_task() {
    let mut machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/taken");
    let strict = "restart {\n      attempts = 1\n      interval = \"1h\"\n      delay    = \"200ms\"\n      mode     = \"fail\"\n    }";
    run_job(&agent, &Job::new("taken", &name).group(strict));
    let allocation = wait_running(&agent, "taken", 1);
    let mut now = machine.containers_of(&allocation).remove(0).id;
    for _ in 0..2 {
        machine.engine.stop().unwrap();
        machine.engine.resume().unwrap();
        now = wait_another(&machine, &allocation, &now);
        told(&agent, &allocation[0], &["Restarting", "What ran the task was stopped or restarted"]);
    }
    // Its own end counts: the first is within the policy.
    machine.engine.call("POST", &format!("/containers/{now}/kill"), Body::Empty).unwrap().success("kill").unwrap();
    wait_another(&machine, &allocation, &now);
    told(&agent, &allocation[0], &["Restarting: Task restarting in"]);
}

#[test]
fn with_live_restore_a_restart_of_the_engine_is_no_event_at_all() {
    let run = Run::start().unwrap();
    let engine = Engine::start_with(&run, EngineSetup { live_restore: true, ..EngineSetup::default() }).unwrap();
    let registry = Registry::start(&engine).unwrap();
    let proxy = longshore_harness::CountingProxy::start(&engine, &registry).unwrap();
    let mut machine = Machine { proxy, registry, engine, run };
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/steady");
    run_job(&agent, &Job::new("steady", &name).group(PATIENT));
    let allocation = wait_running(&agent, "steady", 1);
    let before = machine.containers_of(&allocation).remove(0).id;
    let events = event_texts(&agent, &allocation[0], "main");
    for kill in [true, false] {
        if kill {
            machine.engine.kill9()
        } else {
            machine.engine.stop().unwrap()
        }
        machine.engine.resume().unwrap();
        assert_eq!(wait_running(&agent, "steady", 1), allocation);
        let now = machine.containers_of(&allocation);
        assert_eq!((now.len(), now[0].id.as_str(), now[0].state.as_str()), (1, before.as_str(), "running"));
    }
    // An exit that comes afterwards is still seen.
    machine.engine.call("POST", &format!("/containers/{before}/kill"), Body::Empty).unwrap().success("kill").unwrap();
    wait_another(&machine, &allocation, &before);
    let after = event_texts(&agent, &allocation[0], "main");
    assert_eq!(after[..events.len()], events, "nothing was told of the restarts");
    assert!(after[events.len()].starts_with("Terminated") && after[events.len()].contains("137"), "{after:#?}");
    stop_job(&machine, &agent, "steady");
}
