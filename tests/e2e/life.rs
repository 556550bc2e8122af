//! The agent comes and goes; tasks do as they were told.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use longshore_harness::{Agent, AgentSetup, Run, eventually};
use nix::sys::signal::Signal;

use crate::support::*;

const AGENT: &str = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"2s\"\n    }\n  }\n}\n";

/// Without `-dev` a task goes on while the agent is down, whatever way that ended, and is the same one afterwards.
#[test]
fn containers_outlive_the_agent_and_are_adopted() {
    let machine = Machine::start();
    let mut agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/steady");
    run_job(&agent, &Job::new("steady", &name));
    let allocation = wait_running(&agent, "steady", 1);
    let before = machine.containers_of(&allocation).remove(0);
    let started = |id: &str| machine.engine.inspect_container(id).unwrap()["State"]["StartedAt"].clone();
    let started_at = started(&before.id);
    for ending in [None, Some(Signal::SIGTERM), Some(Signal::SIGINT)] {
        match ending {
            None => agent.kill9(),
            Some(signal) => drop(agent.end(signal).unwrap()),
        }
        assert_eq!(machine.containers_of(&allocation)[0].state, "running", "after {ending:?}");
        agent.resume().unwrap();
        assert_eq!(wait_running(&agent, "steady", 1), allocation);
        let now = machine.containers_of(&allocation);
        assert_eq!(now.len(), 1, "{now:?}");
        assert_eq!((&now[0].id, started(&now[0].id)), (&before.id, started_at.clone()), "after {ending:?}");
    }
    stop_job(&machine, &agent, "steady");
    machine.wait_image_gone(Duration::from_secs(20), &name);
}

/// A task that ended while nobody looked is told as it ended, and started again by its restart policy.
#[test]
fn a_container_that_ended_meanwhile_is_noticed() {
    let machine = Machine::start();
    let mut agent = machine.agent(AGENT);
    let (_, name) = machine.push("shop/fragile");
    run_job(&agent, &Job::new("fragile", &name).group("restart {\n      delay = \"1s\"\n    }"));
    let allocation = wait_running(&agent, "fragile", 1);
    let before = machine.containers_of(&allocation).remove(0);
    agent.kill9();
    machine.engine.call("POST", &format!("/containers/{}/kill", before.id), longshore_harness::Body::Empty).unwrap();
    agent.resume().unwrap();
    eventually(SOON, "a second start of the task", || {
        let now = machine.containers_of(&allocation);
        let fresh = now.len() == 1 && now[0].id != before.id && now[0].state == "running";
        if fresh { Ok(()) } else { Err(format!("{now:?}")) }
    })
    .unwrap();
    let events = event_texts(&agent, &allocation[0], "main");
    assert!(events.iter().any(|it| it.starts_with("Terminated") && it.contains("137")), "{events:#?}");
}

/// With `-dev` tasks are stopped at the end, and the image goes when an agent of that user is back.
#[test]
fn a_dev_agent_takes_its_tasks_with_it() {
    let machine = Machine::start();
    let setup = machine.setup("dev").dev().file("agent.hcl", AGENT);
    let mut agent = Agent::start(&machine.run, setup).unwrap();
    let (_, name) = machine.push("shop/short");
    run_job(&agent, &Job::new("short", &name));
    wait_running(&agent, "short", 1);
    agent.end(Signal::SIGINT).unwrap();
    let left = machine.engine.containers().unwrap();
    assert!(left.is_empty(), "{left:?}");
    agent.resume().unwrap();
    machine.wait_image_gone(Duration::from_secs(20), &name);
}

