//! Many tasks at once, and the same task many times: no error, and nothing is left.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use longshore_harness::{Agent, Body, eventually};
use serde_json::Value;

use crate::support::*;

const PATIENCE: Duration = Duration::from_secs(240);
const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"0s\"\n    }\n  }\n}\n";

#[test]
fn fifty_tasks_at_once_start_and_stop_without_an_error() {
    let machine = Machine::start();
    let agent = machine.agent("");
    let (_, name) = machine.push("shop/crowd");
    let job = Job::new("crowd", &name)
        .count(50)
        .memory(16)
        .task("kill_timeout = \"20s\"")
        .task("logs {\n        max_files     = 1\n        max_file_size = 1\n      }")
        .config("network_mode = \"none\"")
        .group("update {\n      max_parallel = 0\n    }\n    ephemeral_disk {\n      size = 10\n    }");
    submit(&agent, &job);
    let statuses = |agent: &Agent| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for allocation in allocations(agent, "crowd") {
            *counts.entry(text(&allocation, "ClientStatus")).or_default() += 1;
        }
        counts
    };
    let wait = |status: &str| {
        eventually(PATIENCE, format!("fifty times {status}"), || {
            let counts = statuses(&agent);
            if counts.get(status) == Some(&50) && counts.len() == 1 { Ok(()) } else { Err(format!("{counts:?}")) }
        })
        .unwrap();
    };
    wait("running");
    let containers = machine.engine.containers().unwrap();
    assert_eq!(containers.iter().filter(|it| it.state == "running").count(), 50, "{containers:?}");
    assert_eq!(containers.len(), 50);
    // One pull for all.
    assert_eq!(machine.proxy.seen_of("shop/crowd").iter().filter(|it| it.is_blob()).count(), 2);
    agent.cli(&["job", "stop", "-detach", "crowd"]).unwrap().success("stop").unwrap();
    wait("complete");
    let all = allocations(&agent, "crowd");
    assert_eq!(all.len(), 50);
    for allocation in &all {
        let id = text(allocation, "ID");
        let state = &allocation["TaskStates"]["main"];
        assert_eq!((&state["Failed"], &state["Restarts"]), (&false.into(), &0.into()), "{id}: {state}");
        let kinds: Vec<String> = event_texts(&agent, &id, "main");
        let fine = ["Received", "Task Setup", "Driver", "Started", "Killing", "Terminated", "Killed"];
        assert!(kinds.iter().all(|it| fine.iter().any(|word| it.starts_with(word))), "{kinds:#?}");
        assert!(kinds.iter().any(|it| it.starts_with("Terminated") && it.contains("Exit Code: 0")), "{kinds:#?}");
    }
    wait_no_containers(&machine, &agent, "crowd");
}

/// Rounds after the warm-up: few by default; `LONGSHORE_SOAK_ROUNDS` says how many else (`cargo xtask soak`).
fn rounds() -> usize {
    std::env::var("LONGSHORE_SOAK_ROUNDS").map_or(15, |text| text.parse().expect("LONGSHORE_SOAK_ROUNDS is a number"))
}

const WARM_UP: usize = 20;

#[test]
fn rounds_leave_nothing_behind() {
    let machine = Machine::start();
    let agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/rounds");
    for round in 0..WARM_UP {
        one_round(&machine, &agent, &name, round);
    }
    let before = counts(&machine, &agent);
    for round in 0..rounds() {
        one_round(&machine, &agent, &name, WARM_UP + round);
        if (round + 1) % 50 == 0 {
            println!("{} rounds: {:?}", round + 1, counts(&machine, &agent));
        }
    }
    // Threads of the runtime's pool end when they have been idle for some seconds, connections too.
    let after = eventually(Duration::from_secs(60), "the counts from before", || {
        let after = counts(&machine, &agent);
        if after.iter().all(|(what, count)| count <= &before[what]) { Ok(after) } else { Err(format!("{after:?}")) }
    });
    println!("after {WARM_UP} rounds:        {before:?}");
    println!("after {} more rounds: {:?}", rounds(), after.as_ref().map_err(ToString::to_string));
    after.unwrap();
}

/// Runs a task with a name of its own, and stops it; job and allocation are forgotten.
fn one_round(machine: &Machine, agent: &Agent, image: &str, round: usize) {
    let id = format!("round-{round}");
    submit(agent, &Job::new(&id, image).config("network_mode = \"none\""));
    wait_running(agent, &id, 1);
    agent.cli(&["job", "stop", "-detach", "-purge", &id]).unwrap().success("stop").unwrap();
    eventually(SOON, format!("the end of {id}"), || {
        let left = machine.engine.containers().map_err(|error| error.to_string())?;
        let images = machine.engine.images().map_err(|error| error.to_string())?;
        if left.is_empty() && images.is_empty() { Ok(()) } else { Err(format!("{left:?} {images:?}")) }
    })
    .unwrap();
    agent.call("PUT", "/v1/system/gc", Body::Empty).unwrap().success("collect").unwrap();
}

fn counts(machine: &Machine, agent: &Agent) -> BTreeMap<&'static str, usize> {
    let list = |path: &str, key: Option<&str>| -> usize {
        let answer = machine.engine.call("GET", path, Body::Empty).unwrap().success(path).unwrap().json().unwrap();
        let rows: Option<&Value> = key.map_or(Some(&answer), |key| answer.get(key));
        rows.and_then(Value::as_array).map_or(0, Vec::len)
    };
    let folder = machine.run.dir().display().to_string();
    let of_agent = |what: &str| format!("/proc/{}/{what}", agent.pid());
    BTreeMap::from([
        ("containers", list("/containers/json?all=1", None)),
        ("networks", list("/networks", None)),
        ("volumes", list("/volumes", Some("Volumes"))),
        // What lies in this run's folder; the machine has others.
        (
            "mounts",
            fs::read_to_string(of_agent("mountinfo")).unwrap().lines().filter(|it| it.contains(&folder)).count(),
        ),
        ("descriptors", fs::read_dir(of_agent("fd")).unwrap().count()),
        ("threads", fs::read_dir(of_agent("task")).unwrap().count()),
        ("zombies", zombies(agent.pid())),
    ])
}

/// Children of the agent that have ended and that nobody has waited for.
fn zombies(parent: i32) -> usize {
    let stats = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        let mut fields = rest.split_whitespace();
        Some((fields.next()?.to_owned(), fields.next()?.parse::<i32>().ok()?))
    });
    stats.filter(|(state, of)| state == "Z" && *of == parent).count()
}