/// raw_exec tasks outlive the agent too: their parent is the supervisor.
#[test]
fn plain_processes_outlive_the_agent() {
    let run = Run::start().unwrap();
    let mut agent = Agent::start(&run, AgentSetup::new(BINARY)).unwrap();
    let file = "job \"ticks\" {\n  group \"g\" {\n    update {\n      min_healthy_time = \"100ms\"\n    }\n    task \"t\" {\n      driver = \"raw_exec\"\n      config {\n        command = \"/bin/sh\"\n        args    = [\"-c\", \"echo pid $$; n=0; while :; do n=$((n+1)); echo tick $n; sleep 0.1; done\"]\n      }\n      resources {\n        cpu    = 20\n        memory = 16\n      }\n    }\n  }\n}\n";
    agent.job_run("ticks", file).unwrap().success("run ticks").unwrap();
    let allocation = wait_running(&agent, "ticks", 1).remove(0);
    let ticks = |agent: &Agent| -> Vec<u64> {
        let said = agent.cli(&["alloc", "logs", &allocation]).unwrap();
        said.stdout.lines().filter_map(|line| line.strip_prefix("tick ")?.parse().ok()).collect()
    };
    eventually(SOON, "some ticks", || if ticks(&agent).len() > 3 { Ok(()) } else { Err(agent.log_tail(3)) }).unwrap();
    let pid = agent
        .cli(&["alloc", "logs", &allocation])
        .unwrap()
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("pid ").map(str::to_owned));
    agent.kill9();
    agent.resume().unwrap();
    assert_eq!(wait_running(&agent, "ticks", 1)[0], allocation);
    let seen = ticks(&agent);
    eventually(SOON, "further ticks", || {
        let now = ticks(&agent);
        if now.len() > seen.len() + 3 { Ok(()) } else { Err(format!("{now:?}")) }
    })
    .unwrap();
    let all = ticks(&agent);
    assert!(all.iter().zip(1..).all(|(tick, expected)| *tick == expected), "none is lost and none is doubled: {all:?}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.unwrap())).unwrap();
    assert!(status.contains("Name:\tsh"), "the same process all along: {status}");
    agent.cli(&["job", "stop", "-detach", "ticks"]).unwrap().success("stop ticks").unwrap();
    eventually(SOON, "the end of the task", || {
        let status = text(&allocations(&agent, "ticks")[0], "ClientStatus");
        if status == "complete" { Ok(()) } else { Err(status) }
    })
    .unwrap();
}

/// Without its journal the agent would leave tasks to nobody, so it does not start; nothing of them is touched meanwhile.
#[test]
fn a_journal_that_was_lost_or_cut_off_stops_the_start_and_nothing_else() {
    let machine = Machine::start();
    let file = "plugin \"docker\" {\n  config {\n    gc {\n      image_delay = \"1s\"\n      dangling_containers {\n        \
                period = \"1s\"\n        creation_grace = \"1m\"\n      }\n    }\n  }\n}\n";
    let mut agent = machine.agent(file);
    let (_, name) = machine.push("shop/steady");
    run_job(&agent, &Job::new("steady", &name));
    let allocation = wait_running(&agent, "steady", 1);
    let before = machine.containers_of(&allocation).remove(0);
    agent.kill9();
    let journal = agent.data_dir().join("server");
    let aside = journal.with_extension("aside");
    std::fs::rename(&journal, &aside).unwrap();
    let make_worse: [fn(&Path, &Path); 2] = [
        |_, _| {},
        // As a disk leaves it that did not keep what it was given: the entries since the last checkpoint are gone.
        |journal, aside| {
            std::fs::create_dir(journal).unwrap();
            for entry in std::fs::read_dir(aside).unwrap().flatten().filter(|it| it.file_type().unwrap().is_file()) {
                std::fs::copy(entry.path(), journal.join(entry.file_name())).unwrap();
            }
            let cut = File::options().write(true).open(journal.join("journal.db-wal")).unwrap();
            assert!(cut.metadata().unwrap().len() > 0);
            cut.set_len(0).unwrap();
        },
    ];
    for make_worse in make_worse {
        make_worse(&journal, &aside);
        let said = agent.resume().unwrap_err().to_string();
        let named = format!("the journal in {} ends at index ", journal.display());
        for word in [named.as_str(), &allocation[0], "client/node.db", "hint: the journal was lost"] {
            assert!(said.contains(word), "`{word}` is told: {said}");
        }
        let now = machine.containers_of(&allocation);
        assert_eq!((now.len(), &now[0].id, now[0].state.as_str()), (1, &before.id, "running"));
        assert!(machine.has_image(&name));
        std::fs::remove_dir_all(&journal).unwrap();
    }

    // The right one is back: nothing has happened.
    std::fs::rename(&aside, &journal).unwrap();
    agent.resume().unwrap();
    assert_eq!(wait_running(&agent, "steady", 1), allocation);
    assert_eq!(machine.containers_of(&allocation)[0].id, before.id);

    // To begin anew is possible, and leaves nothing.
    agent.kill9();
    std::fs::remove_dir_all(&journal).unwrap();
    let record = agent.data_dir().join("client/node.db");
    for end in ["", "-wal", "-shm"] {
        let path = format!("{}{end}", record.display());
        let _ = std::fs::remove_file(path);
    }
    agent.resume().unwrap();
    let over_a_minute = Duration::from_secs(100);
    eventually(over_a_minute, "the end of what no allocation knows", || {
        let left = machine.engine.containers().map_err(|error| error.to_string())?;
        if left.is_empty() { Ok(()) } else { Err(format!("{left:?}")) }
    })
    .unwrap();
    machine.wait_image_gone(SOON, &name);
}
